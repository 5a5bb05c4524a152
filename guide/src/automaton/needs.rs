//! The characters that the programs of a session may need, whatever tokens they are written with.

use crate::automaton::session::{Callee, Session};
use ilo_asm::notation::Notation;
use ilo_spec::node::TABLE;
use std::collections::BTreeSet;

/// What programs of a session may need: bytes of ASCII, and other characters.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs {
    pub(crate) ascii: BTreeSet<u8>,
    pub(crate) others: BTreeSet<char>,
}

impl Needs {
    /// Those of one notation.
    pub(crate) fn of(session: &Session<'_>, notation: Notation) -> Needs {
        let mut needs = Needs::default();
        if notation == Notation::Id {
            TABLE.iter().for_each(|row| needs.text(row.mnemonic));
            needs.text("abcdefghijklmnopqrstuvwxyz0123456789TZ:\"-. \n");
        } else {
            needs.ascii.extend(b' '..=b'~');
            session.tools.iter().for_each(|tool| needs.quoted(&tool.name));
            session.fields.iter().for_each(|name| needs.quoted(name));
        }
        for tool in &session.tools {
            let Some(Callee::Tool(tool)) = tool.callee else { continue };
            for text in tool.input().listed_texts().chain(tool.output().listed_texts()) {
                needs.quoted(text);
            }
        }
        needs
    }

    fn quoted(&mut self, text: &str) {
        self.text(&ilo_spec::json::quoted(text));
    }

    fn text(&mut self, text: &str) {
        for char in text.chars() {
            match u8::try_from(char) {
                Ok(byte) if byte.is_ascii() => drop(self.ascii.insert(byte)),
                _ => drop(self.others.insert(char)),
            }
        }
    }
}
