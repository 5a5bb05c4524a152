//! Splits Rust source into tokens, with comments and strings apart. It does not parse.

/// The kind of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or a keyword.
    Ident,
    /// `::`, or one character of any other punctuation.
    Punct,
    /// A string without its quotes.
    Text,
    /// A line comment or a block comment, including its marks.
    Comment,
}

/// A token and the line on which it begins, from 1.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) text: String,
    pub(crate) line: usize,
}

impl Token {
    /// The text of an identifier or of punctuation; empty for any other token.
    pub(crate) fn symbol(&self) -> &str {
        if matches!(self.kind, Kind::Ident | Kind::Punct) { &self.text } else { "" }
    }

    /// Whether this is an identifier or punctuation with that text.
    pub(crate) fn is(&self, text: &str) -> bool {
        self.symbol() == text
    }
}

/// The tokens of a source. Numbers, characters and lifetimes are left out.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut lexer = Lexer { rest: source, line: 1, found: Vec::new() };
    while !lexer.rest.is_empty() {
        lexer.token();
    }
    lexer.found
}

struct Lexer<'s> {
    rest: &'s str,
    line: usize,
    found: Vec<Token>,
}

fn continues(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

impl Lexer<'_> {
    /// Takes this number of bytes.
    fn take(&mut self, bytes: usize) -> String {
        let (head, rest) = self.rest.split_at(bytes);
        let head = head.to_owned();
        self.line += head.matches('\n').count();
        self.rest = rest;
        head
    }

    fn push(&mut self, kind: Kind, text: String, line: usize) {
        self.found.push(Token { kind, text, line });
    }

    fn word(&self) -> usize {
        self.rest.find(|character| !continues(character)).unwrap_or(self.rest.len())
    }

    fn token(&mut self) {
        let (rest, line) = (self.rest, self.line);
        let Some(first) = rest.chars().next() else { return };
        if rest.starts_with("//") {
            let text = self.take(rest.find('\n').unwrap_or(rest.len()));
            self.push(Kind::Comment, text, line);
        } else if rest.starts_with("/*") {
            let length = block_comment(rest);
            let text = self.take(length);
            self.push(Kind::Comment, text, line);
        } else if let Some((opening, hashes)) = string(rest) {
            self.take(opening);
            let length = text_length(self.rest, hashes);
            let text = self.take(length);
            self.take((1 + hashes.unwrap_or(0)).min(self.rest.len()));
            self.push(Kind::Text, text, line);
        } else if let Some(raw) = rest.strip_prefix("r#").filter(|raw| raw.starts_with(continues)) {
            self.take(rest.len() - raw.len());
            let text = self.take(self.word());
            self.push(Kind::Ident, text, line);
        } else if first == '\'' {
            let length = character(rest);
            self.take(length);
        } else if first.is_ascii_digit() {
            self.take(self.word());
        } else if continues(first) {
            let text = self.take(self.word());
            self.push(Kind::Ident, text, line);
        } else if first.is_whitespace() {
            self.take(first.len_utf8());
        } else {
            let text = self.take(if rest.starts_with("::") { 2 } else { first.len_utf8() });
            self.push(Kind::Punct, text, line);
        }
    }
}

/// The length of a block comment, including nested ones.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    while at < rest.len() {
        if rest[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with("*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                break;
            }
        } else {
            at += rest[at..].chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// The length of a string's opening, and the number of its hashes if it is raw; `None` if no string begins
/// here.
fn string(rest: &str) -> Option<(usize, Option<usize>)> {
    let body = rest.strip_prefix(['b', 'c']).unwrap_or(rest);
    let prefix = rest.len() - body.len();
    if body.starts_with('"') {
        return Some((prefix + 1, None));
    }
    let raw = body.strip_prefix('r')?;
    let hashes = raw.bytes().take_while(|&byte| byte == b'#').count();
    raw[hashes..].starts_with('"').then_some((prefix + 1 + hashes + 1, Some(hashes)))
}

/// The length of a string's content.
fn text_length(rest: &str, hashes: Option<usize>) -> usize {
    if let Some(hashes) = hashes {
        return rest.find(&format!("\"{}", "#".repeat(hashes))).unwrap_or(rest.len());
    }
    let mut escaped = false;
    for (at, character) in rest.char_indices() {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at,
            _ => {}
        }
    }
    rest.len()
}

/// The length of a character or of a lifetime.
fn character(rest: &str) -> usize {
    let mut characters = rest.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => {
            characters.next();
            characters.find(|&(_, character)| character == '\'').map_or(rest.len(), |(at, _)| at + 1)
        }
        Some((at, inner)) => {
            let end = at + inner.len_utf8();
            if rest[end..].starts_with('\'') { end + 1 } else { end }
        }
        None => rest.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, tokens};

    fn of(kind: Kind, source: &str) -> Vec<String> {
        tokens(source).into_iter().filter(|token| token.kind == kind).map(|token| token.text).collect()
    }

    #[test]
    fn comments_strings_and_characters_are_apart_from_code() {
        let source = r###"
let a = 'a'; // crate::one
let b: &'static str = "crate::two \" // no";
/* outer /* crate::three */ still */ let c = r##"crate::four "# "##;
let d = b'\''; let e = '"'; let f = b"x"; r#type 0x1f 1_000.5
"###;
        let words = of(Kind::Ident, source);
        assert!(!words.iter().any(|word| word == "crate"), "{words:?}");
        assert!(["f", "type", "c"].iter().all(|word| words.iter().any(|found| found == word)), "{words:?}");
        assert_eq!(of(Kind::Text, source), [r#"crate::two \" // no"#, r##"crate::four "# "##, "x"]);
        assert_eq!(of(Kind::Comment, source), ["// crate::one", "/* outer /* crate::three */ still */"]);
    }

    #[test]
    fn a_token_has_its_line() {
        let found = tokens("a\n\"x\ny\"\nb");
        let lines: Vec<_> = found.iter().map(|token| (token.text.as_str(), token.line)).collect();
        assert_eq!(lines, [("a", 1), ("x\ny", 2), ("b", 4)]);
    }
}
