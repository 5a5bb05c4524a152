//! Choices that are expensive to find, by the body before them: masks look at the same positions several
//! times, until the body has passed them.

use super::choices::Choices;
use super::machine::{Around, JsonMachine, Next};
use hashbrown::HashMap;

/// The most positions that are kept, and the most bytes of the body before each. Then the memo begins anew.
const MOST: usize = 256;
const BYTES: usize = 512;

/// Choices by what the body has after a common beginning.
#[derive(Clone, Debug)]
pub(super) struct Memo {
    /// The length of the common beginning.
    base: usize,
    known: HashMap<Box<[u8]>, Choices>,
}

impl Memo {
    pub(super) fn memory(&self) -> usize {
        let known: usize = self.known.iter().map(|(key, choices)| key.len() + choices.memory()).sum();
        known + self.known.capacity() * (size_of::<(Box<[u8]>, Choices)>() + 1)
    }

    /// Removes everything if the body becomes shorter than the common beginning.
    pub(super) fn cut(&mut self, length: usize) {
        if length < self.base {
            *self = Memo::new(length);
        }
    }

    /// An empty memo for bodies with a beginning of this length.
    pub(super) fn new(length: usize) -> Memo {
        Memo { base: length, known: HashMap::new() }
    }
}

/// Finds the choices here, or those that were found when this position was looked at before.
pub(super) fn known_offers(machine: &mut JsonMachine<'_>) -> Choices {
    let is_expensive =
        matches!(
            machine.place.next,
            Next::Value
                | Next::Item
                | Next::First
                | Next::Step
                | Next::Behind
                | Next::Block(_)
                | Next::Let
                | Next::Key
        ) || matches!((machine.place.next, machine.around()), (Next::After, Some(Around::Fields(_))));
    if !is_expensive || machine.place.is_guess {
        return machine.offers();
    }
    // The memo may have begun anew within a choice.
    let Some(key) = machine.text.get(machine.memo.base..machine.place.from) else { return machine.offers() };
    if let Some(known) = machine.memo.known.get(key) {
        return known.clone();
    }
    let mut key: Box<[u8]> = key.into();
    if machine.memo.known.len() >= MOST || key.len() > BYTES {
        (machine.memo, key) = (Memo::new(machine.place.from), [].into());
    }
    let found = machine.offers();
    machine.memo.known.insert(key, found.clone());
    found
}
