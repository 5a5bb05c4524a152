//! Reads the input of a command: a file or standard input, up to one byte more than the limit.

use super::output;
use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{self, Options};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_asm::source::SourceLimits;
use ilo_spec::decode::decode;
use ilo_spec::encode::MAGIC;
use ilo_spec::limits;
use ilo_spec::program::Program;
use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The options for reading sources.
#[derive(clap::Args)]
pub(super) struct Reading {
    /// The notation of the source [default: detected from its content]
    #[arg(long, value_name = "NOTATION")]
    pub(super) from: Option<Notation>,
    /// The maximum size of a source, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = limits::DEFAULT_SOURCE)]
    max_source: usize,
    /// The maximum length of a line of instruction text, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = limits::DEFAULT_LINE)]
    max_line: usize,
    /// The maximum nesting of a source, at most 256
    #[arg(long, value_name = "LEVELS", default_value_t = limits::DEFAULT_NESTING, value_parser = nesting)]
    max_nesting: usize,
}

/// Parses a limit on nesting.
fn nesting(text: &str) -> Result<usize, String> {
    let most = limits::NESTING;
    text.parse()
        .ok()
        .filter(|&levels| levels <= most)
        .ok_or_else(|| format!("expected a whole number up to {most}"))
}

impl Reading {
    pub(super) fn options<'c>(&self, catalog: Option<&'c Catalog>) -> Options<'c> {
        let reading =
            SourceLimits { source: self.max_source, line: self.max_line, nesting: self.max_nesting };
        Options { from: self.from, reading, catalog, ..Options::default() }
    }

    pub(super) fn read(&self, path: &Path) -> Result<Input, String> {
        Input::read(path, self.max_source)
    }
}

/// A file that was read.
pub(super) struct Input {
    /// Its name in messages.
    pub(super) name: String,
    /// Whether it is standard input.
    pub(super) is_stdin: bool,
    bytes: Vec<u8>,
}

impl Input {
    /// Reads a file, or standard input for `-`.
    pub(super) fn read(path: &Path, max_source: usize) -> Result<Input, String> {
        let is_stdin = path.as_os_str() == "-";
        let name = if is_stdin { "standard input".to_owned() } else { path.display().to_string() };
        let limit = max_source.max(limits::DEFAULT_BYTECODE);
        // One character more, so that none is cut in two before the limit.
        let most = limit.saturating_add(char::MAX_LEN_UTF8);
        let bound = u64::try_from(most).unwrap_or(u64::MAX);
        let mut bytes = Vec::new();
        let read = if is_stdin {
            io::stdin().lock().take(bound).read_to_end(&mut bytes)
        } else {
            File::open(path).and_then(|file| file.take(bound).read_to_end(&mut bytes))
        };
        read.map_err(|error| format!("{name}: {error}"))?;
        if bytes.len() == most
            && let Err(error) = std::str::from_utf8(&bytes)
            && error.error_len().is_none()
        {
            bytes.truncate(error.valid_up_to());
        }
        Ok(Input { name, is_stdin, bytes })
    }

    /// The bytecode, if the file has bytecode.
    pub(super) fn bytecode(&self) -> Option<Result<Program, String>> {
        if !self.bytes.starts_with(&MAGIC) {
            return None;
        }
        if self.bytes.len() > limits::DEFAULT_BYTECODE {
            let limit = limits::DEFAULT_BYTECODE;
            return Some(Err(format!(
                "{}: expected at most {limit} bytes of bytecode, found more",
                self.name
            )));
        }
        Some(decode(&self.bytes).map_err(|error| format!("{}: {error}", self.name)))
    }

    /// The source in it; shows an error if it has none.
    pub(super) fn source(&self) -> Option<&str> {
        if self.bytes.starts_with(&MAGIC) {
            output::complain(&format!(
                "{}: expected a source, found bytecode; `ilo-asm convert` writes its source, `ilo-vm verify` checks it",
                self.name
            ));
            return None;
        }
        compile::text(&self.bytes)
            .map_err(|diagnostic| {
                let mut diagnostics = Diagnostics::default();
                diagnostics.push(*diagnostic);
                output::diagnostics(&self.name, &String::from_utf8_lossy(&self.bytes), &diagnostics);
            })
            .ok()
    }
}

/// The program of a source or of bytecode; `None` if it has errors, which have been shown.
pub(super) fn program(input: &Input, options: &Options<'_>) -> Result<Option<Program>, String> {
    if let Some(program) = input.bytecode() {
        return program.map(Some);
    }
    let Some(source) = input.source() else { return Ok(None) };
    let (program, diagnostics) = compile::compile(source, options);
    output::diagnostics(&input.name, source, &diagnostics);
    Ok(program)
}

/// The maximum size of a catalogue.
const MOST_CATALOGUE: u64 = 64 << 20;

/// The option with the available tools.
#[derive(clap::Args)]
pub(super) struct ToolsOption {
    /// The catalogue of tools, as `ilo-vm tools --json` writes it
    #[arg(long, value_name = "FILE")]
    catalog: Option<PathBuf>,
}

impl ToolsOption {
    /// Reads the catalogue, if one is given.
    pub(super) fn catalog(&self) -> Result<Option<Catalog>, String> {
        let Some(path) = &self.catalog else { return Ok(None) };
        let wrong = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
        let mut text = String::new();
        let file = File::open(path).map_err(|error| wrong(&error))?;
        file.take(MOST_CATALOGUE + 1).read_to_string(&mut text).map_err(|error| wrong(&error))?;
        if text.len() as u64 > MOST_CATALOGUE {
            return Err(wrong(&format_args!("expected at most {MOST_CATALOGUE} bytes, found more")));
        }
        Catalog::from_json(&text).map(Some).map_err(|error| wrong(&error))
    }
}
