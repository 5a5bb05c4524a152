//! The guide of a body in the notation `constrained`: the automaton of slots and types, driven by the bytes
//! of compact JSON.
//!
//! A `choice` is bytes with an effect. `offers` has those at each position, `values` those of values,
//! `paths` those within paths, `choices` their lists, `views` their order, `memo` those that were found
//! before, `acts` the effect of each, `handlers` both for failures of calls, `loops` for
//! loops with a condition, `parts` for `let` with a path, `names` the bound names, `texts`
//! the texts that may be references, `machine` the bytes, `close` the known end, `mask`, `ends`, `walk` and
//! `within` the tokens, `budget` and `fits` the limit on them, `cuts` the lengths of ends.

mod acts;
mod budget;
mod choice;
mod choices;
mod close;
mod cuts;
mod ends;
mod fits;
mod handlers;
mod loops;
mod machine;
mod mask;
mod memo;
mod names;
mod offers;
mod parts;
mod paths;
mod texts;
mod values;
mod views;
mod walk;
mod within;

use crate::automaton::session::Session;
use crate::automaton::state::Core;

use crate::tokens::{self, Follows, Refused};
use crate::vocab::{Lacks, Vocab};
use budget::Plan;
use ilo_asm::catalog::Catalog;
use ilo_asm::notation::Notation;
use machine::{Lex, Machine, Next, Point};

/// Something that may come next in a body in `constrained`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// These bytes.
    Bytes(String),
    /// A bound name, up to its closing quote.
    Name,
    /// A text, up to its closing quote.
    Text,
    /// More of a number.
    Number,
    /// The end of the program.
    End,
}

/// A position to return to.
#[derive(Clone)]
pub struct ConstrainedMark(Point);

impl std::fmt::Debug for ConstrainedMark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ConstrainedMark({})", self.0.text)
    }
}

/// An unfinished body in `constrained`, which follows [`Session::constrained_prefix`]. A clone continues
/// independently.
#[derive(Clone)]
pub struct ConstrainedGuide<'s, 'c> {
    machine: Machine<'s, 'c>,
    /// A known end of the program, when a budget has needed one.
    plan: Option<Plan>,
}

impl<'s, 'c> ConstrainedGuide<'s, 'c> {
    /// Begins the body.
    pub fn new(session: &'s Session<'c>) -> ConstrainedGuide<'s, 'c> {
        let core = Core { names: true, ..Core::new(session) };
        ConstrainedGuide { machine: Machine::new(core), plan: None }
    }

    pub(crate) fn session(&self) -> &'s Session<'c> {
        self.machine.core.session
    }

    /// Whether a vocabulary has a token for each byte that the program may need. If not, a model with it may
    /// get stuck, at the first token or later.
    ///
    /// # Errors
    /// What it lacks.
    pub fn can_write(&self, vocab: &Vocab) -> Result<(), Lacks> {
        vocab.can_write(self.session(), Notation::Constrained)
    }

    /// The approximate number of bytes of the guide.
    pub fn memory(&self) -> usize {
        self.machine.memory() + size_of::<Self>()
    }

    /// The body so far.
    pub fn text(&self) -> &[u8] {
        &self.machine.text
    }

    /// Takes bytes of the body.
    ///
    /// # Errors
    /// A byte that may not come next. Then nothing has changed.
    pub fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        let point = self.machine.point();
        for (at, &byte) in bytes.iter().enumerate() {
            if !self.machine.byte(byte) {
                self.machine.back(&point);
                return Err(Refused { at });
            }
        }
        self.machine.forget_choices();
        Ok(())
    }

    /// The bytes that may come next.
    pub fn next_bytes(&mut self) -> Vec<u8> {
        self.prepare();
        (0..=u8::MAX).filter(|&byte| self.machine.attempt(|machine| machine.byte(byte))).collect()
    }

    /// Computes the choices, before several bytes are tried.
    fn prepare(&mut self) {
        if matches!(self.machine.place.lex, Lex::Choice { .. }) {
            self.machine.choices();
        }
    }

    /// What may come next. Within a part, the rest of it.
    #[allow(clippy::should_implement_trait, reason = "it lists choices and does not advance")]
    pub fn next(&mut self) -> Vec<Piece> {
        match self.machine.place.lex {
            _ if self.may_end() => vec![Piece::End],
            Lex::Choice { low, high, depth } => {
                let all = self.machine.choices().all(low, high);
                all.map(|it| Piece::Bytes(it.1.get(depth..).unwrap_or_default().to_owned())).collect()
            }
            Lex::Text { .. } => vec![Piece::Text],
            Lex::Bare { .. } => {
                let mut all = vec![Piece::Text];
                all.extend(self.machine.rests().into_iter().map(Piece::Bytes));
                all
            }
            Lex::Name { .. } => vec![Piece::Name],
            Lex::Number { .. } => vec![Piece::Number],
        }
    }

    /// Whether the program has ended.
    pub fn may_end(&self) -> bool {
        self.machine.place.next == Next::End
    }

    /// The position in the program, to return to.
    pub fn mark(&self) -> ConstrainedMark {
        ConstrainedMark(self.machine.mark())
    }

    /// Returns to an earlier position of this program. Marks of later positions are then invalid: to return
    /// to one of a longer text changes nothing, and what follows another one is not specified.
    pub fn rollback(&mut self, mark: &ConstrainedMark) {
        if mark.0.text <= self.machine.text.len() {
            self.machine.back(&mark.0);
        }
    }

    /// A text that ends the program.
    pub fn close(&mut self) -> Option<Vec<u8>> {
        self.machine.close()
    }

    /// The bytes that must come next: as long as there is only one choice.
    pub fn forced(&mut self) -> Vec<u8> {
        const MOST: usize = 4096;
        let point = self.machine.point();
        let mut forced = Vec::new();
        while forced.len() < MOST && !self.may_end() {
            let next = self.next_bytes();
            let [only] = next[..] else { break };
            self.machine.byte(only);
            forced.push(only);
        }
        self.machine.back(&point);
        forced
    }

    /// Takes a token. The end token changes nothing.
    ///
    /// # Errors
    /// A token that may not come next. Then nothing has changed.
    pub fn accept(&mut self, vocab: &Vocab, token: u32) -> Result<(), Refused> {
        tokens::accept(self, vocab, token)
    }

    /// The number of these tokens, from the first, that may come next in order. Nothing changes.
    pub fn validate(&mut self, vocab: &Vocab, tokens: &[u32]) -> usize {
        tokens::validate(self, vocab, tokens)
    }

    /// The tokens that must come next, as the model's tokenizer splits them, without those at the end that a
    /// longer token could cover together with what follows. `encode` is that tokenizer, such as
    /// [`Vocab::cut`].
    pub fn forced_tokens(
        &mut self,
        vocab: &Vocab,
        encode: impl FnOnce(&[u8]) -> Option<Vec<u32>>,
    ) -> Vec<u32> {
        tokens::forced(self, vocab, encode)
    }

    /// The whole file.
    ///
    /// # Errors
    /// If the program has not ended.
    pub fn finish(&self) -> Result<String, Refused> {
        if !self.may_end() {
            return Err(Refused { at: self.machine.text.len() });
        }
        let prefix = self.session().constrained_prefix();
        Ok(prefix + &String::from_utf8_lossy(&self.machine.text) + "\n")
    }

    /// Builds the file, for tests and hosts that want to be sure. Returns its first error.
    ///
    /// # Errors
    /// If the program has not ended, or the file does not build.
    pub fn check(&self, catalog: &Catalog) -> Result<(), String> {
        let file = self.finish().map_err(|error| error.to_string())?;
        tokens::check(&file, Notation::Constrained, catalog)
    }
}

impl Follows for ConstrainedGuide<'_, '_> {
    type Mark = ConstrainedMark;

    fn mark(&self) -> ConstrainedMark {
        ConstrainedGuide::mark(self)
    }

    fn rollback(&mut self, mark: &ConstrainedMark) {
        ConstrainedGuide::rollback(self, mark);
    }

    fn is_whole(&mut self) -> bool {
        ConstrainedGuide::may_end(self)
    }

    fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        ConstrainedGuide::accept_bytes(self, bytes)
    }

    fn forced(&mut self) -> Vec<u8> {
        ConstrainedGuide::forced(self)
    }
}
