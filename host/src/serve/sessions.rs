//! The sessions over HTTP. Clients that have left make room for others, and their runs end.

use super::sender::{Counted, Subject};
use crate::interrupt::Interrupt;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use ilo_drive::locked::locked;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::time::{Instant, sleep};

/// The header that names a client's session.
const NAME: &str = "mcp-session-id";
/// The most sessions at a time: some tens of megabytes.
const MOST: usize = 512;
/// The most sessions of one client.
const MOST_OF_CLIENT: usize = MOST / 2;
/// How long an answer is kept for a client whose connection broke and that requests it again.
const ANSWERED: Duration = Duration::from_secs(5);
/// A client has left if it has had no connection for this time, which is longer than clients wait before they
/// reconnect.
const LEFT: Duration = Duration::from_secs(10);

/// The sessions.
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    most: usize,
    most_of_client: usize,
    left: Duration,
    clients: Mutex<HashMap<String, SessionState>>,
}

/// The client of a session.
struct SessionState {
    /// When it was last connected.
    last: Instant,
    /// Requests that have not been answered completely.
    open: usize,
    /// The IDs of those of JSON-RPC.
    asked: HashSet<RequestId>,
    runs: HashMap<u64, Interrupt>,
    next: u64,
    /// The client for which it is counted, if it is known.
    counted: Option<Counted>,
    /// The subject that began it, if requests have one.
    subject: Option<Subject>,
}

impl SessionState {
    fn new(counted: Option<Counted>) -> SessionState {
        SessionState {
            last: Instant::now(),
            open: 0,
            asked: HashSet::new(),
            runs: HashMap::new(),
            next: 0,
            counted,
            subject: None,
        }
    }

    fn cancel(&self) {
        self.runs.values().for_each(Interrupt::set);
    }
}

/// The session that a request or an answer names, which need not exist.
pub(super) fn is_named(headers: &HeaderMap) -> bool {
    headers.contains_key(NAME)
}

fn name(headers: &HeaderMap) -> Option<&str> {
    headers.get(NAME).map(HeaderValue::to_str)?.ok()
}

impl Sessions {
    pub(super) fn new() -> Sessions {
        Sessions::of(MOST, MOST_OF_CLIENT, LEFT)
    }

    fn of(most: usize, most_of_client: usize, left: Duration) -> Sessions {
        let mut manager = LocalSessionManager::default();
        manager.session_config.completed_cache_ttl = ANSWERED;
        Sessions { manager: Arc::new(manager), most, most_of_client, left, clients: Mutex::default() }
    }

    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    /// Notes a request of a session, or the answer that begins one. The client counts as connected until the
    /// result is dropped. `None` if there is no such session.
    pub(super) async fn connected(
        self: &Arc<Sessions>,
        headers: &HeaderMap,
        counted: Option<Counted>,
    ) -> Option<Connected> {
        let id = name(headers)?;
        let there = self.manager.sessions.read().await;
        if !there.contains_key(id) {
            return None;
        }
        let mut clients = locked(&self.clients);
        if clients.len() >= 2 * self.most {
            // The library also ends sessions by itself.
            clients.retain(|id, client| !client.runs.is_empty() || there.contains_key(id.as_str()));
        }
        let client = clients.entry(id.to_owned()).or_insert_with(|| SessionState::new(counted));
        (client.open, client.last) = (client.open + 1, Instant::now());
        Some(Connected { sessions: Arc::clone(self), id: id.to_owned(), request: None })
    }

    /// A session was begun by this subject.
    pub(super) fn begun(&self, headers: &HeaderMap, subject: Option<Subject>) {
        let Some(id) = name(headers) else { return };
        if let Some(client) = locked(&self.clients).get_mut(id) {
            client.subject = subject;
        }
    }

    /// Whether the session that a request names was begun by this subject; also where there is no such
    /// session.
    pub(super) fn belongs(&self, headers: &HeaderMap, subject: Option<&Subject>) -> bool {
        let clients = locked(&self.clients);
        let client = name(headers).and_then(|id| clients.get(id));
        client.is_none_or(|client| client.subject.as_ref() == subject)
    }

    /// Whether there is room for another session of a client. If there is none, the session that was idle for
    /// longest and has no run ends: of the client itself if it has as many as one may have, otherwise of the
    /// client with the most, and if possible one that is not connected.
    pub(super) async fn has_room(&self, counted: &Counted) -> bool {
        let there = self.manager.sessions.read().await;
        let is_own = |(id, client): &(&String, &SessionState)| {
            client.counted.as_ref() == Some(counted) && there.contains_key(id.as_str())
        };
        let own = locked(&self.clients).iter().filter(is_own).count() >= self.most_of_client;
        if there.len() < self.most && !own {
            return true;
        }
        let idle = {
            let mut clients = locked(&self.clients);
            clients.retain(|id, client| !client.runs.is_empty() || there.contains_key(id.as_str()));
            // A client that left before its session began was never seen.
            for id in there.keys() {
                if !clients.contains_key(&**id) {
                    clients.insert(id.to_string(), SessionState::new(None));
                }
            }
            longest_idle(&clients, own.then_some(counted))
        };
        drop(there);
        let Some(id) = idle else { return false };
        tracing::info!("a session that is idle ends, since another needs its room");
        locked(&self.clients).remove(&id);
        self.manager.close_session(&id.into()).await.is_ok()
    }

    /// The session that these headers name has ended: its runs are cancelled.
    pub(super) fn ended(&self, headers: &HeaderMap) {
        let client = name(headers).and_then(|id| locked(&self.clients).remove(id));
        client.iter().for_each(SessionState::cancel);
    }

    /// Notes a run for the client of a session; the run ends when the result is dropped. It is cancelled
    /// through the interrupt if its client leaves.
    pub(super) fn run(self: &Arc<Sessions>, request: &Parts, interrupt: &Interrupt) -> Option<SessionRun> {
        let id = name(&request.headers)?.to_owned();
        let mut clients = locked(&self.clients);
        let client = clients.get_mut(&id)?;
        let number = client.next;
        client.next += 1;
        client.runs.insert(number, interrupt.clone());
        if client.open == 0 {
            self.look_later(id.clone());
        }
        Some(SessionRun { sessions: Arc::clone(self), id, number })
    }

    /// Cancels the runs of a client that is not connected, unless it connects again soon.
    fn look_later(self: &Arc<Sessions>, id: String) {
        let Ok(runtime) = Handle::try_current() else { return };
        let sessions = Arc::clone(self);
        runtime.spawn(async move {
            loop {
                sleep(sessions.left).await;
                let clients = locked(&sessions.clients);
                let Some(client) = clients.get(&id) else { return };
                if client.open > 0 || client.runs.is_empty() {
                    return;
                }
                if client.last.elapsed() >= sessions.left {
                    tracing::info!("a client has left, and its runs are cancelled");
                    return client.cancel();
                }
            }
        });
    }
}

/// The session that was idle for longest: of one client, or of the one with the most.
fn longest_idle(clients: &HashMap<String, SessionState>, of: Option<&Counted>) -> Option<String> {
    let mut at: HashMap<Option<&Counted>, usize> = HashMap::new();
    for client in clients.values() {
        *at.entry(client.counted.as_ref()).or_default() += 1;
    }
    let count = |client: &SessionState| at.get(&client.counted.as_ref()).copied().unwrap_or_default();
    let is_of = |client: &SessionState| of.is_none() || client.counted.as_ref() == of;
    let idle = clients.iter().filter(|(_, client)| client.runs.is_empty() && is_of(client));
    let order = |client: &SessionState| (client.open > 0, usize::MAX - count(client), client.last);
    idle.min_by_key(|(_, client)| order(client)).map(|(id, _)| id.clone())
}

/// A connection of a client.
pub(super) struct Connected {
    sessions: Arc<Sessions>,
    id: String,
    /// The ID of its request of JSON-RPC.
    request: Option<RequestId>,
}

impl Connected {
    /// Notes the ID of the request until it is answered; `false` if another one with this ID waits.
    pub(super) fn asks(&mut self, id: &RequestId) -> bool {
        let mut clients = locked(&self.sessions.clients);
        let free = clients.get_mut(&self.id).is_none_or(|client| client.asked.insert(id.clone()));
        if free {
            self.request = Some(id.clone());
        }
        free
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        let mut clients = locked(&self.sessions.clients);
        let Some(client) = clients.get_mut(&self.id) else { return };
        (client.open, client.last) = (client.open.saturating_sub(1), Instant::now());
        if let Some(request) = &self.request {
            client.asked.remove(request);
        }
        if client.open == 0 && !client.runs.is_empty() {
            drop(clients);
            self.sessions.look_later(self.id.clone());
        }
    }
}

/// A run of a client.
pub(super) struct SessionRun {
    sessions: Arc<Sessions>,
    id: String,
    number: u64,
}

impl Drop for SessionRun {
    fn drop(&mut self) {
        if let Some(client) = locked(&self.sessions.clients).get_mut(&self.id) {
            client.runs.remove(&self.number);
            client.last = Instant::now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::Request;
    use std::net::IpAddr;

    fn sessions(most: usize) -> Arc<Sessions> {
        Arc::new(Sessions::of(most, most, Duration::from_millis(50)))
    }

    fn client(at: u8) -> Counted {
        Counted::Address(IpAddr::from([127, 0, 0, at]))
    }

    /// A new session, whose client has been connected.
    async fn open(sessions: &Arc<Sessions>, at: u8) -> HeaderMap {
        let (id, _) = sessions.manager.create_session().await.unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(NAME, id.parse().unwrap());
        assert!(sessions.connected(&headers, Some(client(at))).await.is_some());
        headers
    }

    async fn there<const N: usize>(sessions: &Sessions, all: [&HeaderMap; N]) -> [bool; N] {
        let there = sessions.manager.sessions.read().await;
        all.map(|headers| there.contains_key(name(headers).unwrap()))
    }

    fn run(sessions: &Arc<Sessions>, headers: &HeaderMap) -> (Interrupt, Option<SessionRun>) {
        let (mut request, interrupt) = (Request::new(()).into_parts().0, Interrupt::default());
        request.headers = headers.clone();
        let running = sessions.run(&request, &interrupt);
        (interrupt, running)
    }

    #[tokio::test]
    async fn the_session_that_was_idle_for_longest_and_has_no_run_makes_room() {
        let sessions = sessions(3);
        let [busy, idle, last] =
            [open(&sessions, 1).await, open(&sessions, 1).await, open(&sessions, 1).await];
        let running = run(&sessions, &busy);
        assert!(sessions.has_room(&client(9)).await);
        assert_eq!(there(&sessions, [&busy, &idle, &last]).await, [true, false, true]);
        drop(running);
        // Its run has ended later than the last one was connected.
        let next = open(&sessions, 1).await;
        assert!(sessions.has_room(&client(9)).await);
        assert_eq!(there(&sessions, [&busy, &last, &next]).await, [true, false, true]);
    }

    #[tokio::test]
    async fn a_client_has_only_its_part_of_the_sessions() {
        let sessions = Arc::new(Sessions::of(9, 2, Duration::from_millis(50)));
        let [other, first, second] =
            [open(&sessions, 1).await, open(&sessions, 2).await, open(&sessions, 2).await];
        assert!(sessions.has_room(&client(2)).await);
        assert_eq!(there(&sessions, [&other, &first, &second]).await, [true, false, true]);
        let _running = run(&sessions, &second);
        let third = open(&sessions, 2).await;
        let _running = run(&sessions, &third);
        assert!(!sessions.has_room(&client(2)).await, "all of its own have runs");
        assert!(sessions.has_room(&client(1)).await);
    }

    #[tokio::test]
    async fn the_client_with_the_most_sessions_makes_room() {
        let sessions = sessions(3);
        let [one, many, more] =
            [open(&sessions, 1).await, open(&sessions, 2).await, open(&sessions, 2).await];
        assert!(sessions.has_room(&client(9)).await);
        assert_eq!(there(&sessions, [&one, &many, &more]).await, [true, false, true]);
    }

    #[tokio::test]
    async fn a_client_that_is_connected_keeps_its_session_if_another_can_go() {
        let sessions = sessions(2);
        let [connected, other] = [open(&sessions, 1).await, open(&sessions, 1).await];
        let _connected = sessions.connected(&connected, None).await;
        assert!(sessions.has_room(&client(9)).await);
        assert_eq!(there(&sessions, [&connected, &other]).await, [true, false]);
    }

    #[tokio::test]
    async fn sessions_with_runs_make_no_room() {
        let sessions = sessions(1);
        assert!(sessions.has_room(&client(9)).await, "the first");
        let only = open(&sessions, 1).await;
        let _running = run(&sessions, &only);
        assert!(!sessions.has_room(&client(9)).await, "a second");
    }

    #[tokio::test]
    async fn a_name_that_no_session_has_is_not_kept() {
        let sessions = sessions(2);
        let mut headers = HeaderMap::new();
        assert!(sessions.connected(&headers, None).await.is_none());
        headers.insert(NAME, "made-up".parse().unwrap());
        assert!(sessions.connected(&headers, None).await.is_none());
        assert!(locked(&sessions.clients).is_empty());
        let (interrupt, running) = run(&sessions, &headers);
        assert!(!interrupt.is_set() && running.is_none());
    }

    // Time goes on by itself as soon as everything waits for it.
    #[tokio::test(start_paused = true)]
    async fn runs_of_a_client_that_left_are_cancelled() {
        let sessions = sessions(2);
        let [left, back] = [open(&sessions, 1).await, open(&sessions, 1).await];
        let [left_run, back_run] = [run(&sessions, &left), run(&sessions, &back)];
        let _back = sessions.connected(&back, None).await;
        sleep(sessions.left.saturating_sub(Duration::from_millis(1))).await;
        assert!(!left_run.0.is_set(), "it may connect again");
        sleep(Duration::from_millis(2)).await;
        assert!(left_run.0.is_set(), "it has no connection");
        assert!(!back_run.0.is_set(), "it has come back");
        sessions.ended(&back);
        assert!(back_run.0.is_set(), "its session has ended");
    }
}
