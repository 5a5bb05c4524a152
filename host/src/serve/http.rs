//! Streamable HTTP: where the server listens, and whom it lets in.
//!
//! It listens on loopback unless an address says otherwise. A request from a page of a browser (one with an
//! `Origin`) is let in only from loopback and origins that were allowed; with a token, only requests that
//! bear it are.

use super::sessions::Sessions;
use super::{Service, Serving, Shared, listen};
use crate::problem::Problem;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use ilo_spec::error::Code;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

/// The path of the endpoint.
const PATH: &str = "/mcp";
/// Origins of pages that this machine served itself.
const LOCAL: [&str; 3] = ["http://localhost:*", "http://127.0.0.1:*", "http://[::1]:*"];
/// How long a client may take for the body of a request.
const BODY: Duration = Duration::from_secs(30);

/// Where the server listens and whom it lets in.
#[derive(Clone, Debug)]
pub struct Http {
    /// The address.
    pub address: SocketAddr,
    /// The token that every request must bear.
    pub token: Option<String>,
    /// Origins of pages that may send requests.
    pub origins: Vec<String>,
    /// Names of this machine, beside those of loopback, that requests may ask for.
    pub hosts: Vec<String>,
}

/// Serves clients until `until` is over; `ready` gets the address once it listens.
///
/// # Errors
/// Where the address cannot be listened on without a token, or not at all.
pub fn http(
    service: Service,
    settings: Http,
    ready: Box<dyn FnOnce(SocketAddr) + Send>,
    until: Serving<()>,
) -> Serving<Result<(), Problem>> {
    Box::pin(listening(service, settings, ready, until))
}

async fn listening(
    service: Service,
    settings: Http,
    ready: Box<dyn FnOnce(SocketAddr) + Send>,
    until: Serving<()>,
) -> Result<(), Problem> {
    let refused = |message: String| Problem::new(Code::BadUsage, "--http", message);
    if !settings.address.ip().is_loopback() && settings.token.is_none() {
        let message = "only loopback is served without a token; give one with `--token-env`";
        return Err(refused(message.to_owned()));
    }
    let unusable = |error: io::Error| refused(format!("{} cannot be served: {error}", settings.address));
    let listener = TcpListener::bind(settings.address).await.map_err(unusable)?;
    ready(listener.local_addr().map_err(unusable)?);
    listen::serve(listener, app(service, &settings), until).await;
    Ok(())
}

fn app(service: Service, settings: &Http) -> Router {
    let most = service.message();
    let mut config = StreamableHttpServerConfig::default()
        .with_max_request_body_bytes(most)
        .with_allowed_origins(LOCAL.iter().map(ToString::to_string).chain(settings.origins.iter().cloned()))
        .enforce_origin_validation();
    config.allowed_hosts.extend(settings.hosts.iter().cloned());
    let (shared, sessions) = (Shared::new(service), Arc::new(Sessions::new()));
    let own = Arc::clone(&sessions);
    let mcp = StreamableHttpService::new(
        move || Ok(shared.session(Some(Arc::clone(&own)))),
        sessions.manager(),
        config,
    );
    let token: Option<Arc<str>> = settings.token.as_deref().map(Arc::from);
    let guard = from_fn(move |request: Request, next: Next| {
        let let_in = token.as_deref().is_none_or(|token| bears(request.headers(), token));
        let sessions = Arc::clone(&sessions);
        async move {
            if !let_in {
                return unauthorized();
            }
            if !sessions.seen(request.headers()).await && !sessions.has_room().await {
                return (StatusCode::SERVICE_UNAVAILABLE, "too many sessions are in use").into_response();
            }
            match whole(request, most).await {
                Ok(request) => {
                    let answer = next.run(request).await;
                    sessions.seen(answer.headers()).await;
                    answer
                }
                Err(refused) => refused,
            }
        }
    });
    Router::new().route_service(PATH, mcp).layer(guard)
}

/// A request with all of its body, which is not waited for longer than its time.
async fn whole(request: Request, most: usize) -> Result<Request, Response> {
    let (head, body) = request.into_parts();
    match timeout(BODY, to_bytes(body, most)).await {
        Ok(Ok(body)) => Ok(Request::from_parts(head, Body::from(body))),
        Ok(Err(_)) => Err(StatusCode::PAYLOAD_TOO_LARGE.into_response()),
        Err(_) => Err(StatusCode::REQUEST_TIMEOUT.into_response()),
    }
}

/// Whether a request bears the token. Every byte is compared, so that the time reveals nothing of
/// where they differ.
fn bears(headers: &HeaderMap, token: &str) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let given = given.and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
    let differing = given.bytes().zip(token.bytes()).fold(0, |differing, (a, b)| differing | (a ^ b));
    given.len() == token.len() && differing == 0
}

fn unauthorized() -> Response {
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")]).into_response()
}
