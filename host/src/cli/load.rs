//! A file to a verified program, and the function of it that is asked for.

use super::Refused;
use ilo_host::file;
use ilo_host::problem::{Problem, did_you_mean};
use ilo_spec::decode::Reader;
use ilo_spec::encode::{MAGIC, Section};
use ilo_spec::error::Code;
use ilo_spec::isa::Op;
use ilo_spec::limits;
use ilo_vm::{FunctionId, LoadError, Program};
use std::path::Path;

/// How large the files of programs may be.
#[derive(clap::Args)]
pub(super) struct FileLimits {
    /// Most bytes of a source file
    #[arg(long, value_name = "BYTES", default_value_t = limits::DEFAULT_SOURCE, hide_short_help = true)]
    max_source: usize,
    /// Most bytes of a bytecode file
    #[arg(long, value_name = "BYTES", default_value_t = limits::DEFAULT_BYTECODE, hide_short_help = true)]
    max_bytecode: usize,
}

/// The name of a file in messages.
pub(super) fn place(path: &Path) -> String {
    if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
}

/// Reads the file of a program, of either kind.
pub(super) fn read(path: &Path, limits: &FileLimits) -> Result<Vec<u8>, Refused> {
    file::read(path, limits.max_source.max(limits.max_bytecode)).map_err(|problem| vec![problem])
}

/// Whether these bytes are bytecode rather than source.
pub(super) fn is_bytecode(bytes: &[u8]) -> bool {
    bytes.starts_with(&MAGIC)
}

/// Reads, checks and verifies a program.
pub(super) fn load_file(path: &Path, limits: &FileLimits) -> Result<Program, Refused> {
    load_program(&read(path, limits)?, &place(path), limits)
}

/// Checks and verifies a program.
pub(super) fn load_program(bytes: &[u8], place: &str, limits: &FileLimits) -> Result<Program, Refused> {
    if !is_bytecode(bytes) {
        let message = "expected the magic bytes `ilob` of bytecode; build source with `ilo-asm build` first";
        return Err(vec![Problem::new(Code::Malformed, format!("{place}: at byte 0"), message)]);
    }
    if bytes.len() > limits.max_bytecode {
        let message = format!("larger than its limit of {} bytes (`--max-bytecode`)", limits.max_bytecode);
        return Err(vec![Problem::new(Code::BadUsage, place, message)]);
    }
    Program::load(bytes).map_err(|error| {
        let offset = match &error {
            LoadError::Verify(error) => error.pc().and_then(|pc| offset_of(bytes, pc)),
            LoadError::Decode(_) => None,
        };
        let at = offset.map_or_else(String::new, |offset| format!("at byte {offset}: "));
        vec![Problem::new(error.code(), place, format!("{at}{error}"))]
    })
}

/// The byte at which an instruction begins.
fn offset_of(bytes: &[u8], pc: u32) -> Option<usize> {
    let mut reader = Reader::new(bytes);
    reader.raw(MAGIC.len() + 1).ok()?;
    loop {
        let section = reader.byte().ok()?;
        let length = reader.count("bytes", usize::MAX, 1).ok()?;
        if section == Section::Code as u8 {
            break;
        }
        reader.raw(length).ok()?;
    }
    for _ in 0..pc {
        Op::decode(&mut reader).ok()?;
    }
    Some(reader.offset())
}

/// The function of that name, else the only one that no other calls.
pub(super) fn function(program: &Program, name: Option<&str>) -> Result<FunctionId, Problem> {
    if let Some(name) = name {
        let names = || program.spec().functions.iter().filter_map(|f| program.spec().strings.get(f.name));
        return program.function(name).ok_or_else(|| {
            let near = did_you_mean(name, names());
            Problem::new(Code::UnknownFunction, "--fn", format!("the program has no function `{name}`{near}"))
        });
    }
    program.entry().map_err(|entries| {
        let message = if entries.is_empty() {
            "the program has no functions".to_owned()
        } else {
            let names: Vec<&str> =
                entries.iter().take(20).map(|&entry| program.function_name(entry)).collect();
            format!("several functions that no other calls; choose with `--fn` from {}", names.join(", "))
        };
        Problem::new(Code::NoSingleEntry, "", message)
    })
}
