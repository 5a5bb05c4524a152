//! Comments and final commas in JSON, as the files of many clients have them.
//!
//! They become blanks of the same length, so that every place in the text stays what it was. Nothing else is
//! changed: a text that is no JSON without them is reported by the parser.

use std::borrow::Cow;

/// What the scanner is in.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    Outside,
    Text,
    /// Behind a backslash in a text.
    Escaped,
    /// A comment to the end of its line.
    Line,
    Block,
}

/// The text with blanks in place of `// …`, `/* … */`, and of commas before `}` and `]`.
pub(super) fn blanked(text: &str) -> Cow<'_, str> {
    let ranges = ranges(text.as_bytes());
    if ranges.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (start, end) in ranges {
        out.push_str(text.get(from..start).unwrap_or_default());
        let hidden = text.get(start..end).unwrap_or_default();
        out.extend(
            hidden.bytes().map(|byte| if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' }),
        );
        from = end;
    }
    out.push_str(text.get(from..).unwrap_or_default());
    Cow::Owned(out)
}

/// The ranges to blank, in order. A block comment without its end is left to the parser.
fn ranges(text: &[u8]) -> Vec<(usize, usize)> {
    let (mut found, mut place, mut start) = (Vec::new(), Within::Outside, 0);
    // A comma that may be a final one: its place among the ranges, and its offset.
    let mut comma: Option<(usize, usize)> = None;
    // Whether a value is before, so that a comma can follow.
    let mut behind_value = false;
    let mut at = 0;
    while let Some(&byte) = text.get(at) {
        let pair = (byte, text.get(at + 1).copied().unwrap_or(0));
        let mut length = 1;
        match place {
            Within::Outside => match pair {
                (b'/', b'/' | b'*') => {
                    place = if pair.1 == b'/' { Within::Line } else { Within::Block };
                    (start, length) = (at, 2);
                }
                (b',', _) => {
                    comma = behind_value.then_some((found.len(), at));
                    behind_value = false;
                }
                (b'}' | b']', _) => {
                    if let Some((index, at)) = comma.take() {
                        found.insert(index, (at, at + 1));
                    }
                    behind_value = true;
                }
                (b' ' | b'\t' | b'\n' | b'\r', _) => {}
                _ => {
                    comma = None;
                    behind_value = !matches!(byte, b'{' | b'[' | b':');
                    place = if byte == b'"' { Within::Text } else { Within::Outside };
                }
            },
            Within::Text if byte == b'"' => place = Within::Outside,
            Within::Text if byte == b'\\' => place = Within::Escaped,
            Within::Escaped => place = Within::Text,
            Within::Line if matches!(byte, b'\n' | b'\r') => {
                found.push((start, at));
                place = Within::Outside;
            }
            Within::Block if pair == (b'*', b'/') => {
                length = 2;
                found.push((start, at + 2));
                place = Within::Outside;
            }
            Within::Text | Within::Line | Within::Block => {}
        }
        at += length;
    }
    if place == Within::Line {
        found.push((start, text.len()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::blanked;

    #[test]
    fn comments_and_final_commas_become_blanks() {
        for (text, expected) in [
            ("{\"a\": 1}", "{\"a\": 1}"),
            ("// é\n{\"a\": 1, /* b\n */}", "     \n{\"a\": 1      \n   }"),
            ("[1, // x\n 2,\t]", "[1,     \n 2\t ]".replace("\t ", " \t").as_str()),
            ("{\"//\": \"/* \\\" // */,]\"}", "{\"//\": \"/* \\\" // */,]\"}"),
            ("[1,,]", "[1,,]"),
            ("[,]", "[,]"),
            ("{\"a\":,}", "{\"a\":,}"),
            ("[[1,],]//", "[[1 ] ]  "),
            ("[1] /*", "[1] /*"),
            ("[1] /* a **/", "[1]         "),
            ("/", "/"),
            ("", ""),
        ] {
            assert_eq!(blanked(text), expected, "{text}");
            assert_eq!(blanked(text).len(), text.len());
        }
    }

    #[test]
    fn many_final_commas_take_linear_time() {
        let text = "[1,/**/]".repeat(100_000);
        assert_eq!(blanked(&text), "[1     ]".repeat(100_000));
    }
}
