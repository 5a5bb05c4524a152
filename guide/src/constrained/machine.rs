//! The state of a body in `constrained`, and the effect of each byte: the choices that they make.

use super::choice::Act;
use super::choices::{Choices, View};
use super::memo::{self, Memo};
use super::paths::Path;
use super::texts;
use crate::automaton::offers::Words;
use crate::automaton::state::{Core, CorePoint, NONE, Phase, add, entry};
use crate::automaton::texts::{Inside, Step, step};
use crate::automaton::{blocks, formats, keys};
use crate::surface::Bytes;
use crate::surface::walk::Walk;
use ilo_asm::ast::Literal;
use std::sync::Arc;

/// The most bytes of a text.
pub(super) const TEXT: usize = 16 << 10;

/// The position in a choice at which the text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lex {
    /// Between choices, or in one: the choices from `low` to `high` begin with the bytes so far, which are
    /// `depth`.
    Choice { low: usize, high: usize, depth: usize },
    /// In a text whose quote is at `start`: the key of a case, or a literal.
    Text { start: usize, inside: Inside },
    /// In a text that may be a reference, whose quote [`Quote`] has; after a `$` that begins something.
    Bare { inside: Inside, dollar: bool },
    /// In a name that begins at this byte.
    Name { start: usize, of: Binds },
    /// In a number that begins at this byte.
    Number { start: usize },
}

/// How a name is bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binds {
    Let,
    /// The item of a loop, and its position.
    Item,
    Index,
    /// The failure of a call.
    Failure,
    /// A key of a path, which sets a part of a name.
    Part,
}

/// The kind of choice that may come next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The first step of a block, or its end.
    First,
    /// A step, after a comma.
    Step,
    /// After a whole step.
    Behind,
    /// After the block of a kind.
    Block(Owner),
    /// After the name that `let` binds.
    Let,
    /// After the path that `let` sets.
    Part,
    /// After the name of a failure, which was bound as one of these.
    Arm(usize),
    /// After the name of the failure that a call handles.
    Handler,
    /// After the name that `match` takes.
    Match,
    /// After the name of an item, and after that of its position.
    In,
    Passes,
    Value,
    /// The first item of a list, or its end.
    Item,
    /// After a whole value: the enclosing construct decides.
    After,
    Tool,
    /// After the name of a tool.
    Arguments,
    /// The first key of a record.
    Key,
    /// The key of a case in a list.
    CaseKey,
    /// After the key of a case.
    Colon,
    /// The field of a path.
    Field,
    /// A name in `${…}`, and the field of a path there.
    Hole,
    HoleField,
    End,
}

/// The owner of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Then,
    Else,
    Pass,
    Failure,
    Success,
    /// The steps of a handler, which do not continue after it.
    Handler,
    Try,
    /// The steps of the handler of `try`.
    Caught,
    /// The passes of a loop with a condition before each, and of one with a condition after each.
    While,
    Until,
    /// The steps of `then` beside a call.
    Behind,
}

/// An open construct around the next byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// A step that ends with its last part.
    Step,
    /// A call whose answer this slot has.
    Call(u8),
    /// The handler of a call that these bytes end, with the slot of the call and the number of names before
    /// that of its failure.
    Handler {
        slot: u8,
        names: usize,
        end: &'static str,
    },
    /// A construct that these bytes end.
    Ends(&'static str),
    /// The value of `expr`.
    Computed,
    /// The operation of `expr` in a value.
    Wrapped,
    /// An operator with this number of operands to come.
    Operands(usize),
    List,
    /// The fields of a record, which these bytes end.
    Fields(&'static str),
    /// The condition of `if`.
    If,
    /// The list of `for`, with the number of names before its item.
    For(usize),
    /// The condition of the passes of a loop, likewise.
    Where(usize),
    /// The condition of `while` or `until`, with the number of names before the passes.
    While(usize),
    Until,
    /// The value with which a handler continues.
    Giving,
    /// The record of `merge`.
    Merge,
    /// The operand of `match`.
    Subject,
    /// Cases, in a record or as pairs in a list.
    Cases {
        pairs: bool,
    },
    /// The branch of an `if` that is a way out beside it.
    Leaving,
    /// A block, with the number of names before those that end with it.
    Block {
        kind: Owner,
        names: usize,
    },
}

/// A bound name.
#[derive(Clone, Debug)]
pub(super) struct Named {
    pub(super) name: Arc<str>,
    pub(super) slot: u8,
    /// It may be referred to.
    pub(super) live: bool,
}

/// A text that may be a reference or contain some.
#[derive(Clone, Debug, Default)]
pub(super) struct Quote {
    /// The position of its quote.
    pub(super) start: usize,
    /// The words that its value may begin with.
    pub(super) words: Words,
    /// The references that may be in `${…}`, if they were computed.
    pub(super) holes: Option<Choices>,
}

/// All changing data except that of the automaton.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) lex: Lex,
    pub(super) next: Next,
    /// The length of the body before the choices.
    pub(super) from: usize,
    /// Whether a text or name before this position was ended without the bytes for it.
    pub(super) is_guess: bool,
    /// The innermost open construct, in the list of the machine.
    pub(super) around: u32,
    pub(super) names: Arc<Vec<Named>>,
    /// Whether the next value is a step of the innermost block.
    pub(super) opens_step: bool,
    /// The unfinished text, if it may be a reference.
    pub(super) quote: Quote,
    pub(super) path: Path,
    /// The choices in the order of their bytes, if they were computed.
    pub(super) choices: Option<Choices>,
}

#[derive(Clone)]
pub struct JsonMachine<'s> {
    pub(crate) core: Core<'s>,
    pub(super) text: Vec<u8>,
    /// Open constructs, each with the position of the one around it.
    pub(super) arounds: Vec<(Around, u32)>,
    pub(super) memo: Memo,
    pub(super) walk: Walk<Lex, JsonPoint>,
    pub(super) place: Place,
}

/// A position to return to.
#[derive(Clone)]
pub struct JsonPoint {
    pub(super) core: CorePoint,
    pub(super) text: usize,
    pub(super) arounds: usize,
    pub(super) place: Place,
}

impl<'s> JsonMachine<'s> {
    pub(super) fn new(core: Core<'s>) -> Self {
        let parameters = (0..).zip(&core.session.parameters);
        let named = |(slot, (name, _)): (u8, &(String, _))| Named {
            name: name.as_str().into(),
            slot,
            live: super::names::is_reference(name),
        };
        let place = Place {
            lex: BETWEEN,
            next: Next::First,
            from: 0,
            is_guess: false,
            around: NONE,
            names: Arc::new(parameters.map(named).collect()),
            opens_step: false,
            quote: Quote::default(),
            path: Path::default(),
            choices: None,
        };
        JsonMachine {
            core,
            text: Vec::new(),
            arounds: Vec::new(),
            memo: Memo::new(0),
            walk: Walk::default(),
            place,
        }
    }

    /// The innermost open construct.
    pub(super) fn around(&self) -> Option<Around> {
        entry(&self.arounds, self.place.around).map(|it| it.0)
    }

    /// Opens a construct.
    pub(super) fn push(&mut self, around: Around) {
        self.place.around = add(&mut self.arounds, (around, self.place.around));
    }

    /// Ends the innermost open construct.
    pub(super) fn pop(&mut self) -> Option<Around> {
        let &(around, outer) = entry(&self.arounds, self.place.around)?;
        self.place.around = outer;
        Some(around)
    }

    /// Changes the innermost open construct.
    pub(super) fn replace(&mut self, around: Around) {
        self.pop();
        self.push(around);
    }

    /// Begins another choice.
    pub(super) fn goes_on(&mut self, next: Next) {
        self.place.next = next;
        self.place.from = self.text.len();
        self.place.lex = BETWEEN;
        self.place.choices = None;
    }

    /// The choices here, computed once.
    pub(super) fn choices(&mut self) -> View<'_> {
        if self.place.choices.is_none() {
            let holes = self.place.quote.holes.as_ref().filter(|_| self.place.next == Next::Hole);
            self.place.choices = Some(holes.cloned().unwrap_or_else(|| memo::known_offers(self)));
        }
        self.view()
    }

    /// The choices here; none before they are computed.
    pub(super) fn view(&self) -> View<'_> {
        let choices = self.place.choices.as_ref();
        choices.map_or(View::NONE, |choices| View::new(choices, self.core.session))
    }

    /// The effect of a byte, if it is known without trying.
    pub(super) fn leads(&mut self, byte: u8) -> Leads {
        match self.place.lex {
            Lex::Choice { low, high, depth } => self.choices().leads((low, high), depth, byte),
            Lex::Number { start } if !matches!(byte, b',' | b']' | b'}') => {
                self.stays(byte, self.place.lex, |this| {
                    keys::number_goes_on(&this.core, this.text.get(start..).unwrap_or_default())
                })
            }
            Lex::Bare { dollar: true, .. } if byte == b'{' => Leads::Unknown,
            Lex::Bare { inside, .. } | Lex::Text { inside, .. } => match step(inside, byte) {
                Step::Refused => Leads::Nowhere,
                Step::Closes => Leads::Unknown,
                Step::On(next) => self.leads_in_text(inside, next, byte),
            },
            Lex::Name { .. } | Lex::Number { .. } => Leads::Unknown,
        }
    }

    fn leads_in_text(&mut self, inside: Inside, next: Inside, byte: u8) -> Leads {
        match self.place.lex {
            Lex::Text { start, .. } => self.stays(byte, Lex::Text { start, inside: next }, |this| {
                let has_room = this.text.len() - start < TEXT || inside != Inside::Plain;
                has_room && formats::begins_text(&this.core, this.text.get(start + 1..).unwrap_or_default())
            }),
            Lex::Bare { dollar, .. } => {
                let dollar = byte == b'$' && inside == Inside::Plain && !dollar;
                self.stays(byte, Lex::Bare { inside: next, dollar }, |this| {
                    texts::has_room(this, inside, byte)
                        && !(next == Inside::Plain && texts::is_escaped_mark(this, inside))
                })
            }
            _ => Leads::Unknown,
        }
    }

    /// The effect of a byte that stays in a text or number, if it fits when it is written.
    fn stays(&mut self, byte: u8, lex: Lex, fits: impl FnOnce(&Self) -> bool) -> Leads {
        self.text.push(byte);
        let fits = fits(self);
        self.text.pop();
        if fits { Leads::On(lex) } else { Leads::Nowhere }
    }

    /// Takes the quote that ends a text.
    pub(super) fn end_text(&mut self, start: usize) -> bool {
        let Some(text) = self.text.get(start..).and_then(decoded) else { return false };
        let is_key = self.core.state.phase == Phase::CaseKey;
        let constant = Literal::Text(&text);
        let fits = self.core.takes_constant(constant) && !(is_key && self.meets_more(&text));
        if fits {
            self.take_constant(constant);
        }
        fits
    }

    /// Takes the key of a case, or a literal.
    pub(super) fn take_constant(&mut self, constant: Literal<'_>) {
        let is_key = self.core.state.phase == Phase::CaseKey;
        self.core.take_constant(constant);
        if is_key {
            self.goes_on(Next::Colon);
        } else {
            self.after();
        }
    }

    /// Completes the number at the end of the text.
    pub(super) fn end_number(&mut self, start: usize) -> bool {
        let number = self.core.number(self.text.get(start..).unwrap_or_default());
        number.map(|number| self.take_constant(number)).is_some()
    }

    /// Completes a value, and the step that ends with it.
    pub(super) fn after(&mut self) {
        match self.around() {
            Some(Around::Step) => {
                self.pop();
                self.behind();
            }
            Some(Around::Leaving) => self.end_leaving(),
            _ => self.goes_on(Next::After),
        }
    }

    /// Completes the way out beside an `if`.
    pub(super) fn end_leaving(&mut self) {
        self.pop();
        self.core.state.phase = Phase::Line;
        let level = blocks::level(&self.core);
        blocks::up_to(&mut self.core, level.saturating_sub(1));
        self.goes_on(Next::Block(Owner::Then));
    }

    /// Completes a step.
    pub(super) fn behind(&mut self) {
        self.core.state.phase = Phase::Line;
        self.goes_on(Next::Behind);
    }

    /// The open constructs, the innermost first.
    pub(super) fn constructs(&self) -> impl Iterator<Item = Around> {
        let mut at = self.place.around;
        core::iter::from_fn(move || {
            let &(around, outer) = entry(&self.arounds, at)?;
            at = outer;
            Some(around)
        })
    }

    /// The innermost block among a construct and those around it, and what is around the block.
    pub(super) fn block_from(&self, mut at: u32) -> Option<(Owner, u32)> {
        loop {
            let &(around, outer) = entry(&self.arounds, at)?;
            if let Around::Block { kind, .. } = around {
                return Some((kind, outer));
            }
            at = outer;
        }
    }
}

/// The content of a JSON string.
pub(super) fn decoded(written: &[u8]) -> Option<String> {
    serde_json::from_slice(written).ok()
}

/// The effect of a byte.
pub(super) enum Leads {
    Nowhere,
    /// It changes only the position in a choice, a number or a text.
    On(Lex),
    /// It ends a choice.
    Act(Act),
    Unknown,
}

/// No byte of a choice was taken.
const BETWEEN: Lex = Lex::Choice { low: 0, high: usize::MAX, depth: 0 };
