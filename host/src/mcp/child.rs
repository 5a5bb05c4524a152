//! A server that is a child process: its streams, and its termination.

use super::guard::GuardedLines;
use super::pending::Pending;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use rmcp::RoleClient;
use rmcp::model::ClientJsonRpcMessage;
use rmcp::service::RxJsonRpcMessage;
use std::collections::VecDeque;
use std::io;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::Mutex;

/// How long a server may take to end after its input is closed, and again after it is asked to end.
const LEAVE: Duration = Duration::from_secs(3);
/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// The process of a server with its streams.
pub(super) struct Child {
    process: Process,
    input: Arc<Mutex<Option<ChildStdin>>>,
    output: ChildStdout,
    buffer: Vec<u8>,
    lines: GuardedLines,
    ready: VecDeque<Vec<u8>>,
    pending: Arc<Pending>,
}

/// A process that does not outlive its owner.
struct Process(Option<Box<dyn ChildWrapper>>);

impl Child {
    /// Starts a server. Also returns its standard error.
    pub(super) fn spawn(
        mut command: CommandWrap,
        pending: Arc<Pending>,
    ) -> io::Result<(Child, Option<ChildStderr>)> {
        command.command_mut().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin().take(), child.stdout().take());
        let errors = child.stderr().take();
        let process = Process(Some(child));
        let (Some(input), Some(output)) = (input, output) else {
            return Err(io::Error::other("its standard streams are not there"));
        };
        let input = Arc::new(Mutex::new(Some(input)));
        let lines = GuardedLines::new(Arc::clone(&pending));
        let (buffer, ready) = (vec![0; PIECE], VecDeque::new());
        Ok((Child { process, input, output, buffer, lines, ready, pending }, errors))
    }

    /// Sends a message; `id` is that of a request.
    pub(super) fn send(
        &self,
        message: &ClientJsonRpcMessage,
        id: Option<String>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let line = serde_json::to_vec(message).map_err(io::Error::other);
        let (input, pending) = (Arc::clone(&self.input), Arc::clone(&self.pending));
        async move {
            let mut line = line?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let input = input.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            let mut rest = line.as_slice();
            while !rest.is_empty() {
                let count = input.write(rest).await?;
                if count == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                id.iter().for_each(|id| pending.set_begun(id, true));
                rest = rest.get(count..).unwrap_or_default();
            }
            input.flush().await
        }
    }

    /// The next message that may pass. It is cancel-safe: a partly read message is kept.
    pub(super) async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            while let Some(message) = self.ready.pop_front() {
                // The guard lets only messages pass that can be read.
                if let Ok(message) = serde_json::from_slice(&message) {
                    return Some(message);
                }
            }
            let count = self.output.read(&mut self.buffer).await.ok().filter(|&count| count > 0)?;
            self.lines.feed(self.buffer.get(..count).unwrap_or_default(), &mut self.ready);
        }
    }

    /// Closes its input, then asks it to end, then kills it.
    pub(super) async fn close(&mut self) -> io::Result<()> {
        if let Ok(mut input) = self.input.try_lock() {
            input.take();
        }
        let Some(process) = &mut self.process.0 else { return Ok(()) };
        let left = tokio::time::timeout(LEAVE, process.wait()).await.is_ok();
        #[cfg(unix)]
        let left =
            left || process.signal(15).is_ok() && tokio::time::timeout(LEAVE, process.wait()).await.is_ok();
        if !left {
            Box::into_pin(process.kill()).await?;
        }
        self.process.0 = None;
        Ok(())
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(mut process) = self.0.take() {
            // Waiting reaps the process.
            tokio::spawn(async move { drop(Box::into_pin(process.kill()).await) });
        }
    }
}
