//! Whether a vocabulary can write whatever a program may need. If it has a token for each byte of that alone,
//! every end can be written, however the tokens before it were cut.

use super::Vocab;
use crate::automaton::session::Session;
use ilo_asm::notation::Notation;
use std::fmt;

/// The bytes, as text, for which a vocabulary has no token, although a program may need them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lacks(pub Vec<String>);

impl fmt::Display for Lacks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown: Vec<String> = self.0.iter().map(|it| format!("`{}`", it.escape_debug())).collect();
        write!(
            f,
            "the vocabulary has no token for {}, which a program may need: take a tokenizer with a token for each \
             byte, or the other notation",
            shown.join(", ")
        )
    }
}

impl std::error::Error for Lacks {}

impl Vocab {
    /// Whether each byte of a program in a notation, ID text or `constrained`, can be written.
    ///
    /// # Errors
    /// What cannot.
    pub fn can_write(&self, session: &Session<'_>, notation: Notation) -> Result<(), Lacks> {
        let lacks = |bytes: &[u8]| !self.has(bytes);
        let is_missing = |char: &char| {
            let mut bytes = [0; 4];
            let bytes: &[u8] = char.encode_utf8(&mut bytes).as_bytes();
            // A token that ends within a character leaves the rest of it.
            bytes.iter().any(|&byte| lacks(&[byte])) && (self.splits || lacks(bytes))
        };
        let needs = session.needs(notation).iter().copied();
        let mut missing: Vec<String> = needs.filter(is_missing).map(String::from).collect();
        if self.splits {
            let rest = [0x80, 0x90, 0xA0].into_iter().filter(|&byte| lacks(&[byte]));
            missing.extend(rest.map(|byte| format!("the byte {byte:#04x}")));
        }
        if missing.is_empty() { Ok(()) } else { Err(Lacks(missing)) }
    }

    /// Whether a token has exactly these bytes.
    fn has(&self, bytes: &[u8]) -> bool {
        let first = match bytes {
            [byte] => self.with_first(*byte).first(),
            _ => self.beginning(bytes).first(),
        };
        first.is_some_and(|&token| self.token(token) == bytes)
    }
}

/// Whether a token ends within a character.
pub(super) fn splits(token: &[u8]) -> bool {
    let ends = |length: usize| token.len().checked_sub(length).and_then(|at| token.get(at..));
    (1..4).filter_map(ends).any(|end| {
        let begins = matches!(end.first(), Some(0xC2..=0xF4));
        begins && core::str::from_utf8(end).is_err_and(|error| error.error_len().is_none())
    })
}
