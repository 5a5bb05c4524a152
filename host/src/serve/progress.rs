//! Reports the progress of a run to its client: a notification for each call when it begins, and the list of
//! calls for the answer.

use crate::run::{Ended, Observer};
use rmcp::RoleServer;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::Peer;
use serde_json::Value;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The most notifications that wait to be sent; a slow client misses the others.
const WAITING: usize = 64;
/// The maximum size of the calls in an answer. Of later calls only the tools are listed.
const CALLS: usize = 512 << 10;

/// The channel for notifications.
pub(super) struct Progress(mpsc::Sender<ProgressNotificationParam>, ProgressToken);

impl Progress {
    /// The task ends when everything has been sent and this is dropped.
    pub(super) fn new(peer: Peer<RoleServer>, token: ProgressToken) -> (Progress, JoinHandle<()>) {
        let (sender, mut receiver) = mpsc::channel(WAITING);
        let sending = tokio::spawn(async move {
            while let Some(progress) = receiver.recv().await {
                // A client that has left gets nothing.
                drop(peer.notify_progress(progress).await);
            }
        });
        (Progress(sender, token), sending)
    }

    fn call(&self, seq: u64, tool: &str) {
        // Calls are few enough that their number is exact as a double.
        #[allow(clippy::cast_precision_loss, reason = "calls are far fewer than 2^52")]
        let done = (seq + 1) as f64;
        let progress = ProgressNotificationParam::new(self.1.clone(), done).with_message(tool.to_owned());
        drop(self.0.try_send(progress));
    }
}

/// Records the calls of a run for its answer, in the form of a trace.
#[derive(Default)]
pub(super) struct Watch {
    calls: Vec<String>,
    bytes: usize,
    progress: Option<Progress>,
}

impl Watch {
    pub(super) fn new(progress: Option<Progress>) -> Watch {
        Watch { progress, ..Watch::default() }
    }

    /// The calls as data.
    pub(super) fn calls(&self) -> Vec<Value> {
        self.calls.iter().filter_map(|call| serde_json::from_str(call).ok()).collect()
    }
}

impl Observer for Watch {
    fn started(&mut self, seq: u64, tool: &str) {
        tracing::debug!(seq, tool, "call");
        if let Some(progress) = &self.progress {
            progress.call(seq, tool);
        }
    }

    fn ended(&mut self, call: &Ended<'_>) {
        let mut line = ilo_drive::trace::line(call);
        if self.bytes + line.len() > CALLS {
            let (seq, tool, ok) = (call.seq, call.tool, call.result.is_ok());
            line = serde_json::json!({"seq": seq, "tool": tool, "is_ok": ok, "omitted_bytes": line.len()})
                .to_string();
        }
        self.bytes += line.len();
        self.calls.push(line);
    }

    fn ahead(&mut self, tool: &str) {
        tracing::debug!(tool, "call started ahead");
    }

    fn untaken(&mut self, tool: &str) {
        tracing::info!(tool, "a call was started ahead and is not needed");
    }
}
