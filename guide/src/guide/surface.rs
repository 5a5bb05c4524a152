//! ID text as a surface: how programs end, and what ends have in common.

use super::close::Finished;
use super::lex::{InToken, LineMachine, spelled};
use crate::automaton::keys;
use crate::automaton::offers::{NUMBER, TEXT, Words};
use crate::automaton::state::{Core, ITEMS, LINES, Phase};
use crate::automaton::texts::{Inside, Led, run};
use crate::automaton::{formats, integers};
use crate::show::Node;
use crate::surface::{Class, Groups, Growth, Steps, Surface};
use crate::vocab::Vocab;
use ilo_asm::notation::Notation;

/// The most that the end of an unfinished statement may need: a MATCH of two arms at the deepest level.
const STATEMENT: &str = "\n                        MATCH 63 2\n                          ERR 63 1\n                            FAIL LIST 0\n                          OK 63 1\n                            FAIL LIST 0";
/// The most that each level may need.
const BRANCH: &str = "\n                        ERR 63 1\n                          FAIL LIST 0";

/// What is known of the position of a mask.
#[derive(Clone, Copy)]
pub struct Here {
    /// The number of tokens of the program that are taken.
    taken: u32,
    /// Whether a blank ends a token here.
    is_behind: bool,
    /// Whether ends have the same length after all texts, and after all digits, that begin here, and after a
    /// blank or a line end that ends the unfinished token.
    alike: [bool; 2],
    alike_behind: [bool; 2],
}

/// An integer that may come next, with the name of what has this number.
fn integer(core: &Core<'_>, number: u32) -> Node {
    match core.state.phase {
        Phase::Tool => Node::Tool(number, core.session.tool(number).unwrap_or_default().to_owned()),
        phase if phase.is_field() => {
            Node::Field(number, core.session.field(number).unwrap_or_default().to_owned())
        }
        phase if phase.is_slot() => {
            let slot = u8::try_from(number).unwrap_or_default();
            let ty = core.arena.value(core.now().value(slot)).ty;
            Node::Slot(number, core.session.var(number).map(str::to_owned), ty.to_string())
        }
        _ => Node::Number(number),
    }
}

impl Surface for LineMachine<'_> {
    type Here = Here;
    type Node = (bool, Finished);
    const NOTATION: Notation = Notation::Id;

    fn memory(&self) -> usize {
        self.core.memory() + self.text.capacity()
    }

    fn nodes(&mut self) -> Vec<Node> {
        let mut nodes = Vec::new();
        if self.may_end() {
            nodes.push(Node::End);
        }
        let words = |words: Words, level: Option<u8>, nodes: &mut Vec<Node>| {
            nodes.extend(spelled().filter(|it| words & it.0 != 0).map(|(_, name, becomes)| match becomes {
                Finished::Word(word) => Node::Word(word, level),
                _ => Node::Name(name),
            }));
        };
        match self.lex {
            InToken::Line(blanks) => {
                for level in (0..LINES).filter(|level| *level >= blanks.div_ceil(2)) {
                    words(self.words_at(Some(level)), Some(level), &mut nodes);
                }
            }
            InToken::Word(_, level, left) => words(left, level, &mut nodes),
            InToken::Start => {
                words(self.words_at(None), None, &mut nodes);
                let integers = self.integers();
                let core = &self.core;
                nodes.extend(
                    integers::members(core, integers).into_iter().map(|number| integer(core, number)),
                );
                if core.takes_kind(TEXT) {
                    nodes.push(Node::Text(keys::texts(core).map(|all| all.map(str::to_owned).collect())));
                }
                if core.takes_kind(NUMBER) {
                    nodes.push(Node::AnyNumber);
                }
            }
            InToken::Behind if self.core.state.phase == Phase::End => nodes.push(Node::LineEnd),
            _ => {}
        }
        nodes
    }

    fn fill(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        self.fill_tokens(vocab, bits);
    }

    fn growth(&self, vocab: &Vocab) -> Option<Growth> {
        let length = |text: &str| vocab.part(text.as_bytes(), <[u32]>::len);
        let [call, constant] = self.core.session.longest();
        Some(Growth {
            statement: length(STATEMENT)? + length(call)?,
            level: length(BRANCH)?,
            part: length(constant)? + 8,
            nodes: vocab.outside.crossings + 1,
        })
    }

    fn size(&self) -> usize {
        self.core.state.taken as usize
    }

    fn here(&mut self) -> Here {
        let is_behind = !matches!(self.lex, InToken::Line(_) | InToken::Start | InToken::Text(..));
        let alike = |it: &Self| {
            let any_number = it.core.takes_kind(NUMBER) && keys::takes_any_number(&it.core);
            [it.core.takes_kind(TEXT) && it.text_is_free(), any_number]
        };
        let here = alike(self);
        let behind = |byte: u8| self.tried(|it| (is_behind && it.byte(byte)).then(|| alike(it)));
        let behind = [b' ', b'\n'].into_iter().find_map(behind).unwrap_or_default();
        Here { taken: self.core.state.taken, is_behind, alike: here, alike_behind: behind }
    }

    fn crosses(here: &Here, token: &[u8]) -> bool {
        here.is_behind && matches!(token.first(), Some(b' ' | b'\n'))
    }

    fn groups<'v>(&self, _: &Here, vocab: &'v Vocab) -> Option<Groups<'v>> {
        let InToken::Text(_, inside) = self.lex else { return None };
        if keys::texts(&self.core).is_some() || formats::format(&self.core).is_some() {
            return None;
        }
        // After another plain token the end has the same length, except for a text that must differ from
        // those of other cases.
        let slack = if self.text_is_free() { 0 } else { ITEMS as usize };
        Some(Groups {
            mask: &vocab.texts.plain,
            like: b"",
            slack: (inside == Inside::Plain).then_some(slack),
            others: Some(vec![vocab.texts.closers(inside)]),
        })
    }

    fn class<'t>(&self, here: &Here, token: &'t [u8]) -> Option<(Class<'t>, usize)> {
        if let InToken::Text(_, inside) = self.lex {
            // What follows a free text is the same for all tokens with the same bytes after its end.
            let Led::Closed(at) = run(inside, token) else { return None };
            return token.get(at..).filter(|_| self.text_is_free()).map(|tail| (Class::Ends(tail), 0));
        }
        let crosses = Self::crosses(here, token);
        let bytes = if crosses { token.strip_prefix(b" ")? } else { token };
        let [texts, digits] = if crosses { here.alike_behind } else { here.alike };
        match bytes.split_first()? {
            (b'"', rest) if run(Inside::Plain, rest) == Led::On(Inside::Plain) => {
                texts.then_some((Class::Text, 0))
            }
            _ => (digits && bytes.iter().all(u8::is_ascii_digit)).then_some((Class::Digits, 0)),
        }
    }

    fn node(&self, here: &Here, becomes: Finished, crosses: bool) -> Option<(bool, Finished)> {
        let is_kept = match becomes {
            Finished::Whole => false,
            Finished::Constant => matches!(self.lex, InToken::Text(_, Inside::Plain)) && self.text_is_free(),
            _ => true,
        };
        let is_next = self.core.state.taken == here.taken + u32::from(crosses);
        (is_next && is_kept).then_some((crosses, becomes))
    }
}
