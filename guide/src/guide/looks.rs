//! The length of an end after each of the tokens that may come next. Parts that ends have in common are found
//! once.

use crate::automaton::close::{Becomes, EndKey, STEPS};
use crate::automaton::keys::KEY;
use crate::automaton::lex::{Lex, Machine};
use crate::automaton::offers::{NUMBER, TEXT};
use crate::automaton::state::{Core, ITEMS, Phase};
use crate::automaton::texts::{Inside, Led, run};
use crate::vocab::{Length, Vocab};
use hashbrown::HashMap;
use ilo_spec::node::{self, Word};

/// The most ends that are computed for one mask. Tokens that need more are not allowed, so that time is
/// bounded.
const MOST: usize = 512;

/// The most that digits of equivalent fields can add to an end.
const FIELD: usize = 8;

/// Where a node begins.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    /// The number of open expressions where an operand is next, or a statement.
    around: Option<u8>,
    /// The number of values known there.
    values: usize,
    /// After texts, and after digits, ends have nearly the same length, and can differ by this number of
    /// tokens.
    texts: Option<usize>,
    digits: Option<usize>,
}

impl Place {
    fn of(machine: &Machine<'_, '_>) -> Place {
        let core = &machine.core;
        let phase = core.state.phase;
        let around = match phase {
            Phase::Operand | Phase::Bound | Phase::FieldOrName => Some(core.depth()),
            // The operand belongs to the slot or tool.
            Phase::RefSlot | Phase::Tool => Some(core.depth().saturating_sub(1)),
            Phase::Line | Phase::End => Some(0),
            _ => None,
        };
        let kinds = core.constants();
        let has = |kind: u8| kinds >> kind & 1 == 1;
        let is_key = phase == Phase::CaseKey;
        let texts = match () {
            () if !has(TEXT) => None,
            () if is_key => Some(ITEMS as usize),
            () => machine.text_is_free().then_some(0),
        };
        let digits = match () {
            () if has(NUMBER) && machine.has_free_numbers() => Some(0),
            () if machine.has_alike_fields() => Some(FIELD),
            // Other keys may have a digit more if one is taken, and so may this one.
            () if has(NUMBER) && is_key => Some(core.frame().map_or(0, |frame| frame.left as usize) + KEY),
            () => None,
        };
        Place { around, values: core.arena.values.len(), texts, digits }
    }
}

/// Results for one mask: lengths of ends in tokens, `None` if they exceed the limit.
pub(crate) struct Known {
    /// The number of tokens of the program that are taken.
    taken: u32,
    /// Whether a blank ends a token here.
    is_behind: bool,
    /// Here, and after a blank or a line end that ends the unfinished token.
    places: [Place; 2],
    /// After the node that is next at these positions.
    nodes: HashMap<(bool, Becomes), Option<usize>>,
    /// After the operand or statement that a node begins.
    ends: HashMap<(bool, EndKey), Option<usize>>,
    /// Whether equivalent texts and digits fit.
    alike: [[Option<bool>; 2]; 2],
    looks: usize,
}

impl Known {
    pub(crate) fn new(machine: &mut Machine<'_, '_>) -> Known {
        let is_behind = !matches!(machine.lex, Lex::Line(_) | Lex::Start | Lex::Text(..));
        let here = Place::of(machine);
        let behind = |byte: u8| machine.attempt(|it| (is_behind && it.byte(byte)).then(|| Place::of(it)));
        let behind = [b' ', b'\n'].into_iter().find_map(behind).unwrap_or_default();
        Known {
            taken: machine.core.state.taken,
            is_behind,
            places: [here, behind],
            nodes: HashMap::new(),
            ends: HashMap::new(),
            alike: [[None; 2]; 2],
            looks: 0,
        }
    }

    fn place(&self, crosses: bool) -> &Place {
        let [here, behind] = &self.places;
        if crosses { behind } else { here }
    }

    /// Whether this token continues after the unfinished one.
    fn crosses(&self, token: &[u8]) -> bool {
        self.is_behind && matches!(token.first(), Some(b' ' | b'\n'))
    }

    /// For a token that is equivalent to others: where its result is kept, and by how many tokens theirs can
    /// differ.
    fn alike(&mut self, token: &[u8]) -> Option<(&mut Option<bool>, usize)> {
        let crosses = self.crosses(token);
        let bytes = if crosses { token.strip_prefix(b" ")? } else { token };
        let place = *self.place(crosses);
        let [texts, digits] = self.alike.get_mut(usize::from(crosses))?;
        match bytes.split_first()? {
            (b'"', rest) if run(Inside::Plain, rest) == Led::On(Inside::Plain) => Some((texts, place.texts?)),
            _ if bytes.iter().all(u8::is_ascii_digit) => Some((digits, place.digits?)),
            _ => None,
        }
    }

    /// The number of open expressions around the operand or statement that this node begins, if what follows
    /// depends only on an [`EndKey`].
    fn shared(&self, crosses: bool, becomes: Becomes) -> Option<u8> {
        let exits = [Word::Let, Word::Ret, Word::RetOk, Word::RetErr, Word::Fail];
        let shares = match becomes {
            Becomes::Line(_, word) => word.row().place == node::Place::Expression || exits.contains(&word),
            Becomes::Word(word) => word.row().place == node::Place::Expression,
            Becomes::Integer(_) => true,
            _ => false,
        };
        self.place(crosses).around.filter(|_| shares)
    }
}

impl Core<'_, '_> {
    /// Whether the operand or statement is complete that is in this number of open expressions.
    fn is_behind(&self, around: u8) -> bool {
        match self.depth() {
            0 => matches!(self.state.phase, Phase::End | Phase::BlockCount),
            open => open <= around,
        }
    }
}

impl Machine<'_, '_> {
    /// Whether an end fits after this token, which may come next, including that token and the end of the
    /// text.
    pub(crate) fn fits(&mut self, vocab: &Vocab, token: u32, left: usize, known: &mut Known) -> bool {
        let Some((answer, slack)) = known.alike(vocab.token(token)) else {
            return self.fits_alone(vocab, token, left, known);
        };
        let near = answer.take().unwrap_or_else(|| {
            let mut known = Known::new(self);
            self.fits_alone(vocab, token, left.saturating_sub(slack), &mut known)
        });
        if let Some((answer, _)) = known.alike(vocab.token(token)) {
            *answer = Some(near);
        }
        near || (slack > 0 && self.fits_alone(vocab, token, left, known))
    }

    fn fits_alone(&mut self, vocab: &Vocab, token: u32, left: usize, known: &mut Known) -> bool {
        let Some(limit) = left.checked_sub(2) else { return token == vocab.eos() && left > 0 };
        let bytes = vocab.token(token);
        token == vocab.eos()
            || self.attempt(|machine| {
                bytes.iter().all(|&byte| machine.byte(byte))
                    && machine.ends_within(vocab, limit, known.crosses(bytes), known).is_some()
            })
    }

    /// The tokens of an end from here, if they are within a limit, which is the same for all results.
    pub(crate) fn ends_within(
        &mut self,
        vocab: &Vocab,
        limit: usize,
        crosses: bool,
        known: &mut Known,
    ) -> Option<usize> {
        if self.lex == Lex::Line(0) && self.core.trial(Core::end) {
            return Some(0);
        }
        let (rest, becomes) = self.completion()?;
        let mut length = Length::new(vocab, limit);
        if !length.bytes(&rest) {
            return None;
        }
        let spent = limit - length.left;
        let is_next = self.core.state.taken == known.taken + u32::from(crosses);
        let is_kept = is_next
            && match becomes {
                Becomes::Whole => false,
                Becomes::Constant => matches!(self.lex, Lex::Text(_, Inside::Plain)) && self.text_is_free(),
                _ => true,
            };
        let behind = match known.nodes.get(&(crosses, becomes)).filter(|_| is_kept) {
            Some(&behind) => behind,
            None if known.looks >= MOST => return None,
            None => {
                let takes = self.take(becomes, &rest);
                let behind = takes.then(|| {
                    let shared = known.shared(crosses, becomes).filter(|_| is_next);
                    let shared = shared.map(|around| (crosses, around));
                    self.core.look(vocab, limit, shared, known)
                });
                let behind = behind.flatten();
                if is_kept {
                    known.nodes.insert((crosses, becomes), behind);
                }
                behind
            }
        };
        behind.map(|behind| behind + spent).filter(|&all| all <= limit)
    }
}

impl Core<'_, '_> {
    /// The length of an end from the end of a complete token. If it begins an operand or statement: its
    /// position, and the number of open expressions around it.
    fn look(
        &mut self,
        vocab: &Vocab,
        limit: usize,
        shared: Option<(bool, u8)>,
        known: &mut Known,
    ) -> Option<usize> {
        known.looks += 1;
        let mut length = Length::new(vocab, limit);
        let mut found = None;
        let mut is_open = shared;
        for _ in 0..STEPS {
            if let Some((crosses, around)) = is_open
                && self.is_behind(around)
            {
                is_open = None;
                let before = limit - length.left;
                let key = self.end_key(known.place(crosses).values).map(|key| (crosses, key));
                found = key.map(|key| (key, before));
                if let Some(key) = key {
                    if let Some(&behind) = known.ends.get(&key) {
                        debug_assert_eq!(behind, self.measured(vocab, limit), "{key:?}");
                        return behind.map(|behind| behind + before).filter(|&all| all <= limit);
                    }
                    // The part after it is searched up to the whole limit.
                    length = Length::new(vocab, limit);
                }
            }
            if let Some(ends) = self.close_step(&mut length) {
                let behind = ends.then(|| limit - length.left);
                let Some((key, before)) = found else { return behind };
                known.ends.insert(key, behind);
                return behind.map(|behind| behind + before).filter(|&all| all <= limit);
            }
        }
        None
    }

    /// The length of an end from here, computed anew.
    fn measured(&mut self, vocab: &Vocab, limit: usize) -> Option<usize> {
        let mut length = Length::new(vocab, limit);
        self.trial(|core| core.close(&mut length)).then(|| limit - length.left)
    }
}
