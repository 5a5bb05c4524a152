//! Known ends: the nodes that end a program from any state, one by one. An [`Out`] decides what happens to
//! them: they are written, or only their lengths are summed.

use crate::automaton::formats;
use crate::automaton::integers::Integers;
use crate::automaton::lex::{LEVELS, Lex, Machine};
use crate::automaton::offers::{BOOL, NIL, NUMBER, TEXT, Words, one};
use crate::automaton::state::{Core, LOOPS, NONE, Phase, SLOTS};
use crate::automaton::steps::Constant;
use crate::automaton::texts::Inside;
use crate::automaton::want::ANY;
use ilo_asm::types::Inferred;
use ilo_spec::node::{TABLE, Word};
use ilo_spec::number;

/// Receives the nodes of an end. Each method returns whether there is room for more.
pub trait Out {
    /// A line begins with a word.
    fn line(&mut self, level: u8, word: Word) -> bool;
    fn word(&mut self, word: Word) -> bool;
    fn integer(&mut self, number: u32) -> bool;
    /// A constant in its written form.
    fn constant(&mut self, text: &str) -> bool;
    /// A node of `constrained`.
    fn bytes(&mut self, bytes: &[u8]) -> bool;
}

/// The end as text, in parts of one node each.
#[derive(Debug, Default)]
pub struct Written {
    pub(crate) text: Vec<u8>,
    /// The end of each part.
    pub(crate) ends: Vec<usize>,
}

impl Written {
    /// Adds a part.
    pub(crate) fn piece(&mut self, bytes: &[u8]) {
        self.text.extend_from_slice(bytes);
        self.ends.push(self.text.len());
    }

    fn behind_blank(&mut self, text: &str) -> bool {
        self.text.push(b' ');
        self.piece(text.as_bytes());
        true
    }
}

impl Out for Written {
    fn line(&mut self, level: u8, word: Word) -> bool {
        self.text.push(b'\n');
        self.text.extend(core::iter::repeat_n(b' ', 2 * usize::from(level)));
        self.piece(word.mnemonic().as_bytes());
        true
    }

    fn word(&mut self, word: Word) -> bool {
        self.behind_blank(word.mnemonic())
    }

    fn integer(&mut self, number: u32) -> bool {
        self.behind_blank(&number.to_string())
    }

    fn constant(&mut self, text: &str) -> bool {
        self.behind_blank(text)
    }

    fn bytes(&mut self, bytes: &[u8]) -> bool {
        self.piece(bytes);
        true
    }
}

/// The node that the unfinished token will become.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Becomes {
    /// The token is complete.
    Whole,
    Line(u8, Word),
    Word(Word),
    Integer(u32),
    Nil,
    Bool(bool),
    /// A number or a text, as its bytes show.
    Constant,
}

impl Machine<'_, '_> {
    /// Whether the program may end here.
    pub(crate) fn may_end(&mut self) -> bool {
        match self.lex {
            Lex::Line(0) => self.core.trial(Core::end),
            Lex::Line(_) | Lex::Start | Lex::Text(..) => false,
            _ => self.attempt(|this| this.end_line() && this.core.end()),
        }
    }

    /// The bytes that complete the unfinished token, and the node that it becomes. Between tokens, the next
    /// one.
    pub(crate) fn completion(&mut self) -> Option<(Vec<u8>, Becomes)> {
        match self.lex {
            Lex::Line(0) if self.core.trial(Core::end) => Some((Vec::new(), Becomes::Whole)),
            Lex::Line(blanks) => {
                let (level, word) = self.core.ending_line(blanks.div_ceil(2))?;
                let mut bytes = vec![b' '; usize::from(2 * level).saturating_sub(blanks.into())];
                bytes.extend(word.mnemonic().bytes());
                Some((bytes, Becomes::Line(level, word)))
            }
            Lex::Start => self.core.trial(|core| {
                let node = core.ending_node()?;
                Some(match node {
                    Node::Word(word) => (word.mnemonic().into(), Becomes::Word(word)),
                    Node::Integer(number) => (number.to_string().into(), Becomes::Integer(number)),
                    Node::Nil => (b"nil".to_vec(), Becomes::Nil),
                    Node::Bool(truth) => (truth.to_string().into(), Becomes::Bool(truth)),
                    Node::Number(text) => (text.into(), Becomes::Constant),
                    Node::Text(text) => (serde_json::Value::from(text).to_string().into(), Becomes::Constant),
                })
            }),
            Lex::Word(length, level, left) => self.rest_of_word(length.into(), level, left),
            Lex::Integer(value) => self.rest_of_integer(value),
            Lex::Number(length) => {
                let written = self.tail(length.into());
                let whole = self.core.first_number(written)?;
                let rest = whole.as_bytes().get(written.len()..)?.to_vec();
                Some((rest, Becomes::Constant))
            }
            Lex::Text(start, inside) => Some((self.rest_of_text(start, inside)?, Becomes::Constant)),
            Lex::Behind => Some((Vec::new(), Becomes::Whole)),
        }
    }

    /// Takes the node that a token has become, and the bytes that complete it.
    pub(crate) fn take(&mut self, becomes: Becomes, rest: &[u8]) -> bool {
        match becomes {
            Becomes::Whole => {}
            Becomes::Line(level, word) => self.core.begin_line(level, word),
            Becomes::Word(word) => self.core.take_word(word),
            Becomes::Integer(number) => self.core.take_integer(number),
            Becomes::Nil => self.core.take_constant(Constant::Nil),
            Becomes::Bool(truth) => self.core.take_constant(Constant::Bool(truth)),
            Becomes::Constant => {
                let whole = rest.iter().all(|&byte| self.byte(byte));
                let Lex::Number(length) = self.lex else { return whole && self.lex == Lex::Behind };
                let written = self.tail(length.into()).to_vec();
                return whole && self.core.complete_number(&written);
            }
        }
        true
    }

    fn rest_of_word(&mut self, length: usize, level: Option<u8>, left: Words) -> Option<(Vec<u8>, Becomes)> {
        let word = match level {
            Some(level) => {
                let first = self.core.trial(|core| core.ending_word(level));
                first.filter(|&word| left & one(word) != 0)
            }
            None if left == 0 => {
                let written = self.tail(length);
                let name = self.names().find(|name| name.starts_with(written))?;
                let becomes = if name == b"nil" { Becomes::Nil } else { Becomes::Bool(name == b"true") };
                return Some((name.get(length..)?.to_vec(), becomes));
            }
            None => self.core.constant_word().filter(|&word| left & one(word) != 0),
        };
        // The word that ends soonest, or else the first.
        let soon = [Word::Fail, Word::Lit, Word::List, Word::Let, Word::Ref];
        let word = word.or_else(|| soon.into_iter().find(|&word| left & one(word) != 0));
        let word = word.or_else(|| TABLE.iter().map(|row| row.word).find(|&it| left & one(it) != 0))?;
        let rest = word.mnemonic().as_bytes().get(length..)?.to_vec();
        Some((rest, level.map_or(Becomes::Word(word), |level| Becomes::Line(level, word))))
    }

    fn rest_of_integer(&mut self, begun: u32) -> Option<(Vec<u8>, Becomes)> {
        let integers = self.integers();
        let (mut value, mut rest) = (begun, Vec::new());
        while !self.core.has(integers, value) {
            let longer = |digit: u8| value.checked_mul(10)?.checked_add(digit.into());
            let fits = |digit: &u8| longer(*digit).is_some_and(|it| self.core.begins(integers, it));
            let digit = (0..10).filter(|_| value != 0).find(fits)?;
            value = longer(digit)?;
            rest.push(b'0' + digit);
        }
        Some((rest, Becomes::Integer(value)))
    }

    fn rest_of_text(&mut self, start: usize, inside: Inside) -> Option<Vec<u8>> {
        if let Some(texts) = self.core.texts() {
            let written = self.text.get(start..).unwrap_or_default();
            let quoted = texts.iter().map(|text| serde_json::Value::from(&**text).to_string());
            let mut rest =
                quoted.filter_map(|text| text.as_bytes().strip_prefix(written).map(<[u8]>::to_vec));
            return rest.next();
        }
        if let Some(format) = self.core.format() {
            let written = self.text.get(start + 1..).unwrap_or_default();
            return formats::rest(format, written).map(|rest| [rest.as_bytes(), b"\""].concat());
        }
        let mut rest = Vec::new();
        self.attempt(|this| {
            let mut inside = inside;
            while this.lex != Lex::Behind {
                let bytes: &[u8] = match inside {
                    Inside::Escape => b"nu\"\\/bfrt",
                    Inside::Unicode(..) => b"0123456789abcdef",
                    Inside::Character(_, low, _) => &[low],
                    Inside::Plain => b"\"abcdefghijklmnopqrstuvwxyz0123456789-_",
                };
                let byte = first_that_ends(bytes, inside, |bytes| {
                    this.attempt(|it| bytes.iter().all(|&byte| it.byte(byte)))
                })?;
                this.byte(byte);
                rest.push(byte);
                if let Lex::Text(_, next) = this.lex {
                    inside = next;
                }
            }
            Some(())
        })?;
        Some(rest)
    }
}

/// Of the bytes that may continue a text, the first that ends it, or after which its end may follow. There
/// are more letters than keys of cases, so that one of them makes a key that is new.
pub(crate) fn first_that_ends(
    bytes: &[u8],
    inside: Inside,
    mut fits: impl FnMut(&[u8]) -> bool,
) -> Option<u8> {
    let mut all = bytes.iter().copied();
    let ending = match inside {
        Inside::Plain => all.find(|&byte| if byte == b'"' { fits(&[byte]) } else { fits(&[byte, b'"']) }),
        _ => None,
    };
    ending.or_else(|| bytes.iter().copied().find(|&byte| fits(&[byte])))
}

/// The texts that are tried as keys: more than a MATCH_MAP has cases.
fn keys() -> impl Iterator<Item = String> {
    let letters = || 'a'..='z';
    let two = letters().map(|letter| format!("a{letter}"));
    core::iter::once(String::new()).chain(letters().map(String::from)).chain(two)
}

/// The parts of the state that an end depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EndKey {
    level: u8,
    phase: Phase,
    depth: Option<u8>,
    first: KnownValue,
    others: KnownValue,
    ends: [bool; 5],
    /// The slots and calls, and what the open loops hold.
    next: (u8, u8),
    calls: [u64; 3],
    loops: [(u8, u64, u64); LOOPS as usize],
}

/// A value: an earlier one, or one of which only the type counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum KnownValue {
    Before(u32),
    Of(Inferred),
}

/// A node within a line.
enum Node {
    Word(Word),
    Integer(u32),
    Nil,
    Bool(bool),
    Number(String),
    Text(String),
}

impl Core<'_, '_> {
    /// Writes the next node of an end. Returns whether the end was found, when that is known.
    pub(crate) fn close_step(&mut self, out: &mut impl Out) -> Option<bool> {
        let goes_on = match self.state.phase {
            Phase::MergeMore => {
                self.end_merge();
                true
            }
            Phase::End | Phase::Line => {
                if self.trial(Core::end) {
                    return Some(true);
                }
                let Some((level, word)) = self.ending_line(0) else { return Some(false) };
                self.begin_line(level, word);
                out.line(level, word)
            }
            _ => match self.ending_node() {
                Some(node) => self.take_node(node, out),
                None => false,
            },
        };
        (!goes_on).then_some(false)
    }

    /// The parts of the state that an end depends on, if everything that existed when `values` were known
    /// stays the same: the frames and blocks except the innermost, and the slots. `None` if it depends on
    /// schemas.
    pub(crate) fn end_key(&self, values: usize) -> Option<EndKey> {
        let known = |value: u32| {
            if (value as usize) < values || value == NONE {
                return Some(KnownValue::Before(value));
            }
            let known = self.arena.value(value);
            known.part.shape().is_none().then_some(KnownValue::Of(known.ty))
        };
        let block = self.block();
        let frame = self.frame();
        let (first, others) = frame.map_or((block.value, NONE), |frame| (frame.first, frame.others));
        let ends = [block.gives.value, block.gives.lack, block.sealed, block.rollback, block.binds];
        let loops = self.state.loops.map(|of| {
            let flags = [of.broken != NONE, of.skipped != NONE, of.yields, of.valued, of.until];
            (flags.iter().fold(0, |all, &flag| all << 1 | u8::from(flag)), of.read_first, of.unset_in)
        });
        Some(EndKey {
            next: (self.state.next, self.state.calls),
            calls: [self.now().held(), self.state.plain, self.state.checked],
            loops,
            level: block.level,
            phase: self.state.phase,
            depth: frame.map(|frame| frame.depth),
            first: known(first)?,
            others: known(others)?,
            ends,
        })
    }

    fn take_node(&mut self, node: Node, out: &mut impl Out) -> bool {
        match node {
            Node::Word(word) => {
                self.take_word(word);
                out.word(word)
            }
            Node::Integer(number) => {
                self.take_integer(number);
                out.integer(number)
            }
            Node::Nil => {
                self.take_constant(Constant::Nil);
                out.constant("nil")
            }
            Node::Bool(truth) => {
                self.take_constant(Constant::Bool(truth));
                out.constant(if truth { "true" } else { "false" })
            }
            Node::Number(text) => {
                let Ok(number) = number::parse(&text) else { return false };
                self.take_constant(Constant::Number(number));
                out.constant(&text)
            }
            Node::Text(text) => {
                self.take_constant(Constant::Text(&text));
                if text.is_empty() {
                    return out.constant("\"\"");
                }
                out.constant(&serde_json::Value::from(text).to_string())
            }
        }
    }

    /// The line that leads to an end soonest, at this level or deeper.
    fn ending_line(&mut self, first: u8) -> Option<(u8, Word)> {
        let last = self.level().min(LEVELS - 1);
        (first..=last).find_map(|level| self.ending_word(level).map(|word| (level, word)))
    }

    /// The word of a line of a level that leads to an end soonest.
    fn ending_word(&mut self, level: u8) -> Option<Word> {
        if self.trial(|core| core.up_to(level) && core.settle() && core.may_fail()) {
            return Some(Word::Fail);
        }
        let words = self.line_words(level);
        if words == 0 {
            return None;
        }
        let owes = self.trial(|core| core.up_to(level) && core.owes());
        let order: &[Word] = if owes {
            &[Word::Ok, Word::Match, Word::Else]
        } else {
            &[Word::Ok, Word::List, Word::Obj, Word::Lit, Word::Rollback, Word::Else]
        };
        let found = order.iter().find(|&&word| words & one(word) != 0).copied();
        found.or_else(|| TABLE.iter().find(|row| words & one(row.word) != 0).map(|row| row.word))
    }

    /// The first word of the constant that may be the next operand.
    fn constant_word(&self) -> Option<Word> {
        let want = match self.state.phase {
            Phase::Bound => ANY,
            Phase::Operand | Phase::FieldOrName => self.state.want,
            _ => return None,
        };
        self.arena.plain(self.session, self.arena.want(want))
    }

    /// The next node of an end within a line.
    fn ending_node(&mut self) -> Option<Node> {
        match self.state.phase {
            Phase::LitValue(_) => return self.ending_constant(),
            Phase::CaseKey => {
                if let Some(key) = self.ending_constant() {
                    return Some(key);
                }
            }
            Phase::CallWord => return Some(Node::Word(Word::Call)),
            Phase::LitKind => {
                let want = self.frame().map_or(ANY, |frame| frame.want);
                let kind = [NIL, BOOL, NUMBER, TEXT].into_iter().find(|&kind| self.is_kind(kind, want));
                return kind.map(|kind| Node::Integer(kind.into()));
            }
            Phase::ItemCount | Phase::BlockCount | Phase::MergeStart => return Some(Node::Integer(0)),
            Phase::MatchCount | Phase::CaseCount => return Some(Node::Integer(1)),
            Phase::PairCount => return self.pair_counts().map(|counts| Node::Integer(counts.0)),
            Phase::MatchSlot => {
                let owed =
                    |slot: &u8| self.matchable(*slot) && self.now().calls(*slot) & self.state.checked != 0;
                if let Some(slot) = (0..SLOTS).find(owed) {
                    return Some(Node::Integer(slot.into()));
                }
            }
            _ => {
                if let Some(word) = self.constant_word() {
                    return Some(Node::Word(word));
                }
            }
        }
        let integers = self.integers();
        if let Some(number) = self.least(integers).filter(|_| integers != Integers::Nothing) {
            return Some(Node::Integer(number));
        }
        let words = self.trial(Core::words);
        TABLE.iter().find(|row| words & one(row.word) != 0).map(|row| Node::Word(row.word))
    }

    fn ending_constant(&self) -> Option<Node> {
        let constants = self.constants();
        let has = |kind: u8| constants >> kind & 1 == 1;
        if has(NIL) {
            return Some(Node::Nil);
        }
        let truth = [true, false].into_iter().find(|&truth| has(BOOL) && self.takes_bool(truth));
        if let Some(truth) = truth {
            return Some(Node::Bool(truth));
        }
        if has(NUMBER) {
            return self.first_number(b"").map(Node::Number);
        }
        if !has(TEXT) {
            return None;
        }
        if let Some(texts) = self.texts() {
            return texts.first().map(|text| Node::Text((**text).to_owned()));
        }
        if let Some(format) = self.format() {
            return Some(Node::Text(formats::example(format).to_owned()));
        }
        keys().find(|text| self.takes_text(text)).map(Node::Text)
    }
}
