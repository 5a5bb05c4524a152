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

#[inline]
fn class(byte: u8) -> u8 {
    CLASSES[usize::from(byte)]
}

/// Goes over a source token by token. What passes something is given where that begins, and gives where it ends: so the
/// place stays in a register of the machine. The limit on a source's size makes every offset fit.
pub(super) struct Scanner<'s> {
    source: &'s str,
    pub(super) at: u32,
}

impl<'s> Scanner<'s> {
    /// Begins at a place in a source.
    pub(super) fn new(source: &'s str, at: u32) -> Scanner<'s> {
        Scanner { source, at }
    }

    #[inline]
    fn byte(&self, at: u32) -> Option<u8> {
        self.source.as_bytes().get(at as usize).copied()
    }

    #[inline]
    fn is(&self, at: u32, wanted: u8) -> bool {
        self.byte(at).is_some_and(|byte| class(byte) & wanted != 0)
    }

    /// The next token, line end or comment; `None` at the end.
    #[inline]
    pub(super) fn next(&mut self) -> Option<Found> {
        let mut start = self.at;
        let byte = loop {
            match self.byte(start)? {
                b' ' | b'\t' => start += 1,
                byte => break byte,
            }
        };
        let mut found = Found { kind: Kind::Break, blanks: self.at, start, word: None, value: UNTOLD };
        let mut at = start + 1;
        let class = class(byte);
        if class & LETTER != 0 {
            let mut letters = Letters::new();
            letters.push(byte);
            while let Some(byte) = self.byte(at).filter(|&byte| self::class(byte) & WORD != 0) {
                letters.push(byte);
                at += 1;
            }
            found.kind = Kind::Word;
            found.word = letters.word((at - start) as usize);
        } else if byte.is_ascii_digit() {
            (found.kind, found.value, at) = self.digits(byte, at);
        } else if class & LINE == 0 {
            (found.kind, at) = self.other(byte, class, at);
        }
        self.at = at;
        Some(found)
    }

    /// Passes bytes of a class.
    #[inline]
    fn pass(&self, wanted: u8, mut at: u32) -> u32 {
        while self.is(at, wanted) {
            at += 1;
        }
        at
    }

    /// Passes a number whose first digit is behind, and tells its value.
    #[inline]
    fn digits(&self, first: u8, start: u32) -> (Kind, u32, u32) {
        const TOLD: u32 = 9;
        let mut number = u32::from(first - b'0');
        let mut at = start;
        while let Some(digit) = self.byte(at).filter(u8::is_ascii_digit) {
            number = number.wrapping_mul(10).wrapping_add(u32::from(digit - b'0'));
            at += 1;
        }
        if self.is(at, NUMBER) {
            return (Kind::Number, UNTOLD, self.number(at));
        }
        let more = at - start;
        let told = more == 0 || (more < TOLD && first != b'0');
        (Kind::Integer, if told { number } else { UNTOLD }, at)
    }

    /// Passes what follows the digits of a number.
    #[inline(never)]
    fn number(&self, at: u32) -> u32 {
        let at = self.pass(NUMBER, at);
        let exponent = matches!(self.byte(at.wrapping_sub(1)), Some(b'e' | b'E'));
        if exponent && matches!(self.byte(at), Some(b'-' | b'+')) { self.pass(NUMBER, at + 1) } else { at }
    }

    /// Passes anything else whose first byte is behind.
    #[inline(never)]
    fn other(&self, first: u8, class: u8, at: u32) -> (Kind, u32) {
        let next = self.byte(at);
        let digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        match first {
            b'"' => self.text(at),
            b';' => (Kind::Comment, self.line(at)),
            b'-' | b'+' | b'.' if digit(next) => self.signed(first, first == b'.', at),
            b'-' | b'+' if next == Some(b'.') && digit(self.byte(at + 1)) => self.signed(first, true, at + 1),
            b'#' => (Kind::ForeignComment, self.line(at)),
            b'/' | b'-' if next == Some(first) => (Kind::ForeignComment, self.line(at)),
            b'\'' => {
                let mut at = at;
                while self.byte(at).is_some_and(|byte| !matches!(byte, b'\'' | b'\r' | b'\n')) {
                    at += 1;
                }
                (Kind::SingleText, at + u32::from(self.byte(at) == Some(b'\'')))
            }
            b'$' => (Kind::Dollar, self.pass(DOLLAR, at)),
            _ if class & OPERATOR != 0 => (Kind::Operator, self.pass(OPERATOR, at)),
            _ if class & MARK != 0 => (Kind::Punctuation, at),
            _ => {
                let mut at = at;
                while !self.source.is_char_boundary(at as usize) {
                    at += 1;
                }
                (Kind::Stray, at)
            }
        }
    }

    /// Passes a number from its first digit on, behind a sign or a point.
    fn signed(&self, first: u8, point: bool, at: u32) -> (Kind, u32) {
        match self.digits(b'0', at) {
            (Kind::Integer, _, at) if first == b'-' && !point => (Kind::Integer, at),
            (_, _, at) => (Kind::Number, at),
        }
    }

    /// The end of the line.
    fn line(&self, at: u32) -> u32 {
        let rest = self.source.as_bytes().get(at as usize..).unwrap_or_default();
        let length = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        u32::try_from(length).map_or(u32::MAX, |length| at + length)
    }

    /// Passes a string whose quote is behind.
    fn text(&self, at: u32) -> (Kind, u32) {
        let mut at = at;
        while self.byte(at).is_some_and(|byte| class(byte) & UNLIKE_TEXT == 0) {
            at += 1;
        }
        if self.byte(at) == Some(b'"') {
            return (Kind::Text, at + 1);
        }
        loop {
            at += match self.byte(at) {
                Some(b'"') => return (Kind::EscapedText, at + 1),
                None | Some(b'\r' | b'\n') => return (Kind::OpenText, at),
                Some(b'\\') if !matches!(self.byte(at + 1), None | Some(b'\r' | b'\n')) => 2,
                Some(_) => 1,
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
