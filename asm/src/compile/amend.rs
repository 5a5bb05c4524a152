//! Fixes for which both the check and the source are needed.
//!
//! The check knows what is wrong; only the source has the comma or the line that goes with an argument whose
//! value is null, where its schema lets it be absent but not null; and only it has what was written where the
//! arguments of a call are no record of names and values: a list, or a record from elsewhere.

use crate::ast::{Call, ExprKind, Field, File, Parameter};
use crate::catalog::{Catalog, Lookup, own_function};
use crate::check::LEAVE_OUT;
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::notation::Notation;
use crate::span::Span;
use crate::text::is_name;
use hashbrown::HashMap;
use ilo_spec::error::Code;

/// Adds the fix to each diagnostic that lacks only this.
pub(super) fn leave_out(source: &str, notation: Notation, diagnostics: &mut Diagnostics) {
    let lacks = |found: &Diagnostic| found.help.as_deref() == Some(LEAVE_OUT) && found.fix.is_none();
    diagnostics.amend(|found| {
        if notation != Notation::Id && lacks(found) {
            let fix = |span| Fix { title: "leave it out".to_owned(), edits: vec![Edit::new(span, "")] };
            found.fix = entry(source, found.span, notation == Notation::Workflow).map(fix);
        }
    });
}

/// The entry of a record whose value is null at this place, with its comma or its line.
fn entry(source: &str, value: Span, yaml: bool) -> Option<Span> {
    let at = |offset: usize| u32::try_from(offset).ok();
    let end = value.end as usize;
    let before = source.get(..value.start as usize)?.trim_end().strip_suffix(':')?.trim_end();
    let start = key_start(before)?;
    let behind = source.get(..start)?;
    let outer = behind.trim_end();
    let after = source.get(end..)?;
    let rest = after.trim_start();
    if outer.ends_with(',') {
        return Some(Span::new(at(outer.len() - 1)?, value.end));
    }
    if outer.ends_with('{') {
        let next = match rest.strip_prefix(',') {
            Some(next) => source.len() - next.trim_start().len(),
            None => end,
        };
        return Some(Span::new(at(start)?, at(next)?));
    }
    // A line of its own, which is not the only one of its record.
    let line = behind.rfind('\n')?;
    let indent = behind.get(line + 1..)?;
    let alone =
        indent.bytes().all(|byte| byte == b' ') && after.lines().next().is_none_or(|to| to.trim().is_empty());
    let has_indent = |other: &str| {
        other.strip_prefix(indent).is_some_and(|key| !key.is_empty() && !key.starts_with([' ', '-', '#']))
    };
    let next = after.split_once('\n').map_or("", |(_, next)| next.lines().next().unwrap_or(""));
    let previous = behind.get(..line)?.rsplit('\n').next()?;
    (yaml && alone && (has_indent(previous) || has_indent(next)))
        .then(|| Some(Span::new(at(line)?, value.end)))?
}

/// Where the key begins with which a text ends.
fn key_start(before: &str) -> Option<usize> {
    match before.chars().next_back()? {
        quote @ ('"' | '\'') => {
            let inside = before.get(..before.len() - 1)?;
            let start = inside.rfind(quote)?;
            (!inside.get(start..)?.contains('\\')).then_some(start)
        }
        _ => {
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
            Some(before.trim_end_matches(plain).len()).filter(|&start| start < before.len())
        }
    }
}

/// Gives the texts that fixes write the quotes of their place: in a text of JSON, double quotes would end it.
pub(super) fn quotes(source: &str, notation: Notation, diagnostics: &mut Diagnostics) {
    let fitting = |edit: &Edit| {
        let inside = edit.text.strip_prefix('"')?.strip_suffix('"').filter(|_| notation != Notation::Id)?;
        let old = source.get(edit.span.range())?;
        if old.starts_with('\'') && old.ends_with('\'') && !inside.contains(['\'', '"', '\\']) {
            return Some(format!("'{inside}'"));
        }
        let is_inside = notation != Notation::Workflow && is_in_text(source.get(..edit.span.start as usize)?);
        (is_inside && !old.contains('"')).then(|| edit.text.replace('\\', "\\\\").replace('"', "\\\""))
    };
    diagnostics.amend(|found| {
        for edit in found.fix.iter_mut().flat_map(|fix| &mut fix.edits) {
            if let Some(text) = fitting(edit) {
                edit.text = text;
            }
        }
    });
}

/// Whether the last line of a piece of JSON ends within a text.
fn is_in_text(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or("");
    let (mut is_in_text, mut escaped) = (false, false);
    for byte in line.bytes() {
        is_in_text ^= byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
    }
    is_in_text
}

/// The most parameters whose arguments are written.
const MOST: usize = 32;

/// Adds the arguments to write to the errors about those that have no names.
pub(super) fn name_arguments(
    source: &str,
    file: &File<'_>,
    catalog: Option<&Catalog>,
    diagnostics: &mut Diagnostics,
) {
    let is = |found: &Diagnostic| found.code == Code::BadShape;
    if !diagnostics.as_slice().iter().any(is) {
        return;
    }
    let mut places: HashMap<u32, (Span, String, bool)> = HashMap::new();
    for function in file.functions {
        function.body.each_call(&mut |call| {
            if let [only] = call.arguments
                && only.is_unnamed()
                && let Some(text) = written(source, only, &parameters(call, file, catalog))
            {
                places.insert(only.name.span.start, text);
            }
        });
    }
    diagnostics.amend(|found| {
        let Some((span, text, fits)) = places.get(&found.span.start).filter(|_| is(found)) else { return };
        let title = format!("write `{text}`");
        if *fits {
            found.fix = Some(Fix { title, edits: vec![Edit::new(*span, text.as_str())] });
        } else {
            found.help = Some(title);
        }
    });
}

/// The names of the parameters of a call, and which of them may be left out.
fn parameters<'n>(call: &Call<'n>, file: &File<'n>, catalog: Option<&'n Catalog>) -> Vec<(&'n str, bool)> {
    let name = own_function(call.tool.text).unwrap_or(call.tool.text);
    if let Some(function) = file.functions.iter().find(|function| function.name.text == name) {
        let parameter = |parameter: &Parameter<'n>| (parameter.name.text, parameter.may_be_absent());
        return function.parameters.iter().take(MOST + 1).map(parameter).collect();
    }
    let Some(Lookup::Found(tool)) = catalog.map(|catalog| catalog.lookup(name)) else { return Vec::new() };
    tool.input().fields().take(MOST + 1).map(|field| (field.name, !field.required)).collect()
}

/// The arguments as a record: of a list the items in the order of the parameters, of a reference a field for
/// each.
fn written(source: &str, only: &Field<'_>, parameters: &[(&str, bool)]) -> Option<(Span, String, bool)> {
    let span = only.name.span;
    let of = source.get(span.range())?.trim_matches(['"', '\'']);
    let of = of.trim_start_matches(['$', '{']).trim_end_matches('}').trim();
    let items = if let ExprKind::List(items) = only.value.kind { Some(items) } else { None };
    let is_path = of.split('.').skip_while(|part| part.is_empty()).all(is_name);
    if !(1..=MOST).contains(&parameters.len())
        || items.is_none() && !is_path
        || !parameters.iter().all(|(name, _)| is_name(name))
    {
        return None;
    }
    let read = |(at, &(name, optional)): (usize, &(&str, bool))| match items {
        Some(items) => Some(format!("\"{name}\": {}", source.get(items.get(at)?.span.range())?)),
        None if optional => Some(format!("\"{name}\": \"${{{of}.{name} ?? null}}\"")),
        None => Some(format!("\"{name}\": \"${{{of}.{name}}}\"")),
    };
    let fields: Vec<String> = parameters.iter().enumerate().map_while(read).collect();
    Some((span, format!("{{{}}}", fields.join(", ")), items.is_none()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn without(source: &str, yaml: bool) -> Option<String> {
        let start = u32::try_from(source.find("null").unwrap_or_default()).ok()?;
        let span = entry(source, Span::new(start, start + 4), yaml)?;
        Some(format!("{}{}", &source[..span.start as usize], &source[span.end as usize..]))
    }

    #[test]
    fn an_entry_goes_with_its_comma_or_its_line() {
        let json = |source| without(source, false).unwrap_or_default();
        assert_eq!(json(r#"{"a": 1, "b": null}"#), r#"{"a": 1}"#);
        assert_eq!(json(r#"{"a": null, "b": 1}"#), r#"{"b": 1}"#);
        assert_eq!(json("{\"a\": null\n}"), "{\n}");
        assert_eq!(json("[null]"), "");
        let yaml = |source| without(source, true).unwrap_or_default();
        assert_eq!(yaml("args: {a: null, b: 1}"), "args: {b: 1}");
        assert_eq!(yaml("args:\n  a: 1\n  b: null\nlet: x\n"), "args:\n  a: 1\nlet: x\n");
        assert_eq!(yaml("args:\n  b: null\n  a: 1\n"), "args:\n  a: 1\n");
        assert_eq!(yaml("args:\n  b: null\nlet: x\n"), "");
        assert_eq!(yaml("args:\n  a: 1\n  b: null # none\n"), "");
    }
}
