//! Calls of a tool of a server.
//!
//! A tool is identified by its definition. If the server says that its tools have changed, they are listed
//! again. If it does not announce changes, they are listed again before a call that may change something. A
//! tool with another definition is not called. A call is sent once. If its answer is missing, nobody knows
//! whether it was carried out, and nothing here sends it again; a policy may (`retries`).

use super::answer::{self, ReadAs};
use super::guard;
use super::link::{Link, Live};
use super::listing::{Listed, no_answer};
use super::reason::{cause, short, why};
use super::transport::{StreamError, refusal};
use crate::tool::{Failure, Provider, Request};
use crate::trace_context::Context;
use ilo_drive::data::Data;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, CancelledNotification, CancelledNotificationParam, ClientRequest,
    JsonObject, RequestId,
};
use rmcp::service::{Peer, PeerRequestOptions, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How long a listing is valid before a call that may change something, if the server does not announce
/// changes.
const FRESH: Duration = Duration::from_secs(5);

/// The member of a request's `_meta` that holds the key of the call.
const KEY: &str = "ilo/idempotency-key";

/// A tool of a server.
pub(crate) struct ServerTool {
    link: Arc<Link>,
    definition: Arc<Listed>,
}

/// A pending request. Dropping it tells the server that its answer is no longer wanted.
struct UnderWay {
    link: Arc<Link>,
    live: Arc<Live>,
    id: Option<RequestId>,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else { return };
        self.live.connection.pending.forget(&id);
        let peer: Peer<RoleClient> = self.live.peer.clone();
        self.link.later(async move {
            let params = CancelledNotificationParam::new(Some(id), Some("not wanted any more".to_owned()));
            drop(peer.send_notification(CancelledNotification::new(params).into()).await);
        });
    }
}

impl ServerTool {
    pub(super) fn new(link: Arc<Link>, listed: &Listed) -> ServerTool {
        ServerTool { link, definition: Arc::new(listed.clone()) }
    }
}

/// A call of a tool.
struct ToolCall {
    link: Arc<Link>,
    definition: Arc<Listed>,
    /// Whether it may change something.
    changes: bool,
    /// Set when it may have been sent.
    sent: Arc<AtomicBool>,
    /// Its trace context.
    span: Option<Context>,
    /// The key of the call, which is the same for each attempt.
    key: Option<String>,
}

impl ToolCall {
    /// Makes the call. Returns the text of the answer. A server that has lost its session has not made the
    /// call, so it is sent again in a new session.
    async fn make(self, arguments: JsonObject) -> Result<Vec<u8>, Failure> {
        let live = self.link.live().await?;
        match self.make_in(&live, arguments.clone()).await {
            (Err(_), false) if live.connection.pending.has_expired() => {
                let live = self.link.live().await?;
                self.make_in(&live, arguments).await.0
            }
            (made, _) => made,
        }
    }

    /// Makes the call in a connection. Also returns whether the server may have received it.
    async fn make_in(&self, live: &Arc<Live>, arguments: JsonObject) -> (Result<Vec<u8>, Failure>, bool) {
        if let Err(failure) = self.still_as_checked(live).await {
            return (Err(failure), false);
        }
        let mut params = CallToolRequestParams::new(self.definition.name.clone()).with_arguments(arguments);
        if let Some(key) = &self.key {
            params.meta.get_or_insert_default().insert(KEY.to_owned(), key.clone().into());
        }
        let request = CallToolRequest::new(params);
        let request = ClientRequest::CallToolRequest(request);
        self.sent.store(true, Ordering::Release);
        let mut options = PeerRequestOptions::no_options();
        if let Some(span) = self.span {
            options.meta.get_or_insert_default().set_traceparent(span.to_string());
        }
        let handle = live.peer.send_request_with_option(request, options).await;
        let Ok(handle) = handle else { return (Err(self.gone(live, false).await), false) };
        let id = handle.id.clone();
        let (link, kept) = (Arc::clone(&self.link), Arc::clone(live));
        let mut under_way = UnderWay { link, live: kept, id: Some(id.clone()) };
        let pending = &live.connection.pending;
        let answer = tokio::select! {
            biased;
            answer = handle.await_response() => answer,
            // The library continues until the process has ended.
            () = pending.until_end() => Err(ServiceError::TransportClosed),
        };
        under_way.id = None;
        let begun = pending.is_begun(&id);
        let made = match (answer, pending.take(&id)) {
            (_, Some(text)) => {
                self.link.works();
                text
            }
            (Err(error), None) => Err(self.failure(live, &error, begun).await),
            (Ok(_), None) => Err(no_answer()),
        };
        (made, begun)
    }

    /// Checks the definition of the tool again if it may have changed, and fails if it has.
    async fn still_as_checked(&self, live: &Live) -> Result<(), Failure> {
        let (mut listed, when) = live.listed();
        let stale = self.changes && !live.announces && when.elapsed() > FRESH;
        if live.changed.load(Ordering::Acquire) || stale {
            listed = live.list_again().await?;
        }
        if listed.iter().any(|tool| *tool == *self.definition) {
            return Ok(());
        }
        let (server, tool) = (&self.link.server.name, &self.definition.name);
        Err(Failure::text(format!("server `{server}` has changed its tool `{tool}` since it was checked")))
    }

    /// The failure of a call of a server that has ended.
    async fn gone(&self, live: &Live, begun: bool) -> Failure {
        let server = &self.link.server.name;
        let said = live.connection.errors.said_here(&self.link.server.secrets).await;
        let ended = match live.connection.pending.dropped() {
            Some(why) => format!("server `{server}` was dropped: {why}"),
            None => format!("server `{server}` has ended"),
        };
        if begun {
            Failure::InDoubt(format!("{ended}, and whether it did this is not known{said}"))
        } else {
            Failure::text(format!("{ended}; this call was not made{said}"))
        }
    }

    /// The failure for an error of HTTP after which the server may still be running.
    fn over_http(&self, error: &DynamicTransportError, begun: bool) -> Option<Failure> {
        let stream: &StreamError = error.error.downcast_ref()?;
        let StreamError::Http(error) = stream else { return None };
        if let StreamableHttpError::ResponseBodyTooLarge { max_size } = error {
            return Some(guard::too_long(*max_size));
        }
        let server = &self.link.server.name;
        if let Some(why) = refusal(stream, &self.link.server) {
            return Some(Failure::text(format!("server `{server}` {why}; this call was not made")));
        }
        let cause = short(&cause(stream));
        Some(if begun {
            Failure::InDoubt(format!("server `{server}`: {cause}; whether it did this is not known"))
        } else {
            Failure::text(format!("server `{server}`: {cause}; this call was not made"))
        })
    }

    async fn failure(&self, live: &Live, error: &ServiceError, begun: bool) -> Failure {
        match error {
            ServiceError::TransportClosed => self.gone(live, begun).await,
            ServiceError::TransportSend(error) => match self.over_http(error, begun) {
                Some(failure) => failure,
                None => self.gone(live, begun).await,
            },
            ServiceError::McpError(error) => {
                guard::failure(error).unwrap_or_else(|| Failure::text(short(&error.message)))
            }
            error => Failure::text(why(error)),
        }
    }
}

impl Provider for ServerTool {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        self.answer(request).map_err(|failure| self.link.server.secrets.hidden_in(failure))
    }
}

impl ServerTool {
    fn answer(&self, request: &Request<'_>) -> Result<Data, Failure> {
        let bad =
            |error: serde_json::Error| Failure::text(format!("arguments that MCP cannot carry: {error}"));
        let arguments: JsonObject = serde_json::from_str(&request.arguments.to_json()).map_err(bad)?;
        let sent = Arc::new(AtomicBool::new(false));
        let call = ToolCall {
            link: Arc::clone(&self.link),
            definition: Arc::clone(&self.definition),
            changes: !request.read_only,
            sent: Arc::clone(&sent),
            span: request.span,
            key: request.key.map(str::to_owned),
        };
        let text = match self.link.wait(call.make(arguments), request) {
            Err(Failure::TimedOut) if !sent.load(Ordering::Acquire) => {
                let server = &self.link.server.name;
                let message = format!("server `{server}` was not there in time; this call was not made");
                return Err(Failure::text(message));
            }
            text => text?,
        };
        let (mut text, wrapped) = (text?, self.definition.is_wrapped());
        let integers_as_text = request.integers_as_text;
        let reading = ReadAs { bounds: &request.bounds, bytes: request.bytes, wrapped, integers_as_text };
        let (answer, replaced) = answer::read(&mut text, reading);
        if replaced {
            self.link.note_replaced(&self.definition.name);
        }
        answer
    }
}
