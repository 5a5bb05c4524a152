//! `check`: whether programs are right, and whether the tools that they name are there.

use super::{Exit, Refused, load, output, tools_of};
use ilo_host::data::Data;
use ilo_host::problem::Problem;
use std::path::PathBuf;

#[derive(clap::Args)]
pub(super) struct Args {
    /// Source or bytecode; `-` is standard input
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// The tools file
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    /// Print what is wrong as JSON to standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limits: load::FileLimits,
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    let tools = tools_of(args.tools.as_deref())?;
    let mut found = Vec::new();
    for file in &args.files {
        let place = load::place(file);
        match load::read(file, &args.limits)
            .and_then(|bytes| load::load_program(&bytes, &place, &args.limits))
        {
            Err(problems) => found.extend(problems),
            Ok(program) if args.tools.is_some() => {
                let problems = tools.problems(program.tools());
                found.extend(
                    problems
                        .into_iter()
                        .map(|problem| Problem { place: format!("{place}: {}", problem.place), ..problem }),
                );
            }
            Ok(_) => {}
        }
    }
    let exit = if found.is_empty() { Exit::Ok } else { Exit::Invalid };
    if args.json {
        return output::print(&format!("{}\n", json(&found)), exit);
    }
    output::problems(&found);
    Ok(exit)
}

fn json(problems: &[Problem]) -> String {
    let record = |problem: &Problem| {
        let field = |name: &str, text: &str| (name.to_owned(), Data::from(text));
        Data::Record(vec![
            field("code", problem.code.as_str()),
            field("place", &problem.place),
            field("message", &problem.message),
        ])
    };
    Data::List(problems.iter().map(record).collect()).to_json()
}
