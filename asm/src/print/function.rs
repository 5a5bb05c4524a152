//! Prints functions as documents: name, inputs, output and tools, with the steps.

use super::Printer;
use super::names::{self, Names, RESERVED, Usage, numbered};
use super::steps::{Goal, Step};
use crate::ast::{Expr, ExprKind, File, Parameter, Slot, TypeName};
use crate::diagnostic::Diagnostics;
use crate::dialect::{Dialect, Key, UNNAMED, begins_step};
use crate::document::print::{Doc, Pair, json, yaml};
use crate::notation::Notation;
use crate::syntax::types::behind;
use hashbrown::HashSet;
use std::borrow::Cow;

/// Prints all functions of a file.
pub(super) fn print(file: &File<'_>, words: Dialect, diagnostics: &mut Diagnostics) -> String {
    let functions: HashSet<&str> = file.functions.iter().map(|function| function.name.text).collect();
    let mut out = String::new();
    for (number, function) in file.functions.iter().enumerate() {
        let uses = Usage::of(function);
        let names = Names::new(function, &uses);
        let mut printer = Printer {
            words,
            functions: &functions,
            function,
            parts: function.parts.iter().map(|part| (part.path, *part)).collect(),
            names,
            uses,
            rebound: HashSet::new(),
            literal: false,
            tries: 0,
            in_list: false,
            loop_start: None,
            printed_until: 0,
            failures: Vec::new(),
            depth: 1,
            diagnostics,
        };
        let unnamed = file.functions.len() == 1 && function.name.text == UNNAMED;
        let doc = document(&mut printer, !unnamed);
        match words.notation {
            Notation::Constrained => {
                json::minified(&doc, &mut out);
                out.push('\n');
            }
            Notation::Workflow => {
                out.push_str(if number > 0 { "\n---\n" } else { "" });
                yaml::write(&doc, "steps", &mut out);
            }
            _ => {
                out.push_str(if number > 0 { "\n" } else { "" });
                json::lines(&doc, "steps", &mut out);
                out.push('\n');
            }
        }
    }
    out
}

fn document<'a>(printer: &mut Printer<'_, 'a>, named: bool) -> Doc<'a> {
    let name = Doc::word(printer.function.name.text);
    let input = printer.function.parameters.iter();
    let input: Vec<Pair<'a>> =
        input.map(|p| (p.name.text.into(), Doc::word(input_type(printer, p)))).collect();
    let output = Doc::word(output(printer));
    let list = |names: &[crate::ast::Name<'a>]| {
        names.iter().map(|name| Doc::word(printer.tool(name.text))).collect()
    };
    let allowed: Option<Vec<Doc<'a>>> = printer.function.allowed.map(list);
    let tools = match (printer.words.notation, allowed) {
        (Notation::Mcp, None) => tools(printer),
        (_, allowed) => allowed,
    };
    let tools = tools.map(Doc::List);
    let mut steps = Vec::new();
    inputs_to_bind(printer, &mut steps);
    printer.steps(printer.function.body.statements, Goal::Function, &mut steps);
    let words = printer.words;
    let word = |key: Key| Cow::Borrowed(words.word(key));
    let declared = [(word(Key::Input), Doc::Record(input)), (word(Key::Output), output)];
    let tools = tools.map(|tools| (word(Key::Deps), tools));
    let mut entries: Vec<Pair<'a>> = Vec::new();
    if words.notation == Notation::Mcp {
        let name = named.then_some((word(Key::Name), name));
        let meta = name.into_iter().chain(tools).chain(declared).collect();
        entries.push((word(Key::Meta), Doc::Record(meta)));
    } else {
        entries.push((word(Key::Name), name));
        entries.extend(declared.into_iter().chain(tools));
    }
    let steps = match words.notation {
        Notation::Workflow => named_steps(printer, steps, false),
        _ => listed(printer, steps),
    };
    entries.push((word(Key::Steps), steps));
    Doc::Record(entries)
}

/// Steps that bind inputs to ordinary names, for inputs that are bound again in a nested block. In a
/// notation with bare names, inputs are ordinary names already.
fn inputs_to_bind<'a>(printer: &mut Printer<'_, 'a>, steps: &mut Vec<Step<'a>>) {
    for (slot, parameter) in (0..).map(Slot).zip(printer.function.parameters) {
        let bound = printer.uses.bindings(slot) > 0 && printer.uses.named_last(slot).is_some();
        let name = parameter.name;
        if bound && RESERVED.contains(&name.text) {
            let what = format!("an input `{}` that is bound anew", name.text);
            printer.refuse(name.span, &what, "give the input another name");
        }
        if printer.words.notation == Notation::Constrained {
            printer.names.bind(slot);
            continue;
        }
        if !bound {
            continue;
        }
        if !names::binds_first(printer.function.body.statements, slot) {
            let value = Expr { kind: ExprKind::Ref(slot), span: parameter.name.span };
            let entries = printer.bound(&value);
            let step = printer.binding(Some(slot), 0, "", entries);
            steps.push(step);
        }
    }
}

fn input_type<'a>(printer: &Printer<'_, 'a>, parameter: &Parameter<'a>) -> Cow<'a, str> {
    let ty = ty(printer, &parameter.ty);
    match behind(&parameter.need) {
        behind if behind.is_empty() => ty,
        behind => Cow::Owned(format!("{ty}{behind}")),
    }
}

fn ty<'a>(printer: &Printer<'_, 'a>, ty: &TypeName<'a>) -> Cow<'a, str> {
    let name =
        if printer.words.notation == Notation::Constrained && ty.name == "number" { "num" } else { ty.name };
    match ty.ty.lists {
        0 => Cow::Borrowed(name),
        lists => Cow::Owned(format!("{}{name}", "list ".repeat(lists.into()))),
    }
}

fn output<'a>(printer: &Printer<'_, 'a>) -> Cow<'a, str> {
    let output = &printer.function.output;
    let ok = ty(printer, &output.ok);
    match &output.err {
        None => ok,
        Some(err) => {
            let comma = if printer.words.notation == Notation::Workflow { "," } else { "" };
            Cow::Owned(format!("result {ok}{comma} {}", ty(printer, err)))
        }
    }
}

/// The tools that the function calls, without duplicates; none if the list would read one of the names as
/// a pattern.
fn tools<'a>(printer: &Printer<'_, 'a>) -> Option<Vec<Doc<'a>>> {
    let mut seen = HashSet::new();
    let mut tools = Vec::new();
    printer.function.body.each_call(&mut |call| {
        if seen.insert(call.tool.text) {
            tools.push(Doc::word(printer.tool(call.tool.text)));
        }
    });
    (!seen.iter().any(|name| name.contains('*'))).then_some(tools)
}

/// Steps as a list of records.
pub(super) fn listed<'a>(printer: &mut Printer<'_, 'a>, steps: Vec<Step<'a>>) -> Doc<'a> {
    let record = |step: Step<'a>| {
        let own = step.slot.map(|slot| printer.names.get(slot).clone());
        let name = step.path.map(Cow::Owned).or(own).map(|name| ("let".into(), Doc::Word(name)));
        Doc::Record(name.into_iter().chain(step.entries).collect())
    };
    Doc::List(steps.into_iter().map(record).collect())
}

/// Steps as a record of named steps. A step that binds a slot has the name of the slot if it is free; a
/// step that binds nothing has a name that no slot has. A step that binds a slot from before an ended
/// loop uses `let`, since its own name would be a new variable.
pub(super) fn named_steps<'a>(printer: &mut Printer<'_, 'a>, steps: Vec<Step<'a>>, in_loop: bool) -> Doc<'a> {
    let mut taken: HashSet<Cow<'a, str>> = HashSet::new();
    let mut entries: Vec<Pair<'a>> = Vec::with_capacity(steps.len());
    for mut step in steps {
        let own = step.slot.map(|slot| printer.names.get(slot).clone());
        let free = |name: &str| !taken.contains(name) && !begins_step(name);
        let key = match own.clone().filter(|own| free(own)) {
            Some(own) => own,
            None => {
                let wanted = own.clone().unwrap_or(Cow::Borrowed(step.label));
                let slot = |name: &str| printer.names.all().any(|other| other == name);
                numbered(wanted, |name| free(name) && !slot(name))
            }
        };
        let outer = in_loop && step.slot.is_some_and(|slot| printer.names.is_visible(slot));
        let own = own.filter(|own| step.says_so || outer || *own != key);
        if let Some(own) = step.path.map(Cow::Owned).or(own) {
            step.entries.insert(0, ("let".into(), Doc::Word(own)));
        }
        taken.insert(key.clone());
        entries.push((key, Doc::Record(step.entries)));
    }
    Doc::Record(entries)
}
