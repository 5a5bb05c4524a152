//! The known end of a body: at each position, the choice that leads to an end soonest.

use super::acts::Act;
use super::machine::{Lex, Machine, Next};
use crate::automaton::close::STEPS;
use crate::automaton::texts::Inside;
use ilo_spec::node::Word;

impl Machine<'_, '_> {
    /// Writes an end; `None` if none was found, which would be a defect.
    pub(super) fn close(&mut self) -> Option<Vec<u8>> {
        self.attempt(|this| {
            let from = this.text.len();
            for _ in 0..STEPS {
                if this.place.next == Next::End {
                    return this.text.get(from..).map(<[u8]>::to_vec);
                }
                let rest = this.ending()?;
                if !rest.iter().all(|&byte| this.byte(byte)) {
                    return None;
                }
            }
            None
        })
    }

    /// The next bytes of an end.
    fn ending(&mut self) -> Option<Vec<u8>> {
        match self.place.lex {
            Lex::Choice { low, high, depth } => {
                let choices = self.choices();
                let session = self.core.session;
                let owes = self.core.owes();
                let owed = |slot: u8| self.core.now().calls(slot) & self.core.state.checked != 0;
                let rank = |act: Act| rank(act, owes, &owed);
                let missing = self.core.frame().map(|frame| self.core.missing(&frame)).unwrap_or_default();
                let left = (low..high.min(choices.len(session))).filter_map(|at| choices.at(session, at));
                let (best, _) = left.min_by_key(|&(bytes, act)| {
                    let rank = match act {
                        Act::Key(number) if missing.contains(&number) => 1,
                        _ => rank(act),
                    };
                    (rank, bytes.starts_with('-'))
                })?;
                Some(best.as_bytes().get(depth..)?.to_vec())
            }
            Lex::Name { start, of } => Some((self.rest_of_name(start, of)? + "\"").into_bytes()),
            Lex::Number { start } => {
                let written = self.text.get(start..)?.to_vec();
                let whole = self.core.first_number(&written)?;
                let mut rest = whole.as_bytes().get(written.len()..)?.to_vec();
                // The byte after the number ends it.
                let behind = self.attempt(|this| {
                    this.text.extend_from_slice(&rest);
                    this.end_number(start).then(|| this.ending()).flatten()
                })?;
                rest.extend(behind);
                Some(rest)
            }
            Lex::Text { inside, .. } | Lex::Bare { inside, .. } => {
                let bytes: &[u8] = match inside {
                    Inside::Escape => b"nu\"\\/bfrt",
                    Inside::Unicode(..) => b"0123456789abcdef",
                    Inside::Character(_, low, _) => &[low],
                    Inside::Plain => b"\" abcdefghijklmnopqrstuvwxyz",
                };
                let fits = |byte: &u8| self.attempt(|this| this.byte(*byte));
                bytes.iter().copied().find(fits).map(|byte| vec![byte])
            }
        }
    }
}

/// The distance of a choice from the end, as an order.
fn rank(act: Act, owes: bool, owed: &impl Fn(u8) -> bool) -> u8 {
    match act {
        Act::Step(Word::Fail, _)
        | Act::EndBody
        | Act::EndBlock
        | Act::EndStep
        | Act::EndHandler
        | Act::EndSteps
        | Act::EndCases
        | Act::EndFields
        | Act::EndList
        | Act::EndCall
        | Act::End
        | Act::Default
        | Act::Nil
        | Act::EmptyList
        | Act::EmptyRecord => 0,
        Act::Match(slot) if owes && owed(slot) => 1,
        Act::Bool(_) | Act::BoundExpr | Act::Way(Word::Let, _) => 1,
        Act::List | Act::Expr | Act::LastField(_) => 2,
        Act::Number | Act::Mark(Word::Rollback, _) => 3,
        Act::Quote(_) | Act::Text | Act::Listed(_) => 4,
        Act::Record | Act::Call => 5,
        Act::Ref(_) | Act::Let => 6,
        Act::Path(_) => 7,
        Act::Step(..) => 8,
        _ => 9,
    }
}
