//! The guide: an unfinished program, what may come next, and the ways forward and back.

mod digits;
mod ends;
mod mask;

use crate::automaton::lex::{LEVELS, Lex, Machine, Offered};
use crate::automaton::offers::{Words, one};
use crate::automaton::session::Session;
use crate::automaton::state::{Core, Lengths, Phase, State};
use crate::body::{Body, BodyMark};
use crate::guide::mask::{Tails, Walk};
use crate::tokens::{self, Refused};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::format;
use ilo_asm::notation::Notation;
use ilo_asm::source::Limits;
use ilo_spec::node::{TABLE, Word};
use std::collections::HashSet;

/// A position to return to.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    state: State,
    lengths: Lengths,
    text: usize,
    lex: Lex,
    words: Offered,
    line: usize,
}

impl Point {
    /// The same, from which the integers that may come next are computed again.
    fn asked_again(self) -> Point {
        let words = if matches!(self.words, Offered::Token(..)) { Offered::Unasked } else { self.words };
        Point { words, ..self }
    }
}

impl Machine<'_, '_> {
    pub(crate) fn point(&self) -> Point {
        Point {
            state: self.core.state,
            lengths: self.core.lengths(),
            text: self.text.len(),
            lex: self.lex,
            words: self.words,
            line: self.line,
        }
    }

    pub(crate) fn back(&mut self, point: &Point) {
        self.core.state = point.state;
        self.core.cut(point.lengths);
        self.text.truncate(point.text);
        (self.lex, self.words, self.line) = (point.lex, point.words, point.line);
    }

    /// Tries a step and undoes it.
    pub(crate) fn attempt<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let point = self.point();
        let result = run(self);
        self.back(&point);
        result
    }
}

/// Something that may come next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    /// A word; if it begins a line, with its level of blocks.
    Word(Word, Option<u8>),
    /// The number of a slot, with its name and type.
    Slot(u32, Option<String>, String),
    /// The number of a tool or function, with its name.
    Tool(u32, String),
    /// The number of a field, with its name.
    Field(u32, String),
    /// A count, or the kind of LIT.
    Number(u32),
    /// Any text, or one of these.
    Text(Option<Vec<String>>),
    /// A written number.
    AnyNumber,
    /// nil, true or false.
    Name(&'static str),
    /// The end of the line.
    LineEnd,
    /// The end of the program.
    End,
}

/// A body in ID text.
#[derive(Clone)]
pub struct IdText<'s, 'c> {
    pub(crate) machine: Machine<'s, 'c>,
    /// What may follow the unfinished text, if a mask has computed it.
    tails: Option<Tails>,
    walk: Walk,
}

/// An unfinished body in ID text, which follows [`Session::prefix`]. A clone continues independently.
pub type Guide<'s, 'c> = Body<IdText<'s, 'c>>;

/// A position of a [`Guide`] to return to.
pub type Mark = BodyMark<Point>;

impl<'s, 'c> Guide<'s, 'c> {
    /// Begins the body.
    pub fn new(session: &'s Session<'c>) -> Guide<'s, 'c> {
        Body::of(IdText { machine: Machine::new(Core::new(session)), tails: None, walk: Walk::default() })
    }

    /// What may come next, as nodes. Within a token, the nodes that it may become.
    #[allow(clippy::should_implement_trait, reason = "it lists choices and does not advance")]
    pub fn next(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        if self.may_end() {
            nodes.push(Node::End);
        }
        let words = |words: Words, level: Option<u8>, prefix: &[u8], nodes: &mut Vec<Node>| {
            let fits = TABLE.iter().filter(|row| words & one(row.word) != 0);
            let fits = fits.filter(|row| row.mnemonic.as_bytes().starts_with(prefix));
            nodes.extend(fits.map(|row| Node::Word(row.word, level)));
        };
        match self.surface.machine.lex {
            Lex::Line(blanks) => {
                for level in (0..LEVELS).filter(|level| *level >= blanks.div_ceil(2)) {
                    words(self.surface.machine.words_at(Some(level)), Some(level), b"", &mut nodes);
                }
            }
            Lex::Word(length, level, _) => {
                let from = self.surface.machine.text.len().saturating_sub(length.into());
                let prefix = self.surface.machine.text.get(from..).unwrap_or_default().to_vec();
                words(self.surface.machine.words_at(level), level, &prefix, &mut nodes);
            }
            Lex::Start => {
                words(self.surface.machine.words_at(None), None, b"", &mut nodes);
                self.integers(&mut nodes);
                self.constants(&mut nodes);
            }
            Lex::Behind if self.surface.machine.core.state.phase == Phase::End => nodes.push(Node::LineEnd),
            _ => {}
        }
        nodes
    }

    fn integers(&mut self, nodes: &mut Vec<Node>) {
        let set = self.surface.machine.integers();
        let core = &self.surface.machine.core;
        for number in core.members(set) {
            nodes.push(match core.state.phase {
                Phase::Tool => Node::Tool(number, core.session.tool(number).unwrap_or_default().to_owned()),
                Phase::PathField | Phase::PairField | Phase::FieldOrName | Phase::MergeMore => {
                    Node::Field(number, core.session.field(number).unwrap_or_default().to_owned())
                }
                Phase::LetSlot
                | Phase::ForSlot
                | Phase::ArmSlot
                | Phase::MatchSlot
                | Phase::RefSlot
                | Phase::Path => {
                    let slot = u8::try_from(number).unwrap_or_default();
                    let ty = core.arena.value(core.now().value(slot)).ty;
                    Node::Slot(number, core.session.var(number).map(str::to_owned), ty.to_string())
                }
                _ => Node::Number(number),
            });
        }
    }

    fn constants(&self, nodes: &mut Vec<Node>) {
        use crate::automaton::offers::{NUMBER, TEXT};
        let core = &self.surface.machine.core;
        let constants = core.constants();
        if constants >> TEXT & 1 == 1 {
            let texts = core.texts().map(|all| all.iter().map(|text| (**text).to_owned()).collect());
            nodes.push(Node::Text(texts));
        }
        if constants >> NUMBER & 1 == 1 {
            nodes.push(Node::AnyNumber);
        }
        let names = self.surface.machine.names().filter_map(|name| core::str::from_utf8(name).ok());
        nodes.extend(names.map(Node::Name));
    }

    /// The whole file: the functions above, the header, the used entries of the registries, and correct
    /// counts.
    ///
    /// # Errors
    /// If the program may not end here.
    pub fn finish(&mut self) -> Result<String, Refused> {
        if !self.may_end() {
            return Err(Refused { at: self.surface.machine.text.len() });
        }
        // The last number may be complete, but not taken yet.
        let point = self.surface.machine.point();
        self.surface.machine.end_line();
        let core = &self.surface.machine.core;
        let used = |list: u32| core.list(list).filter_map(|number| u32::try_from(number).ok()).collect();
        let (tools, fields): (HashSet<u32>, HashSet<u32>) = (used(core.state.tools), used(core.state.fields));
        let prefix = core.session.prefix_with(|it| tools.contains(&it), |it| fields.contains(&it));
        self.surface.machine.back(&point);
        let whole = prefix + &String::from_utf8_lossy(&self.surface.machine.text);
        let mut diagnostics = Diagnostics::default();
        Ok(format::id_text(&whole, &Limits::default(), &mut diagnostics).unwrap_or(whole))
    }

    /// Builds the file, for tests and hosts that want to be sure. Returns its first error.
    pub fn check(&mut self, catalog: &ilo_asm::catalog::Catalog) -> Result<(), String> {
        let file = self.finish().map_err(|error| error.to_string())?;
        tokens::check(&file, Notation::Id, catalog)
    }
}
