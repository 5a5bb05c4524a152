//! Names that the model chooses: their form, and their slots.

use super::machine::{Around, Binds, Kind, Machine, Named, Next};
use crate::automaton::state::{NONE, SLOTS};
use crate::tokens::letters;
use ilo_asm::ast::Literal;
use ilo_asm::expr::reference::{FAILURES, INPUT};
use ilo_asm::text::is_name;
use ilo_spec::program::Number;
use std::sync::Arc;

/// The most bytes of a name, and the most of one that may be free: with four more letters, some name is
/// unused.
pub(super) const NAME: usize = 32;
pub(super) const FREE: usize = NAME - 4;
/// The slots that `let` and loops may bind; the others are for failures.
pub(super) const BOUND: u8 = 56;
/// Names that have another meaning, or that a reader would mistake for it.
const KEPT: [&str; 6] = ["null", "nil", "none", "true", "false", "text"];

/// Whether a name can be written as a reference.
pub(super) fn is_reference(name: &str) -> bool {
    is_name(name) && name != INPUT && !FAILURES.contains(&name)
}

/// Whether a name may be bound, if it is new.
pub(super) fn may_be_bound(name: &str) -> bool {
    is_reference(name) && !KEPT.contains(&name)
}

impl Machine<'_> {
    /// The slot of a new name; `None` if none is left.
    pub(super) fn new_slot(&self, of: Binds) -> Option<u8> {
        // Each open `try` needs one for its failure.
        let is_try = |it: &Around| matches!(it, Around::Block { kind: Kind::Try, .. });
        let kept = || u8::try_from(self.constructs().filter(is_try).count()).unwrap_or(SLOTS);
        let most = if of == Binds::Failure { SLOTS.saturating_sub(kept()) } else { BOUND };
        if self.core.state.next < most {
            return Some(self.core.state.next);
        }
        // The slot of a name that is no longer read.
        let is_free = |slot: u8| {
            let live = self.place.names.iter().any(|named| named.live && named.slot == slot);
            !live && self.core.bindable(slot)
        };
        let ended = self.place.names.iter().filter(|named| !named.live).map(|named| named.slot);
        ended.filter(|_| of == Binds::Failure).find(|&slot| is_free(slot))
    }

    /// The slot of a name that is bound here.
    fn slot_of(&self, name: &str, of: Binds) -> Option<u8> {
        if of == Binds::Part {
            return is_name(name).then_some(SLOTS);
        }
        if !may_be_bound(name) {
            return None;
        }
        match self.place.names.iter().rev().find(|named| *named.name == *name) {
            Some(named) if named.live && of == Binds::Let => {
                Some(named.slot).filter(|&slot| self.core.bindable(slot))
            }
            Some(_) => None,
            None => self.new_slot(of),
        }
    }

    pub(super) fn in_name(&mut self, start: usize, of: Binds, byte: u8) -> bool {
        let length = self.text.len() - start;
        let written = self.text.get(start..).unwrap_or_default();
        let before = written.len().checked_sub(2).and_then(|at| written.get(at).copied());
        match byte {
            b'"' if of == Binds::Part => self.end_part(),
            b'.' => length > 1 && self.begin_part(start, of),
            b'"' => self.end_name(start, of),
            b'a'..=b'z' => length <= FREE || self.is_free(start, of),
            b'0'..=b'9' | b'_' => length > 1 && (length <= FREE || self.is_free(start, of)),
            b'-' => length > 1 && length < FREE && before != Some(b'-'),
            _ => false,
        }
    }

    fn written(&self, start: usize) -> &str {
        core::str::from_utf8(self.text.get(start..).unwrap_or_default()).unwrap_or_default()
    }

    fn is_free(&self, start: usize, of: Binds) -> bool {
        let name = self.written(start);
        let is_begun = |named: &Named| named.name.starts_with(name);
        name.len() <= NAME
            && if of != Binds::Part && !self.place.names.iter().any(is_begun) {
                self.new_slot(of).is_some()
            } else {
                self.rest_of_name(start, of).is_some()
            }
    }

    /// The letters that complete a beginning to a name that may be bound.
    pub(super) fn rest_of_name(&self, start: usize, of: Binds) -> Option<String> {
        let begun = self.written(start);
        let fits = |end: &String| self.slot_of(&(begun.to_owned() + end), of).is_some();
        let most = u32::try_from(NAME.saturating_sub(begun.len())).unwrap_or_default().min(4);
        (0..=most).flat_map(letters).find(fits)
    }

    /// Takes the closing quote.
    fn end_name(&mut self, start: usize, of: Binds) -> bool {
        let name = self.written(start).trim_end_matches('"').to_owned();
        let Some(slot) = self.slot_of(&name, of) else { return false };
        self.bind_name(&name, slot, of);
        true
    }

    /// Takes the closing quote of some new name.
    pub(super) fn end_new_name(&mut self, of: Binds) -> bool {
        let Some(slot) = self.new_slot(of) else { return false };
        self.place.is_guess = true;
        self.bind_name("", slot, of);
        true
    }

    fn bind_name(&mut self, name: &str, slot: u8, of: Binds) {
        let names = self.place.names.len();
        if !self.place.names.iter().any(|named| *named.name == *name) {
            Arc::make_mut(&mut self.place.names).push(Named { name: name.into(), slot, live: true });
        }
        if !matches!(of, Binds::Part | Binds::Failure) {
            self.core.take_integer(slot.into());
        }
        match of {
            Binds::Let => self.goes_on(Next::Let),
            Binds::Item => self.opens(Around::For(names), Next::In),
            Binds::Index => {
                self.given(Literal::Number(Number::Int(0)));
                self.goes_on(Next::Passes);
            }
            Binds::Part => {}
            Binds::Failure => {
                self.begin_failure(slot);
                if let Some(Around::Handler { slot, end, .. }) = self.around() {
                    self.replace(Around::Handler { slot, names, end });
                    self.goes_on(Next::Handler);
                } else {
                    self.goes_on(Next::Arm(names));
                }
            }
        }
    }

    /// Ends the names of a loop, from an index on, if it has no BREAK: they are no longer read or bound.
    pub(super) fn end_loop_names(&mut self, from: usize) {
        let block = self.core.block();
        if self.core.innermost_loop(&block).is_some_and(|of| of.broken != NONE) {
            return;
        }
        Arc::make_mut(&mut self.place.names).iter_mut().skip(from).for_each(|named| named.live = false);
    }

    /// The names whose slots the next node may take.
    pub(super) fn named(&self) -> Vec<(String, u8)> {
        let live = self.place.names.iter().filter(|named| named.live);
        let fit = live.filter(|named| self.core.takes_integer(named.slot.into()));
        fit.map(|named| (named.name.to_string(), named.slot)).collect()
    }
}
