//! The values that may come next: a set of the fixed beginnings of values, of which the bytes never change,
//! and the few that depend on the position.

use super::choice::{Act, Choice, choice};
use super::choices::{Begins, Choices, Fits, List, bit};
use super::machine::{Around, JsonMachine};
use super::offers::DIGITS;
use super::texts;
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

/// All beginnings of values that do not depend on the position, in the order of their bytes, and the sets of
/// those of texts that may be references and of numbers.
struct Known {
    all: Vec<Choice>,
    texts: Set,
    numbers: Set,
}

const OTHERS: [(&str, Act); 14] = [
    ("{\"text\":\"", Act::Text),
    ("\"", Act::Quote),
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
    let operation = |it: &Operator| choice(format!("{{\"{}\":[", it.spelling), Act::Begin(it.makes.word()));
    let mut all: Vec<Choice> = OPERATORS.iter().map(operation).collect();
    all.extend(OTHERS.map(|it| choice(it.0, it.1)));
    all.extend(DIGITS.map(|digit| choice(digit, Act::Number)));
    sort_by(&mut all, |a, b| a.bytes.cmp(&b.bytes));
    let set = |act: Act| {
        let places = all.iter().enumerate().filter(|it| it.1.act == act);
        places.fold(0, |set, it| set | bit(it.0))
    };
    let (texts, numbers) = (set(Act::Quote), set(Act::Number));
    Known { all, texts, numbers }
});

/// The words of the operators that are operators only where something is computed.
static COMPUTED_ONLY: LazyLock<Words> = LazyLock::new(|| {
    let rows = OPERATORS.iter().filter(|row| !row.is_everywhere());
    rows.fold(0, |all, it| all | one(it.makes.word()))
});

/// All beginnings of values that do not depend on the position, in order.
pub(super) fn all() -> &'static [Choice] {
    &KNOWN.all
}

/// What some of them begin.
pub(super) fn begins(set: Set) -> Begins {
    Begins { text: set & KNOWN.texts != 0, key: false, number: set & KNOWN.numbers != 0 }
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
    let mut more = Vec::new();
    let (literals, has_items, has_fields) = machine.opened(Word::Lit, |this| {
        let Some(Frame { want, depth, .. }) = this.core.frame() else { return Default::default() };
        let literals = if has(Word::Lit) { literals(this, want, &mut more) } else { Literals::default() };
        let has_items = has(Word::List) && operands::items_end(&this.core, want, depth);
        let most = || offers::record_counts(&this.core, want, depth).map_or(0, |counts| counts.1);
        (literals, has_items, has(Word::Obj) && most() > 0)
    });
    if !literals.quote {
        let quoted = |it: Choice| choice(format!("\"{}", &*it.bytes), it.act);
        more.extend(machine.references(words, "\"").into_iter().map(quoted));
    }
    let merges = has(Word::Merge) && !is_bound && may_merge(machine);
    let fits = |place: usize, act: Act| match act {
        Act::Begin(Word::List) => has_items,
        Act::Empty(Word::List) => has(Word::List) && !has_items,
        Act::Begin(Word::Obj) => has_fields,
        Act::Empty(_) => has(Word::Obj) && !has_fields,
        Act::Begin(Word::Merge) => merges,
        Act::Begin(Word::MatchMap) => has(Word::MatchMap) && !is_bound,
        Act::Begin(word) => has(word),
        Act::Wrapped => wraps,
        Act::EndParts => in_list,
        Act::Nil => literals.nil,
        Act::Bool(truth) => literals.truths[usize::from(truth)],
        Act::Text => literals.text,
        Act::Quote => literals.quote,
        _ => literals.numbers & bit(place) != 0,
    };
    let known = KNOWN.all.iter().enumerate().filter(|it| fits(it.0, it.1.act));
    let found = if more.is_empty() {
        Choices::of(List::Values, Fits::Few(known.fold(0, |set, it| set | bit(it.0))))
    } else {
        Choices::listed(more.into_iter().chain(known.map(|it| it.1.clone())))
    };
    Choices { words, ..found }
}

/// The literals that may come next.
#[derive(Default)]
struct Literals {
    nil: bool,
    truths: [bool; 2],
    numbers: Set,
    text: bool,
    /// A text whose bytes show whether it is a reference.
    quote: bool,
}

/// The literals that may come next, after LIT; `more` gets the listed texts.
fn literals(machine: &mut JsonMachine<'_>, want: WantId, more: &mut Vec<Choice>) -> Literals {
    let kinds = offers::literal_kinds(&machine.core, want);
    let has = |kind: u8| kinds >> kind & 1 == 1;
    let shape = offers::shape(&machine.core, want);
    // Nothing is reached behind `while: true`.
    let endless = matches!(machine.around(), Some(Around::While(_)));
    let fits = |truth| shape.is_none() || keys::fits(&machine.core, Literal::Bool(truth));
    let truths = [false, true].map(|truth| has(BOOL) && fits(truth) && !(truth && endless));
    let numbers = match shape {
        _ if !has(NUMBER) => 0,
        None => KNOWN.numbers,
        Some(_) => machine.core.trial(|core| {
            core.take_integer(NUMBER.into());
            let numbers = KNOWN.all.iter().enumerate().filter(|it| it.1.act == Act::Number);
            let fit = numbers.filter(|it| keys::number_goes_on(core, it.1.bytes.as_bytes()));
            fit.fold(0, |set, it| set | bit(it.0))
        }),
    };
    let listed = keys::texts(&machine.core).filter(|_| has(TEXT));
    let text = has(TEXT) && listed.is_none();
    let mut quoted_texts = Vec::new();
    for (number, text) in listed.into_iter().flatten().enumerate() {
        let (act, text) = (Act::Listed(number), quoted(text));
        more.push(choice(format!("{{\"text\":{text}}}"), act));
        quoted_texts.push(choice(text, act));
    }
    more.extend(quoted_texts.into_iter().filter(|it| texts::stays_text(machine, &it.bytes)));
    // The operand of `match` has no texts.
    let has_format = shape.and_then(formats::of).is_some();
    let quote = text && !has_format && machine.around() != Some(Around::Subject);
    Literals { nil: has(NIL), truths, numbers, text, quote }
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
        assert!(all().len() < Set::BITS as usize);
        assert!(KNOWN.texts.is_power_of_two() && KNOWN.numbers.count_ones() as usize == DIGITS.len());
        let alike = |a: &Choice| all().iter().filter(|b| a.act == b.act).count();
        assert!(all().iter().all(|it| it.act == Act::Number || alike(it) == 1));
    }
}
