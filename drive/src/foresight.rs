//! Calls that need a person's confirmation and that a run will come to, so that all are asked about at once.

use crate::data::Data;
use crate::policy::Policies;
use crate::run::data_of;
use ilo_vm::{Run, Scout};

/// How many calls are looked at.
const LOOKED: usize = 1_000;

/// The calls with a confirmation that follow the one at which a run waits, in their order, with their
/// arguments: those that do not depend on an answer that is not there yet, at most so many.
pub fn to_confirm(run: &Run, policies: &dyn Policies, most: usize) -> Vec<(String, Data)> {
    let mut scout = Scout::new(run.program());
    let mut found = Vec::new();
    if !scout.follow(run) {
        return found;
    }
    for _ in 0..LOOKED {
        if found.len() == most {
            break;
        }
        let Some(ahead) = scout.ahead() else { break };
        let mut json = String::new();
        let asks = policies.policy(ahead.tool()).is_some_and(|policy| policy.confirm);
        if asks && ahead.write_json(&mut json).is_ok() {
            found.push((ahead.tool().to_owned(), data_of(&json)));
        }
    }
    found
}
