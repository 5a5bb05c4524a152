//! What a prompt says about a tool in words: the first sentence of its description, and those of its
//! arguments. Where no schema says what a tool answers, its whole description is shown, which often does.
//!
//! Descriptions are untrusted text: each is kept on one line, short, and without invisible characters.

use crate::catalog::ToolSignature;
use crate::text::is_hidden;

/// The longest sentence that is shown whole, in characters; a longer one is cut at a blank.
const LONGEST: usize = 160;
/// The same of a whole description.
const WHOLE: usize = 800;
/// The most arguments whose descriptions are shown.
const ARGUMENTS: usize = 20;

/// What a model reads of a tool: its description, and what its host asks of each call.
pub(super) fn tool(tool: &ToolSignature) -> Option<String> {
    let description = tool.description.as_deref();
    let about = description.and_then(if tool.has_no_output_schema() { whole } else { sentence });
    let mut all: Vec<String> = about.into_iter().collect();
    if tool.confirm {
        all.push("A person is asked before each call.".to_owned());
    }
    if tool.requires_rollback {
        all.push("Each call needs a rollback directly after it.".to_owned());
    }
    (!all.is_empty()).then(|| all.join(" "))
}

/// The first sentences of the descriptions of its arguments, and what the check will ask of their values,
/// each with the name.
pub(super) fn arguments(tool: &ToolSignature) -> Vec<(String, String)> {
    let noted = tool.argument_notes();
    let plain =
        noted.into_iter().filter(|(name, ..)| !name.contains(|c: char| c.is_control() || is_hidden(c)));
    let said = plain.filter_map(|(name, about, limits)| {
        let about = about.as_deref().and_then(sentence).unwrap_or_default();
        let text = match (about.is_empty(), limits.is_empty()) {
            (true, true) => return None,
            (false, true) => about,
            (true, false) => limits,
            (false, false) => format!("{about} ({limits})"),
        };
        Some((name, text))
    });
    said.take(ARGUMENTS).collect()
}

/// The first sentence of a text, up to the end of its paragraph.
fn sentence(text: &str) -> Option<String> {
    let lines = text.lines().map(str::trim).skip_while(|line| line.is_empty());
    let words = lines.take_while(|line| !line.is_empty()).flat_map(str::split_whitespace);
    let mut ended = false;
    joined(words.take_while(|word| !std::mem::replace(&mut ended, is_end(word))), LONGEST)
}

/// A text on one line.
fn whole(text: &str) -> Option<String> {
    joined(text.split_whitespace(), WHOLE)
}

/// Words with blanks between them, cut behind the last one that has room, since a model reads words.
fn joined<'t>(words: impl Iterator<Item = &'t str>, longest: usize) -> Option<String> {
    let mut plain = String::new();
    let mut length = 0;
    for word in words {
        let word: String = word.chars().filter(|&c| !is_hidden(c)).take(longest + 1).collect();
        if word.is_empty() {
            continue;
        }
        length += word.chars().count() + usize::from(!plain.is_empty());
        if length > longest {
            if plain.is_empty() {
                return None;
            }
            plain.push_str(" …");
            return Some(plain);
        }
        plain.push_str(if plain.is_empty() { "" } else { " " });
        plain.push_str(&word);
    }
    (!plain.is_empty()).then_some(plain)
}

/// Whether a sentence ends with a word: not with an abbreviation such as `e.g.`, or a number such as `1.`.
fn is_end(word: &str) -> bool {
    let Some(before) = word.strip_suffix(['.', '!', '?']) else { return false };
    let letters = before.chars().filter(|c| c.is_alphanumeric()).count();
    letters > 1
        && !before.contains('.')
        && !before.chars().all(|c| c.is_ascii_digit())
        && before != "etc"
        && before != "vs"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sentence_is_shown() {
        for (text, expected) in [
            ("\n  Looks a user up.\nSecond line", "Looks a user up."),
            ("Lists, e.g. files. Then more.", "Lists, e.g. files."),
            ("Reads a file\nand shows it! More", "Reads a file and shows it!"),
            ("A title\n\nThe text.", "A title"),
            ("Version 2. is out", "Version 2. is out"),
            ("a\u{1b}[31mb", "a[31mb"),
            ("no end", "no end"),
        ] {
            assert_eq!(sentence(text).as_deref(), Some(expected), "{text}");
        }
        let long = format!("{} end.", "word ".repeat(60));
        let cut = sentence(&long).unwrap();
        assert!(cut.ends_with("word …") && cut.chars().count() <= LONGEST + 2, "{cut}");
        assert_eq!(sentence(&"x".repeat(LONGEST + 1)), None);
        assert_eq!(sentence(" \n "), None);
    }

    #[test]
    fn where_no_schema_says_what_a_tool_answers_its_whole_description_is_shown() {
        assert_eq!(
            whole("\n  Looks up.\n\nReturns:\n  a list\u{1b} of ids.").as_deref(),
            Some("Looks up. Returns: a list of ids.")
        );
        let cut = whole(&"word ".repeat(1_000)).unwrap();
        assert!(cut.ends_with("word …") && cut.chars().count() <= WHOLE + 2, "{cut}");
        assert_eq!(whole(&"x".repeat(WHOLE + 1)), None);
        assert_eq!(whole(" \n "), None);
    }
}
