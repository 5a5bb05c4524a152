//! The binary `ilo-asm`; all of it is in the library's command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    ilo_asm::cli::main()
}
