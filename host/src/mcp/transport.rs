//! The two transports: standard streams of a program, and streamable HTTP. They are one type, so that the
//! client of the protocol library is compiled once.
//!
//! A program gets the restricted environment of all tools and its own process group; only the end of its
//! standard error is kept. HTTP redirects are not followed, so that no server can redirect requests
//! elsewhere.

use super::access::Access;
use super::child::Child;
use super::client_handler::{LEGACY, Watcher};
use super::guard::MESSAGE;
use super::network;
use super::pending::{Pending, Purpose};
use super::reason::cannot_open;
use super::server_config::{Server, Way, has_authorization};
use super::stderr::Tail;
use super::web::{GuardedClient, unknown_method};
use crate::command::{closed, find};
use crate::https;
use crate::https::of_system;
use crate::tool::process_mark;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use process_wrap::tokio::CommandWrap;
use rmcp::RoleClient;
use rmcp::model::{ClientNotification, ClientRequest, JsonRpcMessage, ProtocolVersion, RequestId};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService, RxJsonRpcMessage,
    TxJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};
use tokio::time::{Instant, sleep_until};

/// How long a server may take to answer the first request of the newer protocol before the older handshake is
/// used.
const PROBE: Duration = Duration::from_secs(3);
/// How long the older handshake may take after the answer to the first request came too late.
const LATE: Duration = Duration::from_secs(3);

/// The interval between checks for a late answer.
const LOOK: Duration = Duration::from_millis(200);

pub(super) type ClientService = RunningService<RoleClient, Watcher>;

/// The shared state of one connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Connection {
    pub(super) pending: Arc<Pending>,
    pub(super) errors: Tail,
}

/// Opens a server by its transport.
///
/// Newer servers answer `server/discover`. Most others answer that they do not know it. If a server does not
/// answer for a while, the older handshake is used; if it ends, it is started again for that. If it answers
/// too late and does not answer the handshake, it is opened again with the time limit in the file. `shared`
/// is the last connection, open or failed.
pub(super) async fn open(
    server: &Server,
    watcher: Watcher,
    shared: &mut Connection,
) -> Result<ClientService, String> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let newer = ClientLifecycleMode::Auto {
        preferred_versions: preferred_versions.clone(),
        legacy_version: Some(LEGACY),
    };
    let mut opened = open_with(server, watcher.clone(), newer, Some(PROBE), shared).await?;
    let late = opened.is_err() && shared.pending.late().is_some();
    let ended = matches!(server.way, Way::Program { .. }) && opened.as_ref().is_err_and(is_end);
    if late {
        let patient = ClientLifecycleMode::Discover { preferred_versions };
        opened = open_with(server, watcher.clone(), patient, None, shared).await?;
    }
    let old = match &opened {
        Err(
            ClientInitializeError::ExpectedInitResult(_) | ClientInitializeError::ExpectedInitResponse(_),
        ) => true,
        Err(ClientInitializeError::JsonRpcError(_)) => late,
        _ => ended && !late,
    };
    if old {
        opened = open_with(server, watcher, ClientLifecycleMode::Initialize, None, shared).await?;
    }
    opened.map_err(|error| not_let_in(&error, server).unwrap_or_else(|| cannot_open(&error)))
}

/// Whether a server ended before it answered anything.
fn is_end(error: &ClientInitializeError) -> bool {
    match error {
        ClientInitializeError::ConnectionClosed(_) => true,
        ClientInitializeError::TransportError { error, .. } => {
            matches!(error.error.downcast_ref(), Some(StreamError::Program(_)))
        }
        _ => false,
    }
}

/// What to do if a server requires a sign-in.
fn not_let_in(error: &ClientInitializeError, server: &Server) -> Option<String> {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => not_let_in(fallback, server),
        ClientInitializeError::TransportError { error, .. } => refusal(error.error.downcast_ref()?, server),
        _ => None,
    }
}

/// What to do if a server does nothing for who does not sign in, or not with these scopes.
pub(super) fn refusal(error: &StreamError, server: &Server) -> Option<String> {
    let (StreamError::Http(error), Way::Http { headers, .. }) = (error, &server.way) else { return None };
    let (status, scopes) = match error {
        StreamableHttpError::AuthRequired(_) => (401, None),
        StreamableHttpError::InsufficientScope(error) => {
            (403, Some(scopes_of(&error.www_authenticate_header)))
        }
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => (401, None),
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 403") => (403, None),
        _ => return None,
    };
    let scopes = scopes.unwrap_or_default();
    let server = &server.name;
    Some(if has_authorization(headers) {
        format!("does not let us in with the header `Authorization` that it is given (HTTP status {status})")
    } else {
        format!(
            "wants to know who calls (HTTP status {status}); sign in with `ilo-vm login {server} --tools FILE{scopes}`, or \
             set a header from the environment: `\"headers\": {{\"Authorization\": \"Bearer ${{NAME}}\"}}`"
        )
    })
}

/// The options for the scopes that a server asks for, as far as a shell takes them for plain words.
fn scopes_of(challenge: &str) -> String {
    let plain =
        |scope: &&str| scope.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte));
    let named = challenge.split_once("scope=\"").and_then(|(_, rest)| rest.split_once('"'));
    let named = named.map_or("", |(scopes, _)| scopes).split_ascii_whitespace();
    named.filter(plain).flat_map(|scope| [" --scope ", scope]).collect()
}

async fn open_with(
    server: &Server,
    watcher: Watcher,
    lifecycle: ClientLifecycleMode,
    probe: Option<Duration>,
    shared: &mut Connection,
) -> Result<Result<ClientService, ClientInitializeError>, String> {
    *shared = Connection::default();
    let way = match &server.way {
        Way::Program { program, arguments, folder, environment } => {
            Streams::Program(Box::new(spawn(program, arguments, folder, environment, shared)?))
        }
        Way::Http { url, headers } => Streams::Http(Box::new(http(server, (url, headers), probe, shared)?)),
        Way::None => return Err("cannot be reached with this tools file".to_owned()),
    };
    let probe = probe.filter(|_| matches!(way, Streams::Program(_)));
    let watched = WatchedStreams { way, pending: Arc::clone(&shared.pending), probe, asked: None };
    Ok(watcher.serve_with_lifecycle(watched, lifecycle).await)
}

/// A transport for messages.
enum Streams {
    Program(Box<Child>),
    Http(Box<StreamableHttpClientTransport<GuardedClient>>),
}

/// Standard streams, with their pending requests.
struct WatchedStreams {
    way: Streams,
    pending: Arc<Pending>,
    /// The time limit for the first request of the newer protocol.
    probe: Option<Duration>,
    /// That request, and its deadline.
    asked: Option<(RequestId, Instant)>,
}

/// Counts a reply as done when it is dropped.
struct Reply(Arc<Pending>);

impl Drop for Reply {
    fn drop(&mut self) {
        self.0.replied();
    }
}

impl WatchedStreams {
    /// Records a message that is sent. Returns the ID of a request.
    fn note(&mut self, item: &TxJsonRpcMessage<RoleClient>) -> (Option<String>, Option<Reply>) {
        match item {
            JsonRpcMessage::Request(request) => {
                let kind = match &request.request {
                    ClientRequest::CallToolRequest(_) => Purpose::Call,
                    ClientRequest::ListToolsRequest(_) => Purpose::List,
                    _ => Purpose::Own,
                };
                self.pending.register(&request.id, kind);
                if let (ClientRequest::DiscoverRequest(_), Some(probe)) = (&request.request, self.probe) {
                    self.asked = Some((request.id.clone(), Instant::now() + probe));
                }
                (Some(request.id.to_string()), None)
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.pending.forget(id);
                }
                (None, None)
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {
                (None, Some(Reply(Arc::clone(&self.pending))))
            }
        }
    }

    /// The next message; `None` if the connection has ended.
    async fn next(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        if !self.pending.room().await {
            self.pending.drop_for("it sends requests and does not read the replies");
            return None;
        }
        loop {
            let late = self.pending.late().filter(|_| self.pending.starting().is_some());
            if late.is_some_and(|late| late.elapsed() > LATE) {
                return None;
            }
            let asked = self.asked.as_ref().map(|(_, until)| *until);
            // A late answer is checked for from time to time.
            let look = self.pending.is_second().then(|| Instant::now() + LOOK);
            let received = async {
                match &mut self.way {
                    Streams::Program(child) => child.receive().await,
                    Streams::Http(client) => client.receive().await,
                }
            };
            let Some(until) = asked.or(look) else { return received.await };
            tokio::select! {
                message = received => {
                    if !matches!(message, Some(JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_))) {
                        self.asked = None;
                    }
                    return message;
                }
                () = sleep_until(until) => {
                    // It may not know the request and leave it unanswered.
                    if let Some((id, _)) = self.asked.take() {
                        self.pending.give_up(&id);
                        return Some(unknown_method(id));
                    }
                }
            }
        }
    }
}

/// Why a message did not go through.
#[derive(Debug)]
pub(super) enum StreamError {
    Program(io::Error),
    Http(StreamableHttpError<reqwest::Error>),
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StreamError::Program(error) => error.fmt(f),
            StreamError::Http(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StreamError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(match self {
            StreamError::Program(error) => error,
            // The library does not expose the source of this error.
            StreamError::Http(StreamableHttpError::Client(error)) => error,
            StreamError::Http(error) => error,
        })
    }
}

impl Transport<RoleClient> for WatchedStreams {
    type Error = StreamError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), StreamError>> + Send + 'static {
        let (id, reply) = self.note(&item);
        let sent: BoxFuture<'static, Result<(), StreamError>> = match &mut self.way {
            Streams::Program(child) => {
                let sent = child.send(&item, id);
                async { sent.await.map_err(StreamError::Program) }.boxed()
            }
            Streams::Http(client) => {
                // The client reports if it was not sent.
                id.iter().for_each(|id| self.pending.set_begun(id, true));
                let sent = client.send(item);
                async { sent.await.map_err(StreamError::Http) }.boxed()
            }
        };
        async move {
            let result = sent.await;
            drop(reply);
            result
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.next().await;
        match &message {
            Some(JsonRpcMessage::Request(_)) => self.pending.asked(),
            Some(_) => {}
            None => self.pending.end(),
        }
        message
    }

    async fn close(&mut self) -> Result<(), StreamError> {
        self.pending.end();
        match &mut self.way {
            Streams::Program(child) => child.close().await.map_err(StreamError::Program),
            Streams::Http(client) => client.close().await.map_err(StreamError::Http),
        }
    }
}

const ONE_PROGRAM: &str = "; `command` is the program alone, its arguments go into `args`";

fn spawn(
    program: &str,
    arguments: &[String],
    folder: &PathBuf,
    environment: &[(String, String)],
    shared: &Connection,
) -> Result<Child, String> {
    let search = environment.iter().find(|(name, _)| name == "PATH").map(|(_, path)| OsString::from(path));
    let search = search.or_else(|| std::env::var_os("PATH")).unwrap_or_default();
    let found = Some(program).filter(|name| cfg!(windows) && !name.contains(std::path::is_separator));
    let found = found.and_then(|name| find(name, &search, folder));
    let file = found.as_ref().map_or(OsStr::new(program), |file| file.as_os_str());
    let mut command = CommandWrap::with_new(file, |command| {
        command.args(arguments).current_dir(folder);
        closed(command.as_std_mut(), environment, process_mark::of_process());
        let given = |name: &str| environment.iter().any(|(given, _)| given == name);
        command.envs(network::variables().filter(|(name, _)| !given(name)));
    });
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    let (child, errors) = Child::spawn(command, Arc::clone(&shared.pending)).map_err(|error| {
        let hint = if program.contains(char::is_whitespace) { ONE_PROGRAM } else { "" };
        format!("cannot start `{program}`: {}{hint}", of_system(&error))
    })?;
    errors.into_iter().for_each(|errors| shared.errors.listen(errors));
    Ok(child)
}

fn http(
    server: &Server,
    (url, headers): (&str, &[(String, String)]),
    probe: Option<Duration>,
    shared: &Connection,
) -> Result<StreamableHttpClientTransport<GuardedClient>, String> {
    // A message is sent at once: waiting for more bytes would delay a call by some tens of milliseconds.
    let builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).tcp_nodelay(true);
    let http = https::client(builder, url.starts_with("http://"))?;
    let mut named = HashMap::new();
    for (name, value) in headers {
        let bad = format!("the header `{name}` cannot be sent");
        let name: http::HeaderName = name.parse().map_err(|_| bad.clone())?;
        named.insert(name, value.parse().map_err(|_| bad)?);
    }
    // A new session is a new connection, whose tools are compared with those that were checked.
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(named)
        .reinit_on_expired_session(false)
        .max_sse_event_size(2 * MESSAGE);
    let access = Access::of(url, &server.secrets).filter(|_| !has_authorization(headers)).map(Arc::new);
    let client = GuardedClient { http, pending: Arc::clone(&shared.pending), probe, access };
    Ok(StreamableHttpClientTransport::with_client(client, config))
}
