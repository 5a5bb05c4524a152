//! Replaces environment variables in the texts of a tools file.

use super::Reading;
use super::text::Step;
use ilo_drive::data::Data;
use ilo_drive::problem::shortened;

impl Reading {
    /// Replaces `${NAME}` by the environment variable, and `${NAME:-text}` by the text if the variable is not
    /// set. `${env:NAME}` and `${userHome}` are forms of other clients.
    pub(super) fn filled(&mut self, data: &Data) -> Option<String> {
        let text = self.text(data)?;
        if self.client && is_bare_variable(text) {
            self.lacks(format!(
                "another client's form of a variable; write `${{{}}}`",
                text.trim_start_matches('$')
            ));
            return None;
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            out.push_str(before);
            let Some((inside, after)) = after.split_once('}') else {
                self.wrong("a `${` without its `}`");
                return None;
            };
            let (name, otherwise) = match inside.split_once(":-") {
                Some((name, otherwise)) => (name, Some(otherwise)),
                None => (inside, None),
            };
            let name = match name {
                "userHome" => "HOME",
                name => name.strip_prefix("env:").unwrap_or(name),
            };
            match (std::env::var(name), otherwise) {
                (Ok(value), _) if !value.is_empty() || otherwise.is_none() => {
                    out.push_str(&value);
                    self.expanded.push((name.to_owned(), value));
                }
                (_, Some(otherwise)) => out.push_str(otherwise),
                _ if name.contains(':') => {
                    let shown = shortened(inside, 80);
                    self.lacks(format!(
                        "only variables of the environment are known here; write `${{NAME}}` for `${{{shown}}}`, and set it"
                    ));
                    return None;
                }
                _ => {
                    let name = shortened(name, 80);
                    self.lacks(format!(
                        "the environment has no text `{name}`; set it, or write `${{{name}:-default}}`"
                    ));
                    return None;
                }
            }
            rest = after;
        }
        out.push_str(rest);
        Some(out)
    }

    pub(super) fn filled_texts(&mut self, data: &Data) -> Option<Vec<String>> {
        let Data::List(items) = data else { return self.expected("a list of texts", data) };
        let mut texts = Vec::with_capacity(items.len());
        for (at, item) in items.iter().enumerate() {
            texts.extend(self.inside(Step::Index(at), |this| this.filled(item)));
        }
        (texts.len() == items.len()).then_some(texts)
    }

    pub(super) fn filled_named(&mut self, data: &Data) -> Option<Vec<(String, String)>> {
        let fields = self.record(data)?;
        let mut texts = Vec::with_capacity(fields.len());
        for (name, value) in fields {
            let text = self.inside(Step::Key(name.clone()), |this| this.filled(value));
            texts.extend(text.map(|text| (name.clone(), text)));
        }
        (texts.len() == fields.len()).then_some(texts)
    }

    pub(super) fn environment(&mut self, data: &Data) -> Option<Vec<(String, String)>> {
        let texts = self.filled_named(data)?;
        for (name, _) in &texts {
            if name.is_empty() || name.contains(['=', '\0']) {
                let message = "a name that no environment variable can have";
                self.inside(Step::Key(name.clone()), |this| this.wrong(message));
            }
        }
        Some(texts)
    }
}

/// Whether a text is exactly `$NAME`, which some clients read as a variable.
fn is_bare_variable(text: &str) -> bool {
    let name = text.strip_prefix('$').unwrap_or_default();
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}
