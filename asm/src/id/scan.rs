//! The forms of tokens: where each ends, told by its first byte and the bytes that may follow.
//!
//! One look at a byte says what it can be part of ([`CLASSES`]). What a mnemonic or a small number is comes out of the same
//! pass over its bytes. Nothing here reports anything; [`super::lexer`] does.

use ilo_spec::node::{Letters, Word};

/// The form of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// The end of a line.
    Break,
    /// `[A-Za-z_][A-Za-z0-9_.:/-]*`
    Word,
    /// `-?[0-9]+`
    Integer,
    /// Everything else that means to be a number; the reader of numbers decides.
    /// `[-+]?\.?[0-9][0-9A-Za-z_.]*([eE][-+][0-9A-Za-z_.]*)?`
    Number,
    /// A string that stands for itself.
    /// `"[^"\\\x00-\x1F]*"`
    Text,
    /// A string with escapes, or with characters that need one.
    /// `"([^"\\\r\n]|\\[^\r\n])*"`
    EscapedText,
    /// A string that is not closed.
    /// `"([^"\\\r\n]|\\[^\r\n])*\\?`
    OpenText,
    /// `'[^'\r\n]*'?`
    SingleText,
    /// `\$[A-Za-z0-9_{}.-]*`
    Dollar,
    /// `;[^\r\n]*`
    Comment,
    /// A comment in the manner of another language.
    /// `(#|//|--)[^\r\n]*`
    ForeignComment,
    /// `[,()\[\]{}:.]`
    Punctuation,
    /// `[=<>!+*/%&|^?~-]+`
    Operator,
    /// A character that begins no token.
    Stray,
    /// In place of a token that ends the innermost block by its indent; only the parser makes it.
    Dedent,
    /// In place of the token after the last.
    End,
}

/// A number that is not told by [`Found::value`]: negative, of more digits, or with zeros before it.
pub(super) const UNTOLD: u32 = u32::MAX;

/// What the scanner found.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) kind: Kind,
    /// Where the blanks before it begin.
    pub(super) blanks: u32,
    /// Where it begins; it ends where the scanner stands.
    pub(super) start: u32,
    /// The instruction, where it is one.
    pub(super) word: Option<Word>,
    /// The value of an integer that is written as ids and counts are, else [`UNTOLD`].
    pub(super) value: u32,
}

/// In a word, after its first byte.
const WORD: u8 = 1;
/// In a number, after its first digit.
const NUMBER: u8 = 1 << 1;
/// In an operator.
const OPERATOR: u8 = 1 << 2;
/// After a dollar.
const DOLLAR: u8 = 1 << 3;
/// Not in a text that stands for itself: what ends it, what escapes, and control characters.
const UNLIKE_TEXT: u8 = 1 << 4;
/// Punctuation.
const MARK: u8 = 1 << 5;
/// The first of a word.
const LETTER: u8 = 1 << 6;
/// The end of a line.
const LINE: u8 = 1 << 7;

/// What each byte can be part of.
static CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0_u8;
    while byte < 128 {
        let mut class = 0;
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            class |= WORD | NUMBER | DOLLAR;
        }
        if byte.is_ascii_alphabetic() || byte == b'_' {
            class |= LETTER;
        }
        if matches!(byte, b'.' | b':' | b'/' | b'-') {
            class |= WORD;
        }
        if byte == b'.' {
            class |= NUMBER;
        }
        if matches!(byte, b'{' | b'}' | b'.' | b'-') {
            class |= DOLLAR;
        }
        if matches!(
            byte,
            b'=' | b'<' | b'>' | b'!' | b'+' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' | b'?' | b'~' | b'-'
        ) {
            class |= OPERATOR;
        }
        if matches!(byte, b',' | b'(' | b')' | b'[' | b']' | b'{' | b'}' | b':' | b'.') {
            class |= MARK;
        }
        if matches!(byte, b'"' | b'\\' | 0..b' ') {
            class |= UNLIKE_TEXT;
        }
        if matches!(byte, b'\r' | b'\n') {
            class |= LINE;
        }
        classes[byte as usize] = class;
        byte += 1;
    }
    classes
};

fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

/// Goes over a source token by token.
pub(super) struct Scanner<'s> {
    source: &'s str,
    bytes: &'s [u8],
    /// The limit on a source's size makes every offset fit.
    pub(super) at: u32,
}

impl<'s> Scanner<'s> {
    /// Begins at a place in a source.
    pub(super) fn new(source: &'s str, at: u32) -> Scanner<'s> {
        Scanner { source, bytes: source.as_bytes(), at }
    }

    #[inline]
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at as usize).copied()
    }

    #[inline]
    fn ahead(&self, bytes: usize) -> Option<u8> {
        self.bytes.get(self.at as usize + bytes).copied()
    }

    #[inline]
    fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += u32::from(found);
        found
    }

    /// Passes bytes of a class.
    #[inline]
    fn pass(&mut self, wanted: u8) {
        while self.peek().is_some_and(|byte| class(byte) & wanted != 0) {
            self.at += 1;
        }
    }

    /// Goes to the end of the line.
    #[inline]
    fn line(&mut self) {
        let rest = self.bytes.get(self.at as usize..).unwrap_or_default();
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        self.at = self.at.saturating_add(u32::try_from(length).unwrap_or(u32::MAX));
    }

    /// The next token, line end or comment; `None` at the end.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Found> {
        let blanks = self.at;
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.at += 1;
        }
        let start = self.at;
        let byte = self.peek()?;
        self.at += 1;
        let mut found = Found { kind: Kind::Break, blanks, start, word: None, value: UNTOLD };
        let class = class(byte);
        found.kind = if class & LETTER != 0 {
            found.word = self.word(byte, start);
            Kind::Word
        } else if byte.is_ascii_digit() {
            return Some(Found { kind: self.digits(byte, &mut found.value), ..found });
        } else if class & LINE != 0 {
            Kind::Break
        } else {
            self.other(byte, class)
        };
        Some(found)
    }

    /// Passes a word whose first byte is behind; gives the instruction that it is.
    #[inline]
    fn word(&mut self, first: u8, start: u32) -> Option<Word> {
        let mut letters = Letters::new();
        letters.push(first);
        while let Some(byte) = self.peek().filter(|&byte| class(byte) & WORD != 0) {
            letters.push(byte);
            self.at += 1;
        }
        letters.word((self.at - start) as usize)
    }

    /// Passes a number whose first digit is behind, and a number's value where that is told.
    #[inline]
    fn digits(&mut self, first: u8, value: &mut u32) -> Kind {
        const TOLD: u32 = 9;
        let start = self.at;
        let mut number = u32::from(first - b'0');
        while let Some(digit) = self.peek().filter(u8::is_ascii_digit) {
            number = number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
            self.at += 1;
        }
        if self.peek().is_some_and(|byte| class(byte) & NUMBER != 0) {
            self.number();
            return Kind::Number;
        }
        let more = self.at - start;
        if more == 0 || (more < TOLD && first != b'0') {
            *value = number;
        }
        Kind::Integer
    }

    /// Passes what follows the digits of a number.
    #[inline(never)]
    fn number(&mut self) {
        self.pass(NUMBER);
        let last = self.bytes.get((self.at as usize).wrapping_sub(1));
        if matches!(last, Some(b'e' | b'E')) && matches!(self.peek(), Some(b'-' | b'+')) {
            self.at += 1;
            self.pass(NUMBER);
        }
    }

    /// Passes anything else whose first byte is behind.
    #[inline(never)]
    fn other(&mut self, first: u8, class: u8) -> Kind {
        let next = self.peek();
        let digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        match first {
            b'"' => self.text(),
            b';' => {
                self.line();
                Kind::Comment
            }
            b'-' | b'+' | b'.' if digit(next) || (first != b'.' && next == Some(b'.') && digit(self.ahead(1))) => {
                let point = first == b'.' || next == Some(b'.');
                self.at += u32::from(next == Some(b'.'));
                let mut value = UNTOLD;
                let kind = self.digits(b'0', &mut value);
                if kind == Kind::Integer && (point || first == b'+') { Kind::Number } else { kind }
            }
            b'#' => self.foreign_comment(),
            b'/' | b'-' if next == Some(first) => self.foreign_comment(),
            b'\'' => {
                while self.peek().is_some_and(|byte| !matches!(byte, b'\'' | b'\r' | b'\n')) {
                    self.at += 1;
                }
                self.eat(b'\'');
                Kind::SingleText
            }
            b'$' => {
                self.pass(DOLLAR);
                Kind::Dollar
            }
            _ if class & OPERATOR != 0 => {
                self.pass(OPERATOR);
                Kind::Operator
            }
            _ if class & MARK != 0 => Kind::Punctuation,
            _ => {
                while !self.source.is_char_boundary(self.at as usize) {
                    self.at += 1;
                }
                Kind::Stray
            }
        }
    }

    fn foreign_comment(&mut self) -> Kind {
        self.line();
        Kind::ForeignComment
    }

    /// Passes a string whose quote is behind.
    fn text(&mut self) -> Kind {
        while self.peek().is_some_and(|byte| class(byte) & UNLIKE_TEXT == 0) {
            self.at += 1;
        }
        if self.eat(b'"') {
            return Kind::Text;
        }
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Kind::EscapedText;
                }
                None | Some(b'\r' | b'\n') => return Kind::OpenText,
                Some(b'\\') if !matches!(self.ahead(1), None | Some(b'\r' | b'\n')) => self.at += 2,
                Some(_) => self.at += 1,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use logos::Logos;
    use proptest::prelude::*;

    /// The forms as regular expressions, of which the longest that fits counts.
    #[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
    #[logos(skip r"[ \t]+")]
    enum Form {
        #[regex(r"[\r\n]")]
        Break,
        #[regex(r"[A-Za-z_][A-Za-z0-9_.:/-]*")]
        Word,
        #[regex(r"-?[0-9]+", priority = 20)]
        Integer,
        #[regex(r"[-+]?\.?[0-9][0-9A-Za-z_.]*([eE][-+][0-9A-Za-z_.]*)?", priority = 10)]
        Number,
        #[regex(r#""[^"\\\x00-\x1F]*""#, priority = 20)]
        Text,
        #[regex(r#""([^"\\\r\n]|\\[^\r\n])*""#, priority = 10)]
        EscapedText,
        #[regex(r#""([^"\\\r\n]|\\[^\r\n])*\\?"#, priority = 5)]
        OpenText,
        #[regex(r"'[^'\r\n]*'?")]
        SingleText,
        #[regex(r"\$[A-Za-z0-9_{}.-]*")]
        Dollar,
        #[regex(r";[^\r\n]*", allow_greedy = true)]
        Comment,
        #[regex(r"(#|//|--)[^\r\n]*", priority = 20, allow_greedy = true)]
        ForeignComment,
        #[regex(r"[,()\[\]{}:.]", priority = 3)]
        Punctuation,
        #[regex(r"[=<>!+*/%&|^?~-]+", priority = 2)]
        Operator,
    }

    /// The tokens of a source by the regular expressions, what begins none by characters.
    fn by_forms(source: &str) -> Vec<(String, std::ops::Range<usize>)> {
        let mut all = Vec::new();
        for (form, range) in Form::lexer(source).spanned() {
            match form {
                Ok(form) => all.push((format!("{form:?}"), range)),
                Err(()) => all.extend(source[range.clone()].char_indices().map(|(at, c)| {
                    let start = range.start + at;
                    ("Stray".to_owned(), start..start + c.len_utf8())
                })),
            }
        }
        all
    }

    fn scanned(source: &str) -> Vec<(String, std::ops::Range<usize>)> {
        let mut scanner = Scanner::new(source, 0);
        let mut all = Vec::new();
        while let Some(found) = scanner.next() {
            let range = found.start as usize..scanner.at as usize;
            let text = &source[range.clone()];
            assert_eq!(found.word, Word::from_mnemonic(text).filter(|_| found.kind == Kind::Word), "{text}");
            let plain = text.len() <= 9 && (text == "0" || !text.starts_with(['0', '-']));
            let value = text.parse().ok().filter(|_| found.kind == Kind::Integer && plain);
            assert_eq!(found.value, value.unwrap_or(UNTOLD), "{text}");
            all.push((format!("{:?}", found.kind), range));
        }
        all
    }

    fn agree(source: &str) {
        assert_eq!(scanned(source), by_forms(source), "{source:?}");
    }

    #[test]
    fn tokens_are_those_of_the_forms() {
        for source in [
            "LET 2 CALL 0 1 0 REF 0\n  RET_OK LIT 2 nil ; done\r\n",
            "-5 -.5 +5 +.5 .5 ..5 5. 5.5e-7 1e+2e+3 1e--2 -5=x -=5 007 -0 0x1F 1_000 4294967295 999999999 1000000000",
            "--x\n- -- a\n//y\n/ //\n/=//x\n#z\n-->\n->",
            "\"plain\" \"a\\\"b\" \"a\\\" \"open\n\"open\\\n\"\t\" \"\u{1}\\\n\"é\\é\" 'one' 'two\n$a.b{c} $",
            "MATCH_MAP MATCH_MAPP AMATCH_MAP let a.b:c/d-e é@é` \u{feff}x \\ \u{7f}",
            "",
            "\"",
            "\"\\",
            "-",
            ".",
            "+.",
        ] {
            agree(source);
        }
    }

    proptest! {
        #[test]
        fn tokens_of_any_text_are_those_of_the_forms(source in "([ -~]|[-+.eE0-9\"'\\\\;/#$ \t\r\n]|é|\u{1}){0,24}") {
            agree(&source);
        }
    }
}
