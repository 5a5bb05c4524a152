//! The queue of messages that have been read but not answered. The reader waits while it is full.

use lsp_server::{Message, RequestId};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The size in bytes at which the queue is full. It always accepts one message.
const MOST: usize = 128 << 20;

/// An item of the queue.
pub(super) enum Read {
    /// A message.
    Message(Message),
    /// A malformed message, with the text of its answer.
    Wrong(i32, String),
    /// The end of the input, with the error if that is the reason.
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

    /// Adds an item of the given size; `false` if the receiver has stopped.
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

    /// Takes the first item; waits if there is none.
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

    /// Stops the reader at its next message.
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

    /// Whether a later message changes a document.
    pub(super) fn changes(&self, uri: &str) -> bool {
        self.any(|method, params| {
            let changed = || params.get("textDocument")?.get("uri")?.as_str();
            matches!(method, "textDocument/didChange" | "textDocument/didClose") && changed() == Some(uri)
        })
    }
}
