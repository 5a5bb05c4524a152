//! The programs as runs of a journal, and the policies of their tools.

use crate::programs::{self, program};
use ilo_drive::policy::Policy;
use ilo_journal::{Beginning, RunLimits};
use ilo_vm::Run;

/// How a tool may be called.
pub fn policy(tool: &str) -> Policy {
    match tool {
        "get" => Policy::reads(),
        "set" => Policy { idempotent: true, ..Policy::default() },
        "ship" => Policy { confirm: true, ..Policy::default() },
        "review" => Policy { deferred: true, ..Policy::default() },
        _ => Policy::default(),
    }
}

/// A run at its start, with the arguments that belong to this name.
pub fn beginning(name: &str, number: u64) -> (Run, Beginning) {
    let (program, n) = program(number);
    let beginning = Beginning {
        name: Some(name.to_owned()),
        input: format!("{{\"n\":{n}}}").into_bytes(),
        program: program.to_bytes(),
        function: "f".to_owned(),
        limits: RunLimits::default(),
    };
    (programs::started((&program, n)), beginning)
}
