//! The queue of messages that have been read but not answered. The reader waits while it is full.

use super::message::{Id, Message, Params, Wrong};
use super::protocol::DidClose;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{HashMap, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The size in bytes at which the queue is full. It always accepts one message.
const MOST: usize = 128 << 20;
/// What a message takes beside its text, at most.
const OVERHEAD: usize = 512;

/// An item of the queue.
pub(super) enum Read {
    /// A message.
    Message(Message),
    /// A malformed message, with its answer.
    Wrong(Wrong),
    /// The end of the input, with the error if that is the reason.
    End(Option<String>),
}

/// What a notification makes unnecessary among the messages before it.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Key {
    /// The answer to a request.
    Cancel(Id),
    /// The diagnostics of a document, which it changes or closes.
    Change(String),
    /// The diagnostics of all documents.
    Save,
}

struct Item {
    read: Read,
    key: Option<Key>,
    bytes: usize,
}

#[derive(Default)]
struct Queued {
    list: VecDeque<Item>,
    /// How many items have each key.
    keys: HashMap<Key, usize>,
    bytes: usize,
    closed: bool,
}

/// A queue between the reader and the thread that answers.
#[derive(Default)]
pub(super) struct Inbox {
    waiting: Mutex<Queued>,
    changed: Condvar,
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Queued> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds an item of the given size; `false` if the receiver has stopped.
    pub(super) fn push(&self, read: Read, bytes: usize) -> bool {
        let key = key(&read);
        let bytes = bytes.saturating_mul(if key.is_some() { 2 } else { 1 }).saturating_add(OVERHEAD);
        let mut waiting = self.lock();
        while waiting.bytes > 0 && waiting.bytes.saturating_add(bytes) > MOST && !waiting.closed {
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.closed {
            return false;
        }
        waiting.bytes = waiting.bytes.saturating_add(bytes);
        if let Some(key) = &key {
            *waiting.keys.entry(key.clone()).or_default() += 1;
        }
        waiting.list.push_back(Item { read, key, bytes });
        self.changed.notify_all();
        true
    }

    /// Takes the first item; waits if there is none.
    pub(super) fn pop(&self) -> Read {
        let mut waiting = self.lock();
        loop {
            if let Some(Item { read, key, bytes }) = waiting.list.pop_front() {
                waiting.bytes = waiting.bytes.saturating_sub(bytes);
                if let Some(key) = key
                    && let Some(count) = waiting.keys.get_mut(&key)
                {
                    *count -= 1;
                    if *count == 0 {
                        waiting.keys.remove(&key);
                    }
                }
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

    fn has(&self, key: &Key) -> bool {
        self.lock().keys.contains_key(key)
    }

    /// Whether the client has cancelled a request.
    pub(super) fn is_cancelled(&self, id: &Id) -> bool {
        self.has(&Key::Cancel(id.clone()))
    }

    /// Whether a later message changes a document.
    pub(super) fn changes(&self, uri: &str) -> bool {
        self.has(&Key::Change(uri.to_owned()))
    }

    /// Whether a later message says that a file was saved.
    pub(super) fn saves(&self) -> bool {
        self.has(&Key::Save)
    }
}

/// The key of an item, if it is a notification that has one.
fn key(read: &Read) -> Option<Key> {
    #[derive(Deserialize)]
    struct Cancel {
        id: Box<RawValue>,
    }
    fn params<T: serde::de::DeserializeOwned>(params: &Params) -> Option<T> {
        super::message::read(params.as_deref()).ok()
    }
    let Read::Message(Message::Notification { method, params: text }) = read else { return None };
    match method.as_str() {
        "$/cancelRequest" => Id::read(&params::<Cancel>(text)?.id).map(Key::Cancel),
        "textDocument/didChange" | "textDocument/didClose" => {
            params::<DidClose>(text).map(|of| Key::Change(of.text_document.uri))
        }
        "textDocument/didSave" | "workspace/didChangeWatchedFiles" => Some(Key::Save),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(queue: &Inbox, text: &str) {
        let message = Message::read(text.as_bytes().to_vec()).unwrap();
        assert!(queue.push(Read::Message(message), text.len()));
    }

    #[test]
    fn a_later_message_is_known_until_it_is_taken() {
        let queue = Inbox::default();
        let change =
            r#"{"method": "textDocument/didChange", "params": {"textDocument": {"uri": "a", "version": 1}}}"#;
        push(&queue, change);
        push(&queue, change);
        push(&queue, r#"{"method": "$/cancelRequest", "params": {"id": 7}}"#);
        push(&queue, r#"{"method": "textDocument/didSave"}"#);
        assert!(!queue.changes("b") && !queue.is_cancelled(&Id::Text("7".to_owned())));
        queue.pop();
        assert!(queue.changes("a"));
        queue.pop();
        assert!(!queue.changes("a") && queue.is_cancelled(&Id::Number(7)));
        queue.pop();
        assert!(!queue.is_cancelled(&Id::Number(7)) && queue.saves());
        queue.pop();
        assert!(!queue.saves());
    }
}
