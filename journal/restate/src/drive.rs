//! Runs a program from its start to its outcome. A restarted handler runs the machine again from the start;
//! the server's journal has the result of every call that has ended.

use crate::calls::Calls;
use ilo_drive::call_slots::CallSlots;
use ilo_drive::policy::{Policies, Policy};
use ilo_drive::{Drive, End, Next, World};
use ilo_host::Tools;
use ilo_vm::Run;
use restate_sdk::prelude::*;
use std::sync::Arc;
use std::time::Duration;

/// The run has no time limit: its calls have theirs, and it may wait for days.
const NO_LIMIT: Duration = Duration::from_hours(24 * 365);

/// The settings of runs.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// The time limit of a call whose tool has none.
    pub(crate) call_timeout: Duration,
}

/// The tools, and whether the run was cancelled.
struct Around {
    tools: Arc<Tools>,
    cancelled: bool,
}

impl Policies for Around {
    fn policy(&self, tool: &str) -> Option<&Policy> {
        self.tools.policy(tool)
    }

    /// Calls are made in their turn. Only so does a restarted handler make the same calls.
    fn may_run_ahead(&self, _tool: &str) -> bool {
        false
    }
}

impl World for Around {
    fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    fn signature(&self, tool: &str) -> Option<&ilo_asm::catalog::ToolSignature> {
        match self.tools.catalog().lookup(tool) {
            ilo_asm::catalog::Lookup::Found(tool) => Some(tool),
            _ => None,
        }
    }
}

/// Drives a run to its outcome, as JSON.
///
/// # Errors
/// What makes the server start another attempt.
pub(crate) async fn drive(
    ctx: &WorkflowContext<'_>,
    run: Run,
    tools: &Arc<Tools>,
    settings: &Settings,
) -> Result<String, HandlerError> {
    let mut around = Around { tools: tools.clone(), cancelled: false };
    let mut calls = Calls::new(ctx, tools.clone(), settings.call_timeout)?;
    let mut drive: Drive<()> = Drive::new(run, CallSlots::new(1), NO_LIMIT);
    loop {
        match drive.next(&around, &mut ()) {
            Next::Start(start) => {
                let number = drive.due().map(|turn| turn.number).unwrap_or_default();
                let result = calls.make(&start, number).await?;
                around.cancelled = calls.is_cancelled();
                drive.settle(start.ticket, result, (), &around);
            }
            Next::Computing => tokio::task::yield_now().await,
            Next::Due | Next::Made | Next::Drop { .. } | Next::Value => {}
            Next::Wait => return Err("the run waits for a call that was not started".into()),
            Next::Done => break,
        }
    }
    let finished = drive.finish();
    if *finished.end() != End::Outcome {
        return Err("the run was interrupted".into());
    }
    let mut json = String::new();
    if let Some(outcome) = finished.outcome() {
        // Writing to a string does not fail.
        let _ = outcome.write_json(&mut json);
    }
    Ok(json)
}
