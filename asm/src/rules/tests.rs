//! The table compared with that of the words, and its functions.

use super::*;
use ilo_spec::node::{self, Place, Shape};

#[test]
fn every_word_has_its_rule() {
    for row in node::TABLE.iter().filter(|row| row.pure.is_none()) {
        let (operands, gives) = rule(row.word);
        let value = matches!(row.place, Place::Expression | Place::Control);
        assert_eq!(gives != ResultOf::Nothing, value, "{:?}", row.word);
        let expressions = row
            .operands
            .iter()
            .filter(|shape| matches!(shape, Shape::Expr | Shape::Path | Shape::FieldOrName));
        assert!(operands.len() <= expressions.count(), "{:?}", row.word);
    }
}

#[test]
fn what_is_ordered_is_like_the_first() {
    let second = |first| operand(Word::Lt, 1, first);
    assert_eq!(operand(Word::Lt, 0, None), Demand::ORDERED);
    assert_eq!(second(Some(Inferred::TEXT)), Demand::Is(Inferred::TEXT));
    for open in [None, Some(Inferred::ANY), Some(Inferred::BOOL)] {
        assert_eq!(second(open), Demand::ORDERED);
    }
    assert_eq!(operand(Word::Add, 1, Some(Inferred::NUMBER)), NUMBER);
    assert_eq!(operand(Word::Add, 1, Some(Inferred::TEXT.list())), Demand::LIST);
    assert_eq!(operand(Word::At, 1, Some(Inferred::TEXT.list())), NUMBER);
    assert_eq!(operand(Word::At, 1, Some(Inferred::RECORD)), TEXT);
    assert_eq!(operand(Word::At, 1, Some(Inferred::ANY)), Demand::ORDERED);
    assert_eq!(operand(Word::Has, 1, Some(Inferred::TEXT)), TEXT);
    assert_eq!(operand(Word::Has, 1, Some(Inferred::TEXT.list())), Demand::ANY);
    assert_eq!(operand(Word::Concat, 1, Some(Inferred::TEXT)), Demand::ANY);
    assert_eq!(operand(Word::Obj, 3, None), Demand::ANY);
    assert_eq!(operand(Word::Sum, 0, None), Demand::Is(Inferred::NUMBER.list()));
}

#[test]
fn the_first_operand_of_a_function_decides_the_second() {
    let by = |items: Inferred| operand(Word::Sort, 1, Some(items.list()));
    assert_eq!(by(Inferred::RECORD), TEXT);
    assert_eq!(by(Inferred::NUMBER), Demand::Is(Inferred::NIL));
    assert_eq!(by(Inferred::TEXT), Demand::Is(Inferred::NIL));
    let either = Demand::Kinds(Kinds::NIL.or(Kinds::TEXT));
    assert_eq!(by(Inferred::ANY), either);
    assert_eq!(operand(Word::Sort, 1, Some(Inferred::ANY)), either);
    let key = |container| operand(Word::Get, 1, Some(container));
    assert_eq!(key(Inferred::TEXT.list()), NUMBER);
    assert_eq!(key(Inferred::RECORD), TEXT);
    for open in [Inferred::ANY, Inferred::NIL] {
        assert_eq!(key(open), Demand::Kinds(Kinds::NUMBER.or(Kinds::TEXT)));
    }
    assert_eq!(operand(Word::Get, 2, Some(Inferred::RECORD)), Demand::Kinds(Kinds::ANY));
}

#[test]
fn demands_accept_what_may_fit() {
    let types = [
        Inferred::NUMBER,
        Inferred::TEXT,
        Inferred::BOOL,
        Inferred::NIL,
        Inferred::RECORD,
        Inferred::TEXT.list(),
        Inferred::ANY.list(),
        Inferred::ANY,
    ];
    let accepted = |demand: Demand| {
        let fits = types.iter().filter(|&&found| demand.accepts(found));
        fits.map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    assert_eq!(accepted(Demand::ANY), "number, text, bool, nil, record, list text, list any, any");
    assert_eq!(accepted(Demand::LIST), "list text, list any, any");
    assert_eq!(accepted(Demand::CONDITION), "bool, nil, any");
    assert_eq!(accepted(Demand::ORDERED), "number, text, any");
    assert_eq!(accepted(Demand::MEASURABLE), "text, record, list text, list any, any");
    assert_eq!(accepted(Demand::ADDABLE), "number, text, list text, list any, any");
    assert_eq!(accepted(Demand::INDEXABLE), "record, list text, list any, any");
    assert_eq!(accepted(Demand::Is(Inferred::NUMBER.list())), "list any, any");
    let [least, sorted] = [Word::Min, Word::Sort].map(|word| operand(word, 0, None));
    assert_eq!(accepted(least), "list text, list any, any");
    assert!(!least.accepts(Inferred::RECORD.list()));
    assert!(sorted.accepts(Inferred::RECORD.list()));
    for other in [Inferred::BOOL, Inferred::NIL, Inferred::TEXT.list(), Inferred::ANY.list()] {
        assert!(!least.accepts(other.list()) && !sorted.accepts(other.list()), "{other}");
    }
}

#[test]
fn results_follow_from_operands() {
    let (text, number) = (Some(Inferred::TEXT), Some(Inferred::NUMBER));
    let texts = text.map(Inferred::list);
    for (word, first, others, expected) in [
        (Word::Add, number, number, "number"),
        (Word::Add, Some(Inferred::ANY), number, "number"),
        (Word::Add, texts, texts, "list text"),
        (Word::Add, texts, Some(Inferred::ANY), "any"),
        (Word::Concat, texts, texts, "list text"),
        (Word::Concat, texts, Some(Inferred::NUMBER.list()), "list any"),
        (Word::Concat, texts, number, "text"),
        (Word::Concat, Some(Inferred::ANY), text, "text"),
        (Word::Concat, Some(Inferred::ANY), texts, "any"),
        (Word::Concat, Some(Inferred::ANY), None, "any"),
        (Word::At, texts, number, "text"),
        (Word::At, number, number, "any"),
        (Word::Append, texts, text, "list text"),
        (Word::Append, texts, number, "list any"),
        (Word::Append, texts, None, "list text"),
        (Word::Append, None, text, "-"),
        (Word::List, None, text, "list text"),
        (Word::For, texts, number, "list number"),
        (Word::For, texts, None, "-"),
        (Word::If, Some(Inferred::BOOL), text, "text"),
        (Word::Field, Some(Inferred::RECORD), None, "any"),
        (Word::Ref, None, None, "-"),
        (Word::Ret, text, None, "-"),
    ] {
        let shown = gives(word, first, others).map_or("-".to_owned(), |ty| ty.to_string());
        assert_eq!(shown, expected, "{word:?}");
    }
}

#[test]
fn only_values_of_one_kind_may_be_equal() {
    assert!(may_be_equal(Inferred::TEXT, Inferred::ANY));
    assert!(may_be_equal(Inferred::TEXT, Inferred::NIL));
    assert!(may_be_equal(Inferred::TEXT.list(), Inferred::NUMBER.list()));
    assert!(!may_be_equal(Inferred::TEXT, Inferred::NUMBER));
}
