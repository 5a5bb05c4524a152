//! Finds the calls that need confirmation and that a run is expected to make, so that a person can be asked
//! about all of them at once.

use crate::data::Data;
use crate::data::read::data_of;
use crate::policy::Policies;
use ilo_vm::{Run, Scout};

/// The number of calls that are considered.
const LOOKED: usize = 1_000;

/// The calls with confirmation that follow the one at which a run waits, in order, with their arguments.
/// Calls that depend on a missing answer are left out; at most `most` calls are returned.
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
        if asks
            && ahead.write_json(&mut json).is_ok()
            && let Ok(arguments) = data_of(&json)
        {
            found.push((ahead.tool().to_owned(), arguments));
        }
    }
    found
}
