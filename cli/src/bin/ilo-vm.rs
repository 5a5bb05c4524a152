//! The program `ilo-vm`: checks and runs programs against the tools of a tools file.

fn main() -> std::process::ExitCode {
    ilo_cli::vm::main()
}
