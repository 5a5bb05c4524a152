//! The characters that the programs of a session may need, whatever tokens they are written with.

use crate::automaton::session::{Callee, Session};
use ilo_asm::notation::Notation;
use ilo_spec::json::quoted;
use ilo_spec::node::TABLE;
use std::collections::BTreeSet;

/// The characters that programs of a session may need in one notation.
pub(crate) fn of(session: &Session<'_>, notation: Notation) -> BTreeSet<char> {
    let mut needs = BTreeSet::new();
    if notation == Notation::Id {
        TABLE.iter().for_each(|row| needs.extend(row.mnemonic.chars()));
        needs.extend("abcdefghijklmnopqrstuvwxyz0123456789TZ:\"-. \n".chars());
    } else {
        needs.extend(' '..='~');
        let tools = session.tools.iter().map(|tool| &tool.name);
        tools.chain(&session.fields).for_each(|name| needs.extend(quoted(name).chars()));
    }
    for tool in &session.tools {
        let Some(Callee::Tool(tool)) = tool.callee else { continue };
        let listed = tool.input().listed_texts().chain(tool.output().listed_texts());
        listed.for_each(|text| needs.extend(quoted(text).chars()));
    }
    needs
}
