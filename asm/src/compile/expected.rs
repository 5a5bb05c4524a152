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

/// An input that a host gives.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Input {
    name: String,
    ty: Type,
    /// Its type as it was written.
    written: String,
    /// Whether the host may leave it out, or give nil.
    may_be_nil: bool,
}

/// The signature that a host expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    text: String,
    name: String,
    inputs: Vec<Input>,
    output: Output,
    /// The output as it was written.
    written: String,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
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
        let header = format!("; fn {text}\n");
        let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
        let file = read_id(&header, &arena, &SourceLimits::default(), &mut diagnostics);
        if let Some(found) = diagnostics.as_slice().iter().find(|found| found.is_error()) {
            return Err(wrong(&found.message));
        }
        let [function] = file.functions else { return Err(wrong("it has no name and no output")) };
        let written = |span: Span| text_at(&header, span).to_owned();
        let inputs = function.parameters.iter().map(|parameter| Input {
            name: parameter.name.text.to_owned(),
            ty: parameter.ty.ty,
            written: written(parameter.ty.span),
            may_be_nil: parameter.takes_nil(),
        });
        Ok(Signature {
            text: text.to_owned(),
            name: function.name.text.to_owned(),
            inputs: inputs.collect(),
            output: function.output.output(),
            written: written(function.output.span),
        })
    }
}

impl Signature {
    /// The name of the function.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The beginning of a program with this signature, in a notation.
    pub fn beginning(&self, notation: Notation) -> String {
        let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
        let header = format!("; fn {}\n", self.text);
        let file = read_id(&header, &arena, &SourceLimits::default(), &mut diagnostics);
        print::print(&file, notation, &mut diagnostics)
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
        let function = named_or_only(Some(&self.name), file, checked).or(file.functions.last());
        let Some(function) = function else { return };
        if function.name.text != self.name {
            let message = "the function has another name than its host calls".to_owned();
            let found = self.found(function, function.name.span, message, &self.name, function.name.text);
            diagnostics.push(replaced(found, source, function.name.span, &self.name));
        }
        self.compare_inputs(source, function, diagnostics);
        let span = function.output.span;
        let output = function.output.output();
        if !gives(output, self.output) {
            let message = "the function has another output than its host expects".to_owned();
            let found = self.found(function, span, message, &self.written, &output.to_string());
            diagnostics.push(replaced(found, source, span, &self.written));
        }
    }

    fn compare_inputs(&self, source: &str, function: &Function<'_>, diagnostics: &mut Diagnostics) {
        let place = function.name.span;
        for input in &self.inputs {
            let same = |own: &&Parameter<'_>| own.name.text == input.name;
            let Some(own) = function.parameters.iter().find(same) else {
                let message = format!("the input `{}` is missing", input.name);
                let expected = format!("{}: {}", input.name, input.written);
                diagnostics.push(self.found(function, place, message, &expected, "no such input"));
                continue;
            };
            let TypeName { ty, span, .. } = own.ty;
            if ty != input.ty && ty != Type::ANY {
                let message = format!("the input `{}` has another type than its host gives", input.name);
                let found = self.found(function, span, message, &input.written, &ty.to_string());
                diagnostics.push(replaced(found, source, span, &input.written));
            } else if input.may_be_nil && !own.takes_nil() && ty != Type::ANY {
                let message =
                    format!("the host may give nil for the input `{}`, or leave it out", input.name);
                let expected = format!("{}|nil", input.written);
                diagnostics.push(self.found(function, span, message, &expected, &ty.to_string()));
            }
        }
        for own in function.parameters {
            let known = self.inputs.iter().any(|input| input.name == own.name.text);
            if !known && !own.may_be_absent() {
                let name = own.name.text;
                let message = format!("the host gives no input `{name}`");
                let names: Vec<String> = self.inputs.iter().map(|input| input.name.clone()).collect();
                let expected = if names.is_empty() { "no inputs".to_owned() } else { names.join(", ") };
                diagnostics.push(self.found(function, own.name.span, message, &expected, name));
            }
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
            Notation::Id => format!("begin with `; fn {}`", self.text),
            notation => {
                let text = self.beginning(notation);
                let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
                let header = header_of(&words);
                format!("a program with the signature `{}` begins with `{header}`", self.text)
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
