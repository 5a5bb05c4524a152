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

/// The first sentence of the description of a tool.
pub(super) fn tool(tool: &Tool) -> Option<String> {
    sentence(tool.description.as_deref()?)
}

/// The first sentences of the descriptions of its arguments, each with the name.
pub(super) fn arguments(tool: &Tool) -> Vec<(String, String)> {
    let described = tool.argument_descriptions();
    let plain =
        described.into_iter().filter(|(name, _)| !name.contains(|c: char| c.is_control() || is_hidden(c)));
    let said = plain.filter_map(|(name, about)| Some((name, sentence(&about)?)));
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
