//! The type rules: a table of the operand and result types of each word of the language, with small functions
//! over it.
//!
//! Checking compares the operands of a program with the table; guided generation asks which operands may
//! come next. So that both can use it, this module depends on neither trees nor diagnostics. The types of
//! slots, constants, tools and functions are not in the table, since they depend on the program
//! ([`ResultOf::Named`]).

mod places;
#[cfg(test)]
mod tests;

pub use places::{Clash, clash, of_shape};

use crate::types::Inferred;
use core::fmt;
use ilo_spec::node::Word;
use ilo_spec::pure::{Kinds, Pure};

/// The accepted types of an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Demand {
    /// A value of this type.
    Is(Inferred),
    /// A value of one of these kinds.
    Kinds(Kinds),
    /// A list of items of one of these kinds.
    ListOf(Kinds),
}

impl Demand {
    /// Any value.
    pub const ANY: Demand = Demand::Kinds(Kinds::ANY);
    /// A list of any items.
    pub const LIST: Demand = Demand::Kinds(Kinds::LIST);
    /// A bool or nil.
    pub const CONDITION: Demand = Demand::Kinds(Kinds::BOOL.or(Kinds::NIL));
    /// A number or a text.
    pub const ORDERED: Demand = Demand::Kinds(Kinds::NUMBER.or(Kinds::TEXT));
    /// A number, a text or a list.
    pub const ADDABLE: Demand = Demand::Kinds(Kinds::NUMBER.or(Kinds::TEXT).or(Kinds::LIST));
    /// A list or a record.
    pub const INDEXABLE: Demand = Demand::Kinds(Kinds::LIST.or(Kinds::RECORD));
    /// A text, a list or a record.
    pub const MEASURABLE: Demand = Demand::Kinds(Kinds::TEXT.or(Kinds::LIST).or(Kinds::RECORD));

    /// Whether some value of an inferred type is accepted.
    pub fn accepts(self, found: Inferred) -> bool {
        match self {
            Demand::Is(wanted) => found.meets(wanted),
            Demand::Kinds(kinds) => found == Inferred::ANY || kinds.meets(found.kinds()),
            Demand::ListOf(kinds) => found.item().is_some_and(|item| Demand::Kinds(kinds).accepts(item)),
        }
    }
}

/// The types in words: `bool or nil`.
impl fmt::Display for Demand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = match self {
            &Demand::CONDITION => return f.write_str("bool or nil"),
            Demand::Is(wanted) => return wanted.fmt(f),
            Demand::Kinds(kinds) => kinds.to_string(),
            Demand::ListOf(kinds) => format!("list {}", kinds.to_string().replace(" or ", " or list ")),
        };
        f.write_str(&all.replacen(" or ", ", ", all.matches(" or ").count().saturating_sub(1)))
    }
}

/// The result type of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultOf {
    /// No value.
    Nothing,
    /// A value of this type.
    Is(Inferred),
    /// An item of the first operand.
    Item,
    /// A number; for two lists, a list with the items of both.
    Sum,
    /// A text; for two lists, a list with the items of both.
    Join,
    /// The first operand, a list, with the second as another item.
    Appended,
    /// A list of the operands after the first: the items of LIST, the values that the iterations of FOR
    /// yield.
    ListOf,
    /// One of the operands or blocks after the first.
    OneOf,
    /// The type of the slot, constant, tool or function that the word names.
    Named,
}

const NUMBER: Demand = Demand::Is(Inferred::NUMBER);
const TEXT: Demand = Demand::Is(Inferred::TEXT);
const RECORD: Demand = Demand::Is(Inferred::RECORD);
const GIVES_BOOL: ResultOf = ResultOf::Is(Inferred::BOOL);
const GIVES_NUMBER: ResultOf = ResultOf::Is(Inferred::NUMBER);
const GIVES_RECORD: ResultOf = ResultOf::Is(Inferred::RECORD);

/// The rule of a word that is not a pure function: the accepted types of its operands that are expressions
/// (further operands may have any type), and the type of its result.
pub const fn rule(word: Word) -> (&'static [Demand], ResultOf) {
    match word {
        Word::Call | Word::Ref | Word::Lit => (&[], ResultOf::Named),
        Word::If => (&[Demand::CONDITION], ResultOf::OneOf),
        Word::Match | Word::Try => (&[], ResultOf::OneOf),
        Word::For => (&[Demand::LIST], ResultOf::ListOf),
        Word::MatchMap => (&[Demand::ANY], ResultOf::OneOf),
        Word::Obj => (&[], GIVES_RECORD),
        Word::Merge => (&[RECORD], GIVES_RECORD),
        Word::Add => (&[Demand::ADDABLE, Demand::ADDABLE], ResultOf::Sum),
        Word::Sub | Word::Mul | Word::Div | Word::Mod => (&[NUMBER, NUMBER], GIVES_NUMBER),
        Word::Gte | Word::Gt | Word::Lt | Word::Lte => (&[Demand::ORDERED, Demand::ORDERED], GIVES_BOOL),
        Word::Not => (&[Demand::CONDITION], GIVES_BOOL),
        Word::Concat => (&[Demand::ANY, Demand::ANY], ResultOf::Join),
        Word::Field => (&[RECORD], ResultOf::Is(Inferred::ANY)),
        Word::Eq | Word::Neq => (&[Demand::ANY, Demand::ANY], GIVES_BOOL),
        Word::And | Word::Or => (&[Demand::CONDITION, Demand::CONDITION], GIVES_BOOL),
        Word::List => (&[], ResultOf::ListOf),
        Word::Append => (&[Demand::LIST, Demand::ANY], ResultOf::Appended),
        Word::At => (&[Demand::INDEXABLE, Demand::ORDERED], ResultOf::Item),
        Word::Len => (&[Demand::MEASURABLE], GIVES_NUMBER),
        Word::Has => (&[Demand::MEASURABLE, Demand::ANY], GIVES_BOOL),
        _ => (&[], ResultOf::Nothing),
    }
}

/// The accepted types of an operand of a word, counted from 0 among the operands that are expressions.
/// `first` is the type of the first operand, if it is known already: in a comparison with a number, the other
/// operand must be a number.
pub fn operand(word: Word, index: usize, first: Option<Inferred>) -> Demand {
    let first = first.filter(|_| index > 0);
    if let Some(function) = word.row().pure {
        return operand_of_function(function, index, first);
    }
    let demand = rule(word).0.get(index).copied().unwrap_or(Demand::ANY);
    match (demand, first) {
        (Demand::ADDABLE, Some(first @ (Inferred::NUMBER | Inferred::TEXT))) => Demand::Is(first),
        (Demand::ADDABLE, Some(first)) if first.lists > 0 => Demand::LIST,
        (_, Some(first)) if word == Word::At && first.lists > 0 => NUMBER,
        (_, Some(Inferred::RECORD)) if matches!(word, Word::At | Word::Has) => TEXT,
        (_, Some(Inferred::TEXT)) if word == Word::Has => TEXT,
        (_, _) if word == Word::At => demand,
        (Demand::ORDERED, Some(first)) if first != Inferred::ANY && demand.accepts(first) => {
            Demand::Is(first)
        }
        _ => demand,
    }
}

/// The accepted types of an operand of a pure function. The table of pure functions has their kinds, without
/// the types of items.
fn operand_of_function(function: Pure, index: usize, first: Option<Inferred>) -> Demand {
    match (function, index, first) {
        (Pure::Sum, 0, _) => return Demand::Is(Inferred::NUMBER.list()),
        (Pure::Min | Pure::Max, 0, _) => return Demand::ListOf(Kinds::NUMBER.or(Kinds::TEXT)),
        (Pure::Sort | Pure::SortDown, 0, _) => {
            return Demand::ListOf(Kinds::NUMBER.or(Kinds::TEXT).or(Kinds::RECORD));
        }
        (Pure::Column | Pure::Find | Pure::Record, 0, _) => return Demand::Is(Inferred::RECORD.list()),
        (Pure::Sort | Pure::SortDown, 1, Some(first)) if first.lists > 0 && item(first) != Inferred::ANY => {
            return if item(first) == Inferred::RECORD { TEXT } else { Demand::Is(Inferred::NIL) };
        }
        (Pure::Unique | Pure::Group, 1, Some(first))
            if first.lists > 0 && ![Inferred::ANY, Inferred::RECORD].contains(&item(first)) =>
        {
            return Demand::Is(Inferred::NIL);
        }
        // A value that is no text is returned unchanged.
        (Pure::Parse, 0, _) => return Demand::ANY,
        (Pure::Get, 1, Some(first)) if first.lists > 0 => return NUMBER,
        (Pure::Get, 1, Some(Inferred::RECORD)) | (Pure::Index, 1, Some(Inferred::TEXT)) => return TEXT,
        _ => {}
    }
    function.row().operands.get(index).map_or(Demand::ANY, |operand| Demand::Kinds(operand.kinds))
}

/// The result type of a word, from the type of its first operand and the join of the others; `None` if it has
/// no value, if the result is [`ResultOf::Named`], or if an operand on which it depends has no type yet.
///
/// The others are all items of a LIST, or the values of the blocks of IF, MATCH and FOR.
pub fn gives(word: Word, first: Option<Inferred>, others: Option<Inferred>) -> Option<Inferred> {
    if let Some(function) = word.row().pure {
        return Some(result(function, first));
    }
    match rule(word).1 {
        ResultOf::Nothing | ResultOf::Named => None,
        ResultOf::Is(ty) => Some(ty),
        ResultOf::Item => first.map(item),
        ResultOf::Sum if [first, others].contains(&Some(Inferred::NUMBER)) => Some(Inferred::NUMBER),
        ResultOf::Sum if [first, others].contains(&Some(Inferred::TEXT)) => Some(Inferred::TEXT),
        ResultOf::Join if [first, others].into_iter().flatten().any(|ty| ty.item().is_none()) => {
            Some(Inferred::TEXT)
        }
        ResultOf::Sum | ResultOf::Join => Some(lists_joined(first, others).unwrap_or(Inferred::ANY)),
        ResultOf::Appended => {
            let items = item(first?);
            Some(others.map_or(items, |other| items.join(other)).list())
        }
        ResultOf::ListOf => others.map(Inferred::list),
        ResultOf::OneOf => others,
    }
}

/// Whether the result of a function has the type of its first operand if that is a list.
pub const fn keeps_list(function: Pure) -> bool {
    matches!(function, Pure::Sort | Pure::SortDown | Pure::Reverse | Pure::Slice | Pure::Unique)
}

/// The result type of a pure function: some keep the type of a list, SLICE keeps that of a text, and MIN and
/// MAX return an item.
fn result(function: Pure, first: Option<Inferred>) -> Inferred {
    let known = match function {
        _ if keeps_list(function) => {
            first.filter(|&first| first.lists > 0 || (first == Inferred::TEXT && function == Pure::Slice))
        }
        Pure::Min | Pure::Max => first.filter(|first| first.lists > 0).map(item),
        Pure::Put | Pure::Record | Pure::Without | Pure::Joined => Some(Inferred::RECORD),
        Pure::Group | Pure::Entries => Some(Inferred::RECORD.list()),
        _ => None,
    };
    known.unwrap_or_else(|| function.row().result.into())
}

/// The join of the item types, if both are lists.
fn lists_joined(a: Option<Inferred>, b: Option<Inferred>) -> Option<Inferred> {
    let (a, b) = (a.filter(|a| a.lists > 0)?, b.filter(|b| b.lists > 0)?);
    Some(item(a).join(item(b)).list())
}

/// The type of the items of a list; unknown for other types.
pub fn item(list: Inferred) -> Inferred {
    list.item().unwrap_or(Inferred::ANY)
}

/// Whether two values may ever be equal. Any value may be nil if it is absent, and two lists may be empty.
pub fn may_be_equal(a: Inferred, b: Inferred) -> bool {
    a.meets(b) || [a, b].contains(&Inferred::NIL) || (a.lists > 0 && b.lists > 0)
}
