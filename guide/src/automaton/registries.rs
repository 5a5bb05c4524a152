//! The comments before a body, which are its header and its registries.

use crate::automaton::session::Options;

/// A text split into parts.
#[derive(Debug, Default)]
pub(crate) struct Sections<'t> {
    /// The functions above and the registries.
    pub(crate) options: Options,
    pub(crate) header: Option<&'t str>,
    /// Where the body begins.
    pub(crate) body: usize,
}

/// Splits a text at its last header.
pub(crate) fn split(text: &str) -> Sections<'_> {
    let mut parts = Sections::default();
    let begins = |line: &str| line.starts_with("; fn ");
    let start = text.rfind("\n; fn ").map_or(0, |at| at + 1);
    parts.options.above = text.get(..start).unwrap_or_default().into();
    parts.body = start;
    for line in text.get(start..).unwrap_or_default().split_inclusive('\n') {
        if !line.starts_with(';') && !line.trim().is_empty() {
            break;
        }
        parts.body += line.len();
        if begins(line) {
            parts.header = Some(line.trim_end());
        }
        let Some((title, list)) = line.trim_start_matches([';', ' ']).split_once(':') else { continue };
        let entries = || entries(list);
        match title {
            "Vars" => parts.options.vars = entries(),
            "Tools" => parts.options.tools = Some(by_number(entries())),
            "Fields" => parts.options.fields = Some(by_number(entries())),
            _ => {}
        }
    }
    parts
}

/// Reads `0=name 1="other name"`.
fn entries(list: &str) -> Vec<(u32, String)> {
    let mut found = Vec::new();
    let mut rest = list.trim();
    while let Some((number, behind)) = rest.split_once('=') {
        let Ok(number) = number.trim().parse() else { break };
        let mut quoted = serde_json::Deserializer::from_str(behind).into_iter::<String>();
        let (name, length) = match quoted.next() {
            Some(Ok(name)) if behind.starts_with('"') => (name, quoted.byte_offset()),
            _ => {
                let end = behind.find(char::is_whitespace).unwrap_or(behind.len());
                (behind.get(..end).unwrap_or_default().to_owned(), end)
            }
        };
        found.push((number, name));
        rest = behind.get(length..).unwrap_or_default().trim_start();
    }
    found
}

/// The most numbers that a list may leave out.
const GAPS: u32 = 1 << 16;

/// Names in the order of their numbers; a number without a name has an empty one.
fn by_number(entries: Vec<(u32, String)>) -> Vec<String> {
    let mut names = Vec::new();
    for (number, name) in entries.into_iter().filter(|entry| entry.0 < GAPS) {
        let place = number as usize;
        if names.len() <= place {
            names.resize(place + 1, String::new());
        }
        if let Some(slot) = names.get_mut(place) {
            *slot = name;
        }
    }
    names
}
