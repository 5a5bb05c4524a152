//! ID text as a surface: how programs end, and what ends have in common.

use super::close::Finished;
use super::digits;
use super::lex::{InToken, LineMachine, spelled};
use crate::automaton::close::{self, EndKey};
use crate::automaton::keys::{self, KEY};
use crate::automaton::offers::{self, NUMBER, TEXT, Words, alike};
use crate::automaton::state::{Core, ITEMS, LINES, Phase};
use crate::automaton::texts::{Inside, Led, run};
use crate::automaton::{formats, integers};
use crate::show::Node;
use crate::surface::{Class, Groups, Growth, Steps, Surface};
use crate::vocab::Vocab;
use ilo_asm::notation::Notation;
use ilo_spec::node::{self, Word};

/// The most that digits of equivalent fields can add to an end.
const FIELD: usize = 8;

/// The most that the end of an unfinished statement may need: a MATCH of two arms at the deepest level.
const STATEMENT: &str = "\n                        MATCH 63 2\n                          ERR 63 1\n                            FAIL LIST 0\n                          OK 63 1\n                            FAIL LIST 0";
/// The most that each level may need.
const BRANCH: &str = "\n                        ERR 63 1\n                          FAIL LIST 0";

/// Where a node begins.
#[derive(Clone, Copy, Debug, Default)]
struct Beginning {
    /// The number of open expressions where an operand is next, or a statement.
    around: Option<u8>,
    /// The number of values known there.
    values: usize,
    /// After texts, and after digits, ends have nearly the same length, and can differ by this number of
    /// tokens.
    texts: Option<usize>,
    digits: Option<usize>,
}

impl Beginning {
    fn of(machine: &LineMachine<'_>) -> Beginning {
        let core = &machine.core;
        let phase = core.state.phase;
        let around = match phase {
            Phase::Operand | Phase::Bound | Phase::FieldOrName => Some(offers::depth(core)),
            // The operand belongs to the slot or tool.
            Phase::RefSlot | Phase::Tool => Some(offers::depth(core).saturating_sub(1)),
            Phase::Line | Phase::End => Some(0),
            _ => None,
        };
        let is_key = phase == Phase::CaseKey;
        let texts = match () {
            () if !core.takes_kind(TEXT) => None,
            () if is_key => Some(ITEMS as usize),
            () => machine.text_is_free().then_some(0),
        };
        let digits = match () {
            () if core.takes_kind(NUMBER) && keys::takes_any_number(core) => Some(0),
            () if digits::has_alike_fields(machine) => Some(FIELD),
            // Other keys may have a digit more if one is taken, and so may this one.
            () if core.takes_kind(NUMBER) && is_key => {
                Some(core.frame().map_or(0, |frame| frame.left as usize) + KEY)
            }
            () => None,
        };
        Beginning { around, values: core.arena.values.len(), texts, digits }
    }
}

/// What is known of the position of a mask.
#[derive(Clone, Copy)]
pub struct Here {
    /// The number of tokens of the program that are taken.
    taken: u32,
    /// Whether a blank ends a token here.
    is_behind: bool,
    /// Here, and after a blank or a line end that ends the unfinished token.
    places: [Beginning; 2],
}

impl Here {
    fn place(&self, crosses: bool) -> &Beginning {
        let [here, behind] = &self.places;
        if crosses { behind } else { here }
    }

    /// The number of open expressions around the operand or statement that this node begins, if what follows
    /// depends only on an [`EndKey`].
    fn around(&self, (crosses, becomes): (bool, Finished)) -> Option<u8> {
        let exits = [Word::Let, Word::Ret, Word::RetOk, Word::RetErr, Word::Fail];
        let shares = match becomes {
            Finished::Line(_, word) => word.row().place == node::Place::Expression || exits.contains(&word),
            Finished::Word(word) => word.row().place == node::Place::Expression,
            Finished::Integer(_) => true,
            Finished::Whole | Finished::Name(_) | Finished::Constant => false,
        };
        self.place(crosses).around.filter(|_| shares)
    }
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
    type Key = (bool, EndKey);
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
        let [call, constant] = self.core.session.longest(Self::NOTATION);
        Some(Growth {
            statement: length(STATEMENT)? + length(call)?,
            level: length(BRANCH)?,
            part: length(constant)? + 4,
            nodes: vocab.outside.crossings + 1,
        })
    }

    fn size(&self) -> usize {
        self.core.state.taken as usize
    }

    fn here(&mut self) -> Here {
        let is_behind = !matches!(self.lex, InToken::Line(_) | InToken::Start | InToken::Text(..));
        let here = Beginning::of(self);
        let behind = |byte: u8| self.tried(|it| (is_behind && it.byte(byte)).then(|| Beginning::of(it)));
        let behind = [b' ', b'\n'].into_iter().find_map(behind).unwrap_or_default();
        Here { taken: self.core.state.taken, is_behind, places: [here, behind] }
    }

    fn crosses(here: &Here, token: &[u8]) -> bool {
        here.is_behind && matches!(token.first(), Some(b' ' | b'\n'))
    }

    fn groups<'v>(&self, _: &Here, vocab: &'v Vocab, most: usize) -> Option<Groups<'v>> {
        let InToken::Text(_, inside) = self.lex else { return None };
        if keys::texts(&self.core).is_some() || formats::format(&self.core).is_some() {
            return None;
        }
        // After another plain token the end has the same length, except for a text that must differ from
        // those of other cases, or decides what is read.
        let slack = match self.core.state.phase {
            _ if self.text_is_free() => 0,
            Phase::CaseKey => ITEMS as usize,
            _ => most,
        };
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
        let place = here.place(crosses);
        match bytes.split_first()? {
            (b'"', rest) if run(Inside::Plain, rest) == Led::On(Inside::Plain) => {
                Some((Class::Text, place.texts?))
            }
            _ if bytes.iter().all(u8::is_ascii_digit) => Some((Class::Digits, place.digits?)),
            _ => None,
        }
    }

    fn node(&self, here: &Here, becomes: Finished, crosses: bool) -> Option<(bool, Finished)> {
        let is_kept = match becomes {
            Finished::Whole => false,
            Finished::Constant => matches!(self.lex, InToken::Text(_, Inside::Plain)) && self.text_is_free(),
            _ => true,
        };
        let becomes = match becomes {
            Finished::Word(word) => Finished::Word(alike(word)),
            Finished::Line(level, word) => Finished::Line(level, alike(word)),
            _ => becomes,
        };
        let is_next = self.core.state.taken == here.taken + u32::from(crosses);
        (is_next && is_kept).then_some((crosses, becomes))
    }

    fn is_behind(&self, here: &Here, node: Option<(bool, Finished)>) -> bool {
        node.and_then(|node| here.around(node)).is_some_and(|around| match offers::depth(&self.core) {
            0 => matches!(self.core.state.phase, Phase::End | Phase::BlockCount),
            open => open <= around,
        })
    }

    fn key(&self, here: &Here, node: Option<(bool, Finished)>) -> Option<(bool, EndKey)> {
        let (crosses, _) = node?;
        Some((crosses, close::end_key(&self.core, here.place(crosses).values)?))
    }
}
