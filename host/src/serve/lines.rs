//! Messages over two streams, a line each.
//!
//! The protocol's library passes in silence over a line that it cannot read, and who sent it waits. Here each
//! is answered by an error, and the next line is read. So is a request beyond those that may wait for their
//! answers: each is a task.

use rmcp::RoleServer;
use rmcp::model::{ClientNotification, ErrorCode, ErrorData, JsonRpcError, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::pin::Pin;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, DuplexStream};
use tokio::sync::mpsc;

/// Requests that wait for their answers: far more than a client has questions, some 10 MB.
const ASKED: usize = 1_000;
/// Bytes that are read at a time.
const PIECE: usize = 64 << 10;

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// The two streams.
pub(super) struct Lines<W: AsyncWrite> {
    messages: AsyncRwTransport<RoleServer, DuplexStream, W>,
    refused: mpsc::Receiver<ErrorData>,
    /// An error on its way out: who waits for the next message may give up and come again.
    sending: Option<Sending>,
    /// The requests that were neither answered nor cancelled.
    asked: HashSet<RequestId>,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Lines<W> {
    /// Reads messages of at most so many bytes.
    pub(super) fn new(input: impl AsyncRead + Send + Unpin + 'static, output: W, most: usize) -> Lines<W> {
        let (to, from) = tokio::io::duplex(PIECE);
        let (refuse, refused) = mpsc::channel(1);
        tokio::spawn(pass(input, to, refuse, most));
        let messages = AsyncRwTransport::new(from, output).with_max_line_length(usize::MAX);
        Lines { messages, refused, sending: None, asked: HashSet::new() }
    }

    /// Counts a message in; gives it back, or an answer where it is a request too many.
    fn counted(
        &mut self,
        message: RxJsonRpcMessage<RoleServer>,
    ) -> Result<RxJsonRpcMessage<RoleServer>, (RequestId, ErrorData)> {
        match &message {
            RxJsonRpcMessage::<RoleServer>::Request(request) if self.asked.len() >= ASKED => {
                let why = format!("{ASKED} requests wait for their answers; this one was not looked at");
                return Err((request.id.clone(), ErrorData::new(ErrorCode::INVALID_REQUEST, why, None)));
            }
            RxJsonRpcMessage::<RoleServer>::Request(request) => {
                self.asked.insert(request.id.clone());
            }
            RxJsonRpcMessage::<RoleServer>::Notification(told) => {
                if let ClientNotification::CancelledNotification(cancelled) = &told.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.asked.remove(id);
                }
            }
            _ => {}
        }
        Ok(message)
    }
}

/// Passes on the lines that can be read, and reports the others.
async fn pass(
    mut from: impl AsyncRead + Unpin,
    mut to: DuplexStream,
    refuse: mpsc::Sender<ErrorData>,
    most: usize,
) {
    let (mut line, mut buffer) = (Line::default(), vec![0; PIECE]);
    while let Ok(count @ 1..) = from.read(&mut buffer).await {
        for part in buffer.get(..count).unwrap_or_default().split_inclusive(|&byte| byte == b'\n') {
            let gone = match line.feed(part, most) {
                None => false,
                Some(Ok(whole)) => to.write_all(&whole).await.is_err(),
                Some(Err(error)) => refuse.send(error).await.is_err(),
            };
            if gone {
                return;
            }
        }
    }
}

/// A line as it comes in.
#[derive(Default)]
struct Line {
    bytes: Vec<u8>,
    /// Whether it was refused, and what is left of it is dropped.
    refused: bool,
}

impl Line {
    /// Takes bytes of at most one line; gives it once it is whole, or what is wrong with it.
    fn feed(&mut self, part: &[u8], most: usize) -> Option<Result<Vec<u8>, ErrorData>> {
        let ends = part.ends_with(b"\n");
        if self.refused {
            self.refused = !ends;
            return None;
        }
        if self.bytes.len() + part.len() > most {
            *self = Line { bytes: Vec::new(), refused: !ends };
            let message = format!("a message of more than {most} bytes");
            return Some(Err(ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)));
        }
        self.bytes.extend_from_slice(part);
        if !ends {
            return None;
        }
        let whole = std::mem::take(&mut self.bytes);
        let text = whole.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&whole);
        if text.trim_ascii().is_empty() {
            return None;
        }
        match serde_json::from_slice::<serde_json::Value>(text) {
            Ok(_) => Some(Ok(whole)),
            Err(error) => {
                let message = format!("expected a message as JSON on one line: {error}");
                Some(Err(ErrorData::new(ErrorCode::PARSE_ERROR, message, None)))
            }
        }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer> for Lines<W> {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        let answered = match &item {
            ServerJsonRpcMessage::Response(answer) => Some(&answer.id),
            ServerJsonRpcMessage::Error(JsonRpcError { id, .. }) => id.as_ref(),
            _ => None,
        };
        if let Some(id) = answered {
            self.asked.remove(id);
        }
        self.messages.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(sending) = &mut self.sending {
                let sent = sending.await;
                self.sending = None;
                sent.ok()?;
            }
            tokio::select! {
                biased;
                Some(error) = self.refused.recv() => {
                    let sending = self.messages.send(ServerJsonRpcMessage::error(error, None));
                    self.sending = Some(Box::pin(sending));
                }
                message = self.messages.receive() => match self.counted(message?) {
                    Ok(message) => return Some(message),
                    Err((id, error)) => {
                        let sending = self.messages.send(ServerJsonRpcMessage::error(error, Some(id)));
                        self.sending = Some(Box::pin(sending));
                    }
                },
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.messages.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_at_n_and_not_at_n_plus_1() {
        let most = 12;
        let told = |parts: &[&str]| {
            let mut line = Line::default();
            let fed = parts.iter().filter_map(|part| line.feed(part.as_bytes(), most));
            fed.map(|found| found.map_or_else(|error| error.code.0, |_| 0)).collect::<Vec<_>>()
        };
        assert_eq!(told(&["{\"ab\": \"c\"}\n"]), [0]);
        assert_eq!(told(&["{\"ab\"", ": \"c\"}\n"]), [0]);
        assert_eq!(told(&["{\"ab\": \"cd\"}\n", "[]\n"]), [-32600, 0]);
        assert_eq!(told(&["{\"ab\": \"cd", "efghi", "jkl\"}\n", "[]\n"]), [-32600, 0]);
        assert_eq!(told(&["\n", " \r\n", "{\n", "[1e999]\n", "\u{feff}{}\n"]), [-32700, -32700, 0]);
    }
}
