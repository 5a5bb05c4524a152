//! `plan`: shows what a program would do.

use super::lock::LockArgs;
use super::{Exit, Refused, load, output, tools_of};
use ilo_asm::text::visible;
use ilo_host::data::Data;
use ilo_host::entry;
use ilo_host::plan::{Place, Planned, plan, without_rollback};
use ilo_host::tools::{Policy, Tools};
use ilo_spec::program::Number;
use std::path::PathBuf;

#[derive(clap::Args)]
#[command(after_help = "\
`calls` is the number of calls on the path with the most of them: a call in a loop counts once for each item, and every \
rollback that is registered counts. Retries are not counted.

`rollback after it` says what undoes such a call:
  by entry    tools that ROLLBACK registers in one step with it, for every failure, fault and limit
  by hand     tools that the program itself may call later; after a fault or limit it does not
  none        the lines of calls that nothing undoes
  is one      the call is itself a rollback
  needs none  the tool only reads

`after a crash` says what `resume` does if a run with a journal is killed during such a call:
  again       it is made again, since its tool only reads or is idempotent
  in doubt    the run waits until a person decides

Example: ilo-vm plan examples/checkout.ilo --tools examples/tools.json")]
pub(super) struct Args {
    /// Source or bytecode; `-` is standard input
    file: PathBuf,
    /// The function that would run [default: the only one that no other function calls]
    #[arg(long = "fn", value_name = "NAME")]
    function: Option<String>,
    /// The tools file; what it marks `read_only` changes nothing
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    #[command(flatten)]
    lock: LockArgs,
    /// Print the plan as one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: load::FileLimits,
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    let mut tools = tools_of(args.tools.as_deref())?;
    let program =
        load::load_file(&args.file, &args.limits, args.tools.is_some().then_some(&mut tools), &args.lock)?;
    let function = entry::function(&program, args.function.as_deref(), "--fn")?;
    if args.tools.is_some() {
        let mut problems = tools.problems(program.tools());
        problems.extend(without_rollback(&program, &tools));
        if !problems.is_empty() {
            return Err(problems.into());
        }
    }
    args.lock.hold(&tools, program.tools())?;
    let plan = plan(&program, function, &tools)?;
    if args.json {
        let calls = Data::List(plan.calls.iter().map(|call| entry_of(call, &tools)).collect());
        let function = Data::from(plan.function.as_str());
        let plan = Data::Record(vec![("function".to_owned(), function), ("calls".to_owned(), calls)].into());
        return output::print(&format!("{}\n", visible(&plan.to_json())), Exit::Ok);
    }
    if plan.calls.is_empty() {
        return output::print(&format!("`{}` calls no tools\n", plan.function), Exit::Ok);
    }
    let head = [
        "tool",
        "calls",
        "changes something",
        "asks first",
        "retries",
        "rollback after it",
        "after a crash",
        "from",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(plan.calls.iter().map(|call| row(call, &tools)));
    output::print(&output::table(&rows), Exit::Ok)
}

/// Which rollbacks can still run once a call of a tool has succeeded.
fn rollback(call: &Planned) -> String {
    match call {
        Planned { is_rollback: true, .. } => "is one".to_owned(),
        Planned { policy: Policy { read_only: true, .. }, .. } => "needs none".to_owned(),
        Planned { entries, by_hand, rollbacks, without, .. } => {
            let mut ways = Vec::new();
            if !entries.is_empty() {
                ways.push(format!("by entry: {}", entries.join(", ")));
            }
            if without.len() < by_hand.len() {
                ways.push(format!("by hand: {}", rollbacks.join(", ")));
            }
            match (ways.is_empty(), without.is_empty()) {
                (true, _) => "none".to_owned(),
                (false, true) => ways.join("; "),
                (false, false) => format!("{}; none: {}", ways.join("; "), places(without)),
            }
        }
    }
}

/// The positions of the first few calls.
fn places(places: &[Place]) -> String {
    const SHOWN: usize = 4;
    let shown = places.iter().take(SHOWN).map(|place| match place.source {
        Some((line, _)) => format!("line {line}"),
        None => format!("instruction {}", place.instruction),
    });
    let mut shown: Vec<String> = shown.collect();
    shown.extend((places.len() > SHOWN).then(|| format!("{} more", places.len() - SHOWN)));
    shown.join(", ")
}

/// Calls as data: by line and column, or by instruction where there are no positions.
fn places_data(places: &[Place]) -> Data {
    let number = |number: u32| Data::Number(Number::Int(number.into()));
    let place = |place: &Place| match place.source {
        Some((line, column)) => Data::Record(
            vec![("line".to_owned(), number(line)), ("column".to_owned(), number(column))].into(),
        ),
        None => Data::Record(vec![("instruction".to_owned(), number(place.instruction))].into()),
    };
    Data::List(places.iter().map(place).collect())
}

fn source(call: &Planned, tools: &Tools) -> String {
    tools.get(&call.tool).map_or_else(|| "not given".to_owned(), |tool| tool.source.to_string())
}

fn row(call: &Planned, tools: &Tools) -> Vec<String> {
    let changes = if call.policy.read_only { "no" } else { "yes" };
    let asks = if call.policy.confirm { "yes" } else { "no" };
    let retries = match call.policy.retries {
        0 => "none".to_owned(),
        count => format!("≤ {count} a call"),
    };
    let crash = if call.policy.is_safe_again() { "again" } else { "in doubt" };
    let (name, most, from) = (call.tool.clone(), call.most.clone(), source(call, tools));
    vec![name, most, changes.into(), asks.into(), retries, rollback(call), crash.into(), from]
}

/// A row as data: the policy in the words of the tools file, and rollbacks also of what changes nothing.
fn entry_of(call: &Planned, tools: &Tools) -> Data {
    let field = |name: &str, value: Data| (name.to_owned(), value);
    Data::Record(
        vec![
            field("tool", Data::from(call.tool.as_str())),
            field("calls", Data::from(call.most.as_str())),
            field("policy", call.policy.to_data()),
            field("is_rollback", Data::Bool(call.is_rollback)),
            field(
                "rollbacks_after",
                Data::List(call.rollbacks.iter().map(|tool| Data::from(tool.as_str())).collect()),
            ),
            field("some_without", Data::Bool(call.some_without)),
            field("entries", Data::List(call.entries.iter().map(|tool| Data::from(tool.as_str())).collect())),
            field("by_hand", places_data(&call.by_hand)),
            field("without", places_data(&call.without)),
            field("after_crash", Data::from(call.policy.after_crash())),
            field("source", Data::from(source(call, tools))),
        ]
        .into(),
    )
}
