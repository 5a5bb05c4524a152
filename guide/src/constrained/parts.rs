//! `let` with a path, which sets a part of a name or appends to it. The automaton sees the name bound to PUT
//! of itself, with a PUT in it for each further key.

use super::loops;
use super::machine::{Around, Binds, JsonMachine, Lex, Next};
use super::names::BOUND;
use crate::automaton::state::SLOTS;
use crate::surface::Steps;
use ilo_asm::ast::Literal;
use ilo_asm::text::is_name;
use ilo_spec::node::Word;

/// The most keys of a path.
const KEYS: usize = 4;

/// Takes the dot behind a name, or a key of its path.
pub(super) fn begin_part(machine: &mut JsonMachine<'_>, start: usize, of: Binds) -> bool {
    let written = machine.text.get(start..).and_then(|text| core::str::from_utf8(text).ok());
    let Some(name) = written.and_then(|text| text.strip_suffix('.')).map(str::to_owned) else {
        return false;
    };
    let fits = match of {
        Binds::Let => may_have_parts(machine, &name),
        Binds::Part => is_name(&name) && let_path(machine, machine.text.len() - 1).1.len() < KEYS,
        _ => false,
    };
    machine.place.lex = Lex::Name { start: machine.text.len(), of: Binds::Part };
    fits
}

/// Whether parts of a name may be set.
pub(super) fn may_have_parts(machine: &mut JsonMachine<'_>, name: &str) -> bool {
    let named = machine.place.names.iter().rev().find(|named| *named.name == *name);
    let Some(slot) = named.filter(|named| named.live).map(|named| named.slot) else { return false };
    // The value and the keys on the way have slots of their own.
    let has_room = usize::from(machine.core.state.next) + KEYS < usize::from(BOUND);
    has_room
        && machine.core.bindable(slot)
        && machine.tried(|this| {
            this.core.take_integer(slot.into());
            loops::may_change(this, Word::Put, slot)
        })
}

/// The slot and the keys of the path that ends before this byte.
fn let_path(machine: &JsonMachine<'_>, end: usize) -> (u8, Vec<String>) {
    let before = machine.text.get(..end).unwrap_or_default();
    let start = before.iter().rposition(|&byte| byte == b'"').map_or(0, |at| at + 1);
    let whole = core::str::from_utf8(before.get(start..).unwrap_or_default()).unwrap_or_default();
    let mut parts = whole.split('.');
    let root = parts.next().unwrap_or_default();
    let named = machine.place.names.iter().rev().find(|named| *named.name == *root);
    (named.map_or(SLOTS, |named| named.slot), parts.map(str::to_owned).collect())
}

/// Takes the quote behind a path.
pub(super) fn end_part(machine: &mut JsonMachine<'_>) -> bool {
    let (slot, keys) = let_path(machine, machine.text.len() - 1);
    let is_whole = keys.iter().all(|key| is_name(key));
    machine.core.take_integer(slot.into());
    for (depth, key) in keys.iter().enumerate() {
        machine.core.take_word(Word::Put);
        take_part(machine, slot, keys.get(..depth).unwrap_or_default());
        take_key(machine, key);
    }
    let kept = u8::try_from(keys.len()).unwrap_or(SLOTS);
    machine.core.state.next = machine.core.state.next.saturating_add(kept + 1).min(SLOTS);
    machine.goes_on(Next::Part);
    is_whole
}

/// The part of a slot with these keys, or an empty record.
fn take_part(machine: &mut JsonMachine<'_>, slot: u8, keys: &[String]) {
    keys.iter().for_each(|_| machine.core.take_word(Word::Get));
    machine.core.take_word(Word::Ref);
    machine.core.take_integer(slot.into());
    for key in keys {
        take_key(machine, key);
        machine.core.take_word(Word::Obj);
        machine.core.take_integer(0);
    }
}

fn take_key(machine: &mut JsonMachine<'_>, key: &str) {
    loops::given(machine, Literal::Text(key));
}

/// Begins the value that is appended to the part.
pub(super) fn begin_push_part(machine: &mut JsonMachine<'_>) {
    let (slot, keys) = let_path(machine, machine.place.from.saturating_sub(1));
    let Some((last, before)) = keys.split_last() else { return };
    machine.core.take_word(Word::Append);
    machine.core.take_word(Word::Get);
    take_part(machine, slot, before);
    take_key(machine, last);
    machine.core.take_word(Word::List);
    machine.core.take_integer(0);
    machine.opens(Around::Ends("}"), Next::Value);
}
