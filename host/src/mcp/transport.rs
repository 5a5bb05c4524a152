//! The two ways to a server: a program's standard streams, and streamable HTTP. Behind one type, so that the
//! client of the protocol's library is compiled once.
//!
//! A program gets the closed environment of every tool, a process group of its own, and its standard error is
//! read and only its end kept. HTTP follows no redirect, so that no server can send us elsewhere.

use super::child::Child;
use super::client_handler::{LEGACY, Watcher};
use super::guard::MESSAGE;
use super::reason::cannot_open;
use super::server_config::{Server, Way};
use super::stderr::Tail;
use super::web::Client;
use crate::command::closed;
use crate::tool::process_mark;
use futures_util::TryFutureExt as _;
use futures_util::future::BoxFuture;
use process_wrap::tokio::CommandWrap;
use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RunningService, RxJsonRpcMessage,
    TxJsonRpcMessage,
};
use rmcp::transport::streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError};
use rmcp::transport::{StreamableHttpClientTransport, Transport};
use std::collections::HashMap;
use std::path::PathBuf;
use std::{fmt, io};

type Service = RunningService<RoleClient, Watcher>;

/// Opens a server in its way. Newer servers answer `server/discover`, and most others say that they do not
/// know it; one that says neither is opened again in the manner of old. One that says it too late for the
/// library, which asks in the manner of old meanwhile and takes that for an answer to this, is opened again
/// with the time that the file gives it.
pub(super) async fn open(server: &Server, watcher: Watcher, errors: &Tail) -> Result<Service, String> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let newer = ClientLifecycleMode::Auto {
        preferred_versions: preferred_versions.clone(),
        legacy_version: Some(LEGACY),
    };
    let mut opened = open_with(server, watcher.clone(), newer, errors).await?;
    let late = matches!(
        opened,
        Err(ClientInitializeError::ConflictInitResponseId(..)
            | ClientInitializeError::UncorrelatedErrorResponse { .. })
    );
    if late {
        let patient = ClientLifecycleMode::Discover { preferred_versions };
        opened = open_with(server, watcher.clone(), patient, errors).await?;
    }
    let old = match &opened {
        Err(
            ClientInitializeError::ExpectedInitResult(_) | ClientInitializeError::ExpectedInitResponse(_),
        ) => true,
        Err(ClientInitializeError::JsonRpcError(_)) => late,
        _ => false,
    };
    if old {
        opened = open_with(server, watcher, ClientLifecycleMode::Initialize, errors).await?;
    }
    opened.map_err(|error| match &server.way {
        Way::Http { headers, .. } => not_let_in(&error, headers).unwrap_or_else(|| cannot_open(&error)),
        _ => cannot_open(&error),
    })
}

/// What to do where a server wants to know who calls.
fn not_let_in(error: &ClientInitializeError, headers: &[(String, String)]) -> Option<String> {
    let error = match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => return not_let_in(fallback, headers),
        ClientInitializeError::TransportError { error, .. } => &error.error,
        _ => return None,
    };
    let StreamError::Http(error) = error.downcast_ref()? else { return None };
    let status = match error {
        StreamableHttpError::AuthRequired(_) => 401,
        StreamableHttpError::InsufficientScope(_) => 403,
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => 401,
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 403") => 403,
        _ => return None,
    };
    let given = headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("authorization"));
    Some(if given {
        format!("does not let us in with the header `Authorization` that it is given (HTTP status {status})")
    } else {
        format!(
            "wants to know who calls (HTTP status {status}); logging in by OAuth is not there, so set a header from the \
             environment: `\"headers\": {{\"Authorization\": \"Bearer ${{NAME}}\"}}`"
        )
    })
}

async fn open_with(
    server: &Server,
    watcher: Watcher,
    lifecycle: ClientLifecycleMode,
    errors: &Tail,
) -> Result<Result<Service, ClientInitializeError>, String> {
    let streams = match &server.way {
        Way::Program { program, arguments, folder, environment } => {
            Streams::Program(spawn(program, arguments, folder, environment, errors)?)
        }
        Way::Http { url, headers } => Streams::Http(Box::new(http(url, headers)?)),
        Way::None => return Err("cannot be reached with this tools file".to_owned()),
    };
    Ok(watcher.serve_with_lifecycle(streams, lifecycle).await)
}

/// Where messages go and come from.
enum Streams {
    Program(Child),
    Http(Box<StreamableHttpClientTransport<Client>>),
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
            StreamError::Http(error) => error,
        })
    }
}

impl Transport<RoleClient> for Streams {
    type Error = StreamError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), StreamError>> + Send + 'static {
        let sent: BoxFuture<'static, Result<(), StreamError>> = match self {
            Streams::Program(child) => Box::pin(child.send(item).map_err(StreamError::Program)),
            Streams::Http(client) => Box::pin(client.send(item).map_err(StreamError::Http)),
        };
        sent
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        match self {
            Streams::Program(child) => child.receive().await,
            Streams::Http(client) => client.receive().await,
        }
    }

    async fn close(&mut self) -> Result<(), StreamError> {
        match self {
            Streams::Program(child) => child.close().await.map_err(StreamError::Program),
            Streams::Http(client) => client.close().await.map_err(StreamError::Http),
        }
    }
}

fn spawn(
    program: &str,
    arguments: &[String],
    folder: &PathBuf,
    environment: &[(String, String)],
    errors: &Tail,
) -> Result<Child, String> {
    let mut command = CommandWrap::with_new(program, |command| {
        command.args(arguments).current_dir(folder);
        closed(command.as_std_mut(), environment, process_mark::of_process());
    });
    #[cfg(unix)]
    command.wrap(process_wrap::tokio::ProcessGroup::leader());
    #[cfg(windows)]
    command.wrap(process_wrap::tokio::JobObject);
    let (child, said) =
        Child::spawn(command).map_err(|error| format!("cannot start `{program}`: {error}"))?;
    said.into_iter().for_each(|said| errors.listen(said));
    Ok(child)
}

fn http(url: &str, headers: &[(String, String)]) -> Result<StreamableHttpClientTransport<Client>, String> {
    // Once a process: a second provider would be refused, and the first one serves.
    drop(rustls::crypto::ring::default_provider().install_default());
    let mut builder = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    if url.starts_with("http://") {
        // Without TLS no certificates are needed, and a machine may have none.
        builder = builder.tls_certs_only([]);
    }
    let client = builder.build().map_err(|error| format!("no HTTP client: {error}"))?;
    let mut named = HashMap::new();
    for (name, value) in headers {
        let bad = format!("the header `{name}` cannot be sent");
        let name: http::HeaderName = name.parse().map_err(|_| bad.clone())?;
        named.insert(name, value.parse().map_err(|_| bad)?);
    }
    // An event that is somewhat too long still comes through, so that its call fails instead of waiting.
    let config = StreamableHttpClientTransportConfig::with_uri(url)
        .custom_headers(named)
        .max_sse_event_size(2 * MESSAGE);
    Ok(StreamableHttpClientTransport::with_client(Client(client), config))
}
