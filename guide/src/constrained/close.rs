//! The known end of a body: at each position, the choice that leads to an end soonest.

use super::choice::{Act, Choice, choice};
use super::choices::List;
use super::machine::{Around, JsonMachine, Lex, Next, Owner};
use super::names;
use crate::automaton::constants::Flat;
use crate::automaton::offers::{self, NIL, TEXT};
use crate::automaton::state::{Core, NONE, Phase};
use crate::automaton::{arms, blocks, ends, operands};
use crate::surface::{Bytes, Ends, Out, Steps};
use ilo_asm::ast::Literal;
use ilo_spec::node::Word;
use ilo_spec::program::Number;

/// What an unfinished part becomes.
#[derive(Clone, Copy, Debug)]
pub enum Completion {
    /// It is complete.
    Whole,
    /// The choice at a place, of which this number of bytes was taken.
    Choice(usize, usize),
    /// What its bytes show.
    Bytes,
}

impl Ends for JsonMachine<'_> {
    type Becomes = Completion;

    fn completion(&mut self) -> Option<(Vec<u8>, Completion)> {
        match self.place.lex {
            Lex::Choice { depth: 0, .. } => Some((Vec::new(), Completion::Whole)),
            Lex::Choice { low, high, depth } => {
                let best = best(self, low, high)?;
                let (bytes, _) = self.choices().at(best)?;
                Some((bytes.as_bytes().get(depth..)?.to_vec(), Completion::Choice(best, depth)))
            }
            Lex::Name { start, of } => {
                Some(((names::rest_of_name(self, start, of)? + "\"").into_bytes(), Completion::Bytes))
            }
            Lex::Number { start } => Some((self.rest_of_number(start)?, Completion::Bytes)),
            Lex::Text { start, .. } => Some((self.rest_of_text(start)?, Completion::Bytes)),
            Lex::Bare { .. } => Some((self.rest_of_any_text()?, Completion::Bytes)),
        }
    }

    fn complete(&mut self, becomes: Completion, rest: &[u8]) -> bool {
        match becomes {
            Completion::Whole => true,
            Completion::Choice(choice, depth) => self.take_choice(choice, depth),
            Completion::Bytes => {
                let whole = rest.iter().all(|&byte| self.byte(byte));
                let Lex::Number { start } = self.place.lex else { return whole };
                whole && self.end_number(start)
            }
        }
    }

    fn close_step(&mut self, out: &mut Out<'_>) -> Option<bool> {
        if self.place.next == Next::End {
            return Some(true);
        }
        let from = self.text.len();
        let taken = match soonest(self) {
            Some(soonest) => {
                self.text.extend_from_slice(soonest.bytes.as_bytes());
                self.take(soonest.act)
            }
            None => match self.place.lex {
                Lex::Choice { depth: 0, .. } => {
                    best(self, 0, usize::MAX).is_some_and(|best| self.take_choice(best, 0))
                }
                _ => self.completion().is_some_and(|(rest, becomes)| self.complete(becomes, &rest)),
            },
        };
        let goes_on = taken && out(self.text.get(from..).unwrap_or_default());
        (!goes_on).then_some(false)
    }
}

/// The next choice of an end, where one is the soonest whatever the others are.
fn soonest(machine: &mut JsonMachine<'_>) -> Option<Choice> {
    if !matches!(machine.place.lex, Lex::Choice { depth: 0, .. }) {
        return None;
    }
    Some(match machine.place.next {
        Next::First | Next::Behind | Next::Step => {
            let may_end = machine.place.next != Next::Step;
            if let Some(end) = may_end.then(|| machine.end_of_block()).flatten() {
                return Some(end);
            }
            let fails = machine.core.trial(|core| ends::settle(core) && blocks::may_fail(core));
            fails.then(|| match machine.place.next {
                Next::Behind => choice(",", Act::Goes(Next::Step)),
                _ => choice("{\"raise\":", Act::Step(Word::Fail, "}")),
            })?
        }
        Next::Block(kind) if kind != Owner::Failure => {
            machine.step_may_end(machine.place.around).then(|| choice("}", Act::EndStep))?
        }
        Next::Let | Next::Part => choice(",\"expr\":", Act::BoundExpr),
        Next::Item => choice("]", Act::EndParts),
        Next::Value => soonest_value(machine)?,
        Next::Arguments => match operands::pair_counts(&machine.core)?.0 {
            0 => choice("}", Act::EndCall),
            _ => choice(",\"args\":{", Act::Arguments),
        },
        Next::After => soonest_behind_value(machine)?,
        _ => return None,
    })
}

/// The shortest constant, where one is the value.
fn soonest_value(machine: &mut JsonMachine<'_>) -> Option<Choice> {
    if machine.core.state.phase != Phase::Operand
        || machine.place.opens_step
        || matches!(machine.around(), Some(Around::Wrapped | Around::Subject))
    {
        return None;
    }
    let want = machine.core.state.want;
    if offers::is_kind(&machine.core, NIL, want) {
        return Some(choice("null", Act::Nil));
    }
    let Core { arena, session, .. } = &machine.core;
    Some(match arena.constant(session, arena.want(want))? {
        Flat::List if operands::items_end(&machine.core, want, offers::depth(&machine.core)) => {
            choice("[", Act::Begin(Word::List))
        }
        Flat::List => choice("[]", Act::Empty(Word::List)),
        Flat::Is(Literal::Bool(truth)) => choice(if truth { "true" } else { "false" }, Act::Bool(truth)),
        Flat::Is(Literal::Number(Number::Int(0))) => choice("0", Act::Number),
        Flat::Is(Literal::Text(""))
            if offers::is_kind(&machine.core, TEXT, want) && offers::key_names(&machine.core).is_none() =>
        {
            choice("\"", Act::Quote)
        }
        Flat::Is(_) | Flat::Record => return None,
    })
}

/// The same behind a value.
pub(super) fn soonest_behind_value(machine: &JsonMachine<'_>) -> Option<Choice> {
    Some(match machine.around()? {
        Around::Ends(end) => choice(end, Act::End),
        Around::Call(_) | Around::Computed | Around::Wrapped => choice("}", Act::End),
        Around::Handler { end, .. } => choice(end, Act::EndHandler),
        Around::Giving => choice("}]}}", Act::EndHandler),
        Around::Operands(0) => choice("]}", Act::End),
        Around::Operands(_) => choice(",", Act::Comma),
        Around::List => choice("]", Act::EndParts),
        Around::If => choice(",\"then\":[", Act::Open(Owner::Then)),
        Around::For(_) => choice(",\"yield\":[", Act::Open(Owner::Pass)),
        Around::Where(_) => choice(",\"yield\":[", Act::Passes),
        Around::While(_) => choice(",\"do\":[", Act::Open(Owner::While)),
        Around::Until => choice("}", Act::EndUntil),
        Around::Merge => choice(",\"set\":{", Act::Set),
        Around::Subject => choice(",\"cases\":[[", Act::Pairs),
        Around::Cases { pairs } => choice(if pairs { "]]}" } else { "}}" }, Act::EndParts),
        Around::Fields(end) => {
            let frame = machine.core.frame()?;
            let has_some = frame.given != NONE || frame.word == Word::Obj;
            let may_end = operands::missing(&machine.core, &frame).is_empty() && has_some;
            may_end.then(|| choice(end, Act::EndParts))?
        }
        Around::Step | Around::Leaving | Around::Block { .. } => return None,
    })
}

/// The index of the choice, of some, that leads to an end soonest.
pub(super) fn best(machine: &mut JsonMachine<'_>, low: usize, high: usize) -> Option<usize> {
    machine.choices();
    let choices = machine.view();
    // All tools are equally far.
    if machine.place.choices.as_ref().is_some_and(|it| matches!(it.of, List::Tools)) {
        return choices.all(low, high).next().map(|it| it.0);
    }
    let owes = machine.core.owes();
    let owed = |slot: u8| machine.core.now().calls(slot) & machine.core.state.checked != 0;
    let missing =
        machine.core.frame().map(|frame| operands::missing(&machine.core, &frame)).unwrap_or_default();
    let selects = machine.core.frame().is_some_and(|frame| arms::selecting(&machine.core, &frame).is_some());
    let rank = |bytes: &str, act: Act| match act {
        Act::Key(number) if missing.contains(&number) => (1, false),
        // The first arm is the least nested.
        Act::Listed(1..) if selects => (5, false),
        _ => (rank(act, owes, &owed), bytes.starts_with('-')),
    };
    let all = choices.all(low, high).map(|(place, bytes, act)| (rank(bytes, act), place));
    all.min().map(|it| it.1)
}

/// The distance of a choice from the end, as an order.
fn rank(act: Act, owes: bool, owed: &impl Fn(u8) -> bool) -> u8 {
    match act {
        Act::Step(Word::Fail, _)
        | Act::EndBody
        | Act::EndBlock
        | Act::EndStep
        | Act::EndHandler
        | Act::EndParts
        | Act::EndCall
        | Act::End
        | Act::Default
        | Act::Nil
        | Act::Empty(_) => 0,
        Act::Match(slot) if owes && owed(slot) => 1,
        Act::Bool(_) | Act::BoundExpr | Act::Way(Word::Let, _) => 1,
        Act::Begin(Word::List) | Act::Expr | Act::LastField(_) | Act::Open(Owner::Pass) | Act::Passes => 2,
        Act::Number | Act::Step(Word::Rollback, _) => 3,
        Act::Quote | Act::Text | Act::Listed(_) => 4,
        Act::Begin(Word::Obj) | Act::Call => 5,
        Act::Ref(_) | Act::Let => 6,
        Act::Path(_) => 7,
        Act::Step(Word::Undo, _) => 9,
        Act::Step(..) => 8,
        _ => 9,
    }
}
