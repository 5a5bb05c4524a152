//! Messages about values of the wrong type, comparisons that are never equal, and unused values: what is
//! worded apart from where it is found.

use super::fixes::{self, slot_name};
use super::value_info::Nil;
use crate::ast::{Apply, Binary, Case, Expr, ExprKind, Function, Literal, Name, Slot};
use crate::diagnostic::Diagnostic;
use crate::dialect::operator::{NO_DEFAULT, RANGE_BEGINS_AT_ZERO};
use crate::dialect::terms::Terms;
use crate::notation::Notation;
use crate::rules::Demand;
use crate::span::Span;
use crate::text::shorten;
use crate::types::Inferred;
use core::fmt::Display;
use ilo_spec::error::Code;
use ilo_spec::node::Word;
use ilo_spec::pure::{Kinds, Pure};

/// An expression, its certain type, and the origin of the type.
#[derive(Clone, Copy)]
pub(crate) struct Typed<'e, 'a> {
    pub(crate) expression: &'e Expr<'a>,
    pub(crate) found: Inferred,
    pub(crate) origin: Option<Origin<'e, 'a>>,
}

/// The origin of a type.
#[derive(Clone, Copy)]
pub(crate) enum Origin<'e, 'a> {
    /// The binding of a slot, with its span.
    Slot(Slot, Span),
    /// The output type of a function.
    Function(&'e Function<'a>),
}

fn mismatch(
    function: &Function<'_>,
    value: Typed<'_, '_>,
    demand: Demand,
    message: impl Into<String>,
) -> Diagnostic {
    let diagnostic = Diagnostic::new(Code::TypeMismatch, value.expression.span, message)
        .expected(demand.to_string(), value.found.to_string());
    let diagnostic = fixes::literal(diagnostic, value.expression, function, demand);
    let unfixed = diagnostic.fix.is_none() && diagnostic.help.is_none() && function.notation != Notation::Id;
    let help = fixes::conversion(value.expression, value.found, demand).filter(|_| unfixed);
    let diagnostic = Diagnostic { help: help.map(str::to_owned).or(diagnostic.help), ..diagnostic };
    point(fixes::operation(diagnostic, value.expression, function.notation), function, value)
}

/// Points to the origin of the type.
fn point(diagnostic: Diagnostic, function: &Function<'_>, value: Typed<'_, '_>) -> Diagnostic {
    let found = value.found;
    match value.origin {
        Some(Origin::Slot(slot, span)) => {
            let name = slot_name(function, slot);
            diagnostic.related(span, format!("{name} gets its type, {found}, here"))
        }
        Some(Origin::Function(callee)) => {
            let name = callee.name.text;
            diagnostic.related(callee.output.ok.span, format!("`{name}` gives {found}"))
        }
        None => diagnostic,
    }
}

/// An operand that does not fit its word; `index` counts from 0.
pub(crate) fn operand(
    function: &Function<'_>,
    word: Word,
    index: usize,
    value: Typed<'_, '_>,
    demand: Demand,
) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let found = value.found;
    let message = format!("{}, but this is {found}", takes(terms, word, index, demand));
    let diagnostic = mismatch(function, value, demand, message);
    if word.row().pure == Some(Pure::Range) && found.lists > 0 && !terms.is_id() {
        return diagnostic.help(RANGE_BEGINS_AT_ZERO);
    }
    if word == Word::For && (found == Inferred::NUMBER || is_range(value.expression)) {
        return diagnostic.help(terms.choose(
            "`RANGE LIT 1 3` is the list of the whole numbers from 0 to below 3",
            "`{\"range\": …}`, or `${range(n)}`, is the list of the whole numbers from 0 to below a number; \
             `${range(m, n)}` begins at `m`",
        ));
    }
    if word == Word::At && index == 1 && found == Inferred::NUMBER && !terms.is_id() {
        let help = "a record has names, no numbers: what `entries` gives has `key` and `value`";
        return Diagnostic { fix: None, ..diagnostic }.help(help);
    }
    if demand != Demand::CONDITION {
        return diagnostic;
    }
    let diagnostic = Diagnostic { code: Code::ConditionType, ..diagnostic };
    if terms.is_id() {
        return diagnostic;
    }
    match (found.lists, found) {
        (0, Inferred::NUMBER) => diagnostic.help("compare it with another number"),
        (0, Inferred::TEXT) => diagnostic.help("whether it is empty is a comparison with the text `\"\"`"),
        (0, Inferred::RECORD) => diagnostic.help("whether it is there is a comparison with `null`"),
        (0, _) => diagnostic,
        _ => diagnostic.help("whether it has items is a comparison of its `len` with 0"),
    }
}

/// A condition that is no bool, or, if there is another place, that is none there. `text` is whether it may
/// be a text.
pub(crate) fn no_bool(
    function: &Function<'_>,
    (word, index): (Word, usize),
    value: &Expr<'_>,
    (found, text): (String, bool),
    other: Option<Span>,
) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let message = format!("{}, but this is {found}", takes(terms, word, index, Demand::CONDITION));
    Diagnostic::new(Code::MaybeNil, value.span, message)
        .expected(Demand::CONDITION.to_string(), found)
        .related_if(other, "here no bool fits")
        .help(is_there(terms, text))
}

/// A value that may be nil, where what it is given to does not take nil.
pub(crate) fn maybe_nil(
    function: &Function<'_>,
    takes: &str,
    value: &Expr<'_>,
    demand: Demand,
    nil: Nil,
) -> Diagnostic {
    Diagnostic::new(Code::MaybeNil, value.span, format!("{takes}, but this may be nil"))
        .expected(demand.to_string(), why_nil(function, nil))
        .help(Terms::of(function.notation).choose(
            "test it before with NEQ and nil, or read it by GET with a default",
            "test it before with `!= null`, or give a default with `??`",
        ))
}

/// A value in a text that may be nil.
pub(crate) fn maybe_nil_in_text(function: &Function<'_>, value: &Expr<'_>, nil: Nil) -> Diagnostic {
    Diagnostic::new(Code::NilInText, value.span, "this may be nil, which is the word `nil` in a text")
        .expected("a value that is not nil", why_nil(function, nil))
        .help(Terms::of(function.notation).choose(
            "test it before, or read it by GET with a default",
            "give a default, as in `${x ?? ''}`, or test it before",
        ))
}

/// Why a value may be nil.
fn why_nil(function: &Function<'_>, nil: Nil) -> String {
    let terms = Terms::of(function.notation);
    let none = |word| format!("{} gives nil where nothing is found", terms.word(word));
    let why = match nil {
        Nil::Optional => "the schema does not require this field".to_owned(),
        Nil::Nullable => "the schema allows null".to_owned(),
        Nil::Find => none(Word::Find),
        Nil::Index => none(Word::Index),
        Nil::Get => none(Word::Get),
        Nil::Input => "the input may be nil".to_owned(),
    };
    format!("a value that may be nil: {why}")
}

/// How a condition tests whether a value is there.
fn is_there(terms: Terms, text: bool) -> &'static str {
    match (terms.is_id(), text) {
        (true, _) => "compare it with nil: `NEQ v LIT 2 nil`",
        (false, true) => "compare it with `null`, and with `''` if an empty text counts as none",
        (false, false) => "compare it with `null`",
    }
}

/// Whether a constant is the text of a range: `1..3`, `range(3)`.
fn is_range(value: &Expr<'_>) -> bool {
    matches!(value.kind, ExprKind::Literal(Literal::Text(text)) if text.contains("..") || text.starts_with("range("))
}

/// The expected operand of a word, as a clause.
pub(super) fn takes(terms: Terms, word: Word, index: usize, demand: Demand) -> String {
    let name = terms.word(word);
    let operand = word.row().pure.and_then(|function| function.row().operands.get(index));
    match (word, operand) {
        (Word::Field, _) => terms.choose("FIELD takes a record", "only a record has fields").to_owned(),
        // A condition may have no word, as in `c ? a : b`, or another one, as in an assertion.
        _ if demand == Demand::CONDITION && !terms.is_id() => "a condition is a bool or nil".to_owned(),
        (Word::Sort | Word::SortDown, _) if demand == Demand::Is(Inferred::TEXT) => {
            format!("{name} of records takes the name of a field to sort by")
        }
        (_, Some(_)) if demand == Demand::Is(Inferred::NIL) => {
            format!("{name} of numbers or texts takes no field")
        }
        (_, Some(operand)) => format!("{name} takes {demand} as `{}`", operand.name),
        _ => format!("{name} takes {demand}"),
    }
}

/// A list that is written into a text: an error if an item may be meant, as in `$xs.0`.
pub(crate) fn list_in_text(function: &Function<'_>, list: Typed<'_, '_>) -> Diagnostic {
    let (at, terms) = (list.expression.span, Terms::of(function.notation));
    let code = if function.is_suspect(at) { Code::BadReference } else { Code::ListInText };
    let [join, json] = [Word::Join, Word::Json].map(|word| terms.word(word));
    let diagnostic = Diagnostic::new(code, at, "this list is written into the text as JSON")
        .expected("two lists, or a text for the list", list.found.to_string());
    let forms = terms.choose("", ", as in `${join(list, ', ')}` and `${json(list)}`");
    point(diagnostic, function, list)
        .help(format!("{join} gives the items with a text between them, {json} the list as JSON{forms}"))
}

/// `min` or `max` of a value of unknown type and a constant text.
pub(crate) fn unclear_column(
    function: &Function<'_>,
    extreme: Pure,
    field: &Expr<'_>,
    whole: Span,
) -> Diagnostic {
    let name = Terms::of(function.notation).word(Word::of_pure(extreme));
    let name = name.trim_matches('`');
    let text =
        if let ExprKind::Literal(Literal::Text(text)) = field.kind { shorten(text) } else { "…".into() };
    let message = format!("`{name}` of a value of unknown type and the text `{text}` has two meanings");
    let help = format!(
        "write `${{{name}(column(list, '{text}'))}}` for a field of the records, or `${{{name}([x, '{text}'])}}`"
    );
    Diagnostic::new(Code::TypeMismatch, whole, message)
        .expected("a list of records, or two values of one kind", "any")
        .help(help)
}

/// A value of another type than the declared output.
pub(crate) fn output(
    function: &Function<'_>,
    value: Typed<'_, '_>,
    wanted: Inferred,
    declared: Span,
) -> Diagnostic {
    let message = format!("`{}` gives {wanted}, but this is {}", function.name.text, value.found);
    mismatch(function, value, Demand::Is(wanted), message).related(declared, "the type is given here")
}

/// A loop that yields another type than the declared output.
pub(crate) fn loop_output(function: &Function<'_>, span: Span, found: Inferred) -> Diagnostic {
    let (name, output) = (function.name.text, function.output.ok);
    let wanted = Inferred::from(output.ty);
    let word = Terms::of(function.notation).word(Word::For);
    let message = format!("`{name}` gives {wanted}, but this {word} yields {found}");
    Diagnostic::new(Code::TypeMismatch, span, message)
        .expected(wanted.to_string(), found.to_string())
        .related(output.span, "the type is given here")
}

/// A value of the wrong type in an argument; `declared` is the span of the parameter's type, if the file
/// declares it.
pub(crate) fn argument(
    function: &Function<'_>,
    place: impl Display,
    value: Typed<'_, '_>,
    demand: Demand,
    declared: Option<Span>,
) -> Diagnostic {
    let message = format!("{place} takes {demand}, but this is {}", value.found);
    let diagnostic = mismatch(function, value, demand, message);
    let diagnostic = match demand {
        Demand::Is(wanted) if wanted.lists > 0 && wanted == value.found.list() => diagnostic.help(
            Terms::of(function.notation)
                .choose("a list of it alone is `LIST 1 <value>`", "write `[…]` around it"),
        ),
        _ => diagnostic,
    };
    diagnostic.related_if(declared, "the parameter's type is given here")
}

/// The slot of which a value is a changed list or record, as it would be in a language that changes it in
/// place.
pub(crate) fn changed(value: &Expr<'_>) -> Option<Slot> {
    match value.kind {
        ExprKind::Binary(Binary::Append, of, _)
        | ExprKind::Merge(of, _)
        | ExprKind::Apply(Apply { function: Pure::Put, operands: [of, ..], .. }) => match of.kind {
            ExprKind::Ref(slot) => Some(slot),
            _ => None,
        },
        _ => None,
    }
}

/// An `or` whose operands are not known to be bools, where its value is used.
pub(crate) fn no_default(right: &Expr<'_>, word: Span) -> Diagnostic {
    Diagnostic::new(Code::ConditionType, right.span, "`or` takes bools, and gives no default")
        .expected("a bool, or `??` before the default", "a value that is not known to be a bool")
        .help(NO_DEFAULT)
        .replace(word, "??")
}

/// A field whose name may be a difference.
pub(crate) fn hyphen_minus(name: Name<'_>) -> Diagnostic {
    let (field, number) = name.text.split_once('-').unwrap_or((name.text, ""));
    let message = format!("`{}` is the name of one field: a hyphen belongs to a name", name.text);
    Diagnostic::new(Code::HyphenMinus, name.span, message)
        .expected(format!("`{field} - {number}` for a difference"), format!("`{}`", name.text))
        .help("write blanks around a minus sign; if it is a field, test for it with `has` first")
}

/// `%` beside `//` of the same operands.
pub(crate) fn mixed_division(remainder: Span, floor: Span) -> Diagnostic {
    Diagnostic::new(
        Code::MixedDivision,
        remainder,
        "for a negative number `%` is not what is left of `//`: `%` divides toward zero, and `//` rounds down",
    )
    .related(floor, "rounded down here")
    .help("write `a - a // b * b` for what is left")
}

/// A value that nothing uses.
pub(crate) fn unused(function: &Function<'_>, value: &Expr<'_>) -> Diagnostic {
    let warning = Diagnostic::new(Code::UnusedValue, value.span, "nothing takes this value")
        .expected("a value that is bound or returned", "a value that is computed and not used");
    match changed(value) {
        Some(slot) => fixes::bind_again(warning, function, slot),
        None => warning
            .help("bind it, or leave it out; the last value of a block counts where the block is bound"),
    }
}

/// A part of a text that is always nil.
pub(crate) fn nil_in_text(function: &Function<'_>, value: Typed<'_, '_>) -> Diagnostic {
    let message = "this is always nil, which is the word `nil` in a text";
    let warning = Diagnostic::new(Code::NilInText, value.expression.span, message)
        .expected("a value that is not nil", value.found.to_string());
    point(warning, function, value).help("leave it out, or write the text \"nil\" for that word")
}

/// Two texts that are numbers but are compared as texts.
pub(crate) fn text_order(function: &Function<'_>, left: &Expr<'_>) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let message = "two texts are compared letter by letter, so that \"10\" comes before \"9\"";
    Diagnostic::new(Code::TextOrder, left.span, message)
        .expected(Inferred::NUMBER.to_string(), "a text that is a number")
        .help(format!("{} makes a number of a text: compare those", terms.choose("NUMBER", "`number`")))
}

/// Two values that are never equal: `expression`, which is most likely wrong, and another.
pub(crate) fn never_equal(
    function: &Function<'_>,
    expression: &Expr<'_>,
    found: Inferred,
    other: Inferred,
) -> Diagnostic {
    let message = format!("{found} is compared with {other}: they are never equal");
    let warning = Diagnostic::new(Code::NeverEqual, expression.span, message)
        .expected(other.to_string(), found.to_string());
    fixes::literal(warning, expression, function, Demand::Is(other))
}

/// A case whose key never equals the matched value.
pub(crate) fn never_met(notation: Notation, subject: Inferred, case: &Case<'_>) -> Diagnostic {
    let key = Inferred::from(case.key.ty());
    let message = format!("the matched value is {subject}, which this {key} never equals");
    let warning = Diagnostic::new(Code::NeverEqual, case.key_span, message)
        .expected(subject.to_string(), key.to_string());
    let quoted = key == Inferred::TEXT && [Inferred::NUMBER, Inferred::BOOL].contains(&subject);
    if !quoted {
        return warning;
    }
    warning.help(match notation {
        Notation::Id | Notation::Workflow => "write the key without quotes",
        _ => "write the cases as a list of pairs, whose keys may be numbers: `[[1, …], [2, …]]`, or bools",
    })
}

/// Adds to the error of a text where a record or list is wanted that it holds one, if it does.
pub(crate) fn stringified(
    diagnostic: Diagnostic,
    value: &Expr<'_>,
    wanted: Kinds,
    notation: Notation,
) -> Diagnostic {
    let (first, last) = match &value.kind {
        ExprKind::Template([first, .., last]) => (first, last),
        _ => (value, value),
    };
    let (Some(start), Some(end)) = (first.constant_text(), last.constant_text()) else { return diagnostic };
    let (start, end) = (start.trim_start(), end.trim_end());
    let (what, instruction) = if begins_record(start) && end.ends_with('}') && wanted.meets(Kinds::RECORD) {
        ("record", "OBJ")
    } else if start.starts_with('[') && end.ends_with(']') && wanted.meets(Kinds::LIST) {
        ("list", "LIST")
    } else {
        return diagnostic;
    };
    let whole = core::ptr::eq(first, last);
    diagnostic.help(match notation {
        Notation::Id => format!("this is the text of a {what}: build the {what} itself, with {instruction}"),
        _ if whole => format!("this is the text of a {what}: write the {what} itself, `{}`", shorten(start)),
        _ => format!("this is the text of a {what}: write the {what} itself, without the quotes around it"),
    })
}

/// Whether a text begins with a brace and then, after blanks, with a quote or the closing brace.
fn begins_record(text: &str) -> bool {
    let rest = text.strip_prefix('{').unwrap_or("").trim_start();
    rest.starts_with(['"', '}'])
}
