//! Completion of ID text.

use super::need::{Need, Needed, needed, takes};
use super::{Completion, CompletionKind, Found, MOST};
use crate::ast::Slot;
use crate::catalog::{Shape, bare};
use crate::check::KnownSlot;
use crate::diagnostic::Edit;
use crate::ide::{Analysis, IdText, Target, known, meaning};
use crate::span::Span;
use crate::syntax::header::write_name;
use crate::syntax::lexer::{Comment, Kind};
use crate::syntax::registry;
use hashbrown::HashSet;
use ilo_spec::node::{TABLE, Word};

/// The completions at an offset.
pub(super) fn complete(of: &Analysis<'_>, text: &IdText<'_>, offset: u32) -> Vec<Completion> {
    let behind = text.comments().partition_point(|comment| comment.span.start < offset);
    let comment = behind.checked_sub(1).and_then(|at| text.comments().get(at));
    if let Some(comment) = comment.filter(|comment| offset <= comment.span.end) {
        return in_comment(of, text, comment, behind - 1, offset);
    }
    let tokens = text.lexemes();
    let behind = tokens.partition_point(|token| token.start < offset);
    // The word that is being typed is not read: it is what is completed.
    let typed = behind.checked_sub(1).filter(|&at| tokens.get(at).is_some_and(|token| offset <= token.end));
    let is_text = |at: usize| {
        tokens.get(at).is_some_and(|token| {
            matches!(token.kind, Kind::Text | Kind::EscapedText | Kind::OpenText | Kind::SingleText)
        })
    };
    let Some(function) = of.function_at(offset).filter(|_| !typed.is_some_and(is_text)) else {
        return Vec::new();
    };
    let last = typed.unwrap_or(behind);
    let span =
        typed.and_then(|at| tokens.get(at)).map_or(Span::at(offset), |token| Span::new(token.start, offset));
    let first = text.sections.get(function).map_or(0, |section| section.tokens.start);
    // The start of the line of the last statement.
    let begins = |at: &usize| {
        tokens.get(*at).is_some_and(|token| token.first && token.word.is_some_and(begins_statement))
    };
    let new_line = of.at(Span::new(of_last(tokens, last), span.start)).contains('\n');
    let start = (first..last).rev().find(begins).unwrap_or(first);
    let slots = of.slots();
    let known = slots.of(function);
    let line = if new_line { &[][..] } else { tokens.get(start..last).unwrap_or_default() };
    let needed = needed(of, function, &known, line);
    let mut found = Found { span, all: Vec::new() };
    offer(of, function, &known, &needed, &mut found);
    found.all
}

/// The end of the previous token.
fn of_last(tokens: &[crate::syntax::lexer::Token], before: usize) -> u32 {
    before.checked_sub(1).and_then(|at| tokens.get(at)).map_or(0, |token| token.end)
}

/// Whether a word at the start of a line begins a statement and does not continue the previous one.
fn begins_statement(word: Word) -> bool {
    use ilo_spec::node::Place::{Control, Part, Statement};
    matches!(word.row().place, Statement | Control | Part) || matches!(word, Word::Call | Word::Obj)
}

fn offer<'t>(
    of: &'t Analysis<'_>,
    function: usize,
    known: &[KnownSlot<'t>],
    needed: &Needed<'t, '_>,
    found: &mut Found,
) {
    match needed.need {
        Need::Reads => slots(of, function, known, found),
        Need::Binds => {
            new_slot(of, function, found);
            slots(of, function, known, found);
        }
        Need::Tool => tools(of, function, found),
        Need::Argument => arguments(of, function, needed, found),
        Need::Field => {
            let shape = needed.record.and_then(|record| record.part.shape());
            for field in shape.into_iter().flat_map(Shape::fields).take(MOST) {
                let ty = field.shape.written();
                by_name(of, function, registry::Kind::Fields, field.name, ty, CompletionKind::Field, found);
            }
            listed(of, function, registry::Kind::Fields, CompletionKind::Field, found);
        }
        Need::Key => listed(of, function, registry::Kind::Fields, CompletionKind::Field, found),
        Need::Kind => {
            for (kind, about) in [("0", "text"), ("1", "number"), ("2", "nil"), ("3", "bool")] {
                found.add(CompletionKind::Word, kind, about, "the kind of the constant");
            }
        }
        Need::Constant(2) => found.add(CompletionKind::Word, "nil", "", "no value"),
        Need::Constant(3) => {
            found.add(CompletionKind::Word, "true", "", "");
            found.add(CompletionKind::Word, "false", "", "");
        }
        need => {
            if need == Need::Path {
                slots(of, function, known, found);
            }
            for row in TABLE.iter().filter(|row| takes(need, row.word)) {
                found.add(CompletionKind::Word, row.mnemonic, meaning::form(row), row.meaning);
            }
        }
    }
}

/// The slots that are bound before the position.
fn slots(of: &Analysis<'_>, function: usize, known: &[KnownSlot<'_>], found: &mut Found) {
    let Some(info) = of.file.functions.get(function) else { return };
    let bound = of.bound_before(function, found.span.start);
    let all: Vec<(u32, String)> = info
        .slots
        .iter()
        .enumerate()
        .filter(|&(slot, _)| u32::try_from(slot).is_ok_and(|slot| bound.contains(&Slot(slot))))
        .take(MOST)
        .filter_map(|(slot, info)| {
            let ty = known.get(slot).map_or_else(|| "any".to_owned(), known::slot);
            Some((info.number?, format!("{}: {ty}", info.name.unwrap_or(""))))
        })
        .collect();
    for (number, name) in all {
        numbered(number, &name, CompletionKind::Slot, None, found);
    }
}

/// A number without a slot.
fn new_slot(of: &Analysis<'_>, function: usize, found: &mut Found) {
    let Some(info) = of.file.functions.get(function) else { return };
    let registries = of.text.as_ref().and_then(|text| text.sections.get(function));
    let vars = registries.map_or(&[][..], |section| &section.registries.vars.entries);
    let numbers = info.slots.iter().filter_map(|slot| slot.number).chain(vars.iter().map(|entry| entry.id));
    let free = numbers.max().map_or(0, |last| last.saturating_add(1));
    // A registry may have names that nothing binds yet.
    let used: HashSet<u32> = info.slots.iter().filter_map(|slot| slot.number).collect();
    for entry in vars.iter().filter(|entry| !used.contains(&entry.id)).take(MOST) {
        numbered(entry.id, entry.name, CompletionKind::Slot, None, found);
    }
    numbered(free, "a new slot", CompletionKind::Slot, None, found);
}

/// A number with its name.
fn numbered(number: u32, name: &str, kind: CompletionKind, also: Option<Edit>, found: &mut Found) {
    found.all.push(Completion {
        label: format!("{number} {name}"),
        kind,
        text: number.to_string(),
        span: found.span,
        filter: format!("{number} {name}"),
        detail: String::new(),
        about: String::new(),
        also,
    });
}

/// The entries of a registry, each with its number.
fn listed(
    of: &Analysis<'_>,
    function: usize,
    kind: registry::Kind,
    as_kind: CompletionKind,
    found: &mut Found,
) {
    let section = of.text.as_ref().and_then(|text| text.sections.get(function));
    for entry in section.map_or(&[][..], |section| &section.registries.get(kind).entries).iter().take(MOST) {
        if found.all.iter().any(|other| other.text == entry.id.to_string()) {
            continue;
        }
        numbered(entry.id, entry.name, as_kind, None, found);
        if let (CompletionKind::Tool, Some(last)) = (as_kind, found.all.last_mut()) {
            last.detail = signature(of, entry.name);
        }
    }
}

fn signature(of: &Analysis<'_>, name: &str) -> String {
    match of.target(name) {
        Target::Function(number) => of.file.functions.get(number).map_or_else(String::new, Analysis::header),
        Target::Tool(tool) => tool.signature(),
        Target::Unknown => String::new(),
    }
}

/// A name by its number in a registry, or by a new number with the edit that adds it.
fn by_name(
    of: &Analysis<'_>,
    function: usize,
    kind: registry::Kind,
    name: &str,
    detail: String,
    as_kind: CompletionKind,
    found: &mut Found,
) {
    let Some(section) = of.text.as_ref().and_then(|text| text.sections.get(function)) else { return };
    let registry = section.registries.get(kind);
    let (id, also) = match registry.id(name) {
        Some(id) => (id, None),
        None => {
            let free = registry.entries.iter().map(|entry| entry.id.saturating_add(1)).max().unwrap_or(0);
            let mut written = String::new();
            write_name(name, &mut written);
            (free, of.new_entry(function, kind, free, &written))
        }
    };
    numbered(id, name, as_kind, also, found);
    if let Some(last) = found.all.last_mut() {
        last.detail = detail;
    }
}

/// The tools of the registry, then the others.
fn tools(of: &Analysis<'_>, function: usize, found: &mut Found) {
    listed(of, function, registry::Kind::Tools, CompletionKind::Tool, found);
    let section = of.text.as_ref().and_then(|text| text.sections.get(function));
    let entries = section.map_or(&[][..], |section| &section.registries.tools.entries);
    for (name, signature, _) in of.callables(function) {
        let is_listed = entries.iter().any(|entry| entry.name == name || entry.name == bare(name));
        if !is_listed && found.all.len() < MOST {
            by_name(of, function, registry::Kind::Tools, name, signature, CompletionKind::Tool, found);
        }
    }
}

fn arguments(of: &Analysis<'_>, function: usize, needed: &Needed<'_, '_>, found: &mut Found) {
    let Some(inputs) = of.inputs_of(needed.tool.unwrap_or("")) else {
        return listed(of, function, registry::Kind::Fields, CompletionKind::Argument, found);
    };
    for (name, ty, _) in inputs.into_iter().take(MOST) {
        by_name(of, function, registry::Kind::Fields, name, ty, CompletionKind::Argument, found);
    }
}

/// The completions in a header or a registry.
fn in_comment(
    of: &Analysis<'_>,
    text: &IdText<'_>,
    comment: &Comment,
    index: usize,
    offset: u32,
) -> Vec<Completion> {
    let owner = text.sections.iter().position(|section| section.consumed.contains(&index));
    let Some((function, section)) = owner.and_then(|at| Some((at, text.sections.get(at)?))) else {
        return Vec::new();
    };
    let before = of.at(Span::new(comment.span.start, offset));
    let word = before.rfind(|c: char| c.is_whitespace() || matches!(c, '(' | ',' | ':' | '=' | '>'));
    let word = before.get(word.map_or(0, |at| at + 1)..).unwrap_or("");
    let start = offset.saturating_sub(u32::try_from(word.len()).unwrap_or(0));
    let mut found = Found { span: Span::new(start, offset), all: Vec::new() };
    let kinds = ["Vars", "Tools", "Fields"];
    let registry =
        kinds.into_iter().filter_map(|kind| Some((before.rfind(&format!("{kind}:"))?, kind))).max();
    let is_header = section.consumed.first() == Some(&index);
    match registry {
        Some((_, kind)) if before.ends_with(&format!("={word}")) => names(of, function, kind, &mut found),
        None if is_header => {
            let output = before.contains("->");
            let part = before.rsplit(['(', ',']).next().unwrap_or("");
            if output || part.contains(':') {
                found.types(output);
            }
        }
        _ => {}
    }
    found.all
}

/// The names for a registry.
fn names(of: &Analysis<'_>, function: usize, kind: &str, found: &mut Found) {
    let mut written = |name: &str, kind, detail: String| {
        let mut text = String::new();
        write_name(name, &mut text);
        if found.all.len() < MOST && !found.all.iter().any(|other| other.text == text) {
            found.add(kind, &text, detail, "");
        }
    };
    match kind {
        "Tools" => {
            for (name, signature, _) in of.callables(function) {
                written(name, CompletionKind::Tool, signature);
            }
        }
        "Fields" => {
            let section = of.text.as_ref().and_then(|text| text.sections.get(function));
            for entry in section.map_or(&[][..], |section| &section.registries.tools.entries) {
                let Target::Tool(tool) = of.target(entry.name) else { continue };
                for field in tool.input().fields().chain(tool.output().fields()) {
                    written(field.name, CompletionKind::Field, field.shape.written());
                }
            }
        }
        _ => {}
    }
}
