//! `check`: shows errors and warnings of programs, checked against the actual tools.

use super::lock::LockArgs;
use super::{Exit, Refused, load, output, tools_of};
use crate::diagnostic;
use ilo_asm::compile::{Options, compile_bytes};
use ilo_asm::diagnostic::json;
use ilo_host::data::Data;
use ilo_host::plan::without_rollback;
use ilo_host::problem::Problem;
use ilo_host::tools::Tools;
use std::collections::BTreeSet;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-vm check examples/notify.ilo --tools examples/tools.json")]
pub(super) struct Args {
    /// Source or bytecode; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The tools file
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    #[command(flatten)]
    lock: LockArgs,
    /// Print each problem as a line of JSON to standard output
    #[arg(long)]
    json: bool,
    /// Refuse what warnings foretell: a fault in the run, or another result than the program says
    #[arg(long)]
    strict: bool,
    /// Treat every warning as an error
    #[arg(long)]
    deny_warnings: bool,
    #[command(flatten)]
    limits: load::FileLimits,
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    let mut tools = tools_of(args.tools.as_deref())?;
    let files: Vec<(_, Result<Vec<u8>, _>)> =
        args.files.iter().map(|file| (file, load::read(file, &args.limits))).collect();
    let programs = files.iter().filter_map(|(_, bytes)| bytes.as_deref().ok());
    load::connect(programs.clone(), &args.limits, &mut tools)?;
    let tools = args.tools.is_some().then_some(&tools);
    let mut all_right = true;
    let mut named = BTreeSet::new();
    for (file, bytes) in &files {
        all_right &= match bytes {
            Ok(bytes) => check(file, bytes, args, tools, &mut named)?,
            Err(problem) => show(std::slice::from_ref(problem), args.json)?,
        };
    }
    if let Some(tools) = tools.filter(|_| !all_right) {
        let names = load::names(programs, &args.limits);
        show(&args.lock.problems(tools, names.iter().map(String::as_str)), args.json)?;
    }
    if let Some(tools) = tools.filter(|_| all_right) {
        match args.lock.hold(tools, named.iter().map(String::as_str)) {
            Err(Refused::Problems(problems)) => all_right = show(&problems, args.json)?,
            held => held?,
        }
    }
    if let Some(tools) = tools.filter(|_| all_right && !args.json) {
        output::lacking(tools.warnings());
        output::lacking(tools.lacking());
    }
    Ok(if all_right { Exit::Ok } else { Exit::Invalid })
}

/// Checks one file and shows its problems; the tools that it calls are added to `named`.
fn check(
    file: &Path,
    bytes: &[u8],
    args: &Args,
    tools: Option<&Tools>,
    named: &mut BTreeSet<String>,
) -> Result<bool, Refused> {
    let place = load::place(file);
    let mut missing = |names: Vec<&str>| {
        named.extend(names.iter().map(ToString::to_string));
        let problems = tools.map(|tools| tools.problems(names)).unwrap_or_default().into_iter();
        problems
            .map(|problem| Problem { place: format!("{place}: {}", problem.place), ..problem })
            .collect::<Vec<_>>()
    };
    if load::is_bytecode(bytes) {
        return match load::load_bytecode(bytes, &place, &args.limits) {
            Ok(program) => {
                let mut problems = missing(program.tools().collect());
                problems.extend(tools.map(|tools| without_rollback(&program, tools)).unwrap_or_default());
                show(&problems, args.json)
            }
            Err(problem) => show(&[problem], args.json),
        };
    }
    let options = Options { strict: args.strict, ..args.limits.reading(tools.map(Tools::catalog)) };
    let (program, diagnostics) = compile_bytes(bytes, &options);
    let source = String::from_utf8_lossy(bytes);
    if args.json {
        output::print(&json::lines(&place, &source, &diagnostics), Exit::Ok)?;
    } else {
        let styled = std::io::stderr().is_terminal();
        output::error(&diagnostic::render_all(&place, &source, &diagnostics, styled));
    }
    let names = |program: &ilo_spec::program::Program| {
        let names = program.tools.iter().filter_map(|&name| program.strings.get(name));
        missing(names.collect())
    };
    let there = show(&program.as_ref().map(names).unwrap_or_default(), args.json)?;
    Ok(there && program.is_some() && (!args.deny_warnings || diagnostics.as_slice().is_empty()))
}

/// Shows problems. Returns true if there are none.
fn show(problems: &[Problem], json: bool) -> Result<bool, Refused> {
    if json {
        output::print(&problems.iter().map(line).collect::<String>(), Exit::Ok)?;
    } else if !problems.is_empty() {
        output::problems(problems);
    }
    Ok(problems.is_empty())
}

/// A problem as a line of JSON, with the keys that a diagnostic has too.
fn line(problem: &Problem) -> String {
    let field = |name: &str, text: &str| (name.to_owned(), Data::from(text));
    let record = Data::Record(
        vec![
            field("file", &problem.place),
            field("code", problem.code.as_str()),
            field("severity", "error"),
            field("message", &problem.message),
        ]
        .into(),
    );
    format!("{}\n", record.to_json())
}
