//! Compiles a source: runs all stages in one call.

mod expected;
pub mod named_tools;
mod output;
mod stringified;
#[cfg(test)]
mod tests;

/// The names of earlier versions.
pub use self::{compile as build, compile_bytes as build_bytes};
use crate::arena::Arena;
use crate::ast::File;
use crate::catalog::Catalog;
pub use crate::catalog::OutputSchema;
use crate::check::{Checked, check};
use crate::diagnostic::whole_source::{too_large, unknown_notation};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::dialect::detect::{self, BEGINNINGS, Beginning};
use crate::document::{json, yaml};
/// Reads ID text into a syntax tree, as [`read`] does. A host that calls only this has no reader of another
/// notation in its program.
pub use crate::id::parse as read_id;
use crate::lower::lower;
use crate::notation::Notation;
use crate::source::SourceLimits;
use crate::span::Span;
use crate::{print, steps};
pub use expected::Signature;
use ilo_spec::error::Code;
use ilo_spec::program::Program;

/// Options of compiling.
#[derive(Clone, Debug, Default)]
pub struct Options<'c> {
    /// The notation. If it is absent, it is detected from the source.
    pub from: Option<Notation>,
    /// What messages call the parameter that sets the notation; the option `--from` if absent.
    pub notation_setting: Option<&'static str>,
    /// Limits on the source.
    pub reading: SourceLimits,
    /// The available tools. If it is absent, a program may call any tool with any arguments.
    pub catalog: Option<&'c Catalog>,
    /// The signature that the host expects of the function that it will run.
    pub signature: Option<&'c Signature>,
    /// The value that the host expects of that function.
    pub output: Option<&'c OutputSchema>,
    /// Whether warnings that foretell a fault or another result than meant are errors ([`Code::foretells`]).
    pub strict: bool,
    /// Leave out source positions and the printed syntax tree.
    pub strip: bool,
}

/// Reads a source into a syntax tree without checking it. The tree is empty if the source cannot be read.
pub fn read<'a>(
    source: &'a str,
    arena: &'a Arena,
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
) -> File<'a> {
    let nothing = File { functions: &[] };
    // Whoever has only the beginning of a source must not get fixes for it.
    if let Some(most) = options.reading.exceeded_by(source) {
        diagnostics.push(too_large(source, most));
        return nothing;
    }
    let begins = options.from.map(Beginning::Of).or_else(|| detect::beginning(source));
    let parse = if begins == Some(Beginning::Of(Notation::Workflow)) { yaml::read } else { json::read };
    let (may_be_text, mut found) = (stringified::may_be(source), Diagnostics::default());
    let documents = match begins {
        None | Some(Beginning::Of(Notation::Id)) if !may_be_text => &[],
        _ => parse(source, arena, &options.reading, &mut found),
    };
    let notation = match begins {
        Some(Beginning::Of(notation)) => Some(notation),
        Some(Beginning::Json) => detect::of_documents(documents),
        None => None,
    };
    if may_be_text
        && !found.has_errors()
        && let Some(wrong) = stringified::refused(source, documents, arena, &options.reading)
    {
        diagnostics.push(wrong);
        return nothing;
    }
    let file = match notation {
        Some(Notation::Id) => read_id(source, arena, &options.reading, diagnostics),
        Some(notation) => {
            diagnostics.append(found);
            steps::read(documents, None, source, notation, arena, &options.reading, diagnostics)
        }
        None => {
            let setting = options.notation_setting.unwrap_or("--from");
            diagnostics.push(unknown_notation(source, BEGINNINGS, setting));
            nothing
        }
    };
    diagnostics.sort();
    file
}

/// Reads and checks a source. All findings go to `diagnostics`.
pub fn read_and_check<'a>(
    source: &'a str,
    arena: &'a Arena,
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
) -> (File<'a>, Checked) {
    let file = read(source, arena, options, diagnostics);
    let checked = checked(source, &file, options, diagnostics);
    (file, checked)
}

/// Checks a file that was read.
fn checked(source: &str, file: &File<'_>, options: &Options<'_>, diagnostics: &mut Diagnostics) -> Checked {
    let checked = check(file, options.catalog, diagnostics);
    if let Some(expected) = options.signature {
        expected.compare(source, file, &checked, diagnostics);
    }
    if let Some(output) = options.output {
        output::compare(output, file, &checked, options.signature.map(Signature::name), diagnostics);
    }
    if options.strict {
        diagnostics.raise(|found| found.code.foretells());
    }
    diagnostics.sort();
    checked
}

/// Compiles a source. The program is `None` if there is an error among the diagnostics.
pub fn compile(source: &str, options: &Options<'_>) -> (Option<Program>, Diagnostics) {
    let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
    let file = read(source, &arena, options, &mut diagnostics);
    let program = compile_file(source, &file, options, &mut diagnostics);
    (program, diagnostics)
}

/// Compiles a file that was read.
fn compile_file(
    source: &str,
    file: &File<'_>,
    options: &Options<'_>,
    diagnostics: &mut Diagnostics,
) -> Option<Program> {
    let checked = checked(source, file, options, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let mut program = lower(file, &checked, (!options.strip).then_some(source), diagnostics);
    if let Some(debug) = program.as_mut().and_then(|program| program.debug.as_mut()) {
        debug.source = print::id(file);
    }
    program
}

/// Decodes a source as UTF-8.
///
/// # Errors
/// The span of the first byte that is not UTF-8.
pub fn text(source: &[u8]) -> Result<&str, Box<Diagnostic>> {
    std::str::from_utf8(source).map_err(|error| {
        let at = error.valid_up_to();
        let found = source.get(at).copied().unwrap_or_default();
        let start = u32::try_from(at).unwrap_or(u32::MAX);
        let diagnostic =
            Diagnostic::new(Code::NotUtf8, Span::at(start), format!("byte {start} is not UTF-8"));
        Box::new(
            diagnostic.expected("UTF-8", format!("the byte {found:#04x}")).help("save the file as UTF-8"),
        )
    })
}

/// Like [`compile()`], for bytes that may not be UTF-8.
pub fn compile_bytes(source: &[u8], options: &Options<'_>) -> (Option<Program>, Diagnostics) {
    match text(source) {
        Ok(source) => compile(source, options),
        Err(diagnostic) => {
            let mut diagnostics = Diagnostics::default();
            diagnostics.push(*diagnostic);
            (None, diagnostics)
        }
    }
}
