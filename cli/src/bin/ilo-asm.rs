//! The program `ilo-asm`: source in any notation to checked bytecode, and back.

fn main() -> std::process::ExitCode {
    ilo_cli::asm::main()
}
