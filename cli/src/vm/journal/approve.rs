//! `runs approve`: a person sees the call on which they decide.
//!
//! At a terminal the call is shown, and the answer is read. Elsewhere the command names the call by its
//! number and by a hash of its tool and arguments, so that nothing is approved that nobody has looked at.

use super::super::terminal::{self, Terminal};
use super::super::{Exit, Refused};
use super::runs::{OneArgs, RunArgs, told};
use super::{open, person};
use ilo_host::data::Data;
use ilo_host::data::read::data_of;
use ilo_host::interrupt::Interrupt;
use ilo_host::problem::Problem;
use ilo_host::tools::consent::{Consent, Question};
use ilo_journal::{At, Decision, Programs, State, Store, Summary, WaitingRun, arguments_hash};
use ilo_spec::error::Code;
use std::time::{Duration, Instant};

/// How long a person may think.
const LONGEST: Duration = Duration::from_hours(24 * 365);

#[derive(clap::Args)]
pub(super) struct ApproveArgs {
    #[command(flatten)]
    one: OneArgs,
    /// The number of the call; needed where there is no terminal
    #[arg(long, value_name = "N")]
    call: Option<u64>,
    /// The hash of the call's tool and arguments, which `runs show` prints; needed where there is no terminal
    #[arg(long, value_name = "HASH", requires = "call")]
    arguments_hash: Option<String>,
}

pub(super) fn run(args: &ApproveArgs) -> Result<Exit, Refused> {
    let RunArgs { run, place, json } = &args.one.run;
    let store = open(&place.journal, &place.key, false)?;
    let summary = store.show(store.find(run)?)?;
    let run = summary.run;
    let call = match &summary.at {
        At::Live(live) if live.state == State::Asking && args.call.is_none_or(|call| call == live.call) => {
            if !is_seen(args, &store, &summary, live)? {
                return told(&store, *json, run, &format!("run {run} was not decided on"));
            }
            Some(live.call)
        }
        // The journal says what is in the way.
        At::Live(live) => args.call.or(Some(live.call)),
        At::Ended { .. } => args.call,
    };
    let who = args.one.by.clone().unwrap_or_else(person);
    let state = store.resolve(run, call, &Decision::Approve, &who)?;
    told(&store, *json, run, &format!("run {run} is {state}: {}", state.advice()))
}

/// Whether the person has seen the call and wants it.
fn is_seen(args: &ApproveArgs, store: &Store, summary: &Summary, live: &WaitingRun) -> Result<bool, Refused> {
    let refused = |message: String| Refused::from(Problem::new(Code::BadUsage, "--arguments-hash", message));
    let Some(arguments) = Programs::default().arguments(store, summary, live) else {
        return Err(refused(
            "this release cannot read the arguments of the call; continue with the previous one".into(),
        ));
    };
    if let Some(given) = &args.arguments_hash {
        if *given == arguments_hash(&live.tool, &arguments) {
            return Ok(true);
        }
        return Err(refused(format!(
            "call {} of `{}` has other arguments; look at them with `runs show {}`",
            live.call, live.tool, summary.run
        )));
    }
    let Some(terminal) = Terminal::open(None) else {
        return Err(refused(format!(
            "there is no terminal to show the call on; give `--call {} --arguments-hash HASH` with the hash that `runs show \
             {}` prints",
            live.call, summary.run
        )));
    };
    let shown = data_of(&arguments).unwrap_or(Data::Text(arguments));
    let question = Question {
        tool: &live.tool,
        arguments: &shown,
        foreseen: &[],
        deadline: Instant::now() + LONGEST,
        interrupt: &Interrupt::default(),
    };
    match terminal.ask(&question) {
        Consent::Given => Ok(true),
        Consent::Refused(why) if why != terminal::NO => Err(refused(why)),
        _ => Ok(false),
    }
}
