//! The values that may come next: a set of the fixed beginnings of values, of which the bytes never change,
//! and the few that depend on the position.

use super::choice::{Act, Choice, choice};
use super::choices::Choices;
use super::machine::{Around, JsonMachine};
use super::offers::DIGITS;
use super::texts;
use super::views::{Begins, Sorted};
use crate::automaton::formats;
use crate::automaton::offers::{self, BOOL, NIL, NUMBER, TEXT, Words, one};
use crate::automaton::state::{Frame, Phase};
use crate::automaton::want::{ANY, WantId};
use crate::automaton::{integers, keys, operands};
use ilo_asm::ast::Literal;
use ilo_asm::dialect::operator::{Operator, TABLE as OPERATORS};
use ilo_asm::sorting::sort_by;
use ilo_spec::json::quoted;
use ilo_spec::node::Word;
use std::sync::LazyLock;

/// A set of beginnings of values, as bits by their place in the order of their bytes.
type Set = u128;

/// A set of beginnings of values; [`Act::Quote`] has these words.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Values {
    set: Set,
    words: Words,
}

/// All beginnings of values that do not depend on the position.
struct Known {
    /// In the order of their bytes.
    all: Vec<(String, Act)>,
    /// The operation that begins with each word.
    operations: [Set; Words::BITS as usize],
    digits: Set,
    others: [(Act, Set); OTHERS.len()],
}

const OTHERS: [(&str, Act); 14] = [
    ("{\"text\":\"", Act::Text),
    ("\"", Act::Quote(0)),
    ("null", Act::Nil),
    ("true", Act::Bool(true)),
    ("false", Act::Bool(false)),
    ("[", Act::Begin(Word::List)),
    ("[]", Act::Empty(Word::List)),
    ("]", Act::EndParts),
    ("{\"obj\":{", Act::Begin(Word::Obj)),
    ("{\"obj\":{}}", Act::Empty(Word::Obj)),
    ("{\"merge\":", Act::Begin(Word::Merge)),
    ("{\"match\":", Act::Begin(Word::MatchMap)),
    ("{\"call\":", Act::Begin(Word::Call)),
    ("{\"expr\":", Act::Wrapped),
];

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let operation = |it: &Operator| (format!("{{\"{}\":[", it.spelling), Act::Begin(it.makes.word()));
    let mut all: Vec<(String, Act)> = OPERATORS.iter().map(operation).collect();
    all.extend(OTHERS.map(|it| (it.0.to_owned(), it.1)));
    all.extend(DIGITS.map(|digit| (digit.to_owned(), Act::Number)));
    sort_by(&mut all, |a, b| a.0.cmp(&b.0));
    let (mut operations, mut digits) = ([0; Words::BITS as usize], 0);
    for (place, (_, act)) in all.iter().enumerate() {
        match *act {
            Act::Begin(word) if OTHERS.iter().all(|it| it.1 != *act) => {
                if let Some(to) = operations.get_mut(word as usize) {
                    *to = bit(place);
                }
            }
            Act::Number => digits |= bit(place),
            _ => {}
        }
    }
    let others = OTHERS.map(|(_, act)| (act, all.iter().position(|it| it.1 == act).map_or(0, bit)));
    Known { all, operations, digits, others }
});

/// The words of the operators that are operators only where something is computed.
static COMPUTED_ONLY: LazyLock<Words> = LazyLock::new(|| {
    let rows = OPERATORS.iter().filter(|row| !row.is_everywhere());
    rows.fold(0, |all, it| all | one(it.makes.word()))
});

fn bit(place: usize) -> Set {
    u32::try_from(place).ok().and_then(|place| 1_u128.checked_shl(place)).unwrap_or_default()
}

/// The set of one beginning, of [`OTHERS`].
fn of(act: Act) -> Set {
    KNOWN.others.iter().find(|it| it.0 == act).map_or(0, |it| it.1)
}

impl Sorted<'static> for Values {
    fn len(self) -> usize {
        KNOWN.all.len()
    }

    fn at(self, place: usize) -> Option<(&'static str, Act)> {
        let (bytes, act) = KNOWN.all.get(place).filter(|_| self.set & bit(place) != 0)?;
        Some((bytes, if matches!(act, Act::Quote(_)) { Act::Quote(self.words) } else { *act }))
    }

    fn text(self, place: usize) -> Option<&'static str> {
        KNOWN.all.get(place).map(|it| it.0.as_str())
    }

    fn from(self, place: usize) -> usize {
        let before = bit(place).wrapping_sub(1);
        let rest = self.set & !before;
        if rest == 0 { self.len() } else { rest.trailing_zeros() as usize }
    }

    fn seek(self, low: usize, high: usize, depth: usize, byte: u8) -> usize {
        let alike = KNOWN.all.get(low..high).unwrap_or_default();
        low + alike.partition_point(|it| it.0.as_bytes().get(depth) < Some(&byte))
    }
}

impl Values {
    /// What some of them begin.
    pub(super) fn begins(self) -> Begins {
        let has = |set| self.set & set != 0;
        Begins { text: has(of(Act::Quote(0))), key: false, number: has(KNOWN.digits) }
    }
}

/// The values that may come next; in a list, also its end.
pub(super) fn values(machine: &mut JsonMachine<'_>, in_list: bool) -> Choices {
    let is_bound = machine.core.state.phase == Phase::Bound;
    let is_whole = machine.place.opens_step || is_bound;
    let mut words =
        if machine.place.opens_step { machine.step_words() } else { machine.core.trial(offers::words) };
    if is_whole {
        words &= !one(Word::Call);
    }
    let mut wraps = false;
    match machine.around() {
        Some(Around::Computed | Around::If | Around::While(_) | Around::Until | Around::Operands(_)) => {}
        Some(Around::Wrapped) => words &= *COMPUTED_ONLY,
        _ => {
            wraps = words & *COMPUTED_ONLY != 0;
            words &= !*COMPUTED_ONLY;
        }
    }
    let has = |word: Word| words & one(word) != 0;
    let (mut set, mut more, mut has_format) = (0, Vec::new(), false);
    let mut rest = words;
    while rest != 0 {
        set |= KNOWN.operations.get(rest.trailing_zeros() as usize).copied().unwrap_or_default();
        rest &= rest - 1;
    }
    machine.opened(Word::Lit, |this| {
        let Some(Frame { want, depth, .. }) = this.core.frame() else { return };
        if has(Word::Lit) {
            has_format = offers::shape(&this.core, want).and_then(formats::of).is_some();
            set |= literals(this, want, &mut more);
        }
        if has(Word::List) {
            set |= of(if operands::items_end(&this.core, want, depth) {
                Act::Begin(Word::List)
            } else {
                Act::Empty(Word::List)
            });
        }
        if has(Word::Obj) {
            let most = offers::record_counts(&this.core, want, depth).map_or(0, |counts| counts.1);
            set |= of(if most == 0 { Act::Empty(Word::Obj) } else { Act::Begin(Word::Obj) });
        }
    });
    // The bytes of a text show whether it is a reference; the operand of `match` has no texts.
    if set & of(Act::Text) != 0 && !has_format && machine.around() != Some(Around::Subject) {
        set |= of(Act::Quote(0));
    } else {
        let quoted = |it: Choice| choice(format!("\"{}", &*it.bytes), it.act);
        more.extend(machine.references(words, "\"").into_iter().map(quoted));
    }
    let others = [
        (has(Word::Merge) && !is_bound && may_merge(machine), Act::Begin(Word::Merge)),
        (has(Word::MatchMap) && !is_bound, Act::Begin(Word::MatchMap)),
        (has(Word::Call), Act::Begin(Word::Call)),
        (wraps, Act::Wrapped),
        (in_list, Act::EndParts),
    ];
    set |= others.into_iter().filter(|it| it.0).fold(0, |set, it| set | of(it.1));
    let values = Values { set, words };
    if more.is_empty() {
        return Choices::Values(values);
    }
    let known = (0..values.len()).filter_map(|place| values.at(place));
    Choices::listed(more.into_iter().chain(known.map(|it| choice(it.0, it.1))))
}

/// The literals that may come next, after LIT; `more` gets the listed texts.
fn literals(machine: &mut JsonMachine<'_>, want: WantId, more: &mut Vec<Choice>) -> Set {
    let kinds = offers::literal_kinds(&machine.core, want);
    let has = |kind: u8| kinds >> kind & 1 == 1;
    let mut set = 0;
    if has(NIL) {
        set |= of(Act::Nil);
    }
    let is_free = offers::shape(&machine.core, want).is_none();
    if has(BOOL) {
        // Nothing is reached behind `while: true`.
        let endless = matches!(machine.around(), Some(Around::While(_)));
        let fits = |truth| is_free || keys::fits(&machine.core, Literal::Bool(truth));
        let fit = [true, false].into_iter().filter(|&truth| fits(truth) && !(truth && endless));
        set |= fit.fold(0, |set, truth| set | of(Act::Bool(truth)));
    }
    if has(NUMBER) && is_free {
        set |= KNOWN.digits;
    } else if has(NUMBER) {
        machine.core.trial(|core| {
            core.take_integer(NUMBER.into());
            for (place, (bytes, act)) in KNOWN.all.iter().enumerate() {
                if *act == Act::Number && keys::number_goes_on(core, bytes.as_bytes()) {
                    set |= bit(place);
                }
            }
        });
    }
    if has(TEXT) {
        match keys::texts(&machine.core) {
            None => set |= of(Act::Text),
            Some(texts) => {
                let mut listed = Vec::new();
                for (number, text) in texts.enumerate() {
                    let (act, text) = (Act::Listed(number), quoted(text));
                    more.push(choice(format!("{{\"text\":{text}}}"), act));
                    listed.push(choice(text, act));
                }
                more.extend(listed.into_iter().filter(|it| texts::stays_text(machine, &it.bytes)));
            }
        }
    }
    set
}

/// Whether some field can be set in the MERGE that comes next.
pub(super) fn may_merge(machine: &mut JsonMachine<'_>) -> bool {
    machine.opened(Word::Merge, |this| {
        let most = offers::most_changes(&this.core);
        let want = this.core.frame().map_or(ANY, |frame| frame.want);
        if most == 0 || offers::shape(&this.core, want).is_none() {
            return most > 0;
        }
        this.core.take_integer(most + 1);
        this.core.state.phase = Phase::PairField;
        let fields = integers::integers(&mut this.core);
        integers::least(&this.core, fields).is_some()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_room_for_all_beginnings() {
        let all = Values::default().len();
        assert!(all < Set::BITS as usize);
        let sets = KNOWN.operations.iter().copied().chain(KNOWN.others.iter().map(|it| it.1));
        assert_eq!(sets.fold(KNOWN.digits, |all, set| all ^ set).count_ones() as usize, all);
    }

    #[test]
    fn places_of_a_set() {
        let values = Values { set: 0b1001_0100, words: 0 };
        assert_eq!([0, 2, 3, 7, 8].map(|place| values.from(place)), [2, 2, 4, 7, values.len()]);
        assert_eq!(values.at(3), None);
        assert!(values.at(4).is_some());
    }
}
