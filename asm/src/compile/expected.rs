//! The signature that a host expects of the function that it will run.
//!
//! It is written as in the header of instruction text: `email(id: text) -> result answer, text`. The check
//! compares the function with it, so that a program of another name, input or result is refused before
//! anything runs.

use crate::arena::Arena;
use crate::ast::{File, Function, Parameter, TypeName};
use crate::check::{Checked, entry};
use crate::compile::read_id;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::notation::Notation;
use crate::print;
use crate::source::SourceLimits;
use crate::span::Span;
use ilo_spec::error::Code;
use ilo_spec::types::{Output, Type};
use std::fmt;

/// What is before a signature in a header of ID text.
const COMMENT: &str = "; fn ";

/// The signature that a host expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The header of ID text, which is read where it is used.
    header: String,
    name: String,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.header.get(COMMENT.len()..).unwrap_or_default().trim_end())
    }
}

impl std::str::FromStr for Signature {
    type Err = String;

    /// Reads a signature such as `email(id: text) -> result answer, text`.
    fn from_str(text: &str) -> Result<Signature, String> {
        let text = text.trim().trim_start_matches(';').trim_start();
        let text = text.strip_prefix("fn ").unwrap_or(text).trim();
        let wrong = |why: &str| {
            format!("`{text}` is not a signature such as `email(id: text) -> result answer, text`: {why}")
        };
        if text.contains(['\n', '\r']) {
            return Err(wrong("it is one line"));
        }
        let header = format!("{COMMENT}{text}\n");
        let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
        let file = read_id(&header, &arena, &SourceLimits::default(), &mut diagnostics);
        if let Some(found) = diagnostics.as_slice().iter().find(|found| found.is_error()) {
            return Err(wrong(&found.message));
        }
        let [function] = file.functions else { return Err(wrong("it has no name and no output")) };
        let name = function.name.text.to_owned();
        Ok(Signature { header, name })
    }
}

impl Signature {
    /// The name of the function.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// A function that has only this signature.
    fn file<'a>(&'a self, arena: &'a Arena) -> File<'a> {
        read_id(&self.header, arena, &SourceLimits::default(), &mut Diagnostics::default())
    }

    /// The beginning of a program with this signature, in a notation.
    pub fn beginning(&self, notation: Notation) -> String {
        print::print(&self.file(&Arena::new()), notation, &mut Diagnostics::default())
    }

    /// Reports where the function that a host will run has another signature.
    pub(super) fn compare(
        &self,
        source: &str,
        file: &File<'_>,
        checked: &Checked,
        diagnostics: &mut Diagnostics,
    ) {
        // What was not read has no signature yet.
        if file.functions.is_empty() || diagnostics.as_slice().iter().any(is_of_header) {
            return;
        }
        let arena = Arena::new();
        let own = named_or_only(Some(&self.name), file, checked).or(file.functions.last());
        let (Some(own), [wanted]) = (own, self.file(&arena).functions) else { return };
        if own.name.text != self.name {
            let message = "the function has another name than its host calls".to_owned();
            let found = self.found(own, own.name.span, message, &self.name, own.name.text);
            diagnostics.push(replaced(found, source, own.name.span, &self.name));
        }
        self.compare_inputs(source, own, wanted.parameters, diagnostics);
        let (span, output) = (own.output.span, own.output.output());
        if !gives(output, wanted.output.output()) {
            let message = "the function has another output than its host expects".to_owned();
            let expected = text_at(&self.header, wanted.output.span);
            let found = self.found(own, span, message, expected, &output.to_string());
            diagnostics.push(replaced(found, source, span, expected));
        }
    }

    fn compare_inputs(
        &self,
        source: &str,
        function: &Function<'_>,
        wanted: &[Parameter<'_>],
        diagnostics: &mut Diagnostics,
    ) {
        for input in wanted {
            let (name, written) = (input.name.text, text_at(&self.header, input.ty.span));
            let Some(own) = function.parameters.iter().find(|own| own.name.text == name) else {
                let message = format!("the input `{name}` is missing");
                let expected = format!("{name}: {written}");
                let place = function.name.span;
                diagnostics.push(self.found(function, place, message, &expected, "no such input"));
                continue;
            };
            let TypeName { ty, span, .. } = own.ty;
            if ty != input.ty.ty && ty != Type::ANY {
                let message = format!("the input `{name}` has another type than its host gives");
                let found = self.found(function, span, message, written, &ty.to_string());
                diagnostics.push(replaced(found, source, span, written));
            } else if input.takes_nil() && !own.takes_nil() && ty != Type::ANY {
                let message = format!("the host may give nil for the input `{name}`, or leave it out");
                let expected = format!("{written}|nil");
                diagnostics.push(self.found(function, span, message, &expected, &ty.to_string()));
            }
        }
        let names: Vec<&str> = wanted.iter().map(|input| input.name.text).collect();
        let unknown = function.parameters.iter().filter(|own| !names.contains(&own.name.text));
        for own in unknown.filter(|own| !own.may_be_absent()) {
            let name = own.name.text;
            let message = format!("the host gives no input `{name}`");
            let expected = if names.is_empty() { "no inputs".to_owned() } else { names.join(", ") };
            diagnostics.push(self.found(function, own.name.span, message, &expected, name));
        }
    }

    fn found(
        &self,
        function: &Function<'_>,
        span: Span,
        message: String,
        expected: &str,
        found: &str,
    ) -> Diagnostic {
        let begin = match function.notation {
            Notation::Id => format!("begin with `{}`", self.header.trim_end()),
            notation => {
                let text = self.beginning(notation);
                let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
                format!("a program with the signature `{self}` begins with `{}`", header_of(&words))
            }
        };
        let (expected, found) = (format!("`{expected}`"), format!("`{found}`"));
        Diagnostic::new(Code::OtherSignature, span, message).expected(expected, found).help(begin)
    }
}

/// The function of a name, or else the only one that no other calls.
pub(super) fn named_or_only<'a>(
    name: Option<&str>,
    file: &File<'a>,
    checked: &Checked,
) -> Option<&'a Function<'a>> {
    let own = name.and_then(|name| file.functions.iter().find(|function| function.name.text == name));
    own.or_else(|| file.functions.get(entry(file, checked, None).ok()? as usize))
}

/// The part of a printed function that comes before its steps.
fn header_of(text: &str) -> &str {
    let ends = ["\"steps\"", "\"body\"", "steps:", "body:"].iter().filter_map(|word| text.find(word)).min();
    text.get(..ends.unwrap_or(text.len())).unwrap_or(text).trim_end()
}

fn text_at(source: &str, span: Span) -> &str {
    source.get(span.range()).unwrap_or_default()
}

/// Whether a function with the first output gives what is expected.
fn gives(own: Output, expected: Output) -> bool {
    let fits = |own: Type, expected: Type| own == expected || expected == Type::ANY;
    fits(own.ok, expected.ok)
        && match (own.err, expected.err) {
            (None, None) => true,
            (Some(own), Some(expected)) => fits(own, expected),
            _ => false,
        }
}

/// Whether reading a source, or the header of a function, has failed.
fn is_of_header(found: &Diagnostic) -> bool {
    found.is_error() && (found.code as u16) < 300 && found.code != Code::OtherSignature
}

/// Offers to write the name or type of the signature in the place of that of the source, where it is written
/// out.
fn replaced(diagnostic: Diagnostic, source: &str, span: Span, text: &str) -> Diagnostic {
    let written = text_at(source, span);
    let quoted = written.len() > 1 && written.starts_with('"') && written.ends_with('"');
    match written {
        "" => diagnostic,
        _ if quoted => diagnostic.replace(span, format!("\"{text}\"")),
        _ if written.contains(['"', '\'', '{', '[']) => diagnostic,
        _ => diagnostic.replace(span, text),
    }
}
