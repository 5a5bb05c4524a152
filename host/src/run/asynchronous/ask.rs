//! Asks for a confirmation while other work goes on.

use crate::tools::consent::{self, Consent, Question};
use crate::tools::{CallLimits, Failure, Tool};
use ilo_drive::data::Data;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use tokio::task;
use tokio::time::timeout_at;

/// A call that needs confirmation.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Asked {
    /// The tool by the name of its entry, with its origin if that is informative; never another text of the
    /// program.
    pub tool: String,
    /// Its arguments, without secrets.
    pub arguments: Data,
    /// Later calls that will probably need confirmation, each with its tool and arguments.
    pub foreseen: Arc<[(String, Data)]>,
    /// The deadline for the answer.
    pub deadline: Instant,
}

impl Asked {
    /// The name of the tool, for display.
    pub fn tool_shown(&self) -> String {
        consent::tool_shown(&self.tool)
    }

    /// The arguments for display: all of them, one per line, with control and invisible characters escaped.
    pub fn arguments_shown(&self) -> String {
        consent::arguments_shown(&self.arguments)
    }
}

/// The host's question.
pub(super) type Asker = Arc<dyn Fn(Asked) -> Pin<Box<dyn Future<Output = Consent> + Send>> + Send + Sync>;

/// Asks about a call.
///
/// # Errors
/// Why it must not be made.
pub(super) async fn ask(
    tool: &Tool,
    (name, given): (&str, &Data),
    ask: Option<&Asker>,
    limits: &CallLimits,
    until: Instant,
) -> Result<(), Failure> {
    let (shown, arguments) = tool.question(given);
    let foreseen = Arc::clone(&limits.foreseen);
    let asked = Asked { tool: shown, arguments, foreseen, deadline: until };
    let ended = limits.interrupt.or(&limits.cancel);
    let asking = match (ask, &limits.ask) {
        (Some(ask), _) => {
            let ask = Arc::clone(ask);
            // The function itself may panic, too.
            task::spawn(async move { ask(asked).await })
        }
        (None, Some(ask)) => {
            let (ask, interrupt) = (Arc::clone(ask), ended.clone());
            task::spawn_blocking(move || {
                let Asked { tool, arguments, foreseen, deadline } = &asked;
                let (deadline, interrupt) = (*deadline, &interrupt);
                ask.ask(&Question { tool, arguments, foreseen, deadline, interrupt })
            })
        }
        (None, None) => return Err(consent::refused(name, consent::NOBODY)),
    };
    let abort = asking.abort_handle();
    let consent = tokio::select! {
        asked = timeout_at(until.into(), asking) => match asked {
            Ok(Ok(consent)) => consent,
            Ok(Err(_)) => Consent::Refused(consent::NOT_ASKED.to_owned()),
            Err(_) => Consent::TimedOut,
        },
        () = ended.wait() => Consent::Interrupted,
    };
    abort.abort();
    consent::consented(consent, name, until, ended.is_set())
}
