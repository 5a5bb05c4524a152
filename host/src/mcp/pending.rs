//! The pending requests of one connection to a server, and the answers that have not been taken yet.
//!
//! The protocol library parses a whole message into trees before it examines it. So the answers to calls and
//! listings do not go through it: their text is kept here, the library gets a small answer instead, and the
//! sender of the request reads the text within its own limits, on its own thread.

use crate::tool::Failure;
use ilo_drive::locked::locked;
use rmcp::model::RequestId;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// The most requests of a server that may wait for their replies. Beyond that nothing more is read from it.
const REPLIES: usize = 64;
/// How long a server may leave that many replies unread before it is disconnected.
const UNREAD: Duration = Duration::from_secs(2);

/// The bytes that are kept of what a server sends that is no message.
const NOISE: usize = 200;

/// The purpose of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A call of a tool.
    Call,
    /// A listing of tools.
    List,
    /// A request of the library itself.
    Own,
}

/// The text of an answer, or why there is none.
pub(super) type Text = Result<Vec<u8>, Failure>;

#[derive(Debug)]
struct PendingRequest {
    kind: Purpose,
    /// Whether the server may have received the request.
    begun: bool,
    answer: Option<Text>,
}

#[derive(Debug, Default)]
struct Exchanges {
    requests: HashMap<String, PendingRequest>,
    /// The abandoned request, and when its answer came nevertheless.
    given_up: Option<String>,
    late: Option<Instant>,
    /// The number of unsent replies, and since when there are too many.
    replies: usize,
    full: Option<Instant>,
    /// Why this side closed the connection.
    dropped: Option<&'static str>,
    /// Whether the server has lost the session.
    expired: bool,
    /// The beginning of what it sent that is no message.
    noise: Vec<u8>,
    /// The beginning of a line that has not ended.
    begun: Vec<u8>,
}

/// The requests of one connection, shared by their senders and the reader.
#[derive(Debug)]
pub(super) struct Pending {
    state: Mutex<Exchanges>,
    ended: watch::Sender<bool>,
    replied: tokio::sync::Notify,
}

impl Default for Pending {
    fn default() -> Pending {
        let (ended, replied) = (watch::Sender::new(false), tokio::sync::Notify::new());
        Pending { state: Mutex::default(), ended, replied }
    }
}

impl Pending {
    /// A request is about to be sent.
    pub(super) fn register(&self, id: &RequestId, kind: Purpose) {
        locked(&self.state)
            .requests
            .insert(id.to_string(), PendingRequest { kind, begun: false, answer: None });
    }

    /// From now on the server may have received a request, or, if `begun` is false, it has not.
    pub(super) fn set_begun(&self, id: &str, begun: bool) {
        if let Some(request) = locked(&self.state).requests.get_mut(id) {
            request.begun = begun;
        }
    }

    /// Whether the server may have received a request.
    pub(super) fn is_begun(&self, id: &RequestId) -> bool {
        locked(&self.state).requests.get(&id.to_string()).is_some_and(|request| request.begun)
    }

    /// The server has rejected a request, if it was one, because it has lost the session.
    pub(super) fn expire(&self, id: Option<&RequestId>) {
        let mut state = locked(&self.state);
        state.expired = true;
        if let Some(request) = id.and_then(|id| state.requests.get_mut(&id.to_string())) {
            request.begun = false;
        }
    }

    /// Whether the server has lost the session. Requests that it has received may still be answered.
    pub(super) fn has_expired(&self) -> bool {
        locked(&self.state).expired
    }

    /// Nobody waits for a request any more.
    pub(super) fn forget(&self, id: &RequestId) {
        locked(&self.state).requests.remove(&id.to_string());
    }

    /// The purpose of the request with this ID, while somebody waits for its answer.
    pub(super) fn kind(&self, id: &str) -> Option<Purpose> {
        locked(&self.state)
            .requests
            .get(id)
            .filter(|request| request.answer.is_none())
            .map(|request| request.kind)
    }

    /// Keeps an answer until it is taken.
    pub(super) fn answer(&self, id: &str, text: Text) {
        if let Some(request) = locked(&self.state).requests.get_mut(id) {
            request.answer = Some(text);
        }
    }

    /// An answer for the library has arrived.
    pub(super) fn answered(&self, id: &str) {
        locked(&self.state).requests.remove(id);
    }

    /// Takes the answer to a request.
    pub(super) fn take(&self, id: &RequestId) -> Option<Text> {
        locked(&self.state).requests.remove(&id.to_string())?.answer
    }

    /// Abandons a request; its answer will be too late.
    pub(super) fn give_up(&self, id: &RequestId) {
        let mut state = locked(&self.state);
        state.requests.remove(&id.to_string());
        state.given_up = Some(id.to_string());
    }

    /// An answer has arrived for which nobody waits.
    pub(super) fn unexpected(&self, id: &str) {
        let mut state = locked(&self.state);
        if state.given_up.as_deref() == Some(id) {
            state.late = Some(Instant::now());
        }
    }

    /// Whether a request was abandoned and the library waits for the next one.
    pub(super) fn is_second(&self) -> bool {
        let given_up = locked(&self.state).given_up.is_some();
        given_up && self.starting().is_some()
    }

    /// When the answer to the abandoned request arrived.
    pub(super) fn late(&self) -> Option<Instant> {
        locked(&self.state).late
    }

    /// The only request for which the library waits.
    pub(super) fn starting(&self) -> Option<String> {
        let state = locked(&self.state);
        let mut own = state.requests.iter().filter(|(_, request)| request.kind == Purpose::Own);
        let (id, _) = own.next()?;
        own.next().is_none().then(|| id.clone())
    }

    /// The server has sent a line that is no message.
    pub(super) fn heard(&self, line: &[u8]) {
        let noise = &mut locked(&self.state).noise;
        let left = NOISE.saturating_sub(noise.len());
        noise.extend(line.iter().take(left));
    }

    /// The beginning of the line that has not ended, where it is no message so far.
    pub(super) fn begun(&self, line: &[u8]) {
        let begun = &mut locked(&self.state).begun;
        begun.clear();
        begun.extend(line.iter().take(NOISE));
    }

    /// What the server has sent that is no message of the protocol, for the message of its failure: the
    /// beginning of it, on one line.
    pub(super) fn noise(&self) -> Option<String> {
        let text = {
            let state = locked(&self.state);
            let first = if state.noise.is_empty() { &state.begun } else { &state.noise };
            String::from_utf8_lossy(first).into_owned()
        };
        let words: Vec<&str> = text.split_whitespace().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The server has sent a request and gets a reply.
    pub(super) fn asked(&self) {
        let mut state = locked(&self.state);
        state.replies += 1;
        if state.replies >= REPLIES {
            state.full.get_or_insert_with(Instant::now);
        }
    }

    /// A reply has been sent, or cannot be.
    pub(super) fn replied(&self) {
        let mut state = locked(&self.state);
        state.replies = state.replies.saturating_sub(1);
        state.full = (state.replies >= REPLIES).then(Instant::now);
        drop(state);
        self.replied.notify_one();
    }

    /// Waits until there is room for another reply; false if the server does not read its replies.
    pub(super) async fn room(&self) -> bool {
        loop {
            let Some(full) = locked(&self.state).full else { return true };
            let until = tokio::time::Instant::from_std(full + UNREAD);
            if tokio::time::timeout_at(until, self.replied.notified()).await.is_err() {
                return false;
            }
        }
    }

    /// This side closes the connection, for a reason.
    pub(super) fn drop_for(&self, why: &'static str) {
        locked(&self.state).dropped.get_or_insert(why);
    }

    /// Why this side closed the connection.
    pub(super) fn dropped(&self) -> Option<&'static str> {
        locked(&self.state).dropped
    }

    /// Nothing more comes from the server.
    pub(super) fn end(&self) {
        self.ended.send_replace(true);
    }

    pub(super) fn has_ended(&self) -> bool {
        *self.ended.borrow()
    }

    /// Waits until nothing more comes.
    pub(super) async fn until_end(&self) {
        // The sender is a field of this struct, so it exists.
        drop(self.ended.subscribe().wait_for(|ended| *ended).await);
    }
}
