//! Replaces variables in the texts of a tools file: those of the environment, the folders that editors name,
//! and the values that a person gives.

use super::Reading;
use crate::tool::secrets::is_secret;
use ilo_drive::data::Data;
use ilo_drive::problem::{MOST, shortened};
use std::path::{Path, PathBuf};

/// The folders of clients in which a project keeps its file. The project is the folder around them.
const INSIDE: &str = ".vscode .vs .cursor .roo .kilocode .kilo .zed .gemini .qwen .codex .claude .amazonq .kiro \
                      .continue .opencode .windsurf .trae .junie .github .copilot .amp .warp .air";

/// The folder of the project to which a file of a client belongs, by the folder of the file.
pub(super) fn project(folder: &Path) -> PathBuf {
    let is_inside =
        |folder: &Path| folder.file_name().is_some_and(|name| INSIDE.split(' ').any(|one| name == one));
    let inside = folder.ancestors().take(3).find(|folder| is_inside(folder));
    inside.and_then(Path::parent).unwrap_or(folder).to_path_buf()
}

/// The meaning of the text between the braces of a variable.
enum Filling {
    Value(String),
    /// A value that is asked for when the server starts.
    Asked,
    Lacking(String),
}

impl Reading {
    /// Replaces `${NAME}` by the environment variable, and `${NAME:-text}` by the text if the variable is not
    /// set. `${env:NAME}`, `${userHome}`, `${workspaceFolder}` and the like are forms of other clients, and
    /// so are `$NAME` where it is by itself, and `{env:NAME}` of opencode. `$${` is the
    /// text `${`.
    pub(super) fn filled(&mut self, data: &Data) -> Option<String> {
        let mut text = match data {
            Data::Number(_) | Data::Bool(_) if self.client => data.to_json(),
            data => self.text(data)?.to_owned(),
        };
        if self.client {
            text = with_braces(&without_double_braces(&text));
            if self.forms.shell && text.contains("$(") {
                self.lacks("no command is run for a value; write `${NAME}`, and set the variable");
                return None;
            }
            if self.forms.braces {
                text = text.replace("{env:", "${env:").replace("$${env:", "${env:");
                if text.contains("{file:") {
                    self.lacks("files are not read into a value; write `${NAME}`, and set the variable");
                    return None;
                }
            }
        }
        let mut out = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            if let Some(escaped) = before.strip_suffix('$') {
                out.extend([escaped, "${"]);
                rest = after;
                continue;
            }
            out.push_str(before);
            let Some((inside, after)) = after.split_once('}') else {
                self.wrong("a `${` without its `}`");
                return None;
            };
            match self.variable(inside) {
                Filling::Value(value) => out.push_str(&value),
                Filling::Asked => {
                    out.push_str("${");
                    out.push_str(inside);
                    out.push('}');
                }
                Filling::Lacking(message) => {
                    self.lacks(message);
                    return None;
                }
            }
            rest = after;
        }
        out.push_str(rest);
        Some(out)
    }

    fn variable(&mut self, inside: &str) -> Filling {
        let shown = shortened(inside, 80);
        if let Some(id) = inside.strip_prefix("input:") {
            if self.inputs.iter().any(|input| input.id == id) {
                self.asked.push(id.to_owned());
                return Filling::Asked;
            }
            return Filling::Lacking(format!(
                "`inputs` of the file has no `{}` that can be asked for; write `${{NAME}}` for `${{{shown}}}`, and set it",
                shortened(id, 80)
            ));
        }
        let (name, otherwise) = match inside.split_once(":-") {
            Some((name, otherwise)) => (name, Some(otherwise)),
            None => (inside, None),
        };
        if let Some(value) = self.folder_named(name) {
            return Filling::Value(value);
        }
        let name = match name {
            "userHome" => "HOME",
            name => name.strip_prefix("env:").unwrap_or(name),
        };
        match (std::env::var(name), otherwise) {
            (Ok(value), _) if !value.is_empty() || otherwise.is_none() => {
                self.expanded.push((name.to_owned(), value.clone()));
                Filling::Value(value)
            }
            (_, Some(otherwise)) if !otherwise.contains("${") => Filling::Value(otherwise.to_owned()),
            (_, Some(_)) => Filling::Lacking("the text behind `:-` cannot be a variable".to_owned()),
            _ if name.contains([':', '{']) => Filling::Lacking(format!(
                "only variables of the environment are known here; write `${{NAME}}` for `${{{shown}}}`, and set it"
            )),
            _ => {
                let name = shortened(name, 80);
                Filling::Lacking(format!(
                    "the environment has no text `{name}`; set it, or write `${{{name}:-default}}`"
                ))
            }
        }
    }

    /// The value of a variable by which editors name the folder of the project.
    fn folder_named(&self, name: &str) -> Option<String> {
        Some(match name {
            "pathSeparator" | "/" => std::path::MAIN_SEPARATOR.to_string(),
            "workspaceFolderBasename" => self.project.file_name()?.to_string_lossy().into_owned(),
            "workspaceFolder" | "workspaceRoot" | "cwd" | "CLAUDE_PROJECT_DIR" => {
                self.project.display().to_string()
            }
            // Of extensions and plugins, whose file is in their folder.
            "extensionPath" | "CLAUDE_PLUGIN_ROOT" => self.folder.display().to_string(),
            _ if name.starts_with("workspaceFolder:") => self.project.display().to_string(),
            _ => return None,
        })
    }

    pub(super) fn filled_texts(&mut self, data: &Data) -> Option<Vec<String>> {
        self.listed(data, |this, item| {
            let before = this.expanded.len();
            let text = this.filled(item);
            this.seen_by_all(before);
            text
        })
    }

    /// Warns of secrets among the variables that were replaced in an argument of a program, those from
    /// `before` on.
    fn seen_by_all(&mut self, before: usize) {
        let new = self.expanded.get(before..).unwrap_or_default();
        let secret = new.iter().find(|(name, value)| is_secret(name, value));
        let Some((name, _)) = secret.filter(|_| self.warnings.len() < MOST) else { return };
        let message = format!(
            "every user of this machine sees the value of `{name}` in the list of processes (`ps`); give it with `env`"
        );
        self.warnings.push((self.path.clone(), message));
    }

    pub(super) fn filled_named(&mut self, data: &Data) -> Option<Vec<(String, String)>> {
        self.named(data, Reading::filled)
    }

    pub(super) fn environment(&mut self, data: &Data) -> Option<Vec<(String, String)>> {
        let texts = self.filled_named(data)?;
        for (name, _) in &texts {
            if name.is_empty() || name.contains(['=', '\0']) {
                // Behind a `=` may be the value.
                let shown = name.split(['=', '\0']).next().unwrap_or_default();
                self.wrong_at(shown, "a name that no environment variable can have");
            }
        }
        Some(texts)
    }
}

/// The text with `${NAME}` in place of `${{ secrets.NAME }}`, the form of Continue.
fn without_double_braces(text: &str) -> String {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once("${{") {
        let inside = after.split_once("}}");
        let name = inside.and_then(|(inside, _)| inside.trim().strip_prefix("secrets."));
        match (name, inside) {
            (Some(name), Some((_, behind))) => {
                out.extend([before, "${", name, "}"]);
                rest = behind;
            }
            _ => {
                out.extend([before, "${{"]);
                rest = after;
            }
        }
    }
    out.push_str(rest);
    out
}

/// The text with `${NAME}` in place of `$NAME`, which some clients read as a variable, where the name is by
/// itself: `$TOKEN`, `Bearer $TOKEN`, `$HOME/bin`, `--key=$KEY`.
fn with_braces(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for part in text.split_inclusive([' ', '=', ':', '/']) {
        let name = part.trim_end_matches([' ', '/']);
        match name.strip_prefix('$').filter(|inner| is_variable(inner) && !out.ends_with('/')) {
            Some(inner) => out.extend(["${", inner, "}", part.strip_prefix(name).unwrap_or_default()]),
            None => out.push_str(part),
        }
    }
    out
}

fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_')
        && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_the_folder_of_a_client_belongs_to_the_project_around_it() {
        for (folder, expected) in [
            ("/p/.vscode", "/p"),
            ("/p/.amazonq/cli-agents", "/p"),
            ("/p/.continue/mcpServers/more", "/p"),
            ("/p", "/p"),
            ("/p/.config/x", "/p/.config/x"),
        ] {
            assert_eq!(project(Path::new(folder)), Path::new(expected));
        }
    }

    #[test]
    fn a_name_behind_a_dollar_sign_is_a_variable_where_it_is_by_itself() {
        for (text, expected) in [
            ("$TOKEN", "${TOKEN}"),
            ("Bearer $A_1", "Bearer ${A_1}"),
            ("$HOME/bin:$B", "${HOME}/bin:${B}"),
            ("--key=$KEY $C", "--key=${KEY} ${C}"),
        ] {
            assert_eq!(with_braces(text), expected);
        }
        for text in ["p4ss$WORD", "$token", "$", "${A}", "A", "$A-b", "$$A", "$5", "$A$B", "é$Ü", "a=$A.b"]
        {
            assert_eq!(with_braces(text), text);
        }
    }
}
