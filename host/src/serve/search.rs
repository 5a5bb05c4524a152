//! Searches tools by words, so that a model need not read all schemas before it writes a program.
//!
//! Words of the name weigh more than those of the description. There is no index: searching a catalogue takes
//! little time compared with one answer of a model.

use ilo_asm::catalog::{Catalog, ToolSignature};
use serde_json::{Value, json};

/// The most words of a query and of a description that count: for each tool the time is proportional to their
/// product.
const ASKED: usize = 32;
const TOLD: usize = 500;

/// The tools that fit a query best, each with its signature; all of them, up to the limit, for an empty one.
pub(super) fn find(catalog: &Catalog, query: &str, limit: usize) -> Vec<Value> {
    let query: Vec<String> = words(query).take(ASKED).collect();
    let mut found: Vec<(usize, &ToolSignature)> = catalog
        .tools()
        .iter()
        .map(|tool| (score(tool, &query), tool))
        .filter(|&(score, _)| score > 0 || query.is_empty())
        .collect();
    found.sort_by(|(a, first), (b, second)| b.cmp(a).then_with(|| first.name.cmp(&second.name)));
    found.into_iter().take(limit).map(|(_, tool)| shown(tool)).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// The score of a tool: each word of the query counts by where it is found.
fn score(tool: &ToolSignature, query: &[String]) -> usize {
    let name: Vec<String> = words(&tool.name).collect();
    let about: Vec<String> = tool.description.as_deref().into_iter().flat_map(words).take(TOLD).collect();
    let arguments: Vec<String> = tool.input().fields().flat_map(|argument| words(argument.name)).collect();
    let fits = |words: &[String], wanted: &str| {
        if words.iter().any(|word| word == wanted) {
            2
        } else {
            usize::from(words.iter().any(|word| is_part(word, wanted)))
        }
    };
    query
        .iter()
        .map(|wanted| 4 * fits(&name, wanted) + 2 * fits(&about, wanted) + fits(&arguments, wanted))
        .sum()
}

/// Whether one of two words contains the other. A short prefix of a searched word counts; otherwise only
/// words of some length do (`mail` in `email`).
fn is_part(word: &str, wanted: &str) -> bool {
    word.starts_with(wanted)
        || wanted.len() > 3 && word.contains(wanted)
        || word.len() > 3 && wanted.contains(word)
}

fn shown(tool: &ToolSignature) -> Value {
    let mut shown = json!({"name": tool.name, "signature": tool.signature()});
    if let (Some(about), Some(fields)) = (&tool.description, shown.as_object_mut()) {
        fields.insert("description".to_owned(), Value::from(about.as_str()));
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_within_another() {
        let mut catalog = Catalog::default();
        for name in ["send-email", "get-user"] {
            assert!(catalog.insert(ToolSignature::new(name, None, None, None)));
        }
        let found = |query: &str| {
            let found = find(&catalog, query, 10);
            found.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(found("mail"), ["send-email"]);
        assert_eq!(found("emails"), ["send-email"]);
        assert_eq!(found("us"), ["get-user"]);
        assert_eq!(found("ser"), [""; 0]);
    }
}
