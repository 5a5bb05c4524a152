//! The input of a run: a record as JSON, and single arguments.

use super::Refused;
use ilo_host::data::Data;
use ilo_host::data::read::{Bounds, ReadErrorKind, read};
use ilo_host::file;
use ilo_host::problem::{Problem, meant_or_all};
use ilo_spec::error::Code;
use ilo_spec::types::Type;
use ilo_vm::Input;
use std::path::Path;

/// The options of the input.
#[derive(clap::Args)]
pub(super) struct InputArgs {
    /// The arguments as one JSON record; `@FILE` reads a file, `-` standard input
    #[arg(long, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    input: Option<String>,
    /// One argument: text where the parameter is text, else JSON
    #[arg(long = "arg", value_name = "NAME=VALUE")]
    arguments: Vec<String>,
}

impl InputArgs {
    /// The input: that of `--input`, then each `--arg`.
    pub(super) fn read(&self, parameters: &[Input<'_>], bounds: &Bounds) -> Result<Data, Refused> {
        input(self.input.as_deref(), &self.arguments, parameters, bounds)
    }

    /// Whether the input is read from standard input.
    pub(super) fn is_stdin(&self) -> bool {
        self.input.as_deref() == Some("-")
    }

    /// The file from which the input is read.
    pub(super) fn file(&self) -> Option<&Path> {
        self.input.as_deref()?.strip_prefix('@').map(Path::new)
    }
}

fn input(
    given: Option<&str>,
    arguments: &[String],
    parameters: &[Input<'_>],
    bounds: &Bounds,
) -> Result<Data, Refused> {
    let bad = |place: &str, message: String| Problem::new(Code::BadInput, place, message);
    let text = match given {
        None => b"{}".to_vec(),
        Some("-") => read_input(Path::new("-"), bounds.bytes)?,
        Some(text) => match text.strip_prefix('@') {
            Some(path) => read_input(Path::new(path), bounds.bytes)?,
            None => text.as_bytes().to_vec(),
        },
    };
    let mut data = read(file::without_mark(&text), bounds).map_err(|error| {
        let option = limit_option(&error.kind);
        let name = given.filter(|&text| Path::new(text).is_file());
        let file = name.map_or_else(String::new, |name| format!("; to read the file, write `@{name}`"));
        bad("--input", format!("{error}{option}{file}"))
    })?;
    if arguments.is_empty() {
        return Ok(data);
    }
    let kind = data.kind();
    let Data::Record(fields) = &mut data else {
        let message = format!("expected a record with a field for each parameter, found {kind}");
        return Err(bad("--input", message).into());
    };
    let mut problems = Vec::new();
    for argument in arguments {
        match self::argument(argument, parameters, bounds) {
            Ok((name, _)) if fields.iter().any(|(given, _)| *given == name) => {
                problems.push(bad("--arg", format!("`{name}` is given twice")));
            }
            Ok(field) => fields.push(field),
            Err(problem) if problems.contains(&problem) => {}
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() { Ok(data) } else { Err(problems.into()) }
}

/// Reads the file of the input, or standard input.
fn read_input(path: &Path, limit: usize) -> Result<Vec<u8>, Problem> {
    file::read(path, limit).map_err(|mut problem| {
        if problem.message.starts_with("larger than") {
            problem.message.push_str(MEMORY);
        }
        problem
    })
}

/// The message if the memory of the run is too small for the input.
pub(super) const MEMORY: &str = " (`--memory`)";

/// The option for the limit that an input exceeds.
fn limit_option(kind: &ReadErrorKind) -> &'static str {
    match kind {
        ReadErrorKind::Bytes(_) | ReadErrorKind::Values(_) => MEMORY,
        ReadErrorKind::Depth(_) => " (`--max-depth`)",
        _ => "",
    }
}

/// The size up to which a value is shown as the list that was meant.
const LIST_SHOWN: usize = 200;

/// Reads `NAME=VALUE`.
fn argument(text: &str, parameters: &[Input<'_>], bounds: &Bounds) -> Result<(String, Data), Problem> {
    let Some((name, value)) = text.split_once('=') else {
        let message = format!("expected NAME=VALUE, found `{text}`");
        return Err(Problem::new(Code::BadUsage, "--arg", message));
    };
    let Some(&Input { ty, .. }) = parameters.iter().find(|known| known.name == name) else {
        let there = meant_or_all(name, parameters.iter().map(|known| known.name));
        let message = format!("the function has no parameter `{name}`{there}");
        return Err(Problem::new(Code::UnknownInput, "--arg", message));
    };
    if ty == Type::TEXT {
        return Ok((name.to_owned(), Data::from(value)));
    }
    // A value of any type may be a list.
    let item = ty.item().filter(|_| ty != Type::ANY);
    let refused = |why: String| {
        let hint = match item {
            Some(item) => format!("; write `--arg '{name}={}'`", list_form(value, item)),
            None if ty == Type::ANY => "; put a text in double quotes".to_owned(),
            None => String::new(),
        };
        Problem::new(Code::InputType, "--arg", format!("`{name}`: expected {ty} as JSON{why}{hint}"))
    };
    let data = read(value.as_bytes(), bounds)
        .map_err(|error| refused(format!(": {}{}", error.kind, limit_option(&error.kind))))?;
    match (&data, item) {
        (Data::List(_), _) | (_, None) => Ok((name.to_owned(), data)),
        (other, Some(_)) => Err(refused(format!(", found {}", other.kind()))),
    }
}

/// The list that was meant by a text of items, possibly separated by commas, as JSON.
fn list_form(value: &str, item: Type) -> String {
    let one = |part: &str| match read(part.as_bytes(), &Bounds::default()) {
        _ if item == Type::TEXT => Some(Data::from(part.trim_matches('"'))),
        Ok(data @ Data::Number(_)) if item == Type::NUMBER => Some(data),
        Ok(data @ Data::Bool(_)) if item == Type::BOOL => Some(data),
        _ => None,
    };
    let plain = !value.contains(['[', '{', '\'']) && value.len() <= LIST_SHOWN;
    let items = value.split(',').map(|part| one(part.trim())).collect::<Option<Vec<Data>>>();
    items.filter(|_| plain).map_or_else(|| "[…]".to_owned(), |items| Data::List(items.into()).to_json())
}
