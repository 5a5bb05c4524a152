//! The notation as a surface: what ends of programs have in common. In texts and names one token is nearly as
//! good as another, and so are the digits of a number.

use super::choice::Act;
use super::close::Becomes;
use super::machine::{Leads, Lex, Machine, Next, Point};
use super::names::NAME as LONGEST;
use super::views::{Begins, Sorted, View, with};
use crate::automaton::close::{EndKey, Out};
use crate::automaton::keys::Numbers;
use crate::automaton::offers::{NUMBER, alike};
use crate::automaton::state::Phase;
use crate::automaton::texts::{Inside, Led, run};
use crate::surface::walk::{Common, Found, Look, Tree, Walk};
use crate::surface::{Class, Groups, Growth, Surface};
use crate::vocab::bits::set;
use crate::vocab::{Lacks, Prefixes, Vocab};
use core::ptr::from_ref;
use ilo_asm::notation::Notation;

/// The tokens by which the end of a number can grow, and that of a text or name in addition to its own bytes.
const DIGITS: usize = 24;
const NAME: usize = 8;

/// The most tokens that the end of an unfinished step may need, apart from its call, and the most that each
/// enclosing level may need.
const STEP: &str =
    r#"{"match":"letters","err":{"as":"letters","then":[{"raise":[]}]},"then":[{"raise":[]}]}"#;
const BRANCH: &str = r#"],"err":{"as":"letters","then":[{"raise":[]}]}}"#;

/// What is known of the position of a mask.
#[derive(Clone, Copy)]
pub struct Here {
    /// The length of the body before the choices.
    from: usize,
    /// The numbers of values and of open constructs that are known.
    values: usize,
    arounds: usize,
    around: u32,
    /// Whether a number may be next or more of one, and whether any.
    number: bool,
    any_number: bool,
    /// Whether a text may be next whose content has no effect, if it certainly is a text.
    opens: bool,
}

/// Whether a token continues a number, whatever its digits are.
fn is_number(token: &[u8]) -> bool {
    token.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E'))
}

impl Machine<'_, '_> {
    /// The bytes of a token after the end of the text that is unfinished, or that the token begins, if what
    /// follows them does not depend on the content of the text: unlike for keys, names in AT, and texts that
    /// may be references.
    fn free_tail<'t>(&self, here: &Here, token: &'t [u8]) -> Option<&'t [u8]> {
        let opens = matches!(self.place.lex, Lex::Choice { depth: 0, .. });
        let text = if opens { token.strip_prefix(b"\"")? } else { token };
        let Led::Closed(end) = run(Inside::Plain, text) else { return None };
        let content = text.get(..end.checked_sub(1)?)?;
        let is_sure =
            |written: &[u8]| !content.contains(&b'$') && self.is_sure_text(&[written, content].concat());
        let is_free = match self.place.lex {
            Lex::Text { inside: Inside::Plain, key: false, .. } => self.in_at().is_none(),
            Lex::Choice { depth: 0, .. } => here.opens && is_sure(b""),
            Lex::Bare { inside: Inside::Plain, dollar: false } => {
                self.opens_in_at().is_none() && is_sure(self.written_text())
            }
            _ => false,
        };
        text.get(end..).filter(|_| is_free)
    }

    /// The bytes of a token after the end of a name, if that is bound for the first time.
    fn behind_new_name<'t>(&self, token: &'t [u8]) -> Option<&'t [u8]> {
        let Lex::Name { start, .. } = self.place.lex else { return None };
        let end = token.iter().position(|&byte| byte == b'"')?;
        let name = [self.text.get(start..)?, token.get(..end)?].concat();
        let is_new = self.place.names.iter().all(|it| it.name.as_bytes() != name);
        token.get(end..).filter(|_| is_new)
    }
}

impl Surface for Machine<'_, '_> {
    type Point = Point;
    type Lex = Lex;
    type Becomes = Becomes;
    type Here = Here;
    /// The place of a choice, or that of all operators that are alike.
    type Node = usize;
    /// With the innermost open construct, and the number of names.
    type Key = (EndKey, u32, usize);

    fn text(&self) -> &[u8] {
        &self.text
    }

    fn memory(&self) -> usize {
        Machine::memory(self)
    }

    fn session(&self) -> usize {
        from_ref(self.core.session).addr()
    }

    fn can_write(&self, vocab: &Vocab) -> Result<(), Lacks> {
        vocab.can_write(self.core.session, Notation::Constrained)
    }

    fn point(&self) -> Point {
        Point {
            state: self.core.state,
            lengths: self.core.lengths(),
            text: self.text.len(),
            arounds: self.arounds.len(),
            lists: self.lists.lengths(),
            place: self.place.clone(),
        }
    }

    fn back(&mut self, point: &Point) {
        self.core.state = point.state;
        self.core.cut(point.lengths);
        self.text.truncate(point.text);
        self.arounds.truncate(point.arounds);
        self.lists.cut(point.lists);
        self.walk.forget(point.text);
        self.memo.cut(point.text);
        self.place.clone_from(&point.place);
    }

    fn mark(&self) -> Point {
        let mut point = self.point();
        point.place.choices = None;
        point.place.quote.holes = None;
        point
    }

    fn byte(&mut self, byte: u8) -> bool {
        Machine::byte(self, byte)
    }

    fn lex(&self) -> Lex {
        self.place.lex
    }

    fn relex(&mut self, lex: Lex, length: usize) {
        self.place.lex = lex;
        self.text.truncate(length);
    }

    fn look(&mut self, byte: u8) -> Look {
        match self.leads(byte) {
            Leads::Nowhere => Look::Refused,
            Leads::On(lex) => {
                self.text.push(byte);
                self.place.lex = lex;
                Look::On
            }
            Leads::Act(_) | Leads::Unknown => Look::Unknown,
        }
    }

    fn next_byte(&self, byte: u8) -> Option<u8> {
        Machine::next_byte(self, byte)
    }

    fn walk(&mut self) -> &mut Walk<Lex, Point> {
        &mut self.walk
    }

    fn within(
        &mut self,
        tree: &Tree<'_, '_>,
        children: (u32, u32),
        start: usize,
        found: &mut Found,
    ) -> Option<usize> {
        let Lex::Choice { low, high, depth } = self.place.lex else { return None };
        // The choices began `depth` bytes before this position.
        let before = (self.text.len() - start).wrapping_sub(depth);
        let view = self.choices();
        let high = high.min(view.len());
        let first = Common { node: Prefixes::ROOT, low, high, depth };
        with!(view, choices => tree.within(choices, children, first, before, found));
        Some(depth)
    }

    fn take_choice(&mut self, choice: usize, taken: usize) -> bool {
        Machine::take_choice(self, choice, taken)
    }

    fn inside(&self) -> Option<Inside> {
        match self.place.lex {
            Lex::Text { inside, .. } | Lex::Bare { inside, .. } => Some(inside),
            _ => None,
        }
    }

    fn grew(&mut self) {
        self.forget_choices();
    }

    fn prepare(&mut self) {
        if matches!(self.place.lex, Lex::Choice { .. }) {
            self.choices();
        }
    }

    fn may_end(&mut self) -> bool {
        self.place.next == Next::End
    }

    fn fill(&mut self, vocab: &Vocab, bits: &mut [u32]) {
        if self.place.next == Next::End {
            bits.fill(0);
            return set(bits, vocab.eos());
        }
        Machine::fill(self, vocab, bits);
    }

    fn completion(&mut self) -> Option<(Vec<u8>, Becomes)> {
        Machine::completion(self)
    }

    fn complete(&mut self, becomes: Becomes, rest: &[u8]) -> bool {
        Machine::complete(self, becomes, rest)
    }

    fn close_step(&mut self, out: &mut Out<'_>) -> Option<bool> {
        Machine::close_step(self, out)
    }

    fn growth(&self, vocab: &Vocab) -> Option<Growth> {
        let length = |text: &str| vocab.cut(text.as_bytes()).map(|tokens| tokens.len());
        let session = self.core.session;
        // Another call may have fewer bytes and more tokens.
        let call = 2 * length(session.longest_json_call())?;
        // An unfinished path needs its field, a `${` a name.
        let fields = session.fields.iter().chain(session.parameters.iter().map(|it| &it.0));
        let longest = fields.map(String::len).max().unwrap_or_default();
        let statement = length(STEP)? + call + longest;
        Some(Growth { statement, level: length(BRANCH)?, part: 0, nodes: vocab.json().openings + 1 })
    }

    fn size(&self) -> (usize, usize, usize) {
        (self.core.level().into(), self.text.len(), 0)
    }

    fn may_count(&self) -> bool {
        false
    }

    fn here(&mut self) -> Here {
        let between = matches!(self.place.lex, Lex::Choice { depth: 0, .. });
        let begins = if between { self.choices().begins() } else { Begins::default() };
        let all = |this: &Self| matches!(this.core.numbers(), Numbers::All);
        let in_number = matches!(self.place.lex, Lex::Number { .. });
        let any_number = match self.core.state.phase {
            Phase::CaseKey => false,
            _ if in_number => all(self),
            _ => {
                begins.number
                    && self.tried(|this| {
                        this.literal(NUMBER);
                        all(this)
                    })
            }
        };
        Here {
            from: self.place.from,
            values: self.core.arena.values.len(),
            arounds: self.arounds(),
            around: self.place.around,
            number: in_number || begins.number || begins.key,
            any_number,
            opens: begins.text && self.opens_in_at().is_none(),
        }
    }

    fn crosses(_: &Here, _: &[u8]) -> bool {
        false
    }

    fn groups<'v>(&self, here: &Here, vocab: &'v Vocab, most: usize) -> Option<Groups<'v>> {
        let json = vocab.json();
        let plain = |inside: Inside, slack: usize| (inside == Inside::Plain).then_some(slack);
        Some(match self.place.lex {
            // After a plain token the end has the same length, except for a key that must differ from others,
            // and for a name that decides what is read.
            Lex::Text { inside, key, .. } if key || self.core.format().is_none() => {
                let more = if self.in_at().is_some() { most } else { 1 };
                let slack = plain(inside, if key { NAME } else { more });
                Groups {
                    mask: vocab.texts.plain(),
                    like: b"",
                    slack,
                    others: Some(vec![vocab.texts.closers(inside)]),
                }
            }
            // A text that is nearly a reference needs one more byte. A `${` needs more.
            Lex::Bare { inside, dollar } => {
                let more = if self.opens_in_at().is_some() { most } else { NAME };
                let slack = plain(inside, more).filter(|_| !dollar);
                Groups {
                    mask: &json.stays,
                    like: b"",
                    slack,
                    others: Some(vec![vocab.texts.closers(inside)]),
                }
            }
            // A result that must be matched may have the name, twice, and four letters more.
            Lex::Name { .. } => {
                let slack = if self.core.owes() { 2 * LONGEST + NAME } else { NAME };
                let others = json.name_ends.iter().map(|it| it.1.as_slice()).collect();
                Groups { mask: &json.names, like: b"", slack: Some(slack), others: Some(others) }
            }
            Lex::Choice { depth: 0, .. } if here.opens => {
                Groups { mask: &json.begins, like: b"\" ", slack: Some(NAME), others: None }
            }
            Lex::Text { .. } | Lex::Choice { .. } | Lex::Number { .. } => return None,
        })
    }

    fn class<'t>(&self, here: &Here, token: &'t [u8]) -> Option<(Class<'t>, usize)> {
        if here.number && is_number(token) {
            let is_digits = here.any_number && token.iter().all(u8::is_ascii_digit);
            return Some(if is_digits { (Class::Digits, 0) } else { (Class::Number, DIGITS) });
        }
        if let Some(tail) = self.free_tail(here, token) {
            return Some((Class::Ends(tail), 0));
        }
        let tail = self.behind_new_name(token).filter(|_| !self.core.owes())?;
        Some((Class::Ends(tail), NAME))
    }

    fn node(&self, here: &Here, becomes: Becomes, _: bool) -> Option<usize> {
        let Becomes::Choice(place, _) = becomes else { return None };
        let choices = self.place.choices.filter(|_| self.place.from == here.from)?;
        Some(match self.view(choices).at(place)?.1 {
            Act::Operator(word) => usize::MAX - alike(word) as usize,
            _ => place,
        })
    }

    fn is_behind(&self, here: &Here, _: Option<usize>) -> bool {
        let place = &self.place;
        place.next == Next::Behind || (place.next == Next::After && place.around == here.around)
    }

    fn key(&self, here: &Here, _: Option<usize>) -> Option<Self::Key> {
        let around = self.innermost(here.arounds)?;
        Some((self.core.end_key(here.values)?, around, self.place.names.len()))
    }
}
