//! The guide of a body in the notation `constrained`: the automaton of slots and types, driven by the bytes
//! of compact JSON.
//!
//! A `choice` is bytes with an effect. `offers` has those at each position, `values` those of values,
//! `paths` those within paths, `choices` their lists and order, `memo` those that were found before, `acts`
//! the effect of each, `handlers` both for failures of calls, `loops` for loops with a condition, `parts` for
//! `let` with a path, `names` the bound names, `texts` the texts that may be references, `machine` the state,
//! `bytes` its bytes, `close` the known end, `mask`, `ends` and `within` the tokens, `fits` the surface.

mod acts;
mod bytes;
mod choice;
mod choices;
mod close;
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
mod within;

use crate::automaton::session::Session;
use crate::automaton::state::Core;
use crate::body::{Body, BodyMark};
use crate::tokens::Refused;
use machine::{JsonMachine, JsonPoint, Next};

/// An unfinished body in `constrained`, which follows [`Session::constrained_prefix`]. A clone continues
/// independently.
pub type ConstrainedGuide<'s> = Body<JsonMachine<'s>>;

/// A position of a [`ConstrainedGuide`] to return to.
pub type ConstrainedMark = BodyMark<JsonPoint>;

impl<'s> ConstrainedGuide<'s> {
    /// Begins the body.
    pub fn new(session: &'s Session<'_>) -> ConstrainedGuide<'s> {
        let mut core = Core::new(session);
        core.arena.names = true;
        Body::of(JsonMachine::new(core))
    }

    /// The whole file.
    ///
    /// # Errors
    /// If the program has not ended.
    pub fn finish(&self) -> Result<String, Refused> {
        if self.surface.place.next != Next::End {
            return Err(Refused { at: self.surface.text.len() });
        }
        let prefix = self.surface.core.session.constrained_prefix();
        Ok(prefix + &String::from_utf8_lossy(&self.surface.text) + "\n")
    }
}
