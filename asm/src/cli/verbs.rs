//! What each verb does. A verb ends with an exit code, or with a message where it cannot do its work at all.

use super::input::Input;
use super::report::{self, complain};
use super::{Reading, Verb};
use crate::ast::File;
use crate::build::{Options, build, read_and_check};
use crate::catalog::Catalog;
use crate::diagnostic::{Diagnostics, fix};
use crate::notation::Notation;
use crate::{disasm, explain, graph, lower, print, prompt};
use crate::{
    format::{self, Formatted},
    source::Limits,
};
use bumpalo::Bump;
use ilo_spec::encode::encode;
use ilo_spec::error::Code;
use ilo_spec::program::Program;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

type Done = Result<ExitCode, String>;

/// A source or program that is not valid.
const REFUSED: u8 = 2;
/// How often `fix` looks again: a mend can uncover the next.
const FIX_ROUNDS: usize = 8;

pub(super) fn run(verb: Verb) -> Done {
    match verb {
        Verb::Build { file, output, strip, reading } => build_verb(&file, output, strip, &reading),
        Verb::Check { files, catalog, json, strict, reading } => {
            check_verb(&files, catalog.as_deref(), json, strict, &reading)
        }
        Verb::Fmt { files, check, reading } => fmt_verb(&files, check, &reading),
        Verb::Fix { files, catalog, reading } => fix_verb(&files, catalog.as_deref(), &reading),
        Verb::Convert { file, to, reading } => {
            with_tree(&file, &reading, |file, diagnostics| print::print(file, to, diagnostics))
        }
        Verb::Dis { file, reading } => dis_verb(&file, &reading),
        Verb::Graph { file, format, reading } => {
            with_tree(&file, &reading, |file, _| graph::graph(file, format))
        }
        Verb::Prompt { notation, catalog } => {
            let catalog = catalog.as_deref().map(read_catalog).transpose()?;
            show(prompt::prompt(notation, catalog.as_ref()).as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        Verb::Explain { code } => explain_verb(&code),
    }
}

impl Reading {
    fn options<'c>(&self, catalog: Option<&'c Catalog>) -> Options<'c> {
        let reading = Limits { source: self.max_source, line: self.max_line, nesting: self.max_nesting };
        Options { from: self.from, reading, catalog, strip: false }
    }

    fn read(&self, path: &Path) -> Result<Input, String> {
        Input::read(path, self.max_source)
    }
}

/// Writes to standard output. A reader that went away is no error of ours.
fn show(bytes: &[u8]) -> Result<(), String> {
    let mut out = io::stdout().lock();
    match out.write_all(bytes).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(format!("standard output: {error}")),
        _ => Ok(()),
    }
}

/// Puts a file in place whole: a reader sees the old one or the new one.
fn replace(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", path.display());
    // A link stays one, and what may not be written is not.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if fs::metadata(path).is_ok_and(|old| old.permissions().readonly()) {
        return Err(failed(io::Error::from(io::ErrorKind::PermissionDenied)));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.new", std::process::id()));
    let new = path.with_file_name(name);
    fs::write(&new, bytes).map_err(failed)?;
    if let Ok(old) = fs::metadata(path) {
        fs::set_permissions(&new, old.permissions()).map_err(failed)?;
    }
    fs::rename(&new, path).map_err(|error| {
        let _ = fs::remove_file(&new);
        failed(error)
    })
}

/// The program of a source or of bytecode; `None` where diagnostics were shown.
fn program(input: &Input, options: &Options<'_>) -> Result<Option<Program>, String> {
    if let Some(program) = input.bytecode() {
        return program.map(Some);
    }
    let Some(source) = report::source(input) else { return Ok(None) };
    let (program, diagnostics) = build(source, options);
    report::show(input, source, &diagnostics);
    Ok(program)
}

fn build_verb(file: &Path, output: Option<PathBuf>, strip: bool, reading: &Reading) -> Done {
    let input = reading.read(file)?;
    let options = Options { strip, ..reading.options(None) };
    let Some(mut program) = program(&input, &options)? else { return Ok(ExitCode::from(REFUSED)) };
    if strip {
        program.debug = None;
    }
    let bytes = encode(&program);
    match output.or_else(|| (!input.is_stdin).then(|| file.with_extension("ilob"))) {
        Some(path) if path.as_os_str() != "-" => replace(&path, &bytes)?,
        _ => show(&bytes)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn read_catalog(path: &Path) -> Result<Catalog, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    Catalog::from_json(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn check_verb(
    files: &[PathBuf],
    catalog: Option<&Path>,
    json: bool,
    strict: bool,
    reading: &Reading,
) -> Done {
    let catalog = catalog.map(read_catalog).transpose()?;
    let options = reading.options(catalog.as_ref());
    let mut refused = false;
    for path in files {
        let input = match reading.read(path) {
            Ok(input) => input,
            Err(message) => {
                complain(&message);
                refused = true;
                continue;
            }
        };
        let Some(source) = report::source(&input) else {
            refused = true;
            continue;
        };
        let (_, diagnostics) = build(source, &options);
        refused |= diagnostics.has_errors() || (strict && !diagnostics.as_slice().is_empty());
        if json {
            show(report::json(&input, source, &diagnostics).as_bytes())?;
        } else {
            report::show(&input, source, &diagnostics);
        }
    }
    Ok(if refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS })
}

/// Lays a source out in its notation.
fn formatted(source: &str, options: &Options<'_>, diagnostics: &mut Diagnostics) -> Formatted {
    match options.from.or_else(|| Notation::detect(source)) {
        None | Some(Notation::Id) => {
            format::id_text(source, &options.reading, diagnostics).map_or(Formatted::Refused, Formatted::Text)
        }
        Some(notation) => format::format(source, notation, &options.reading, diagnostics),
    }
}

fn fmt_verb(files: &[PathBuf], check: bool, reading: &Reading) -> Done {
    let options = reading.options(None);
    let (mut refused, mut differs) = (false, false);
    for path in files {
        let input = reading.read(path)?;
        let Some(source) = report::source(&input) else {
            refused = true;
            continue;
        };
        let mut diagnostics = Diagnostics::default();
        let text = match formatted(source, &options, &mut diagnostics) {
            Formatted::Text(text) => text,
            Formatted::LeftAlone => {
                complain(&format!(
                    "{}: left alone, since another layout would change what it says",
                    input.name
                ));
                source.to_owned()
            }
            Formatted::Refused => {
                report::show(&input, source, &diagnostics);
                refused = true;
                continue;
            }
        };
        if check {
            if text != source {
                differs = true;
                complain(&format!("{} is laid out differently", input.name));
            }
        } else if input.is_stdin {
            show(text.as_bytes())?;
        } else if text != source {
            replace(path, text.as_bytes())?;
        }
    }
    Ok(match (refused, differs) {
        (true, _) => ExitCode::from(REFUSED),
        (false, true) => ExitCode::FAILURE,
        (false, false) => ExitCode::SUCCESS,
    })
}

fn fix_verb(files: &[PathBuf], catalog: Option<&Path>, reading: &Reading) -> Done {
    let catalog = catalog.map(read_catalog).transpose()?;
    let options = reading.options(catalog.as_ref());
    let mut refused = false;
    for path in files {
        let input = reading.read(path)?;
        let Some(source) = report::source(&input) else {
            refused = true;
            continue;
        };
        let mut text = source.to_owned();
        let mut mended = 0;
        for _ in 0..FIX_ROUNDS {
            let (_, diagnostics) = build(&text, &options);
            let (next, count) = fix::apply(&text, diagnostics.as_slice());
            if count == 0 {
                break;
            }
            mended += count;
            text = next;
        }
        let (_, diagnostics) = build(&text, &options);
        report::show(&input, &text, &diagnostics);
        refused |= diagnostics.has_errors();
        if input.is_stdin {
            show(text.as_bytes())?;
        } else if mended > 0 {
            replace(path, text.as_bytes())?;
        }
        complain(&format!("{}: {mended} mended", input.name));
    }
    Ok(if refused { ExitCode::from(REFUSED) } else { ExitCode::SUCCESS })
}

/// Shows what is made of the syntax tree of a source, or of bytecode that was not stripped; nothing where `make` reports
/// an error.
fn with_tree(
    path: &Path,
    reading: &Reading,
    make: impl FnOnce(&File<'_>, &mut Diagnostics) -> String,
) -> Done {
    let input = reading.read(path)?;
    let bytecode = input.bytecode().transpose()?;
    let source = match &bytecode {
        Some(Program { debug: Some(debug), .. }) => debug.source.as_str(),
        Some(_) => {
            return Err(format!(
                "{}: stripped bytecode has no syntax tree; build it without --strip",
                input.name
            ));
        }
        None => match report::source(&input) {
            Some(source) => source,
            None => return Ok(ExitCode::from(REFUSED)),
        },
    };
    let arena = Bump::new();
    let mut diagnostics = Diagnostics::default();
    let mut options = reading.options(None);
    if bytecode.is_some() {
        options.from = Some(Notation::Id);
    }
    let (file, checked) = read_and_check(source, &arena, &options, &mut diagnostics);
    report::show(&input, source, &diagnostics);
    if diagnostics.has_errors() {
        return Ok(ExitCode::from(REFUSED));
    }
    if let Some(program) = &bytecode {
        // Bytecode carries its tree beside its code; a tree that does not give that code is not shown as if it did.
        let again = lower::lower(&file, &checked, None, &mut diagnostics);
        if again != Some(Program { debug: None, ..program.clone() }) {
            return Err(format!("{}: the syntax tree in this bytecode is not that of its code", input.name));
        }
    }
    let mut diagnostics = Diagnostics::default();
    let made = make(&file, &mut diagnostics);
    report::show(&input, source, &diagnostics);
    if diagnostics.has_errors() {
        return Ok(ExitCode::from(REFUSED));
    }
    show(made.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn dis_verb(file: &Path, reading: &Reading) -> Done {
    let input = reading.read(file)?;
    let Some(program) = program(&input, &reading.options(None))? else { return Ok(ExitCode::from(REFUSED)) };
    show(disasm::disassemble(&program).as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn explain_verb(code: &str) -> Done {
    match explain::explain(code) {
        Some(page) => {
            show(format!("{code}\n\n{page}\n").as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        None => {
            let known: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
            let near = crate::text::nearest(code, known.iter().copied());
            let hint = near.map_or_else(
                || format!("the codes are: {}", known.join(" ")),
                |near| format!("did you mean `{near}`?"),
            );
            Err(format!("there is no page for `{code}`; {hint}"))
        }
    }
}
