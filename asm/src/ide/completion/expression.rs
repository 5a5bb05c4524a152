//! Completion inside the texts of JSON and YAML: of references, and of expressions, in braces and in texts
//! that need none.
//!
//! What is typed may be incomplete, so only braces and quotes are followed, not the grammar.

use super::{CompletionKind, Found};
use crate::ast::Slot;
use crate::catalog::SchemaShape;
use crate::check::KnownSlot;
use crate::dialect::words_at::{Level, Wanted, wanted};
use crate::dialect::{Dialect, Key, operator};
use crate::document::Entry;
use crate::expr::names::used;
use crate::expr::reference::INPUT;
use crate::ide::{Analysis, describe};
use crate::notation::Notation;
use crate::span::Span;
use crate::text::is_name;
use ilo_spec::node::Word;

/// Whether a text that is being typed ends inside an expression. `whole`: it is one without braces.
pub(crate) fn is_open(typed: &str, whole: bool) -> bool {
    inside(typed, whole) == Some(true)
}

/// `None` outside of expressions; else whether it is no text in one.
fn inside(typed: &str, whole: bool) -> Option<bool> {
    // In JSON each quotation mark in a text has a backslash.
    used(&typed.replace("\\\"", "\""), whole, &mut |_| {})
}

/// Whether a text at this place is an expression without braces.
pub(crate) fn is_whole(notation: Notation, path: &[Level<'_>]) -> bool {
    const CONDITIONS: [Key; 5] = [Key::If, Key::Where, Key::While, Key::Until, Key::Assert];
    let dialect = Dialect::of(notation);
    let word = path.last().and_then(|level| level.key).unwrap_or("");
    let is = |keys: &[Key]| dialect.meaning(word, keys).is_some();
    is(&CONDITIONS) || (notation == Notation::Workflow && is(&[Key::Expr]))
}

/// The byte at which the path begins that a text ends with.
fn path_start(typed: &str) -> usize {
    let mut start = typed.len();
    let mut brackets = 0_usize;
    for (at, c) in typed.char_indices().rev() {
        match c {
            ']' => brackets += 1,
            '[' if brackets > 0 => brackets -= 1,
            _ if brackets > 0 => {}
            c if c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '?' | '$') => {}
            _ => break,
        }
        start = at;
    }
    // An index without its `[` is none, and a sign is no part of a name.
    let path = typed.get(start..).filter(|_| brackets == 0).unwrap_or("");
    typed.len() - path.trim_start_matches(['-', '?']).len()
}

/// A path with dots alone: `a?.b[0]` is `a.b.0`.
fn plain(path: &str) -> String {
    let mut out = String::new();
    let mut brackets = 0_usize;
    for c in path.chars() {
        match c {
            '[' => {
                out.push_str(if brackets == 0 { ".0" } else { "" });
                brackets += 1;
            }
            ']' => brackets = brackets.saturating_sub(1),
            '?' | '$' => {}
            c if brackets == 0 => out.push(c),
            _ => {}
        }
    }
    out
}

/// The names, fields and functions that may end a text.
pub(super) fn complete(of: &Analysis<'_>, offset: u32, path: &[Level<'_>], found: &mut Found) {
    let typed = of.at(Span::new(found.span.start, offset));
    let is_bare = Dialect::of(of.notation).is_bare();
    let inside = inside(typed, is_whole(of.notation, path));
    let start = match inside {
        None if !is_bare => typed.rfind('$').unwrap_or(typed.len()),
        _ => path_start(typed),
    };
    let is_plain = !typed.is_empty() && if is_bare { start > 0 } else { start == typed.len() };
    if inside == Some(false) || (inside.is_none() && is_plain) {
        return;
    }
    let steps = path;
    let path = typed.get(start..).unwrap_or("");
    let from = |byte: usize| Span::new(found.span.start + u32::try_from(byte).unwrap_or(0), offset);
    let function = of.function_at(offset).unwrap_or(0);
    let slots = describe::slots(of);
    let known = slots.of(function);
    if let Some((root, name)) = path.rsplit_once('.') {
        found.span = from(typed.len() - name.len());
        // What is before may be a call, of which nothing is known.
        let before = typed.get(..start).unwrap_or("").ends_with([')', '}', '"', '\'']);
        match plain(root) {
            _ if before => {}
            root if root.is_empty() || root == INPUT => inputs(of, function, &known, "", found),
            root => fields(of, function, &root, &known, found),
        }
        return;
    }
    found.span = from(start);
    let input = match of.notation {
        Notation::ToolCalling => "$input.",
        Notation::Constrained => "",
        _ => "$.",
    };
    inputs(of, function, &known, input, found);
    let signs = match of.notation {
        Notation::Constrained => ("", ""),
        Notation::Workflow | Notation::Mcp if inside.is_none() => ("${", "}"),
        _ if inside.is_none() || path.starts_with('$') => ("$", ""),
        _ => ("", ""),
    };
    variables(of, (function, offset), &known, signs, found);
    if inside.is_some() && !path.starts_with('$') {
        steps_before(of.notation, steps, found);
        functions(found);
    }
}

/// The inputs of the function.
fn inputs(of: &Analysis<'_>, function: usize, known: &[KnownSlot<'_>], prefix: &str, found: &mut Found) {
    let Some(info) = of.file.functions.get(function) else { return };
    for (parameter, known) in info.parameters.iter().zip(known).filter(|(own, _)| is_name(own.name.text)) {
        let name = format!("{prefix}{}", parameter.name.text);
        found.add(CompletionKind::Slot, &name, describe::slot(known), "");
    }
}

/// What is bound before a place, between two signs.
fn variables(
    of: &Analysis<'_>,
    (function, offset): (usize, u32),
    known: &[KnownSlot<'_>],
    (before, after): (&str, &str),
    found: &mut Found,
) {
    let Some(info) = of.file.functions.get(function) else { return };
    let bound = of.bound_before(function, offset);
    for ((number, slot), known) in (0_u32..).zip(info.slots).zip(known).skip(info.parameters.len()) {
        if let Some(name) = slot.name.filter(|name| is_name(name) && bound.contains(&Slot(number))) {
            found.add(CompletionKind::Slot, &format!("{before}{name}{after}"), describe::slot(known), "");
        }
    }
}

/// The fields of the value at a path: a slot, and fields in it.
fn fields<'t>(of: &'t Analysis<'_>, function: usize, path: &str, known: &[KnownSlot<'t>], found: &mut Found) {
    let mut names = path.trim_start_matches('.').split('.').filter(|name| *name != INPUT);
    let Some((info, root)) = of.file.functions.get(function).zip(names.next()) else { return };
    let slot = info.slots.iter().position(|slot| slot.name == Some(root));
    let value = slot.and_then(|slot| known.get(slot)).and_then(|known| known.plain.or(known.ok));
    let mut shape = value.and_then(|value| value.part.shape());
    for name in names {
        let index = name.bytes().all(|byte| byte.is_ascii_digit());
        shape = shape.and_then(|shape| if index { Some(shape.item()) } else { Some(shape.field(name)?.0) });
    }
    for field in shape.into_iter().flat_map(SchemaShape::fields) {
        found.add(CompletionKind::Field, field.name, field.shape.written(), "");
    }
}

/// The names of the steps of a workflow above a place that nothing reads yet.
fn steps_before(notation: Notation, path: &[Level<'_>], found: &mut Found) {
    let named = path.iter().enumerate().filter(|(depth, _)| {
        notation == Notation::Workflow
            && wanted(notation, path.get(..*depth).unwrap_or_default()) == Wanted::Block
    });
    for (name, level) in named
        .flat_map(|(_, level)| level.entries.iter().filter_map(Entry::name).map(move |name| (name, level)))
    {
        let known = found.all.iter().any(|one| one.label == name);
        if !known && is_name(name) && level.key != Some(name) {
            found.add(CompletionKind::Slot, name, "any", "");
        }
    }
}

/// The functions, then the words of expressions.
fn functions(found: &mut Found) {
    for row in operator::TABLE.iter().filter(|row| row.form == operator::Form::Function) {
        found.add(CompletionKind::Word, row.spelling, signature(row), row.makes.word().row().meaning);
    }
    for word in ["and", "or", "not", "in", "if", "else", "true", "false", "null"] {
        found.add(CompletionKind::Word, word, "", "");
    }
}

/// A function with the names of its operands.
pub(crate) fn signature(row: &operator::Operator) -> String {
    let operands: Vec<&str> = match row.makes {
        operator::Makes::Apply(function) => function.row().operands.iter().map(|it| it.name).collect(),
        operator::Makes::Unary(_) => vec!["value"],
        operator::Makes::Binary(binary) => match binary.word() {
            Word::At => vec!["value", "key"],
            Word::Append => vec!["list", "item"],
            Word::Concat => vec!["value", "other"],
            _ => vec!["value", "part"],
        },
    };
    format!("{}({})", row.spelling, operands.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_open_until_its_brace() {
        let open = |typed: &str| is_open(typed, false);
        assert!(
            open("${")
                && open("a ${x + ")
                && open("${f({a: ")
                && open("${'it is ${")
                && open("${\\\"a\\\" + ")
        );
        assert!(
            !open("") && !open("a $") && !open("${x}") && !open("${'it is ") && !open("$${x") && !open("{x")
        );
        assert!(is_open("x == ", true) && !is_open("x == 'a", true) && is_open("x == 'a' and ", true));
    }

    #[test]
    fn a_path_is_what_has_no_operator() {
        let path = |typed: &str| plain(&typed[path_start(typed)..]);
        assert_eq!(path("1 + a.b"), "a.b");
        assert_eq!(path("f(rows[i + 1]?.na"), "rows.0.na");
        assert_eq!(path("$.x.y"), ".x.y");
        assert_eq!(path("3 - -x"), "x");
        assert_eq!(path("a]"), "");
    }
}
