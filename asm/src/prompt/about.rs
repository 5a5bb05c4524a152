//! What a prompt says about a tool in words: the first sentence of its description, and those of its
//! arguments.
//!
//! Descriptions are untrusted text: each is kept on one line, short, and without invisible characters.

use crate::catalog::Tool;
use crate::text::is_hidden;

/// The longest sentence that is shown whole, in characters; a longer one is cut at a blank.
const LONGEST: usize = 160;
/// The most arguments whose descriptions are shown.
const ARGUMENTS: usize = 20;

/// What a model reads of a tool: the first sentence of its description, and what its host asks of each call.
pub(super) fn tool(tool: &Tool) -> Option<String> {
    let mut all: Vec<String> = tool.description.as_deref().and_then(sentence).into_iter().collect();
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
pub(super) fn arguments(tool: &Tool) -> Vec<(String, String)> {
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
    let mut plain = String::new();
    for word in lines.take_while(|line| !line.is_empty()).flat_map(str::split_whitespace) {
        let word: String = word.chars().filter(|&c| !is_hidden(c)).take(LONGEST + 1).collect();
        if word.is_empty() {
            continue;
        }
        let length = plain.chars().count() + 1 + word.chars().count();
        if length > LONGEST {
            if plain.is_empty() {
                return None;
            }
            plain.push_str(" …");
            return Some(plain);
        }
        plain.push_str(if plain.is_empty() { "" } else { " " });
        plain.push_str(&word);
        if is_end(&word) {
            break;
        }
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
}
