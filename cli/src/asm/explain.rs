//! `explain`: explains an error code.

use super::{Done, output};
use ilo_asm::explain;
use ilo_asm::text::nearest;
use ilo_spec::error::Code;
use std::process::ExitCode;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-asm explain unset-slot")]
pub(super) struct Args {
    /// The code
    code: String,
}

pub(super) fn run(args: &Args) -> Done {
    let code = args.code.as_str();
    match explain::explain(code) {
        Some(page) => {
            output::show(format!("{code}\n\n{page}\n").as_bytes())?;
            Ok(ExitCode::SUCCESS)
        }
        None => {
            let known: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
            let near = nearest(code, known.iter().copied());
            let hint = near.map_or_else(
                || format!("the codes are: {}", known.join(" ")),
                |near| format!("did you mean `{near}`?"),
            );
            Err(format!("there is no page for `{code}`; {hint}"))
        }
    }
}
