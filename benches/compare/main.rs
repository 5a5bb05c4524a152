//! Measures ilo and other engines in one run and compares every ratio with its target.
//!
//! Each engine, including ilo, is a process that answers one line protocol, so that the protocol costs all of
//! them the same. Batches alternate between engines, because the machine may be shared; figures are medians
//! of thread CPU time. Engines that cannot be built are listed as absent, and the others are measured.
//! Nothing is measured before all engines agree on the result of each program.

mod engine;
mod measure;
mod ours;
mod peers;
mod report;
mod row;
mod rows;
mod suspended;

use clap::Parser;
use engine::Engine;
use measure::Figures;
use std::process::ExitCode;

/// Measure ilo beside other engines.
///
/// Example: compare --peers lua54,luajit --json
#[derive(Parser)]
struct Arguments {
    /// Print the rows as JSON.
    #[arg(long)]
    json: bool,
    /// Write the tables into benches/RESULTS.md as well.
    #[arg(long)]
    save: bool,
    /// The engines to compare with: `all`, or some of them, with commas between.
    #[arg(long, default_value = "all", value_delimiter = ',')]
    peers: Vec<String>,
    /// Batches of each engine, of about 20 ms each.
    #[arg(long, default_value_t = 15, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Be the worker for ilo.
    #[arg(long, hide = true)]
    worker: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let done = if arguments.worker {
        ours::worker().serve().map_err(|error| error.to_string()).map(|()| true)
    } else {
        compare(&arguments)
    };
    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// Builds, checks, measures and prints. Returns whether every measured target is met.
fn compare(arguments: &Arguments) -> Result<bool, String> {
    let load = report::load();
    let (mut engines, absent) = peers::start(&arguments.peers)?;
    measure::agree(&mut engines)?;
    let mut figures: Figures = measure::all(&mut engines, arguments.rounds)?;
    let mut names: Vec<(&'static str, &str)> =
        engines.iter().map(|engine: &Engine| (engine.key, engine.name.as_str())).collect();
    names.push(suspended::quote(&mut figures));
    let rows = rows::evaluate(&figures, &names);
    if arguments.json {
        println!("{}", report::json(&rows));
    } else {
        println!("{}", report::text(&rows, &figures, &names, &absent));
    }
    if arguments.save {
        let head = report::head(arguments.rounds, &load);
        ilo_benches::results::save(
            "Beside other engines",
            &(head + &report::markdown(&rows, &figures, &names, &absent)),
        )
        .map_err(|error| error.to_string())?;
    }
    Ok(rows.iter().all(|row| row.met != Some(false)))
}
