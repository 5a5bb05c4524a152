//! The program `ilo-asm`: assembles, checks and converts programs.

fn main() -> std::process::ExitCode {
    ilo_cli::asm::main()
}
