//! Messages over two streams, one per line.
//!
//! The protocol library silently skips a line that it cannot read, and its sender waits. Here such a line is
//! answered with an error, and the next line is read. A request beyond the maximum number of pending
//! requests, which are tasks, is answered with an error too. When a message cannot be written, no more are
//! read, since nobody would get the answers.

use super::message::{Refused, kind, split};
use crate::file::without_mark;
use axum::body::Bytes;
use ilo_drive::locked::locked;
use rmcp::RoleServer;
use rmcp::model::{
    ClientNotification, ErrorCode, GetExtensions, JsonRpcError, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use serde_json::error::Category;
use std::collections::HashSet;
use std::future::Future;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, Empty, empty};
use tokio::sync::Notify;

/// The most pending requests: far more than a client needs, some 10 MB.
const ASKED: usize = 1_000;
/// The number of bytes that are read at a time.
const PIECE: usize = 64 << 10;

type Sending = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;
type Received = Result<RxJsonRpcMessage<RoleServer>, Refused>;

/// The error that ended the output, if there was one.
#[derive(Clone, Default)]
pub(super) struct Broken(Arc<(Mutex<Option<io::Error>>, Notify)>);

impl Broken {
    fn set(&self, error: &io::Error) {
        let (first, notify) = &*self.0;
        let error = || io::Error::new(error.kind(), error.to_string());
        locked(first).get_or_insert_with(error);
        notify.notify_one();
    }

    /// Takes the error.
    pub(super) fn error(&self) -> Option<io::Error> {
        locked(&self.0.0).take()
    }
}

/// The two streams.
pub(super) struct Lines<W: AsyncWrite> {
    input: Box<dyn AsyncRead + Send + Unpin>,
    buffer: Vec<u8>,
    /// The part of the buffer that has been read but not examined.
    unread: Range<usize>,
    line: PartialLine,
    /// The most bytes of a message.
    most: usize,
    output: AsyncRwTransport<RoleServer, Empty, W>,
    /// An error that is being sent: the receive future may be dropped and called again.
    sending: Option<Sending>,
    /// The requests that have been neither answered nor cancelled.
    asked: HashSet<RequestId>,
    /// Whether there was a request: the library ends if a notification comes before.
    begun: bool,
    broken: Broken,
}

impl<W: AsyncWrite + Send + Unpin + 'static> Lines<W> {
    /// Reads messages of at most `most` bytes.
    pub(super) fn new(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: W,
        most: usize,
    ) -> (Lines<W>, Broken) {
        let (output, broken) = (AsyncRwTransport::new(empty(), output), Broken::default());
        let lines = Lines {
            input: Box::new(input),
            buffer: vec![0; PIECE],
            unread: 0..0,
            line: PartialLine::default(),
            most,
            output,
            sending: None,
            asked: HashSet::new(),
            begun: false,
            broken: broken.clone(),
        };
        (lines, broken)
    }

    /// The next message; `None` at the end of the input. It is cancel-safe.
    async fn read(&mut self) -> Option<Received> {
        loop {
            if self.unread.is_empty() {
                let count = self.input.read(&mut self.buffer).await.ok().filter(|&count| count > 0)?;
                self.unread = 0..count;
            }
            let part = self.buffer.get(self.unread.clone())?.split_inclusive(|&byte| byte == b'\n').next()?;
            self.unread.start += part.len();
            let whole = self.line.feed(part, self.most);
            if let Some(received) = whole.and_then(|whole| message(whole).transpose()) {
                return Some(received);
            }
        }
    }

    fn refuse(&mut self, refused: Refused) {
        let sending = self.output.send(ServerJsonRpcMessage::error(*refused.error, refused.id));
        self.sending = Some(Box::pin(sending));
    }

    /// Counts a message. A request beyond the maximum is rejected. So is one with the ID of a request that
    /// waits.
    fn counted(&mut self, message: RxJsonRpcMessage<RoleServer>) -> Received {
        match &message {
            RxJsonRpcMessage::<RoleServer>::Request(request) if self.asked.len() >= ASKED => {
                let why = format!("{ASKED} requests wait for their answers; this one was not looked at");
                return Err(Refused::new(Some(request.id.clone()), ErrorCode::INVALID_REQUEST, why));
            }
            RxJsonRpcMessage::<RoleServer>::Request(request) if !self.asked.insert(request.id.clone()) => {
                return Err(Refused::same_id(&request.id));
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

/// The message of a line; `None` if it is a notification that the protocol does not have.
fn message(line: Result<Bytes, Refused>) -> Result<Option<RxJsonRpcMessage<RoleServer>>, Refused> {
    let (rest, arguments, id) = split(line?)?;
    let mut message: RxJsonRpcMessage<RoleServer> = match serde_json::from_slice(&rest) {
        Ok(message) => message,
        Err(error) if matches!(error.classify(), Category::Syntax | Category::Eof) => {
            let why = format!("expected a message as JSON on one line: {error}");
            return Err(Refused::new(None, ErrorCode::PARSE_ERROR, why));
        }
        Err(_) if id.is_none() && is_notification(&rest) => return Ok(None),
        Err(error) => {
            kind(&rest, id.as_ref())?;
            let why = format!("no message of the protocol: {error}");
            return Err(Refused::new(id, ErrorCode::INVALID_REQUEST, why));
        }
    };
    if let (RxJsonRpcMessage::<RoleServer>::Request(request), Some(arguments)) = (&mut message, arguments) {
        request.request.extensions_mut().insert(arguments);
    }
    Ok(Some(message))
}

/// Whether a message has a method and no ID, so that nobody waits for an answer.
fn is_notification(text: &[u8]) -> bool {
    let message: serde_json::Value = serde_json::from_slice(text).unwrap_or_default();
    message.get("method").is_some() && message.get("id").is_none()
}

/// A line that is being read.
#[derive(Default)]
struct PartialLine {
    bytes: Vec<u8>,
    /// Whether it was rejected, so that the rest of it is dropped.
    refused: bool,
}

impl PartialLine {
    /// Takes bytes of at most one line. Returns the line when it is complete, or what is wrong with it.
    fn feed(&mut self, part: &[u8], most: usize) -> Option<Result<Bytes, Refused>> {
        let ends = part.ends_with(b"\n");
        if self.refused {
            self.refused = !ends;
            return None;
        }
        if self.bytes.len() + part.len() > most {
            *self = PartialLine { bytes: Vec::new(), refused: !ends };
            let message = format!("a message of more than {most} bytes");
            return Some(Err(Refused::new(None, ErrorCode::INVALID_REQUEST, message)));
        }
        self.bytes.extend_from_slice(part);
        if !ends {
            return None;
        }
        let whole = Bytes::from(std::mem::take(&mut self.bytes));
        let text = without_mark(&whole).trim_ascii();
        if text.is_empty() { None } else { Some(Ok(whole.slice_ref(text))) }
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
        let (sending, broken) = (self.output.send(item), self.broken.clone());
        async move { sending.await.inspect_err(|error| broken.set(error)) }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            if let Some(sending) = &mut self.sending {
                let sent = sending.await;
                self.sending = None;
                sent.inspect_err(|error| self.broken.set(error)).ok()?;
            }
            let broken = self.broken.clone();
            let received = tokio::select! {
                () = broken.0.1.notified() => return None,
                received = self.read() => received?,
            };
            match received.and_then(|message| self.counted(message)) {
                Ok(message) => {
                    self.begun |= matches!(message, RxJsonRpcMessage::<RoleServer>::Request(_));
                    if self.begun {
                        return Some(message);
                    }
                    tracing::debug!("a message before the first request is ignored");
                }
                Err(refused) => self.refuse(refused),
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.output.close().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_holds_at_n_and_not_at_n_plus_1() {
        let most = 12;
        let codes = |parts: &[&str]| {
            let mut line = PartialLine::default();
            let fed = parts.iter().filter_map(|part| line.feed(part.as_bytes(), most));
            fed.map(|fed| fed.map_or_else(|refused| refused.error.code.0, |_| 0)).collect::<Vec<_>>()
        };
        assert_eq!(codes(&["{\"ab\": \"c\"}\n"]), [0]);
        assert_eq!(codes(&["{\"ab\"", ": \"c\"}\n"]), [0]);
        assert_eq!(codes(&["{\"ab\": \"cd\"}\n", "[]\n"]), [-32600, 0]);
        assert_eq!(codes(&["{\"ab\": \"cd", "efghi", "jkl\"}\n", "[]\n"]), [-32600, 0]);
        assert_eq!(codes(&["\n", " \r\n", "\u{feff}{}\n"]), [0]);
    }

    #[test]
    fn a_line_that_is_no_message_is_refused() {
        let code = |text: &'static str| match message(Ok(Bytes::from_static(text.as_bytes()))) {
            Ok(message) => i32::from(message.is_some()),
            Err(refused) => refused.error.code.0,
        };
        assert_eq!(["{", "[1e999]", "{\"jsonrpc\":\"2.0\""].map(code), [-32700; 3]);
        assert_eq!(["{}", "[]", "1", r#"{"jsonrpc":"2.0","id":1}"#].map(code), [-32600; 4]);
        assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), 1);
        assert_eq!(code(r#"{"jsonrpc":"1.0","method":"notifications/initialized"}"#), 0);
    }

    #[test]
    fn an_id_has_one_request_until_it_is_answered_or_cancelled() {
        let (mut lines, _) = Lines::new(empty(), tokio::io::sink(), 100);
        let mut refused = |text: &'static str| {
            let Ok(Some(message)) = message(Ok(Bytes::from_static(text.as_bytes()))) else {
                panic!("{text}")
            };
            lines.counted(message).err().map(|refused| refused.id.is_none())
        };
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), None);
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#), Some(true));
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#), None);
        let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert_eq!(refused(cancel), None);
        assert_eq!(refused(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#), None);
    }

    #[test]
    fn a_call_has_its_arguments_beside_it() {
        let text =
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"f","arguments":{"a":[1]}}}"#;
        let Ok(Some(RxJsonRpcMessage::<RoleServer>::Request(request))) =
            message(Ok(Bytes::from_static(text.as_bytes())))
        else {
            panic!("no request")
        };
        let arguments = request.request.extensions().get::<super::super::message::Arguments>();
        assert_eq!(arguments.map(|arguments| &arguments.0[..]), Some(&br#"{"a":[1]}"#[..]));
    }
}
