//! Which clients have a session over HTTP, so that those who went away without a word make room for others.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The header that names a client's session.
const NAME: &str = "mcp-session-id";
/// Sessions at a time: some tens of megabytes.
const MOST: usize = 512;
/// A session that was not used for so long, and that has no run, ends where another needs its room. Its
/// client gets an error at its next request and begins a new session.
const IDLE: Duration = Duration::from_secs(10);
/// How long an answer that was given is kept, for a client whose connection broke and who asks for it again.
const ANSWERED: Duration = Duration::from_secs(5);

/// The sessions.
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    most: usize,
    idle: Duration,
    clients: Mutex<HashMap<String, Client>>,
}

/// What is known of a session's client.
struct Client {
    last: Instant,
    runs: usize,
}

impl Sessions {
    pub(super) fn new() -> Sessions {
        Sessions::of(MOST, IDLE)
    }

    fn of(most: usize, idle: Duration) -> Sessions {
        let mut manager = LocalSessionManager::default();
        manager.session_config.completed_cache_ttl = ANSWERED;
        Sessions { manager: Arc::new(manager), most, idle, clients: Mutex::default() }
    }

    pub(super) fn manager(&self) -> Arc<LocalSessionManager> {
        Arc::clone(&self.manager)
    }

    fn clients(&self) -> MutexGuard<'_, HashMap<String, Client>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of what a request or an answer says of its session. Says whether it names one.
    pub(super) async fn seen(&self, headers: &HeaderMap) -> bool {
        let Some(id) = headers.get(NAME) else { return false };
        if let Some(id) = text(id)
            && self.manager.sessions.read().await.contains_key(id)
        {
            let now = Instant::now();
            let mut clients = self.clients();
            clients.entry(id.to_owned()).or_insert(Client { last: now, runs: 0 }).last = now;
        }
        true
    }

    /// Whether there is room for another session, made by ending the one that was used least lately where
    /// there is none.
    pub(super) async fn has_room(&self) -> bool {
        let there = self.manager.sessions.read().await;
        if there.len() < self.most {
            return true;
        }
        let oldest = {
            let mut clients = self.clients();
            clients.retain(|id, client| client.runs > 0 || there.contains_key(id.as_str()));
            // Of a client that went away before its session was begun nothing was seen.
            for id in there.keys().filter(|id| !clients.contains_key(&***id)).cloned().collect::<Vec<_>>() {
                clients.insert(id.to_string(), Client { last: Instant::now(), runs: 0 });
            }
            let idle =
                clients.iter().filter(|(_, client)| client.runs == 0 && client.last.elapsed() >= self.idle);
            idle.min_by_key(|(_, client)| client.last).map(|(id, _)| id.clone())
        };
        drop(there);
        let Some(id) = oldest else { return false };
        tracing::info!("a session that was not used ends, since another needs its room");
        self.manager.close_session(&id.into()).await.is_ok()
    }

    /// A run begins for the client of a request; it ends when what is given back is dropped.
    pub(super) fn run(self: &Arc<Sessions>, request: &Parts) -> Option<Running> {
        let id = text(request.headers.get(NAME)?)?.to_owned();
        self.clients().get_mut(&id)?.runs += 1;
        Some(Running { sessions: Arc::clone(self), id })
    }
}

fn text(header: &HeaderValue) -> Option<&str> {
    header.to_str().ok()
}

/// A run of a client.
pub(super) struct Running {
    sessions: Arc<Sessions>,
    id: String,
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(client) = self.sessions.clients().get_mut(&self.id) {
            (client.runs, client.last) = (client.runs.saturating_sub(1), Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{HeaderMap, NAME, Sessions};
    use axum::http::Request;
    use rmcp::transport::streamable_http_server::session::SessionManager;
    use std::sync::Arc;
    use std::time::Duration;

    /// A new session, whose client was seen.
    async fn open(sessions: &Sessions) -> HeaderMap {
        let (id, _) = sessions.manager.create_session().await.unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(NAME, id.parse().unwrap());
        assert!(sessions.seen(&headers).await);
        headers
    }

    async fn there(sessions: &Sessions, headers: &HeaderMap) -> bool {
        let id = headers.get(NAME).unwrap().to_str().unwrap();
        sessions.manager.sessions.read().await.contains_key(id)
    }

    #[tokio::test]
    async fn the_session_that_was_used_least_lately_and_has_no_run_makes_room() {
        let sessions = Arc::new(Sessions::of(3, Duration::ZERO));
        let [busy, idle, last] = [open(&sessions).await, open(&sessions).await, open(&sessions).await];
        let mut request = Request::new(()).into_parts().0;
        request.headers = busy.clone();
        let run = sessions.run(&request).unwrap();
        assert!(sessions.has_room().await);
        assert_eq!(
            [there(&sessions, &busy).await, there(&sessions, &idle).await, there(&sessions, &last).await],
            [true, false, true]
        );
        drop(run);
        // Its run has ended later than the last one was seen.
        let next = open(&sessions).await;
        sessions.seen(&last).await;
        assert!(sessions.has_room().await);
        assert_eq!([there(&sessions, &busy).await, there(&sessions, &next).await], [false, true]);
    }

    #[tokio::test]
    async fn sessions_in_use_make_no_room() {
        let sessions = Sessions::of(2, Duration::from_hours(1));
        open(&sessions).await;
        assert!(sessions.has_room().await, "the second of two");
        open(&sessions).await;
        assert!(!sessions.has_room().await, "a third");
    }

    #[tokio::test]
    async fn a_name_that_no_session_has_is_not_kept() {
        let sessions = Sessions::of(2, Duration::ZERO);
        let mut headers = HeaderMap::new();
        assert!(!sessions.seen(&headers).await);
        headers.insert(NAME, "made-up".parse().unwrap());
        assert!(sessions.seen(&headers).await);
        assert!(sessions.clients().is_empty());
    }
}
