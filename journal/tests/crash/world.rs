//! The programs as runs of a journal, and the policies of their tools.

use crate::programs::{self, program};
use ilo_journal::{Answer, Beginning, Effect, Policy, RunLimits};
use ilo_vm::Run;

/// Tools and how they may be called.
pub const TOOLS: [(&str, Policy); 6] = [
    ("get", Policy::of(Effect::Reads)),
    ("set", Policy::of(Effect::Idempotent)),
    ("pay", Policy::of(Effect::Changes)),
    ("refund", Policy::of(Effect::Changes)),
    ("ship", Policy { confirm: true, ..Policy::of(Effect::Changes) }),
    ("review", Policy { deferred: true, ..Policy::of(Effect::Changes) }),
];

/// The answer of a tool, and whether that changes anything.
pub fn answer(tool: &str, arguments: &str) -> (Answer, bool) {
    let (answer, changes) = programs::answer(tool, arguments);
    (answer.map_or_else(|message| Answer::failed(&message), Answer::Ok), changes)
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
