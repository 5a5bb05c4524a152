//! One program of a case: checks it, runs it, and compares the results.

use super::compare;
use super::files::CaseFile;
use crate::diagnostic;
use crate::vm::load::{FileLimits, build_source, connect, is_bytecode, load_bytecode};
use crate::vm::run::RunLimits;
use crate::vm::signal::Signal;
use crate::vm::{Refused, load, prepare_cleanup, tools_of};
use clap::Parser;
use ilo_asm::case::{AT_THE_START, Section, Source};
use ilo_asm::catalog::Catalog;
use ilo_asm::notation::Notation;
use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, read};
use ilo_host::entry;
use ilo_host::problem::Problem;
use ilo_host::run::{Ended, Observer};
use ilo_host::tools::Tools;
use ilo_host::trace::line;
use ilo_spec::error::Code;
use ilo_vm::Program;
use std::sync::Arc;

/// Bytes of calls that are kept of a run.
const CALLS: usize = 64 << 20;

/// The function and its input, or the problems that the run reports as it starts.
type Start = Result<(ilo_vm::FunctionId, Data), Vec<Problem>>;

/// The options of a case.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true, disable_version_flag = true)]
struct CaseOptions {
    #[arg(long = "fn")]
    function: Option<String>,
    #[arg(long)]
    deny_warnings: bool,
    #[command(flatten)]
    limits: RunLimits,
    #[command(flatten)]
    files: FileLimits,
}

/// A failure.
#[derive(Debug, Default)]
pub(super) struct Failure {
    /// The notation of the source, in a case with several.
    pub(super) notation: Option<Notation>,
    /// The part of the case: findings, fixed, start, outcome or calls.
    pub(super) part: &'static str,
    /// The differences, one per line.
    pub(super) lines: Vec<String>,
    /// The expected and the found text, if they are compared as a whole.
    pub(super) texts: Option<(String, String)>,
    /// The section with its new content, if `--update` can write it.
    pub(super) update: Option<(String, String)>,
}

/// One program of a case.
pub(super) struct Subject<'f> {
    file: &'f CaseFile,
    options: CaseOptions,
    /// The notation that sections are of; nothing for a program in a file of its own.
    notation: Option<Notation>,
    bytes: Vec<u8>,
    /// Whether the case has several programs.
    is_one_of_several: bool,
}

/// The programs of a case.
///
/// # Errors
/// Options, files or sections that cannot be used. A case that expects nothing, unless it is to be updated.
pub(super) fn subjects(file: &CaseFile, update: bool) -> Result<Vec<Subject<'_>>, Vec<Problem>> {
    let case = &file.case;
    let options = || {
        let mut options = CaseOptions::try_parse_from(case.options()).map_err(|error| {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            vec![file.bad(case.header_line("options"), line.trim_start_matches("error: "))]
        })?;
        if let Some(section) = case.sections().iter().find(|section| section.title == "output") {
            let schema = section.text.parse().map_err(|why: String| vec![file.bad(section.line, why)])?;
            options.files.output = Some(Arc::new(schema));
        }
        Ok::<_, Vec<Problem>>(options)
    };
    let mut subjects = Vec::new();
    if let Some(program) = case.header("program") {
        let options = options()?;
        let bytes = load::read(&file.beside(program), &options.files).map_err(|problem| vec![problem])?;
        subjects.push(Subject { file, options, notation: None, bytes, is_one_of_several: false });
    }
    let sources = case.sources();
    for Source { notation, text, .. } in &sources {
        let (notation, bytes, options) = (Some(*notation), text.as_bytes().to_vec(), options()?);
        subjects.push(Subject { file, options, notation, bytes, is_one_of_several: sources.len() > 1 });
    }
    let lacking = subjects.iter().find(|subject| !update && subject.expects_nothing());
    match lacking {
        None => Ok(subjects),
        Some(subject) => {
            let of =
                subject.notation.map_or_else(String::new, |notation| format!(" of the source `{notation}`"));
            let message = format!(
                "nothing{of} is expected; write a section `=== outcome`, or let --update write it from the run"
            );
            Err(vec![file.bad(1, message)])
        }
    }
}

impl Subject<'_> {
    fn section(&self, title: &str) -> Option<&Section> {
        let case = &self.file.case;
        match self.notation {
            Some(notation) => case.find_for(title, notation),
            None => case.sections().iter().find(|section| section.title == title),
        }
    }

    fn text(&self, title: &str) -> Option<&str> {
        self.section(title).map(|section| section.text.as_str())
    }

    fn expects_nothing(&self) -> bool {
        let has_error =
            self.text("diagnostics").is_some_and(|text| text.lines().any(|line| line.starts_with("error ")));
        self.section("outcome").is_none() && !has_error
    }

    fn failure(&self, part: &'static str, lines: Vec<String>) -> Failure {
        let notation = self.notation.filter(|_| self.is_one_of_several);
        Failure { notation, part, lines, ..Failure::default() }
    }

    /// Reads a JSON value of a section, whose first line is `line` of the file.
    fn json(&self, text: &str, line: usize, title: &str) -> Result<Data, Vec<Problem>> {
        let bounds = Bounds { bytes: usize::MAX, depth: ilo_spec::limits::VALUE_DEPTH, values: usize::MAX };
        read(text.as_bytes(), &bounds).map_err(|error| {
            let place = format!("{}:{}:{}", self.file.place(), line + error.line - 1, error.column);
            vec![Problem::new(Code::BadCase, place, format!("`{title}`: {}", error.kind))]
        })
    }

    /// Its tools: those of the section, or of the file that the case names.
    fn tools(&self) -> Result<Option<Tools>, Vec<Problem>> {
        let case = &self.file.case;
        if let Some(path) = case.header("tools") {
            return tools_of(Some(&self.file.beside(path))).map(Some).map_err(|refused| match refused {
                Refused::Problems(problems) => problems,
                // The rest is shown already, and the tools of a case file come from no journal.
                _ => Vec::new(),
            });
        }
        let Some(section) = self.section("tools") else { return Ok(None) };
        self.json(&section.text, section.line + 1, "tools")?;
        // With as many lines before it as in the file, so that problems have its lines.
        let text = format!("{}{{\"tools\":\n{}}}", "\n".repeat(section.line - 1), section.text);
        let folder =
            std::path::absolute(self.file.folder()).unwrap_or_else(|_| self.file.folder().to_path_buf());
        let tools = Tools::from_text(&self.file.place(), &text, &folder)?;
        prepare_cleanup(&tools);
        Ok(Some(tools))
    }

    /// Checks and runs the program, and returns the failures; `None` if the run was interrupted.
    ///
    /// # Errors
    /// What is wrong with the case itself.
    pub(super) fn hold(&self, signal: &Signal) -> Result<Option<Vec<Failure>>, Vec<Problem>> {
        let mut failures = Vec::new();
        let mut tools = self.tools()?;
        if let Some(tools) = &mut tools
            && let Err(Refused::Problems(problems)) =
                connect([self.bytes.as_slice()], &self.options.files, tools)
        {
            return Err(problems);
        }
        let catalog = self.section("catalog").map(|section| {
            Catalog::from_json(&section.text)
                .map_err(|error| vec![self.file.bad(section.line, format!("`catalog`: {error}"))])
        });
        let catalog = catalog.transpose()?;
        let checked = catalog.as_ref().or(tools.as_ref().map(Tools::catalog));
        let program = self.build(checked, &mut failures)?;
        let Some(program) = program else {
            if self.section("outcome").is_some() && failures.is_empty() {
                failures.push(
                    self.failure("findings", vec!["the program has errors, so it has no outcome".to_owned()]),
                );
            }
            return Ok(Some(failures));
        };
        let tools = tools.unwrap_or_default();
        self.run(&program, &tools, signal, failures)
    }

    /// Builds the program and compares the findings of the check and the fixes.
    fn build(
        &self,
        catalog: Option<&Catalog>,
        failures: &mut Vec<Failure>,
    ) -> Result<Option<Program>, Vec<Problem>> {
        let files = &self.options.files;
        let place = match self.notation {
            Some(notation) => format!("{} (source {notation})", self.file.place()),
            None => self.file.case.header("program").unwrap_or_default().to_owned(),
        };
        if is_bytecode(&self.bytes) {
            return load_bytecode(&self.bytes, &place, files).map(Some).map_err(|problem| vec![problem]);
        }
        let files = files.for_notation(self.notation);
        let (program, diagnostics) = build_source(&self.bytes, &files, catalog);
        let text = String::from_utf8_lossy(&self.bytes);
        let notation = self.notation.or_else(|| Notation::detect(&text)).unwrap_or(Notation::Id);
        let source = Source { notation, text: &text, line: 1 };
        let findings = self.file.case.findings(&source, &diagnostics);
        if !findings.is_empty() {
            let mut lines = findings;
            let shown = diagnostic::render_all(&place, &text, &diagnostics, false);
            lines.extend(shown.lines().map(str::to_owned));
            failures.push(self.failure("findings", lines));
        }
        if let Err((found, left)) = self.file.case.fixes(&source, &files.reading(catalog)) {
            let texts = Some((self.text("fixed").unwrap_or_default().to_owned(), found));
            failures.push(Failure { texts, ..self.failure("fixed", left) });
        }
        let refused = self.options.deny_warnings && !diagnostics.as_slice().is_empty();
        let Some(program) = program.filter(|_| !refused) else { return Ok(None) };
        Program::new(program)
            .map(Some)
            .map_err(|error| vec![Problem::new(Code::Unverified, place, error.to_string())])
    }

    /// The problems that prevent a run: the function, the input, missing tools.
    fn start(&self, program: &Program, tools: &Tools) -> Result<Start, Vec<Problem>> {
        let function = match entry::function(program, self.options.function.as_deref(), "--fn") {
            Ok(function) => function,
            Err(problem) => return Ok(Err(vec![problem])),
        };
        let input = match self.section("input") {
            None => Data::Record(Vec::new().into()),
            Some(section) => match self.json(&section.text, section.line + 1, "input") {
                Ok(input) => input,
                // A case may be about such an input.
                Err(problems) if self.refused().is_some() => {
                    let problem = |problem: Problem| Problem { code: Code::BadInput, ..problem };
                    return Ok(Err(problems.into_iter().map(problem).collect()));
                }
                Err(problems) => return Err(problems),
            },
        };
        let problems = ilo_host::run::problems(program, function, &input, tools);
        Ok(if problems.is_empty() { Ok((function, input)) } else { Err(problems) })
    }

    /// The code of a finding that the run must report as it starts.
    fn refused(&self) -> Option<&str> {
        let line = self.text("diagnostics")?.lines().find_map(|line| line.strip_prefix("error "))?;
        line.split(' ').next().filter(|code| AT_THE_START.contains(code))
    }

    fn run(
        &self,
        program: &Program,
        tools: &Tools,
        signal: &Signal,
        mut failures: Vec<Failure>,
    ) -> Result<Option<Vec<Failure>>, Vec<Problem>> {
        if self.section("outcome").is_none() && !self.expects_nothing() && self.refused().is_none() {
            return Ok(Some(failures));
        }
        let started = self.start(program, tools)?;
        let (function, input) = match (started, self.refused()) {
            (Ok(started), None) => started,
            (Ok(_), Some(code)) => {
                let line = format!("expected {code} as the run starts, found none");
                failures.push(self.failure("start", vec![line]));
                return Ok(Some(failures));
            }
            (Err(problems), Some(code)) if problems.iter().any(|problem| problem.code.as_str() == code) => {
                return Ok(Some(failures));
            }
            (Err(problems), _) => {
                let lines = problems.iter().map(ToString::to_string).collect();
                failures.push(self.failure("start", lines));
                return Ok(Some(failures));
            }
        };
        let mut options = self.options.limits.options(signal.interrupt.clone(), signal.cancel.clone());
        options.output.clone_from(&self.options.files.output);
        let mut calls = Calls { lines: Vec::new(), bytes: 0, signal: signal.clone() };
        let finished = ilo_host::run::run(program, function, &input, tools, &options, &mut calls);
        let finished = match finished {
            Ok(finished) => finished,
            Err(problems) => {
                failures.push(self.failure("start", problems.iter().map(ToString::to_string).collect()));
                return Ok(Some(failures));
            }
        };
        let Some(outcome) = finished.outcome() else { return Ok(None) };
        let outcome = outcome.to_string();
        failures.extend(self.outcome(&outcome)?);
        failures.extend(self.calls(&calls)?);
        Ok(Some(failures))
    }

    /// Compares the outcome.
    fn outcome(&self, found: &str) -> Result<Option<Failure>, Vec<Problem>> {
        let (expected, lines) = match self.section("outcome") {
            None => (String::new(), vec!["the case has none".to_owned()]),
            Some(section) => {
                let expected = self.json(&section.text, section.line + 1, "outcome")?;
                let lines = compare::outcomes(&expected, &self.json(found, 1, "found outcome")?);
                (expected.to_json(), lines)
            }
        };
        let update = Some((self.title("outcome"), format!("{found}\n")));
        let texts = Some((expected, found.to_owned()));
        Ok((!lines.is_empty()).then(|| Failure { texts, update, ..self.failure("outcome", lines) }))
    }

    /// Compares the calls, if the case lists them. A case without an outcome gets both.
    fn calls(&self, calls: &Calls) -> Result<Option<Failure>, Vec<Problem>> {
        let found = calls.lines.iter().fold(String::new(), |all, line| all + line + "\n");
        let update = Some((self.title("trace"), found.clone()));
        let Some(section) = self.section("trace") else {
            let is_new = self.section("outcome").is_none();
            let lines = vec!["the case has none".to_owned()];
            return Ok(is_new.then(|| Failure { update, ..self.failure("calls", lines) }));
        };
        if calls.bytes > CALLS {
            let line = format!("the calls of the run have more than {CALLS} bytes, too many for a case");
            return Ok(Some(self.failure("calls", vec![line])));
        }
        let read = |text: &str, first: usize| -> Result<Vec<Data>, Vec<Problem>> {
            let lines = (first..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
            lines.map(|(number, line)| Ok(compare::call(self.json(line, number, "trace")?, false))).collect()
        };
        let expected = read(&section.text, section.line + 1)?;
        let calls = read(&found, 1)?;
        let lines = compare::calls(&expected, &calls);
        let texts = Some((compare::in_layout_of(&expected, &calls, &found), found));
        Ok((!lines.is_empty()).then(|| Failure { texts, update, ..self.failure("calls", lines) }))
    }

    /// The title of the section that applies here, also if it is not there yet.
    fn title(&self, title: &str) -> String {
        self.section(title).map_or_else(|| title.to_owned(), |section| section.title.clone())
    }
}

/// The calls of a run as lines of a trace without times.
struct Calls {
    lines: Vec<String>,
    bytes: usize,
    signal: Signal,
}

impl Observer for Calls {
    fn started(&mut self, _seq: u64, tool: &str) {
        self.signal.begin(tool);
    }

    fn ended(&mut self, call: &Ended<'_>) {
        let line = line(call);
        self.bytes = self.bytes.saturating_add(line.len());
        if self.bytes <= CALLS {
            self.lines.push(line);
        }
        self.signal.end();
    }

    fn ahead(&mut self, _tool: &str) {
        self.signal.ahead();
    }
}
