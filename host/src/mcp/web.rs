//! The HTTP client of a server: each message passes the guard before the library reads it.
//!
//! Requests are sent here and not by the library, because its client parses a whole body before it can be
//! examined.

use super::access::Access;
use super::guard::{self, MESSAGE};
use super::pending::Pending;
use super::reason::short;
use crate::https;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use http::{HeaderName, HeaderValue, StatusCode};
use ilo_drive::problem::shortened;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

/// The maximum size of the body of an error.
const ERROR_BODY: usize = 64 << 10;
const SESSION: &str = "mcp-session-id";
const EVENTS: &str = "text/event-stream";
const JSON: &str = "application/json";
/// Limits on the milliseconds before a stream that the server has closed is opened again. The server chooses
/// the pause within these limits, so there always is one.
const PAUSES: RangeInclusive<u64> = 200..=3_600_000;
/// Headers that only the protocol sets.
const RESERVED: [&str; 4] = ["accept", SESSION, "last-event-id", "content-type"];

/// The HTTP client, which wraps that of the library.
#[derive(Clone)]
pub(super) struct GuardedClient {
    pub(super) http: reqwest::Client,
    pub(super) pending: Arc<Pending>,
    /// The time limit for the first request of the newer protocol.
    pub(super) probe: Option<Duration>,
    /// The tokens of the server, after a sign-in.
    pub(super) access: Option<Arc<Access>>,
}

type Failed = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;
type Posted = Result<StreamableHttpPostResponse, Failed>;

/// An error without the URL of the server, which may contain a secret: programs and logs see the text.
fn without_url(error: Failed) -> Failed {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        other => other,
    }
}

fn client_error(error: reqwest::Error) -> Failed {
    StreamableHttpError::Client(error.without_url())
}

/// The bytes of a body, up to a limit.
async fn body(response: reqwest::Response, most: usize) -> Result<Vec<u8>, Failed> {
    let bytes = https::body(response, most).await.map_err(client_error)?;
    bytes.ok_or(StreamableHttpError::ResponseBodyTooLarge { max_size: most })
}

/// The events of a body, each at most twice as long as a message: a message that is slightly too long still
/// comes through, so that its call fails instead of waiting.
fn events(response: reqwest::Response) -> Events {
    let mut length = 0;
    let mut after_break = false;
    let parts = stream::try_unfold(response, |mut response| async {
        let part = response.chunk().await.map_err(|error| io::Error::other(error.without_url()))?;
        Ok::<_, io::Error>(part.map(|part| (part, response)))
    });
    let parts = parts.map(move |part| {
        let part = part?;
        for &byte in &part {
            let line_break = matches!(byte, b'\n' | b'\r');
            length = if line_break && after_break { 0 } else { length + 1 };
            after_break = line_break;
            if length > 2 * MESSAGE {
                return Err(io::Error::other("an event that is too long"));
            }
        }
        Ok(part)
    });
    SseStream::from_bytes_stream(parts).boxed()
}

impl GuardedClient {
    fn guarded(&self, events: Events) -> Events {
        let pending = Arc::clone(&self.pending);
        let pass = move |event: Sse| {
            let retry = event.retry.map(|pause| pause.clamp(*PAUSES.start(), *PAUSES.end()));
            let event = Sse { retry, ..event };
            let Some(data) = event.data else { return event };
            // An event without a message keeps its ID, from which the stream can be resumed.
            let passed = guard::passed(data.into_bytes(), &pending);
            Sse { data: passed.and_then(|passed| String::from_utf8(passed).ok()), ..event }
        };
        events.map(move |event| event.map(&pass)).boxed()
    }

    /// Makes a request with the token of the server. A token that the server rejects is renewed once.
    async fn admitted<T, F>(
        &self,
        token: Option<String>,
        request: impl Fn(Option<String>) -> F,
    ) -> Result<T, Failed>
    where
        F: Future<Output = Result<T, Failed>>,
    {
        let Some(access) = self.access.as_ref().filter(|_| token.is_none()) else {
            return request(token).await;
        };
        let lacks = |why: String| unexpected(format!("the token of the server cannot be used: {why}"));
        let token = access.token().await.map_err(lacks)?;
        match request(token.clone()).await {
            Err(StreamableHttpError::AuthRequired(challenge)) => {
                match access.renewed(token.as_deref()).await.map_err(lacks)? {
                    Some(new) if token.as_ref() != Some(&new) => request(Some(new)).await,
                    _ => Err(StreamableHttpError::AuthRequired(challenge)),
                }
            }
            answer => answer,
        }
    }

    async fn send(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<&str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<reqwest::Response, Failed> {
        let mut request = self.http.post(uri).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        for (name, value) in headers {
            if RESERVED.contains(&name.as_str()) {
                return Err(StreamableHttpError::ReservedHeaderConflict(name.to_string()));
            }
            request = request.header(name, value);
        }
        if let Some(session) = session {
            request = request.header(SESSION, session);
        }
        let bytes = serde_json::to_vec(message)?;
        let sent = request.header(CONTENT_TYPE, JSON).body(bytes).send().await;
        if let (Err(error), Some(id)) = (&sent, id_of(message))
            && error.is_connect()
        {
            self.pending.set_begun(&id.to_string(), false);
        }
        sent.map_err(client_error)
    }

    async fn post(
        &self,
        uri: &str,
        message: &ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Posted {
        let response = self.send(uri, message, session.as_deref(), token, headers).await?;
        let status = response.status();
        if let Some(challenge) = response.headers().get(WWW_AUTHENTICATE) {
            let challenge = String::from_utf8_lossy(challenge.as_bytes()).into_owned();
            match status {
                StatusCode::UNAUTHORIZED => {
                    return Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(challenge)));
                }
                StatusCode::FORBIDDEN => {
                    let error = InsufficientScopeError::new(challenge, None);
                    return Err(StreamableHttpError::InsufficientScope(error));
                }
                _ => {}
            }
        }
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && session.is_some() {
            self.pending.expire(id_of(message));
            return Err(StreamableHttpError::SessionExpired);
        }
        let header = |name: &str| {
            let value = response.headers().get(name)?;
            Some(String::from_utf8_lossy(value.as_bytes()).into_owned())
        };
        let (kind, own_session) = (header("content-type"), header(SESSION));
        let small = kind.as_deref().map(str::to_ascii_lowercase);
        let is = |name: &str| small.as_deref().is_some_and(|kind| kind.starts_with(name));
        if !status.is_success() {
            return self.refused(uri, response, message, session.is_some(), is(JSON)).await;
        }
        if is(EVENTS) {
            let events = self.guarded(events(response));
            return Ok(StreamableHttpPostResponse::Sse(events, own_session));
        }
        let Some(id) = id_of(message) else {
            // Nobody waits for an answer to a notification.
            return Ok(StreamableHttpPostResponse::Accepted);
        };
        if !is(JSON) {
            let found = kind
                .as_deref()
                .map_or_else(|| "an answer without a type".to_owned(), |kind| format!("`{kind}`"));
            let is_page = is("text/html");
            let page = if is_page {
                "; the address leads to a page, such as one for signing in, and not to a server"
            } else {
                ""
            };
            return Err(unexpected(format!("expected JSON or a stream of events, found {found}{page}")));
        }
        let passed = guard::passed(body(response, MESSAGE).await?, &self.pending);
        match passed.and_then(|passed| serde_json::from_slice(&passed).ok()) {
            Some(message) => Ok(StreamableHttpPostResponse::Json(message, own_session)),
            None if self.pending.kind(&id.to_string()).is_none() => {
                // The request has been abandoned.
                let error = ErrorData::internal_error("nobody waits for this", None);
                let message = ServerJsonRpcMessage::error(error, Some(id.clone()));
                Ok(StreamableHttpPostResponse::Json(message, own_session))
            }
            None => Err(unexpected("an answer that is not an answer to its request".to_owned())),
        }
    }

    /// Handles an error status.
    async fn refused(
        &self,
        url: &str,
        response: reqwest::Response,
        message: &ClientJsonRpcMessage,
        in_session: bool,
        is_json: bool,
    ) -> Posted {
        let status = response.status();
        let wait = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
        let wait = wait.filter(|text| text.len() <= 64).map(str::to_owned);
        let busy = status == StatusCode::TOO_MANY_REQUESTS;
        let failed = || StreamableHttpError::HttpStatus(HttpStatusError::new(status.as_u16(), wait.clone()));
        if busy || (status.is_server_error() && !is_json) {
            return Err(failed());
        }
        // Without its query, which may be a secret of the one who is signing in.
        let place = response.headers().get("location").and_then(|place| place.to_str().ok());
        let place = place.and_then(|place| place.split(['?', '#']).next()).map(|place| shortened(place, 200));
        let bytes = body(response, ERROR_BODY).await.unwrap_or_default();
        let closed = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
        let error = || match serde_json::from_slice::<ServerJsonRpcMessage>(&bytes) {
            Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
            _ => None,
        };
        let text = String::from_utf8_lossy(&bytes);
        if let ClientJsonRpcMessage::Request(request) = message {
            let asks = matches!(request.request, ClientRequest::DiscoverRequest(_));
            let rejected = asks && !in_session && status.is_client_error() && !closed;
            if rejected || (is_json && !closed) {
                let error = error().map(|error| error.error);
                let rejection =
                    || rejected.then(|| ErrorData::invalid_request(format!("HTTP {status}"), None));
                if let Some(error) = error.or_else(rejection) {
                    let error = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
                    return Ok(StreamableHttpPostResponse::Json(error, None));
                }
            }
        }
        if status.is_server_error() {
            return Err(failed());
        }
        let text = text.trim();
        let colon = if text.is_empty() { "" } else { ": " };
        let hint = match status {
            _ if takes_no_posts(status, url) => OLDER.to_owned(),
            _ if status.is_redirection() => {
                let to = place.map_or_else(String::new, |place| format!(", `{place}`"));
                format!("; redirects are not followed: give the address that it leads to{to}")
            }
            _ => String::new(),
        };
        Err(unexpected(format!("HTTP {status}{colon}{}{hint}", short(text))))
    }
}

/// What to do if the address is one of the transport before.
const OLDER: &str = "; this looks like the address of the older transport, server-sent events, which is not spoken \
                     here; give the URL of the server's streamable HTTP, which often ends with `/mcp`";

/// Whether an address that refuses messages is probably one of the older transport: it takes no POST, or its
/// path says so.
fn takes_no_posts(status: StatusCode, url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or(url).trim_end_matches('/');
    let closed = matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN);
    status == StatusCode::METHOD_NOT_ALLOWED || (!closed && path.ends_with("/sse"))
}

fn unexpected(why: String) -> Failed {
    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(why))
}

fn id_of(message: &ClientJsonRpcMessage) -> Option<&RequestId> {
    match message {
        ClientJsonRpcMessage::Request(request) => Some(&request.id),
        _ => None,
    }
}

/// The answer of a server that does not know a request.
pub(super) fn unknown_method(id: RequestId) -> ServerJsonRpcMessage {
    let error = ErrorData::new(rmcp::model::ErrorCode::METHOD_NOT_FOUND, "no answer", None);
    ServerJsonRpcMessage::error(error, Some(id))
}

impl StreamableHttpClient for GuardedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Posted {
        self.post_message_with_max_sse_event_size(uri, message, session, token, headers, MESSAGE).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        _most: usize,
    ) -> Posted {
        let post =
            self.admitted(token, |token| self.post(&uri, &message, session.clone(), token, headers.clone()));
        let ClientJsonRpcMessage::Request(request) = &message else { return post.await };
        let (ClientRequest::DiscoverRequest(_), Some(probe)) = (&request.request, self.probe) else {
            return post.await;
        };
        // A server may not know this request and leave it unanswered, in a stream too.
        let answered = async {
            Ok::<_, Failed>(match post.await? {
                StreamableHttpPostResponse::Sse(mut events, session) => {
                    let first = events.next().await;
                    let events = stream::iter(first).chain(events).boxed();
                    StreamableHttpPostResponse::Sse(events, session)
                }
                other => other,
            })
        };
        tokio::time::timeout(probe, answered).await.unwrap_or_else(|_| {
            self.pending.give_up(&request.id);
            Ok(StreamableHttpPostResponse::Json(unknown_method(request.id.clone()), None))
        })
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        let deleted = self.admitted(token, |token| {
            self.http.delete_session(Arc::clone(&uri), Arc::clone(&session), token, headers.clone())
        });
        deleted.await.map_err(without_url)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failed> {
        self.get_stream_with_max_sse_event_size(uri, session, last, token, headers, 2 * MESSAGE).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<Events, Failed> {
        let opened = self.admitted(token, |token| {
            let (uri, session, last, headers) =
                (Arc::clone(&uri), session.clone(), last.clone(), headers.clone());
            self.http.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most)
        });
        opened.await.map(|events| self.guarded(events)).map_err(without_url)
    }
}
