//! `let` with a path, which sets a part of a name or appends to it. The automaton sees the name bound to PUT
//! of itself, with a PUT in it for each further key.

use super::machine::{Around, Binds, Lex, Machine, Next};
use super::names::BOUND;
use crate::automaton::state::SLOTS;
use crate::surface::Steps;
use ilo_asm::ast::Literal;
use ilo_asm::text::is_name;
use ilo_spec::node::Word;

/// The most keys of a path.
const KEYS: usize = 4;

impl Machine<'_> {
    /// Takes the dot behind a name, or a key of its path.
    pub(super) fn begin_part(&mut self, start: usize, of: Binds) -> bool {
        let written = self.text.get(start..).and_then(|text| core::str::from_utf8(text).ok());
        let Some(name) = written.and_then(|text| text.strip_suffix('.')).map(str::to_owned) else {
            return false;
        };
        let fits = match of {
            Binds::Let => self.may_have_parts(&name),
            Binds::Part => is_name(&name) && self.let_path(self.text.len() - 1).1.len() < KEYS,
            _ => false,
        };
        self.place.lex = Lex::Name { start: self.text.len(), of: Binds::Part };
        fits
    }

    /// Whether parts of a name may be set.
    pub(super) fn may_have_parts(&mut self, name: &str) -> bool {
        let named = self.place.names.iter().rev().find(|named| *named.name == *name);
        let Some(slot) = named.filter(|named| named.live).map(|named| named.slot) else { return false };
        // The value and the keys on the way have slots of their own.
        let has_room = usize::from(self.core.state.next) + KEYS < usize::from(BOUND);
        has_room
            && self.core.bindable(slot)
            && self.tried(|this| {
                this.core.take_integer(slot.into());
                this.may_change(Word::Put, slot)
            })
    }

    /// The slot and the keys of the path that ends before this byte.
    fn let_path(&self, end: usize) -> (u8, Vec<String>) {
        let before = self.text.get(..end).unwrap_or_default();
        let start = before.iter().rposition(|&byte| byte == b'"').map_or(0, |at| at + 1);
        let whole = core::str::from_utf8(before.get(start..).unwrap_or_default()).unwrap_or_default();
        let mut parts = whole.split('.');
        let root = parts.next().unwrap_or_default();
        let named = self.place.names.iter().rev().find(|named| *named.name == *root);
        (named.map_or(SLOTS, |named| named.slot), parts.map(str::to_owned).collect())
    }

    /// Takes the quote behind a path.
    pub(super) fn end_part(&mut self) -> bool {
        let (slot, keys) = self.let_path(self.text.len() - 1);
        let is_whole = keys.iter().all(|key| is_name(key));
        self.core.take_integer(slot.into());
        for (depth, key) in keys.iter().enumerate() {
            self.core.take_word(Word::Put);
            self.take_part(slot, keys.get(..depth).unwrap_or_default());
            self.take_key(key);
        }
        let kept = u8::try_from(keys.len()).unwrap_or(SLOTS);
        self.core.state.next = self.core.state.next.saturating_add(kept + 1).min(SLOTS);
        self.goes_on(Next::Part);
        is_whole
    }

    /// The part of a slot with these keys, or an empty record.
    fn take_part(&mut self, slot: u8, keys: &[String]) {
        keys.iter().for_each(|_| self.core.take_word(Word::Get));
        self.core.take_word(Word::Ref);
        self.core.take_integer(slot.into());
        for key in keys {
            self.take_key(key);
            self.core.take_word(Word::Obj);
            self.core.take_integer(0);
        }
    }

    fn take_key(&mut self, key: &str) {
        self.given(Literal::Text(key));
    }

    /// Begins the value that is appended to the part.
    pub(super) fn begin_push_part(&mut self) {
        let (slot, keys) = self.let_path(self.place.from.saturating_sub(1));
        let Some((last, before)) = keys.split_last() else { return };
        self.core.take_word(Word::Append);
        self.core.take_word(Word::Get);
        self.take_part(slot, before);
        self.take_key(last);
        self.core.take_word(Word::List);
        self.core.take_integer(0);
        self.opens(Around::Ends("}"), Next::Value);
    }
}
