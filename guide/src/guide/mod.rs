//! The guide of a body in ID text: the automaton, driven by its bytes. `lex` has the bytes, `close` the known
//! end, `mask` and `digits` the tokens, `surface` what ends have in common.

mod close;
mod digits;
mod lex;
mod mask;
mod surface;

use crate::automaton::offers::Words;
use crate::automaton::session::Session;
use crate::automaton::state::{Core, LINES, Phase};
use crate::body::{Body, BodyMark};
use crate::surface::Steps;
use crate::tokens::Refused;
use close::Becomes;
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::format;
use ilo_asm::source::SourceLimits;
use ilo_spec::node::Word;
use lex::{Lex, Machine, Point, spelled};
use std::collections::HashSet;

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

/// An unfinished body in ID text, which follows [`Session::prefix`]. A clone continues independently.
pub type Guide<'s, 'c> = Body<Machine<'s, 'c>>;

/// A position of a [`Guide`] to return to.
pub type Mark = BodyMark<Point>;

impl<'s, 'c> Guide<'s, 'c> {
    /// Begins the body.
    pub fn new(session: &'s Session<'c>) -> Guide<'s, 'c> {
        Body::of(Machine::new(Core::new(session)))
    }

    /// What may come next, as nodes. Within a token, the nodes that it may become.
    #[allow(clippy::should_implement_trait, reason = "it lists choices and does not advance")]
    pub fn next(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        if self.may_end() {
            nodes.push(Node::End);
        }
        let words = |words: Words, level: Option<u8>, nodes: &mut Vec<Node>| {
            nodes.extend(spelled().filter(|it| words & it.0 != 0).map(|(_, name, becomes)| match becomes {
                Becomes::Word(word) => Node::Word(word, level),
                _ => Node::Name(name),
            }));
        };
        match self.surface.lex {
            Lex::Line(blanks) => {
                for level in (0..LINES).filter(|level| *level >= blanks.div_ceil(2)) {
                    words(self.surface.words_at(Some(level)), Some(level), &mut nodes);
                }
            }
            Lex::Word(_, level, left) => words(left, level, &mut nodes),
            Lex::Start => {
                words(self.surface.words_at(None), None, &mut nodes);
                self.integers(&mut nodes);
                self.constants(&mut nodes);
            }
            Lex::Behind if self.surface.core.state.phase == Phase::End => nodes.push(Node::LineEnd),
            _ => {}
        }
        nodes
    }

    fn integers(&mut self, nodes: &mut Vec<Node>) {
        let set = self.surface.integers();
        let core = &self.surface.core;
        for number in core.members(set) {
            nodes.push(match core.state.phase {
                Phase::Tool => Node::Tool(number, core.session.tool(number).unwrap_or_default().to_owned()),
                Phase::PathField | Phase::PairField | Phase::FieldOrName | Phase::MergeMore => {
                    Node::Field(number, core.session.field(number).unwrap_or_default().to_owned())
                }
                phase if phase.is_slot() => {
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
        let core = &self.surface.core;
        if core.takes_kind(TEXT) {
            let texts = core.texts().map(|all| all.map(str::to_owned).collect());
            nodes.push(Node::Text(texts));
        }
        if core.takes_kind(NUMBER) {
            nodes.push(Node::AnyNumber);
        }
    }

    /// The whole file: the functions above, the header, the used entries of the registries, and correct
    /// counts.
    ///
    /// # Errors
    /// If the program may not end here.
    pub fn finish(&mut self) -> Result<String, Refused> {
        if !self.may_end() {
            return Err(Refused { at: self.surface.text.len() });
        }
        // The last number may be complete, but not taken yet.
        let point = self.surface.point();
        self.surface.end_line();
        let core = &self.surface.core;
        let used = |list: u32| core.list(list).filter_map(|number| u32::try_from(number).ok()).collect();
        let (tools, fields): (HashSet<u32>, HashSet<u32>) = (used(core.state.tools), used(core.state.fields));
        let prefix = core.session.prefix_with(|it| tools.contains(&it), |it| fields.contains(&it));
        self.surface.back(&point);
        let whole = prefix + &String::from_utf8_lossy(&self.surface.text);
        let mut diagnostics = Diagnostics::default();
        Ok(format::id_text(&whole, &SourceLimits::default(), &mut diagnostics).unwrap_or(whole))
    }
}
