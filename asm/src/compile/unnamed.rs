//! What to write where the arguments of a call are no record of names and values: a list, or a record from
//! elsewhere. The names are those of the parameters of the tool or function.

use crate::ast::{Call, ExprKind, Field, File, Parameter};
use crate::catalog::{Catalog, Lookup, own_function};
use crate::diagnostic::{Diagnostic, Diagnostics, Edit, Fix};
use crate::span::Span;
use crate::text::is_name;
use hashbrown::HashMap;
use ilo_spec::error::Code;

/// The most parameters whose arguments are written.
const MOST: usize = 32;

/// Adds the arguments to write to the errors about those that have no names.
pub(super) fn fixes(source: &str, file: &File<'_>, catalog: Option<&Catalog>, diagnostics: &mut Diagnostics) {
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
