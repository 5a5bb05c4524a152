//! Writes headers and names of ID text.

use super::comment_cursor::is_name_char;
use super::inputs::write_need;
use crate::ast::{Name, Need, OutputName, Parameter, TypeName};
use crate::text;

/// Writes the header of a function, without the end of its line.
pub(crate) fn write_header(
    name: &Name<'_>,
    parameters: &[Parameter<'_>],
    output: &OutputName<'_>,
    out: &mut String,
) {
    out.push_str("; fn ");
    write_name(name.text, out);
    out.push('(');
    for (index, parameter) in parameters.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        write_parameter(parameter.name.text, out);
        out.push_str(if matches!(parameter.need, Need::Optional) { "?: " } else { ": " });
        write_type(&parameter.ty, out);
        write_need(&parameter.need, out);
    }
    out.push_str(") -> ");
    if let Some(err) = &output.err {
        out.push_str("result ");
        write_type(&output.ok, out);
        out.push_str(", ");
        write_type(err, out);
    } else {
        write_type(&output.ok, out);
    }
}

/// Writes the name of a function or of an entry of a registry, quoted if necessary.
pub(crate) fn write_name(name: &str, out: &mut String) {
    bare_or_quoted(name, is_name_char, out);
}

/// Writes the name of a parameter or of a field in a type, quoted if necessary.
pub(crate) fn write_parameter(name: &str, out: &mut String) {
    bare_or_quoted(name, |c| is_name_char(c) && c != ':', out);
}

fn write_type(ty: &TypeName<'_>, out: &mut String) {
    for _ in 0..ty.ty.lists {
        out.push_str("list ");
    }
    out.push_str(ty.name);
}

fn bare_or_quoted(name: &str, bare: impl Fn(char) -> bool, out: &mut String) {
    if !name.is_empty() && name.chars().all(bare) {
        out.push_str(name);
    } else {
        text::quote(name, out);
    }
}
