//! `tools`: lists the tools of a tools file, for people or as a catalogue for `ilo-asm`.

use super::{Exit, Refused, output, tools_of};
use ilo_asm::catalog::{Lookup, Validation};
use ilo_asm::text::visible;
use ilo_host::data::Data;
use ilo_host::problem::{MOST, Problem};
use ilo_host::tools::{Health, Tool, Tools};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// The interval between checks of the servers.
const LOOK: Duration = Duration::from_millis(500);

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-vm tools --tools examples/tools.json")]
pub(super) struct Args {
    /// The tools file
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// Print the catalogue as JSON, tools as MCP lists them
    #[arg(long)]
    json: bool,
    /// Print the state of each server, and a line when it changes, until interrupted
    #[arg(long, conflicts_with = "json")]
    watch: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    let mut tools = tools_of(Some(&args.tools))?;
    connect_all(&mut tools);
    if args.watch {
        return watch(&tools);
    }
    if args.json {
        let list = Data::List(tools.iter().map(|tool| entry(&tools, tool)).collect());
        let catalogue = Data::Record(vec![("tools".to_owned(), list)].into());
        // An escape means the same in JSON, and shows what a terminal would hide.
        return output::print(&format!("{}\n", visible(&catalogue.to_json())), Exit::Ok);
    }
    let mut rows = vec![["tool", "arguments", "policy", "from"].map(str::to_owned).to_vec()];
    rows.extend(tools.iter().map(|tool| {
        vec![tool.name.clone(), arguments(&tools, tool), tool.policy.to_string(), tool.source.to_string()]
    }));
    let mut shown = output::table(&rows);
    let mut rows =
        vec![["tool", "keywords of its schemas that no value is held to"].map(str::to_owned).to_vec()];
    let passed =
        tools.iter().map(|tool| vec![tool.name.clone(), unchecked_keywords(&tools, tool).join(", ")]);
    rows.extend(passed.filter(|row| row.last().is_some_and(|keywords| !keywords.is_empty())));
    if rows.len() > 1 {
        shown.push('\n');
        shown.push_str(&output::table(&rows));
    }
    output::print(&shown, Exit::Ok)
}

/// Prints the state of each server whenever it changes.
fn watch(tools: &Tools) -> Result<Exit, Refused> {
    let mut shown: Vec<Option<Health>> = Vec::new();
    loop {
        let now = tools.health();
        for (at, (name, health)) in now.iter().enumerate() {
            if shown.get(at) == Some(health) {
                continue;
            }
            let text = match health {
                None => "not started".to_owned(),
                Some(Health { running: true, tools, .. }) => format!("running, {tools} tools"),
                Some(Health { running: false, .. }) => "ended".to_owned(),
            };
            output::print(&format!("{}: {text}\n", output::plain(name)), Exit::Ok)?;
        }
        shown = now.into_iter().map(|(_, health)| health).collect();
        if shown.is_empty() {
            return Ok(Exit::Ok);
        }
        thread::sleep(LOOK);
    }
}

/// The keywords of a tool's schemas that are not checked.
fn unchecked_keywords(tools: &Tools, tool: &Tool) -> Vec<&'static str> {
    match tools.catalog().lookup(&tool.name) {
        Lookup::Found(found) if tool.validate != Validation::Off => found.unchecked_keywords(),
        _ => Vec::new(),
    }
}

/// Starts every server. Those that cannot be used are reported; the others are used.
fn connect_all(tools: &mut Tools) {
    let problems = tools.connect_all().err().unwrap_or_default();
    Told::default().tell(tools, &problems);
}

/// The warnings about tools that were shown.
#[derive(Default)]
pub(super) struct Told(BTreeSet<String>);

impl Told {
    /// Shows these problems and what is wrong with tools, each once.
    pub(super) fn tell(&mut self, tools: &Tools, problems: &[Problem]) {
        let schemas: Vec<Problem> = tools.schema_problems().take(MOST).collect();
        self.tell_new(problems);
        self.tell_new(tools.warnings());
        self.tell_new(tools.lacking());
        self.tell_new(&schemas);
    }

    fn tell_new<'p>(&mut self, problems: impl IntoIterator<Item = &'p Problem>) {
        output::lacking(problems.into_iter().filter(|problem| self.0.insert(problem.to_string())));
    }
}

/// The tool in MCP's form, with its policy and origin.
fn entry(tools: &Tools, tool: &Tool) -> Data {
    let mut fields = vec![("name".to_owned(), Data::from(tool.name.as_str()))];
    let mut add = |name: &str, value: Option<Data>| {
        fields.extend(value.map(|value| (name.to_owned(), value)));
    };
    let any = || Data::Record(vec![("type".to_owned(), Data::from("object"))].into());
    let hint = || Data::Record(vec![("readOnlyHint".to_owned(), Data::Bool(true))].into());
    add("description", tool.description.as_deref().map(Data::from));
    add("inputSchema", Some(tool.input_schema.as_deref().cloned().unwrap_or_else(any)));
    add("outputSchema", tool.output_schema.as_deref().cloned());
    add(
        "validate",
        match tool.validate {
            Validation::Fail => None,
            Validation::Warn => Some(Data::from("warn")),
            Validation::Off => Some(Data::Bool(false)),
        },
    );
    let passed = unchecked_keywords(tools, tool);
    let names = || Data::List(passed.iter().map(|name| Data::from(*name)).collect());
    add("passedOver", (!passed.is_empty()).then(names));
    add("annotations", tool.policy.read_only.then(hint));
    add("policy", Some(tool.policy.to_data()).filter(|policy| *policy != Data::Record(Vec::new().into())));
    add("source", Some(Data::from(tool.source.to_string())));
    Data::Record(fields.into())
}

/// The arguments in the form for a model.
fn arguments(tools: &Tools, tool: &Tool) -> String {
    match tools.catalog().lookup(&tool.name) {
        Lookup::Found(found) if tool.input_schema.is_some() => found.arguments(),
        _ => "any".to_owned(),
    }
}
