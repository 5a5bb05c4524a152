//! `runs calls`: the calls that a run has made, in a journal that keeps them.

use super::super::{Exit, Refused, output};
use super::shown::{quoted, time};
use super::{Place, open};
use ilo_host::problem::{Problem, shortened};
use ilo_journal::{Answer, Called};
use ilo_spec::error::Code;

/// The maximum length of arguments and answers in a row.
const SHOWN: usize = 48;

#[derive(clap::Args)]
pub(super) struct CallsArgs {
    /// The number or name of the run
    #[arg(required_unless_present = "keep")]
    run: Option<String>,
    #[command(flatten)]
    place: Place,
    /// From now on keep the calls of the runs of this journal, with their arguments and answers, or no longer
    #[arg(long, value_name = "WHETHER", value_parser = ["yes", "no"], conflicts_with = "run")]
    keep: Option<String>,
    /// Print a line of JSON for each call
    #[arg(long)]
    json: bool,
}

/// Prints the calls of a run, or sets whether they are kept.
pub(super) fn run(args: &CallsArgs) -> Result<Exit, Refused> {
    let store = open(&args.place.journal, &args.place.key, args.keep.is_some())?;
    if let Some(keep) = &args.keep {
        store.keep_calls(keep == "yes")?;
        let kept = if keep == "yes" { "are kept" } else { "are not kept" };
        return output::print(
            &format!("the calls of runs {kept} by processes that open the journal from now on\n"),
            Exit::Ok,
        );
    }
    let Some(run) = &args.run else {
        return Err(Problem::new(Code::BadUsage, "RUN", "expected a run or `--keep`").into());
    };
    let calls = store.calls(store.find(run)?)?;
    if calls.is_empty() && !store.keeps_calls() {
        output::error("this journal keeps no calls; `ilo-vm runs calls --keep yes` begins with that\n");
    }
    if args.json {
        return output::print(&calls.iter().map(line).collect::<String>(), Exit::Ok);
    }
    if calls.is_empty() {
        return output::print("", Exit::Ok);
    }
    let mut rows = vec![["CALL", "TOOL", "OVER", "TOOK", "ARGUMENTS", "ANSWER"].map(str::to_owned).to_vec()];
    rows.extend(calls.iter().map(row));
    output::print(&output::table(&rows), Exit::Ok)
}

fn row(called: &Called) -> Vec<String> {
    let answer = match &called.answer {
        None => "in doubt".to_owned(),
        Some(Answer::Ok(json)) => shortened(json, SHOWN),
        Some(Answer::Failed(json)) => format!("failed: {}", shortened(json, SHOWN)),
        Some(Answer::FailedInDoubt(message)) => format!("failed in doubt: {}", shortened(message, SHOWN)),
    };
    vec![
        called.call.to_string(),
        called.tool.clone(),
        time(called.at),
        called.took_ms.map_or_else(|| "from outside".to_owned(), |took| format!("{took} ms")),
        shortened(&called.arguments, SHOWN),
        answer,
    ]
}

fn line(called: &Called) -> String {
    let Called { call, at, tool, arguments, .. } = called;
    let took = called.took_ms.map_or_else(String::new, |took| format!(",\"took_ms\":{took}"));
    let answer = match &called.answer {
        None => "\"in_doubt\":true".to_owned(),
        Some(Answer::Ok(json)) => format!("\"ok\":{json}"),
        Some(Answer::Failed(json)) => format!("\"failed\":{json}"),
        Some(Answer::FailedInDoubt(message)) => format!("\"failed\":{},\"in_doubt\":true", quoted(message)),
    };
    format!(
        "{{\"call\":{call},\"over\":\"{}\",\"tool\":{},\"args\":{arguments}{took},{answer}}}\n",
        time(*at),
        quoted(tool)
    )
}
