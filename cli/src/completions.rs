//! `completions`: what a shell completes.

use clap::Command;
use clap_complete::Shell;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

/// The script that teaches the shell to complete a program's command line.
pub(crate) fn script(args: &Args, mut program: Command) -> Vec<u8> {
    let name = program.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut program, name, &mut script);
    script
}
