//! Calls of functions and methods in expressions, and the forms of calls that are another function than their
//! name says, or that take other operands than its row.
//!
//! These forms are the same for an operation in JSON: each reader gives the name and the operands that it has
//! read. What a function takes without them is in [`crate::dialect::operator`].

use super::habits;
use super::reader::{StepReader, bad, literal};
use crate::ast::{Binary, Expr, ExprKind, Field, Literal, Name};
use crate::catalog::own_function_address;
use crate::diagnostic::{Diagnostic, Fix};
use crate::dialect::operator::{Form, Makes, Operator, RANGE_BEGINS_AT_ZERO};
use crate::dialect::{operator, other_operator};
use crate::document::{Node, entries, inner};
use crate::expr::{Operand, Tree, TreeKind};
use crate::foreign;
use crate::foreign::Place;
use crate::notation::Notation;
use crate::span::Span;
use crate::text::shorten;
use ilo_spec::error::Code;
use ilo_spec::program::Number;
use ilo_spec::pure::Pure;

/// Functions that are methods too. Methods of other languages that do the same are rows of `foreign`.
const METHODS: [&str; 18] = [
    "len", "trim", "upper", "lower", "split", "join", "starts", "ends", "has", "keys", "values", "entries",
    "get", "slice", "concat", "fixed", "unique", "round",
];

/// A call of a function, or of a method of a value.
pub(crate) fn called<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    name: Name<'a>,
    of: Option<&'a Tree<'a>>,
    operands: &'a [Operand<'a>],
    span: Span,
) -> Expr<'a> {
    if let Some(list) = reader.loop_form(node, name, of, operands, span) {
        return list;
    }
    let reverse = match reversed(name, of, operands) {
        Ok(reverse) => reverse,
        Err(named) => {
            no_operand_name(reader, named);
            return bad(span);
        }
    };
    let operands = operands.get(..operands.len() - usize::from(reverse.is_some())).unwrap_or_default();
    let Some(of) = of else { return function_of(reader, node, name, (operands, reverse), span) };
    if let Some(whole) = of_module(reader, of, name) {
        return function_of(reader, node, whole, (operands, reverse), span);
    }
    if operands.is_empty() && other_operator::is_text(name.text) {
        let value = reader.of_tree(node, of);
        return as_text(reader, value, span);
    }
    // `xs.append(x)` in a step that binds `xs`.
    if let ([item], true) = (operands, foreign::is(Place::Grower, name.text))
        && reader.is_changed(of)
    {
        let pair = [reader.of_tree(node, of), reader.of_tree(node, &item.value)];
        let grown = if name.text == "extend" { reader.sum(&pair, name.span) } else { Binary::Append };
        return reader.of_two(grown, pair[0], pair[1], span);
    }
    let own = foreign::word(Place::Method, name.text);
    let own = own.or_else(|| METHODS.contains(&name.text).then_some(name.text));
    let by_fields = |operand: &Operand<'a>| operand.value.item_fields(Some(of)).is_some();
    let own = own.or_else(|| (name.text == "sort" && operands.iter().any(by_fields)).then_some("sort"));
    let bare_split = own == Some("split") && operands.is_empty();
    let Some(own) = own.filter(|own| !bare_split && operator::find(own).is_some()) else {
        no_function(reader, "method", name, None);
        return bad(span);
    };
    let mut all: Vec<&Tree<'a>> = vec![of];
    all.extend(operands.iter().map(|operand| &operand.value));
    // `', '.join(xs)`.
    if own == "join" && matches!(of.kind, TreeKind::Literal(Literal::Text(_))) && all.len() == 2 {
        all.swap(0, 1);
    }
    let read = read_operands(reader, node, own, &all);
    function(reader, Name { text: own, span: name.span }, (&read, reverse), span)
}

/// The name of a function of a module of another language, such as `JSON.parse`, if nothing has the
/// name of the module.
fn of_module<'a>(reader: &StepReader<'a>, of: &Tree<'a>, name: Name<'a>) -> Option<Name<'a>> {
    let module = of.name().filter(|module| reader.named(module.text).is_none())?;
    let whole = format!("{}.{}", module.text, name.text);
    let known = matches!(module.text, "JSON" | "json" | "Math" | "math" | "Object" | "Number" | "Date");
    known.then(|| Name { text: reader.arena.alloc_str(&whole), span: module.span.to(name.span) })
}

fn function_of<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    name: Name<'a>,
    (operands, reverse): (&'a [Operand<'a>], Option<bool>),
    span: Span,
) -> Expr<'a> {
    let read = read_operands(
        reader,
        node,
        name.text,
        &operands.iter().map(|operand| &operand.value).collect::<Vec<_>>(),
    );
    function(reader, name, (&read, reverse), span)
}

/// Operands, in which a lambda that gives fields of its item is read as their names.
fn read_operands<'a>(
    reader: &mut StepReader<'a>,
    node: &Node<'a>,
    function: &str,
    trees: &[&Tree<'a>],
) -> Vec<Expr<'a>> {
    let by_field = takes_fields(function);
    let mut read = Vec::new();
    for tree in trees {
        let Some(fields) = tree.item_fields(trees.first().copied()).filter(|_| by_field) else {
            read.push(reader.of_tree(node, tree));
            continue;
        };
        read.extend(fields.into_iter().map(|(name, down)| {
            let text = if down { reader.arena.alloc_str(&format!("-{}", name.text)) } else { name.text };
            literal(Literal::Text(text), name.span)
        }));
    }
    read
}

/// The last operand `reverse=true` of a sort; an error for another operand with a name, except
/// `key=lambda …`.
fn reversed<'a>(
    name: Name<'a>,
    of: Option<&Tree<'a>>,
    operands: &[Operand<'a>],
) -> Result<Option<bool>, Name<'a>> {
    let list = of.or_else(|| Some(&operands.first()?.value));
    let is_key = |operand: &Operand<'a>| {
        let by = operand.name.is_some_and(|by| by.text == "key") && takes_fields(name.text);
        by && operand.value.item_fields(list).is_some()
    };
    let named = operands.iter().filter(|operand| !is_key(operand));
    let named = named.filter_map(|operand| Some((operand.name?, operand.value.kind)));
    let all: Vec<_> = named.collect();
    match (&all[..], operands.last()) {
        ([], _) => Ok(None),
        ([(word, TreeKind::Literal(Literal::Bool(down)))], Some(Operand { name: Some(_), .. }))
            if word.text == "reverse" && matches!(name.text, "sort" | "sorted") =>
        {
            Ok(Some(*down))
        }
        ([(word, _), ..], _) => Err(*word),
    }
}

fn no_operand_name<'a>(reader: &mut StepReader<'a>, named: Name<'a>) {
    let message = format!("operands have no names here: `{}`", shorten(named.text));
    let help = match named.text {
        "key" => {
            "a key is a field of the item, or several: `lambda x: (x.a, -x.b)`; a computed one is first set as a field"
        }
        _ => "write the operands in their order",
    };
    let wrong = Diagnostic::new(Code::BadExpression, named.span, message)
        .expected("the operand alone", format!("`{}=`", shorten(named.text)));
    reader.report(wrong.help(help));
}

/// A function of operands that are read.
fn function<'a>(
    reader: &mut StepReader<'a>,
    name: Name<'a>,
    (read, reverse): (&[Expr<'a>], Option<bool>),
    span: Span,
) -> Expr<'a> {
    let is_function = |found: &&'static Operator| found.form == Form::Function;
    let found = operator::find(name.text).filter(is_function);
    // A function of the file is nearer than one of another language.
    if found.is_none()
        && let Some(call) = own_call(reader, name, read, span)
    {
        return call;
    }
    let other = other_operator::meant(name.text).filter(is_function);
    let own = found.or(other).map_or(name.text, |found| found.spelling);
    if let Some(form) = call_form(reader, own, read, reverse, span) {
        return form;
    }
    let Some(found) = found.or(other) else {
        if let Some(&value) = read.first().filter(|_| read.len() == 1 && other_operator::is_text(name.text)) {
            return as_text(reader, value, span);
        }
        no_function(reader, "function", name, None);
        return bad(span);
    };
    if other_operator::same(name.text).is_none() && operator::find(name.text).is_none() {
        no_function(reader, "function", name, Some(found));
    }
    if found.takes(read.len())
        && let Some(made) = reader.made(found.makes, read, span)
    {
        return made;
    }
    operands_of(reader, found, read.len(), span);
    bad(span)
}

/// `str(x)`: the value as it is in a text.
fn as_text<'a>(reader: &mut StepReader<'a>, value: Expr<'a>, span: Span) -> Expr<'a> {
    reader.binary(Binary::Concat, value, literal(Literal::Text(""), span), span)
}

/// A call of another function of the file, whose inputs are given in their order.
fn own_call<'a>(
    reader: &mut StepReader<'a>,
    name: Name<'a>,
    given: &[Expr<'a>],
    span: Span,
) -> Option<Expr<'a>> {
    let at = reader.functions.list.iter().position(|&(own, is_given)| is_given && own == name.text)?;
    let node = reader.functions.inputs.get(at).and_then(Option::as_ref);
    // What is wrong with them is reported where they are declared.
    let before = reader.diagnostics.mark();
    let new = node.and_then(|node| habits::rewrite(reader, node, habits::parts::inputs));
    reader.diagnostics.rewind(before);
    let inputs = new.or(node).map_or(&[][..], entries);
    if given.len() > inputs.len() {
        return None;
    }
    let fields = inputs.iter().zip(given).map(|(input, &value)| {
        let text = input.key.text().unwrap_or("");
        Field { name: Name { text: text.strip_suffix('?').unwrap_or(text), span: inner(&input.key) }, value }
    });
    let text = match reader.dialect.notation {
        Notation::Mcp => reader.arena.alloc_str(&own_function_address(name.text)),
        _ => name.text,
    };
    let call = reader.new_call(Name { text, ..name }, reader.arena.collect(fields), span);
    Some(Expr { kind: ExprKind::Call(call), span })
}

/// Reports a function or method that does not exist here; `meant` is the one that does nearly the same.
fn no_function<'a>(reader: &mut StepReader<'a>, kind: &str, name: Name<'a>, meant: Option<&Operator>) {
    let word = name.text;
    let wrong = format!("there is no {kind} `{}` here", shorten(word));
    let wrong = Diagnostic::new(Code::UnknownOperator, name.span, wrong);
    if let Some(meant) = meant {
        let exact = reader.source.get(name.span.range()) == Some(word);
        let fix = exact.then(|| Fix::write(meant.spelling, name.span, meant.spelling));
        return reader.report(
            wrong.nearest(Some(meant.spelling)).fix(fix).help(format!("write `{}`", example(meant))),
        );
    }
    let function = || operator::find(word).or_else(|| other_operator::meant(word));
    let own = || {
        let found = function().filter(|found| found.form == Form::Function)?;
        Some(format!("a function is written before its operands: `{}`", example(found)))
    };
    let near = other_operator::near(word).filter(|_| kind == "function").map(|near| near.spelling);
    let help = foreign::instead(Place::Method, word).map(str::to_owned).or_else(own);
    let help = help.or_else(|| other_operator::instead_of(word));
    reader.report(wrong.nearest(near).help(help.unwrap_or_else(|| other_operator::similar(word))));
}

fn operands_of(reader: &mut StepReader<'_>, found: &Operator, operands: usize, span: Span) {
    let message = format!("`{}` takes {}, not {operands}", found.spelling, found.operands());
    let help = match found.makes {
        Makes::Apply(Pure::Range) => RANGE_BEGINS_AT_ZERO.to_owned(),
        Makes::Apply(Pure::Set) if operands == 1 => "the different items are `unique(list)`".to_owned(),
        _ => format!("write `{}`", example(found)),
    };
    reader.report(Diagnostic::new(Code::OperandCount, span, message).help(help));
}

/// The expression of a call with these operands if it has one of the forms; `None` if it is an ordinary
/// call. `reverse` is an operand of that name.
pub(crate) fn call_form<'a>(
    reader: &mut StepReader<'a>,
    name: &str,
    operands: &[Expr<'a>],
    reverse: Option<bool>,
    span: Span,
) -> Option<Expr<'a>> {
    match (name, operands) {
        ("sort", [list, rest @ ..]) => sorted(reader, list, rest, reverse, span),
        _ if reverse.is_some() => None,
        ("sum", [list, field]) if field.constant_text().is_some() => {
            let column = column(reader, list, field, span)?;
            reader.made(Makes::Apply(Pure::Sum), &[column], span)
        }
        ("range", [from, to]) if matches!(from.kind, ExprKind::Literal(Literal::Number(Number::Int(from))) if from >= 0) =>
        {
            let whole = reader.made(Makes::Apply(Pure::Range), &[*to], span)?;
            reader.made(Makes::Apply(Pure::Slice), &[whole, *from, literal(Literal::Nil, span)], span)
        }
        ("min", [_, _, ..]) => extreme(reader, Pure::Min, operands, span),
        ("max", [_, _, ..]) => extreme(reader, Pure::Max, operands, span),
        ("fixed", [number, places, grouped]) => {
            let function = match grouped.kind {
                ExprKind::Literal(Literal::Bool(true)) => Pure::Grouped,
                ExprKind::Literal(Literal::Bool(false)) => Pure::Fixed,
                _ => {
                    no_constant_form(reader, grouped, "whether thousands are separated", "`true` or `false`");
                    Pure::Fixed
                }
            };
            reader.made(Makes::Apply(function), &[*number, *places], span)
        }
        ("merge" | "$merge", [record, other]) => Some(match other.kind {
            ExprKind::Record(fields) => Expr { kind: ExprKind::Merge(reader.alloc(*record), fields), span },
            _ => reader.made(Makes::Apply(Pure::Joined), &[*record, *other], span)?,
        }),
        _ => None,
    }
}

/// SORT by several fields, by one that begins with `-`, or with an order.
fn sorted<'a>(
    reader: &mut StepReader<'a>,
    list: &Expr<'a>,
    rest: &[Expr<'a>],
    reverse: Option<bool>,
    span: Span,
) -> Option<Expr<'a>> {
    let texts = rest.iter().all(|field| field.constant_text().is_some());
    let nil = [literal(Literal::Nil, span)];
    let (fields, asked) = match rest {
        [] => (&nil[..], None),
        [_, asked] if order(asked).is_some() || !texts => (rest.get(..1)?, Some(asked)),
        [_, .., last] if !texts || order(last).is_some() => return None,
        _ => (rest, None),
    };
    let down = asked.and_then(order).or(reverse);
    if let Some(asked) = asked.filter(|asked| order(asked).is_none()) {
        no_constant_form(reader, asked, "the order", "`'asc'` or `'desc'`");
    }
    let name_below = |field: &Expr<'a>| {
        let name = field.constant_text().and_then(|name| name.strip_prefix('-'));
        name.filter(|name| !name.is_empty() && down.is_none())
    };
    if down.is_none() && fields.len() == 1 && fields.iter().all(|field| name_below(field).is_none()) {
        return None;
    }
    // SORT is stable: by the last field first.
    fields.iter().rev().try_fold(*list, |list, field| {
        let (function, field) = match name_below(field) {
            Some(name) => (Pure::SortDown, literal(Literal::Text(name), field.span)),
            None if down == Some(true) => (Pure::SortDown, *field),
            None => (Pure::Sort, *field),
        };
        reader.made(Makes::Apply(function), &[list, field], span)
    })
}

/// MIN or MAX of several values, or of a field of the records of a list.
fn extreme<'a>(
    reader: &mut StepReader<'a>,
    function: Pure,
    operands: &[Expr<'a>],
    span: Span,
) -> Option<Expr<'a>> {
    let list = match operands {
        [list, field] if field.constant_text().is_some() && !list.is_no_list() => {
            column(reader, list, field, span)?
        }
        _ => Expr { kind: ExprKind::List(reader.arena.alloc_slice_copy(operands)), span },
    };
    reader.made(Makes::Apply(function), &[list], span)
}

/// A field of each record of a list. It has the span of the call of which it is a part: so the check
/// knows that it was not written, and asks whether the list is one.
fn column<'a>(
    reader: &mut StepReader<'a>,
    list: &Expr<'a>,
    field: &Expr<'a>,
    span: Span,
) -> Option<Expr<'a>> {
    reader.made(Makes::Apply(Pure::Column), &[*list, *field], span)
}

fn no_constant_form<'a>(reader: &mut StepReader<'a>, operand: &Expr<'a>, what: &str, expected: &str) {
    let wrong = Diagnostic::new(Code::OperandCount, operand.span, format!("{what} is a constant here"));
    reader.report(wrong.expected(expected, "another value"));
}

/// Whether a function takes the name of a field of its items.
fn takes_fields(function: &str) -> bool {
    let own = operator::find(function).or_else(|| other_operator::meant(function));
    own.is_some_and(|own| matches!(own.spelling, "sort" | "unique" | "group" | "column" | "sum"))
}

/// How a function is written.
fn example(function: &Operator) -> String {
    let plain = match function.spelling {
        "len" => "len(list)",
        "at" => "at(list, 0)",
        "has" => "has(list, x)",
        "append" => "append(list, x)",
        _ => "concat(a, b)",
    };
    let Makes::Apply(made) = function.makes else { return plain.to_owned() };
    let operands = made.row().operands.iter().take(function.most());
    let names: Vec<&str> = operands.map(|operand| operand.name).collect();
    format!("{}({})", function.spelling, names.join(", "))
}

/// The order that the last operand of a sort asks for: whether the greatest comes first.
fn order(operand: &Expr<'_>) -> Option<bool> {
    match operand.constant_text()?.to_ascii_lowercase().as_str() {
        "desc" | "descending" | "down" => Some(true),
        "asc" | "ascending" | "up" => Some(false),
        _ => None,
    }
}

/// Whether a call of an operator may have this number of operands although its row does not allow it.
pub(crate) fn takes(operator: &Operator, operands: usize) -> bool {
    match operator.makes {
        Makes::Apply(Pure::Sort) => operands > 2,
        Makes::Apply(Pure::Fixed) => operands == 3,
        Makes::Apply(Pure::Min | Pure::Max) => operands > 1,
        Makes::Apply(Pure::Sum) => operands == 2,
        _ => false,
    }
}

/// The operands of `min`, `max` and `sum` in JSON, where a list of operands may also be the only operand: a
/// list of two items whose second is a constant text is a list and the name of a field.
pub(crate) fn operands_of_list<'a, 'e>(name: &str, only: &'e Expr<'a>) -> Option<&'e [Expr<'a>]> {
    match only.kind {
        ExprKind::List(items @ [list, field])
            if matches!(name, "min" | "max" | "sum")
                && field.constant_text().is_some()
                && !list.is_no_list() =>
        {
            Some(items)
        }
        _ => None,
    }
}
