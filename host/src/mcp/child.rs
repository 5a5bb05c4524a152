//! A server that is a program: its streams, and its end.

use super::guard::Lines;
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use rmcp::RoleClient;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::io;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

/// How long a server may take to end once its input is closed, and again once it is asked to.
const LEAVE: Duration = Duration::from_secs(3);
/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;

/// A server's process with its streams.
pub(super) struct Child {
    process: Process,
    streams: AsyncRwTransport<RoleClient, DuplexStream, ChildStdin>,
}

/// A process that does not outlive its owner.
struct Process(Option<Box<dyn ChildWrapper>>);

impl Child {
    /// Starts a server; gives its standard error as well.
    pub(super) fn spawn(mut command: CommandWrap) -> io::Result<(Child, Option<ChildStderr>)> {
        command.command_mut().stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let (input, output) = (child.stdin().take(), child.stdout().take());
        let errors = child.stderr().take();
        let process = Process(Some(child));
        let (Some(input), Some(output)) = (input, output) else {
            return Err(io::Error::other("its standard streams are not there"));
        };
        let streams = AsyncRwTransport::new(guarded(output), input).with_max_line_length(usize::MAX);
        Ok((Child { process, streams }, errors))
    }
}

/// What a server says, as far as it may pass on.
fn guarded(mut from: ChildStdout) -> DuplexStream {
    let (mut to, reader) = tokio::io::duplex(PIECE);
    tokio::spawn(async move {
        let (mut lines, mut buffer) = (Lines::default(), vec![0; PIECE]);
        while let Ok(count @ 1..) = from.read(&mut buffer).await {
            let mut out = Vec::new();
            lines.feed(buffer.get(..count).unwrap_or_default(), &mut out);
            if to.write_all(&out).await.is_err() {
                break;
            }
        }
    });
    reader
}

impl Transport<RoleClient> for Child {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.streams.send(item)
    }

    fn receive(&mut self) -> impl Future<Output = Option<RxJsonRpcMessage<RoleClient>>> + Send {
        self.streams.receive()
    }

    /// Closes its input, then asks it to end, then ends it.
    async fn close(&mut self) -> io::Result<()> {
        let closed = self.streams.close().await;
        let Some(process) = &mut self.process.0 else { return closed };
        let mut left = tokio::time::timeout(LEAVE, process.wait()).await.is_ok();
        #[cfg(unix)]
        if !left && process.signal(15).is_ok() {
            left = tokio::time::timeout(LEAVE, process.wait()).await.is_ok();
        }
        if !left {
            Box::into_pin(process.kill()).await?;
        }
        self.process.0 = None;
        closed
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Some(mut process) = self.0.take() {
            // Waiting for its end leaves nothing in the process table.
            tokio::spawn(async move { drop(Box::into_pin(process.kill()).await) });
        }
    }
}
