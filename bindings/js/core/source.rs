//! Sources: checking, building, fixing, converting, laying out, drawing; cards and explanations.

use crate::diagnostic::{all, compile_error};
use ilo_asm::disasm::disassemble as listing;
use ilo_asm::notation::Notation;
use ilo_bindings::source::{Expected, Made, Work};
use ilo_drive::data::write::quote;
use ilo_js_vm::thrown::out_of_range;
use ilo_js_vm::{Catalogue, Core, WORDS};
use wasm_bindgen::prelude::wasm_bindgen;

/// Finds a notation by its name.
fn notation(name: &str) -> Result<Notation, String> {
    name.parse().map_err(|error: String| out_of_range(&error))
}

/// A source and the options with which it is read.
pub(crate) fn work<'s>(
    source: &'s str,
    tools: &'s Catalogue,
    from: Option<String>,
) -> Result<Work<'s>, String> {
    let from = from.map(|name| notation(&name)).transpose()?;
    Ok(Work { tools: tools.known(), ..Work::new(source, from, &WORDS) })
}

/// The options of [`check`], [`build`] and [`fix`] beside the source and the tools.
struct Given {
    notation: Option<String>,
    /// The signature that the host expects, and the JSON Schema of the value.
    expected: (Option<String>, Option<String>),
    strict: bool,
    strip: bool,
}

/// Does work on a source with these options.
fn given<T>(
    source: &str,
    tools: &Catalogue,
    given: Given,
    make: impl FnOnce(&Work<'_>) -> T,
) -> Result<T, String> {
    let expected = expected(&given.expected, given.strict)?;
    let work = work(source, tools, given.notation)?;
    Ok(make(&Work { expected: Some(&expected), strip: given.strip, ..work }))
}

/// Reads what a host expects of a program: its signature, and the JSON Schema of its value.
fn expected(
    (signature, output): &(Option<String>, Option<String>),
    strict: bool,
) -> Result<Expected, String> {
    Expected::read(signature.as_deref(), output.as_deref(), strict).map_err(|error| out_of_range(&error))
}

fn text(source: &str, (text, found): Made) -> Result<String, String> {
    text.ok_or_else(|| compile_error(source, &found))
}

/// The diagnostics of a source, as a list.
#[wasm_bindgen]
pub fn check(
    source: &str,
    tools: &Catalogue,
    notation: Option<String>,
    signature: Option<String>,
    output: Option<String>,
    strict: bool,
) -> Result<String, String> {
    let options = Given { notation, expected: (signature, output), strict, strip: false };
    given(source, tools, options, |work| all(source, &work.check()))
}

/// Builds a source.
#[wasm_bindgen]
pub fn build(
    source: &str,
    tools: &Catalogue,
    notation: Option<String>,
    strip: bool,
    signature: Option<String>,
    output: Option<String>,
    strict: bool,
) -> Result<Core, String> {
    let options = Given { notation, expected: (signature, output), strict, strip };
    #[allow(clippy::redundant_closure_for_method_calls, reason = "the method has one lifetime")]
    let built = given(source, tools, options, |work| work.build())?;
    match built.map_err(|error| out_of_range(&error))? {
        (Some(program), found) => Ok(Core::new(program, all(source, &found))),
        (None, found) => Err(compile_error(source, &found)),
    }
}

/// A listing of the bytecode of a program.
#[wasm_bindgen]
pub fn disassemble(program: &Core) -> String {
    listing(program.program.spec())
}

/// Applies every unambiguous fix. Returns the new source, the number of fixes, and the remaining diagnostics.
#[wasm_bindgen]
pub fn fix(
    source: &str,
    tools: &Catalogue,
    notation: Option<String>,
    signature: Option<String>,
    output: Option<String>,
    strict: bool,
) -> Result<String, String> {
    let options = Given { notation, expected: (signature, output), strict, strip: false };
    #[allow(clippy::redundant_closure_for_method_calls, reason = "the method has one lifetime")]
    let (text, fixed, left) = given(source, tools, options, |work| work.fix())?;
    let (source, left) = (quote(&text), all(&text, &left));
    Ok(format!(r#"{{"source":{source},"fixed":{fixed},"left":{left}}}"#))
}

/// A source in another notation.
#[wasm_bindgen]
pub fn convert(source: &str, to: &str, notation: Option<String>) -> Result<String, String> {
    let to = self::notation(to)?;
    text(source, work(source, &Catalogue::default(), notation)?.convert(to))
}

/// A drawing of a source.
#[wasm_bindgen]
pub fn graph(source: &str, form: &str, notation: Option<String>) -> Result<String, String> {
    let form = form.parse().map_err(|error: String| out_of_range(&error))?;
    text(source, work(source, &Catalogue::default(), notation)?.graph(form))
}

/// A source in its canonical layout.
#[wasm_bindgen]
pub fn layout(source: &str, notation: Option<String>) -> Result<String, String> {
    text(source, work(source, &Catalogue::default(), notation)?.layout())
}

/// The detected notation of a source.
#[wasm_bindgen]
pub fn detect(source: &str) -> Option<String> {
    Notation::detect(source).map(|notation| notation.to_string())
}

/// The card that teaches a model a notation, with the signatures of the tools, and what the host expects.
#[wasm_bindgen]
pub fn card(
    notation: &str,
    tools: &Catalogue,
    signature: Option<String>,
    output: Option<String>,
) -> Result<String, String> {
    let expected = expected(&(signature, output), false)?;
    Ok(ilo_bindings::source::card(self::notation(notation)?, tools.known(), &expected))
}

/// The explanation of an error code.
#[wasm_bindgen]
pub fn explain(code: &str) -> Result<String, String> {
    ilo_bindings::source::explain(code).map(str::to_owned).map_err(|error| out_of_range(&error))
}
