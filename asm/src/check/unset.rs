//! Why a slot is unset at a point, and how messages say so.

use super::fixes::{slot_name, slot_place};
use super::slot_events::Event;
use crate::ast::{Function, Slot};
use crate::diagnostic::Diagnostic;
use crate::dialect::terms::Terms;
use crate::span::Span;
use core::ops::Range;
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use std::borrow::Cow;

/// Why a slot is unset at a point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Unset {
    /// Nothing sets it before.
    Never,
    /// A path through this IF, MATCH, FOR or TRY leaves it unset.
    Path(Word, Span),
    /// The body of the loop sets it, but only later in the iteration.
    FirstPass(Span),
    /// A MATCH has taken the result.
    Matched(Span),
}

impl Unset {
    /// Why a slot is unset at an event: the last binding of it is on a path that joined others, or control
    /// has not come to it yet, or a MATCH has taken the result.
    pub(super) fn at(list: &[Event], here: usize, slot: Slot) -> Unset {
        let is_bound = |events: Range<usize>| {
            list.get(events).unwrap_or_default().iter().any(|event| event.binds() == Some(slot))
        };
        let mut at = here;
        while let Some(before) = at.checked_sub(1) {
            at = before;
            let Some(&event) = list.get(at) else { break };
            match event {
                Event::Match(matched, span) if matched == slot => return Unset::Matched(span),
                Event::Join(opening)
                | Event::Branch(opening)
                | Event::Handler(_, opening)
                | Event::Repeat(_, opening)
                | Event::Done(_, opening) => {
                    let end = at;
                    at = opening as usize;
                    let (word, span) = match list.get(at) {
                        Some(&Event::Fork(word, span)) => (word, span),
                        Some(&Event::Loop(_, span)) => (Word::For, span),
                        _ => continue,
                    };
                    let taken = at.checked_sub(1).and_then(|before| list.get(before));
                    let is_taken = matches!(taken, Some(Event::Match(matched, _)) if *matched == slot);
                    if !matches!(event, Event::Branch(_)) && !is_taken && is_bound(at..end) {
                        return Unset::Path(word, span);
                    }
                }
                Event::Loop(id, span) => {
                    let ends = |event: &Event| matches!(event, Event::Repeat(end, _) if *end == id);
                    let end = list.iter().position(ends).unwrap_or(list.len());
                    let later = list.get(here + 1..end).unwrap_or_default().iter();
                    let mut next_pass = later.chain(list.get(here));
                    match next_pass.find(|event| event.touches(slot)) {
                        Some(&Event::Match(_, span)) => return Unset::Matched(span),
                        Some(_) => return Unset::FirstPass(span),
                        None => {}
                    }
                }
                _ => {}
            }
        }
        Unset::Never
    }

    /// Why a slot is unset, as a clause after "but".
    pub(super) fn clause(self, terms: Terms) -> String {
        match self {
            Unset::Never => "nothing sets it before".to_owned(),
            Unset::Matched(_) => {
                terms.choose("a MATCH has taken its result out", "its call failed").to_owned()
            }
            Unset::FirstPass(_) => format!("it is not set in the first pass of a {}", terms.word(Word::For)),
            Unset::Path(word, _) => format!("the {} before may leave it unset", construct(word, terms)),
        }
    }

    /// Points to the code that leaves a slot unset.
    pub(super) fn point(self, diagnostic: Diagnostic, terms: Terms) -> Diagnostic {
        let (span, what) = match self {
            Unset::Never => return diagnostic,
            Unset::Path(_, span) | Unset::FirstPass(span) => (span, "not set on a path here"),
            Unset::Matched(span) => (
                span,
                terms.choose("taken apart by this MATCH; its OK arm binds the value", "this is the call"),
            ),
        };
        diagnostic.related(span, what)
    }

    /// A read of a slot that is unset on some path.
    pub(super) fn read(self, function: &Function<'_>, slot: Slot, reference: Span) -> Diagnostic {
        let terms = Terms::of(function.notation);
        let (name, why) = (slot_name(function, slot), self.clause(terms));
        let span = slot_place(function, slot, reference);
        let diagnostic = Diagnostic::new(Code::UnsetSlot, span, format!("{name} is read, but {why}"));
        let diagnostic = self
            .point(diagnostic, terms)
            .expected(format!("a {} that every path here has bound", terms.slot), format!("{name}: {why}"));
        let before = match self {
            Unset::Path(word, _) => word,
            Unset::FirstPass(_) => Word::For,
            Unset::Never => return diagnostic,
            Unset::Matched(_) => {
                let how = terms.choose(
                    "to undo the call if something later fails, write ROLLBACK after the call; to give it another value, \
                     bind it in the ERR arm; to keep what it held before, bind the call to another slot, and this one in \
                     the OK arm",
                    "to undo the call if something later fails, write `rollback` beside the call; to give it another \
                     value, use `value` in a handler beside the `call` itself, or `let` on the `match` with `then`; to \
                     keep what it held before, give the call another name, and bind this one in its `then`",
                );
                return diagnostic.help(format!(
                    "if its call failed, it has no value, and there is nothing to undo; {how}"
                ));
            }
        };
        let before = construct(before, terms);
        diagnostic.help(format!("bind it before the {before} too, to the value that it has then"))
    }
}

/// What a message calls an IF, MATCH, FOR or TRY.
fn construct(word: Word, terms: Terms) -> Cow<'static, str> {
    if word == Word::Match { terms.handler.into() } else { terms.word(word) }
}
