//! Loads a file as a verified program, and selects its entry function.

use super::lock::LockArgs;
use super::{Refused, output};
use crate::diagnostic;
use ilo_asm::catalog::Catalog;
use ilo_asm::compile::named_tools::called;
use ilo_asm::compile::{Options, OutputSchema, compile_bytes};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_host::file;
use ilo_host::problem::Problem;
use ilo_host::tools::Tools;
use ilo_spec::decode::{decode, instruction_offsets};
use ilo_spec::encode::MAGIC;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_vm::{LoadError, Program};
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

/// The options for reading programs: the notation, and size limits.
#[derive(Clone, clap::Args)]
#[command(next_help_heading = "Files of programs")]
pub(super) struct FileLimits {
    /// The notation of a source: id, tool-calling, constrained, workflow or mcp [default: detected from its
    /// content]
    #[arg(long, value_name = "NOTATION")]
    from: Option<Notation>,
    /// The maximum size of a source file, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = limits::DEFAULT_SOURCE, hide_short_help = true)]
    pub(super) max_source: usize,
    /// The maximum size of a bytecode file, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = limits::DEFAULT_BYTECODE, hide_short_help = true)]
    max_bytecode: usize,
    /// The value that the program must return, where a command lets one say it.
    #[arg(skip)]
    pub(super) output: Option<Arc<OutputSchema>>,
}

/// The name of a file in messages.
pub(super) fn place(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// Reads the file of a program, of either kind.
pub(super) fn read(path: &Path, limits: &FileLimits) -> Result<Vec<u8>, Problem> {
    file::read(path, limits.max_source.max(limits.max_bytecode))
}

/// Whether these bytes are bytecode rather than source.
pub(super) fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Starts the servers that programs call, so that they can be checked against their tools.
pub(super) fn connect<'p>(
    programs: impl IntoIterator<Item = &'p [u8]>,
    limits: &FileLimits,
    tools: &mut Tools,
) -> Result<(), Refused> {
    if tools.servers().next().is_none() {
        return Ok(());
    }
    Ok(tools.connect(names(programs, limits).iter().map(String::as_str))?)
}

/// The names of the tools that programs call.
pub(super) fn names<'p>(
    programs: impl IntoIterator<Item = &'p [u8]>,
    limits: &FileLimits,
) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for bytes in programs {
        if is_bytecode(bytes) {
            // Bytecode that cannot be decoded calls nothing, and is rejected when it is loaded.
            names.extend(decode(bytes).iter().flat_map(|program| {
                program.tools.iter().filter_map(|&name| program.strings.get(name)).map(str::to_owned)
            }));
        } else {
            names.extend(called(bytes, &limits.reading(None)));
        }
    }
    names
}

/// The names of the tools that bytecode calls.
#[cfg(all(feature = "journal", feature = "serve"))]
pub(super) fn tools_in(bytecode: &[u8]) -> BTreeSet<String> {
    let named = |program: ilo_spec::program::Program| -> BTreeSet<String> {
        program.tools.iter().filter_map(|&name| program.strings.get(name)).map(str::to_owned).collect()
    };
    decode(bytecode).map(named).unwrap_or_default()
}

/// Reads, checks and verifies a program. The servers that it calls are started, and a source is checked
/// against the tools, where there are any. Errors and warnings are shown; with errors, changes of its tools
/// are reported too.
pub(super) fn load_file(
    path: &Path,
    limits: &FileLimits,
    tools: Option<&mut Tools>,
    lock: &LockArgs,
) -> Result<Program, Refused> {
    let bytes = read(path, limits)?;
    let tools = match tools {
        Some(tools) => {
            connect([bytes.as_slice()], limits, tools)?;
            Some(&*tools)
        }
        None => None,
    };
    load(&bytes, &place(path), limits, tools, lock)
}

/// The same for a program that was read, whose servers are running.
pub(super) fn load(
    bytes: &[u8],
    place: &str,
    limits: &FileLimits,
    tools: Option<&Tools>,
    lock: &LockArgs,
) -> Result<Program, Refused> {
    if is_bytecode(bytes) {
        return Ok(load_bytecode(bytes, place, limits)?);
    }
    let (program, diagnostics) = build_source(bytes, limits, tools.map(Tools::catalog));
    let styled =
        std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    output::error(&diagnostic::render_all(place, &String::from_utf8_lossy(bytes), &diagnostics, styled));
    let Some(program) = program else {
        let names = names([bytes], limits);
        let changed = tools.map(|tools| lock.problems(tools, names.iter().map(String::as_str)));
        return Err(changed.filter(|changed| !changed.is_empty()).map_or(Refused::Shown, Refused::from));
    };
    // The output of the assembler is verified too.
    Program::new(program).map_err(|error| Problem::new(Code::Unverified, place, error.to_string()).into())
}

impl FileLimits {
    /// These limits for a source whose notation is already known, where it is.
    pub(super) fn for_notation(&self, notation: Option<Notation>) -> FileLimits {
        FileLimits { from: notation.or(self.from), ..self.clone() }
    }

    /// How sources are read.
    pub(super) fn reading<'c>(&'c self, catalog: Option<&'c Catalog>) -> Options<'c> {
        let reading = ilo_asm::source::SourceLimits {
            source: self.max_source,
            ..ilo_asm::source::SourceLimits::default()
        };
        let output = self.output.as_deref();
        Options { from: self.from, reading, catalog, output, ..Options::default() }
    }
}

/// Builds a source, where it has no errors.
pub(super) fn build_source(
    bytes: &[u8],
    limits: &FileLimits,
    catalog: Option<&Catalog>,
) -> (Option<ilo_spec::program::Program>, Diagnostics) {
    compile_bytes(bytes, &limits.reading(catalog))
}

/// Verifies bytecode.
pub(super) fn load_bytecode(bytes: &[u8], place: &str, limits: &FileLimits) -> Result<Program, Problem> {
    if bytes.len() > limits.max_bytecode {
        let message = format!("larger than its limit of {} bytes (`--max-bytecode`)", limits.max_bytecode);
        return Err(Problem::new(Code::BadUsage, place, message));
    }
    Program::load(bytes).map_err(|error| {
        let offset = match &error {
            LoadError::Verify(error) => error.pc().and_then(|pc| {
                let offsets = instruction_offsets(bytes).ok()?;
                offsets.get(usize::try_from(pc).ok()?).copied()
            }),
            _ => None,
        };
        let at = offset.map_or_else(String::new, |offset| format!("at byte {offset}: "));
        Problem::new(error.code(), place, format!("{at}{error}"))
    })
}
