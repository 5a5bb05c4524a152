//! `tools`: the tools of a tools file, for people or as the catalogue that the assembler reads.

use super::{Exit, Refused, output, tools_of};
use ilo_asm::catalog::Lookup;
use ilo_host::data::Data;
use ilo_host::tools::{Policy, Tool, Tools};
use ilo_spec::program::Number;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-vm tools --tools examples/tools.json")]
pub(super) struct Args {
    /// The tools file
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// Print the catalogue as JSON, tools as MCP lists them
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    let mut tools = tools_of(Some(&args.tools))?;
    connect_all(&mut tools);
    if args.json {
        let list = Data::List(tools.iter().map(entry).collect());
        let catalogue = Data::Record(vec![("tools".to_owned(), list)]);
        return output::print(&format!("{}\n", catalogue.to_json()), Exit::Ok);
    }
    let mut rows = vec![["tool", "arguments", "policy", "from"].map(str::to_owned).to_vec()];
    rows.extend(tools.iter().map(|tool| {
        vec![tool.name.clone(), arguments(&tools, tool), tool.policy.to_string(), tool.source.to_string()]
    }));
    output::print(&output::table(&rows), Exit::Ok)
}

/// Starts every server. Those that cannot be used are reported; the others are used.
pub(super) fn connect_all(tools: &mut Tools) {
    let problems = tools.connect_all().err().unwrap_or_default();
    output::lacking(&problems);
    output::lacking(tools.lacking().filter(|problem| !problems.contains(problem)));
}

/// The tool as MCP lists it, with how it may be called and where it comes from.
fn entry(tool: &Tool) -> Data {
    let mut fields = vec![("name".to_owned(), Data::from(tool.name.as_str()))];
    let mut add = |name: &str, value: Option<Data>| {
        fields.extend(value.map(|value| (name.to_owned(), value)));
    };
    let any = || Data::Record(vec![("type".to_owned(), Data::from("object"))]);
    let hint = || Data::Record(vec![("readOnlyHint".to_owned(), Data::Bool(true))]);
    add("description", tool.description.as_deref().map(Data::from));
    add("inputSchema", Some(tool.input_schema.as_deref().cloned().unwrap_or_else(any)));
    add("outputSchema", tool.output_schema.as_deref().cloned());
    add("validate", (!tool.validate).then_some(Data::Bool(false)));
    add("annotations", tool.policy.read_only.then(hint));
    add("policy", Some(policy(&tool.policy)).filter(|policy| *policy != Data::Record(Vec::new())));
    add("source", Some(Data::from(tool.source.to_string())));
    Data::Record(fields)
}

/// What the tools file says, under its own keys, where it says something.
pub(super) fn policy(policy: &Policy) -> Data {
    let flag = |name: &str, set: bool| set.then(|| (name.to_owned(), Data::Bool(true)));
    let count = |name: &str, count: u64| {
        let count = Data::Number(Number::Int(i64::try_from(count).unwrap_or(i64::MAX)));
        Some((name.to_owned(), count)).filter(|(_, count)| *count != Data::Number(Number::Int(0)))
    };
    let timeout = policy.timeout.map_or(0, |time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
    let fields = [
        flag("read_only", policy.read_only),
        flag("idempotent", policy.idempotent),
        count("retries", policy.retries.into()),
        flag("confirm", policy.confirm),
        count("timeout_ms", timeout),
        policy.bytes.then(|| ("binary".to_owned(), Data::from("base64"))),
        policy.requires_rollback.then(|| ("rollback".to_owned(), Data::from("required"))),
    ];
    Data::Record(fields.into_iter().flatten().collect())
}

/// The arguments as a model reads them.
fn arguments(tools: &Tools, tool: &Tool) -> String {
    match tools.catalog().lookup(&tool.name) {
        Lookup::Found(found) if tool.input_schema.is_some() => found.arguments(),
        _ => "any".to_owned(),
    }
}
