//! What was read and not yet answered. The reader waits where much is.

use lsp_server::{Message, RequestId};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes of messages that wait, at which the reader waits too. One message is always taken.
const MOST: usize = 128 << 20;

/// Something that was read.
pub(super) enum Read {
    /// A message.
    Message(Message),
    /// What is no message, as the text of the answer to it.
    Wrong(i32, String),
    /// The input ended; with what was wrong with it, where that is why.
    End(Option<String>),
}

#[derive(Default)]
struct Waiting {
    list: VecDeque<(Read, usize)>,
    bytes: usize,
    closed: bool,
}

/// A queue between the reader and the thread that answers.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds what was read, of so many bytes; `false` where nobody takes it any more.
    pub(super) fn push(&self, read: Read, bytes: usize) -> bool {
        let mut waiting = self.lock();
        while waiting.bytes > 0 && waiting.bytes.saturating_add(bytes) > MOST && !waiting.closed {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.closed {
            return false;
        }
        waiting.bytes = waiting.bytes.saturating_add(bytes);
        waiting.list.push_back((read, bytes));
        self.changed.notify_all();
        true
    }

    /// Takes what was read first; waits for it.
    pub(super) fn pop(&self) -> Read {
        let mut waiting = self.lock();
        loop {
            if let Some((read, bytes)) = waiting.list.pop_front() {
                waiting.bytes = waiting.bytes.saturating_sub(bytes);
                self.changed.notify_all();
                return read;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the reader at its next message.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    fn any(&self, wanted: impl Fn(&str, &serde_json::Value) -> bool) -> bool {
        self.lock().list.iter().any(|(read, _)| match read {
            Read::Message(Message::Notification(one)) => wanted(&one.method, &one.params),
            _ => false,
        })
    }

    /// Whether the client has cancelled a request.
    pub(super) fn is_cancelled(&self, id: &RequestId) -> bool {
        self.any(|method, params| {
            let cancelled = || serde_json::from_value::<RequestId>(params.get("id")?.clone()).ok();
            method == "$/cancelRequest" && cancelled().as_ref() == Some(id)
        })
    }

    /// Whether a document changes again.
    pub(super) fn changes(&self, uri: &str) -> bool {
        self.any(|method, params| {
            let changed = || params.get("textDocument")?.get("uri")?.as_str();
            matches!(method, "textDocument/didChange" | "textDocument/didClose") && changed() == Some(uri)
        })
    }
}
