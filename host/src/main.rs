//! The `ilo-vm` program: checks and runs ilo programs against the tools of a tools file.

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
