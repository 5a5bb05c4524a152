//! The guide: an unfinished program, what may come next, and the ways forward and back.

pub(crate) mod budget;
mod digits;
mod looks;
pub(crate) mod mask;

use crate::automaton::lex::{LEVELS, Lex, Machine, Offered};
use crate::automaton::offers::{Words, one};
use crate::automaton::session::Session;
use crate::automaton::state::{Core, Lengths, Phase, State};
use crate::guide::budget::Plan;
use crate::guide::mask::{Tails, Walk};
use crate::tokens::{self, Follows, Refused};
use crate::vocab::{Lacks, Vocab};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::format;
use ilo_asm::notation::Notation;
use ilo_asm::source::Limits;
use ilo_spec::node::{TABLE, Word};
use std::collections::HashSet;

/// A position to return to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    state: State,
    lengths: Lengths,
    text: usize,
    lex: Lex,
    words: Offered,
    line: usize,
}

impl Machine<'_, '_> {
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            state: self.core.state,
            lengths: self.core.lengths(),
            text: self.text.len(),
            lex: self.lex,
            words: self.words,
            line: self.line,
        }
    }

    pub(crate) fn rollback(&mut self, mark: &Mark) {
        self.core.state = mark.state;
        self.core.cut(mark.lengths);
        self.text.truncate(mark.text);
        (self.lex, self.words, self.line) = (mark.lex, mark.words, mark.line);
    }

    /// Tries a step and undoes it.
    pub(crate) fn attempt<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.mark();
        let result = run(self);
        self.rollback(&mark);
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

/// An unfinished program. A clone continues independently.
#[derive(Clone)]
pub struct Guide<'s, 'c> {
    pub(crate) machine: Machine<'s, 'c>,
    /// What may follow the unfinished text, if a mask has computed it.
    pub(crate) tails: Option<Tails>,
    /// A known end within the budget.
    pub(crate) plan: Option<Plan>,
    pub(crate) walk: Walk,
}

impl<'s, 'c> Guide<'s, 'c> {
    /// Begins the body.
    pub fn new(session: &'s Session<'c>) -> Guide<'s, 'c> {
        Guide { machine: Machine::new(Core::new(session)), tails: None, plan: None, walk: Walk::default() }
    }

    /// Whether a vocabulary has a token for each byte that the program may need. If not, a model with it may
    /// get stuck, at the first token or later.
    ///
    /// # Errors
    /// What it lacks.
    pub fn can_write(&self, vocab: &Vocab) -> Result<(), Lacks> {
        vocab.can_write(self.machine.core.session, Notation::Id)
    }

    /// The approximate number of bytes of the guide.
    pub fn memory(&self) -> usize {
        self.machine.core.memory() + self.machine.text.capacity() + size_of::<Self>()
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
        let mark = self.mark();
        for (at, &byte) in bytes.iter().enumerate() {
            if !self.machine.byte(byte) {
                self.rollback(&mark);
                return Err(Refused { at });
            }
        }
        Ok(())
    }

    /// The bytes that may come next.
    pub fn next_bytes(&mut self) -> Vec<u8> {
        (0..=u8::MAX).filter(|&byte| self.machine.attempt(|machine| machine.byte(byte))).collect()
    }

    /// Whether the program may end here.
    pub fn may_end(&mut self) -> bool {
        self.machine.may_end()
    }

    /// The position in the program, to return to.
    pub fn mark(&self) -> Mark {
        self.machine.mark()
    }

    /// Returns to an earlier position of this program. Marks of later positions are then invalid: returning
    /// to one whose text is longer changes nothing, and the result of returning to another is not specified.
    pub fn rollback(&mut self, mark: &Mark) {
        if mark.text > self.machine.text.len() {
            return;
        }
        if self.tails.as_ref().is_some_and(|tails| tails.start >= mark.text) {
            self.tails = None;
        }
        self.machine.rollback(mark);
    }

    /// A text that ends the program.
    pub fn close(&mut self) -> Option<Vec<u8>> {
        self.machine.close().map(|end| end.text)
    }

    /// The bytes that must come next: as long as there is only one choice. Empty if the program may end.
    pub fn forced(&mut self) -> Vec<u8> {
        const MOST: usize = 4096;
        let mark = self.mark();
        let mut forced = Vec::new();
        while forced.len() < MOST && !self.may_end() {
            let next = self.next_bytes();
            let [only] = next[..] else { break };
            self.machine.byte(only);
            forced.push(only);
        }
        self.rollback(&mark);
        forced
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
        match self.machine.lex {
            Lex::Line(blanks) => {
                for level in (0..LEVELS).filter(|level| *level >= blanks.div_ceil(2)) {
                    words(self.machine.words_at(Some(level)), Some(level), b"", &mut nodes);
                }
            }
            Lex::Word(length, level, _) => {
                let from = self.machine.text.len().saturating_sub(length.into());
                let prefix = self.machine.text.get(from..).unwrap_or_default().to_vec();
                words(self.machine.words_at(level), level, &prefix, &mut nodes);
            }
            Lex::Start => {
                words(self.machine.words_at(None), None, b"", &mut nodes);
                self.integers(&mut nodes);
                self.constants(&mut nodes);
            }
            Lex::Behind if self.machine.core.state.phase == Phase::End => nodes.push(Node::LineEnd),
            _ => {}
        }
        nodes
    }

    fn integers(&mut self, nodes: &mut Vec<Node>) {
        let set = self.machine.integers();
        let core = &self.machine.core;
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
        let core = &self.machine.core;
        let constants = core.constants();
        if constants >> TEXT & 1 == 1 {
            let texts = core.texts().map(|all| all.iter().map(|text| (**text).to_owned()).collect());
            nodes.push(Node::Text(texts));
        }
        if constants >> NUMBER & 1 == 1 {
            nodes.push(Node::AnyNumber);
        }
        let names = self.machine.names().filter_map(|name| core::str::from_utf8(name).ok());
        nodes.extend(names.map(Node::Name));
    }

    /// The whole file: the functions above, the header, the used entries of the registries, and correct
    /// counts.
    ///
    /// # Errors
    /// If the program may not end here.
    pub fn finish(&mut self) -> Result<String, Refused> {
        if !self.may_end() {
            return Err(Refused { at: self.machine.text.len() });
        }
        // The last number may be complete, but not taken yet.
        let mark = self.mark();
        self.machine.end_line();
        let core = &self.machine.core;
        let used = |list: u32| core.list(list).filter_map(|number| u32::try_from(number).ok()).collect();
        let (tools, fields): (HashSet<u32>, HashSet<u32>) = (used(core.state.tools), used(core.state.fields));
        let prefix = core.session.prefix_with(|it| tools.contains(&it), |it| fields.contains(&it));
        self.rollback(&mark);
        let whole = prefix + &String::from_utf8_lossy(&self.machine.text);
        let mut diagnostics = Diagnostics::default();
        Ok(format::id_text(&whole, &Limits::default(), &mut diagnostics).unwrap_or(whole))
    }

    /// Builds the file, for tests and hosts that want to be sure. Returns its first error.
    pub fn check(&mut self, catalog: &ilo_asm::catalog::Catalog) -> Result<(), String> {
        let file = self.finish().map_err(|error| error.to_string())?;
        tokens::check(&file, Notation::Id, catalog)
    }
}

impl Follows for Guide<'_, '_> {
    type Mark = Mark;

    fn mark(&self) -> Mark {
        Guide::mark(self)
    }

    fn rollback(&mut self, mark: &Mark) {
        Guide::rollback(self, mark);
    }

    fn is_whole(&mut self) -> bool {
        Guide::may_end(self)
    }

    fn accept_bytes(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        Guide::accept_bytes(self, bytes)
    }

    fn forced(&mut self) -> Vec<u8> {
        Guide::forced(self)
    }
}
