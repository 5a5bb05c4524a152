//! One server: opening it, listing its tools within bounds, and calling one.
//!
//! A tool is pinned by its definition: where a server says that its tools have changed, they are listed
//! again, and a tool with a changed definition is not called. A call is sent once. If its answer is missing,
//! nobody knows whether it was carried out, and this module never sends it again; a policy may (`retries`).

use super::answer;
use super::client_handler::Watcher;
use super::guard;
use super::reason::{first_cause, short, why};
use super::server_config::Server;
use super::stderr::Tail;
use super::transport::{self, StreamError};
use crate::data::Data;
use crate::interrupt::Interrupt;
use crate::tool::{Failure, Provider, Request};
use ilo_spec::error::Code;
use rmcp::RoleClient;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorCode, JsonObject, PaginatedRequestParams, Tool as Listed,
};
use rmcp::service::{Peer, RunningService, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// The most tools that one server may list, and the most pages: a program has no use for more.
const TOOLS: usize = 10_000;
/// The longest wait between two looks at whether the run was interrupted.
const PAUSE: Duration = Duration::from_millis(20);

/// A server that is open, with what it offers.
pub(super) struct Opened {
    pub(super) link: Arc<Link>,
    pub(super) service: RunningService<RoleClient, Watcher>,
    pub(super) listed: Vec<Listed>,
}

/// The part of an open server that calls share.
#[derive(Debug)]
pub(super) struct Link {
    server: String,
    peer: Peer<RoleClient>,
    runtime: Handle,
    changed: Arc<AtomicBool>,
    errors: Tail,
}

/// Why a server could not be opened, and the end of its standard error.
pub(super) struct Refusal {
    pub(super) why: String,
    pub(super) errors: Tail,
}

/// Opens a server and lists its tools.
pub(super) async fn open(server: Server, runtime: Handle) -> Result<Opened, Refusal> {
    let errors = Tail::default();
    let opening = async {
        let watcher = Watcher::default();
        let changed = Arc::clone(&watcher.changed);
        let service = transport::open(&server, watcher, &errors).await?;
        let listed = list(service.peer()).await?;
        Ok::<_, String>((service, listed, changed))
    };
    let (service, listed, changed) = match tokio::time::timeout(server.timeout, opening).await {
        Err(_) => {
            let limit = server.timeout.as_millis();
            let why =
                format!("did not start and list its tools within {limit} ms (`timeout`, in milliseconds)");
            return Err(Refusal { why, errors });
        }
        Ok(Err(why)) => return Err(Refusal { why, errors }),
        Ok(Ok(opened)) => opened,
    };
    let peer = service.peer().clone();
    let link = Arc::new(Link { server: server.name, peer, runtime, changed, errors });
    Ok(Opened { link, service, listed })
}

/// Every tool of a server, page by page.
async fn list(peer: &Peer<RoleClient>) -> Result<Vec<Listed>, String> {
    let mut tools: Vec<Listed> = Vec::new();
    let mut cursor = None;
    for _ in 0..TOOLS {
        let params = PaginatedRequestParams::default().with_cursor(cursor.clone());
        let page = peer.list_tools(Some(params)).await;
        let page = match page {
            // A server may have no tools at all.
            Err(ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return Ok(Vec::new());
            }
            page => page.map_err(|error| format!("does not list its tools: {}", why(&error)))?,
        };
        tools.extend(page.tools);
        if tools.len() > TOOLS {
            break;
        }
        match page.next_cursor {
            None => return unique(tools),
            Some(next) if cursor.as_ref() == Some(&next) => {
                return Err("lists its tools without end: a page leads to itself".to_owned());
            }
            Some(next) => cursor = Some(next),
        }
    }
    Err(format!("lists more than {TOOLS} tools, or as many pages"))
}

/// The tools, where no two share a name.
fn unique(tools: Vec<Listed>) -> Result<Vec<Listed>, String> {
    let mut names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair.first() == pair.last()).and_then(|pair| pair.first()) {
        Some(name) => Err(format!("lists two tools named `{}`", short(name))),
        None => Ok(tools),
    }
}

impl Link {
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// Waits for something that the runtime does; it is given up at the deadline.
    fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        deadline: Instant,
        interrupt: &Interrupt,
    ) -> Result<T, Failure> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let task = self.runtime.spawn(async move { drop(sender.send(work.await)) });
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(left.min(PAUSE)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) if interrupt.is_set() => {
                    task.abort();
                    return Err(Failure::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    // Dropping the work tells the server that its answer is no longer wanted.
                    task.abort();
                    return Err(Failure::TimedOut);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Err(self.gone()),
            }
        }
    }

    /// What a call of a server that went away fails with.
    fn gone(&self) -> Failure {
        let said = self.errors.said();
        Failure::InDoubt(format!(
            "server `{}` has ended, and whether it did this is not known{said}",
            self.server
        ))
    }

    /// The failure for an error of HTTP after which the server may still be running.
    fn over_http(&self, error: &DynamicTransportError) -> Option<Failure> {
        let StreamError::Http(error) = error.error.downcast_ref()? else { return None };
        if let StreamableHttpError::ResponseBodyTooLarge { max_size } = error {
            let message = format!("the tool's answer has more than {max_size} bytes");
            return Some(Failure::Limit(Code::FaultTooLarge, message));
        }
        let (server, cause) = (&self.server, short(&first_cause(error).to_string()));
        Some(Failure::InDoubt(format!("server `{server}`: {cause}; whether it did this is not known")))
    }

    fn failure(&self, error: &ServiceError) -> Failure {
        match error {
            ServiceError::TransportClosed => self.gone(),
            ServiceError::TransportSend(error) => self.over_http(error).unwrap_or_else(|| self.gone()),
            ServiceError::McpError(error) => {
                guard::failure(error).unwrap_or_else(|| Failure::text(short(&error.message)))
            }
            error => Failure::text(why(error)),
        }
    }
}

/// A tool of a server.
pub(crate) struct ServerTool {
    link: Arc<Link>,
    definition: Listed,
}

impl ServerTool {
    pub(super) fn new(link: Arc<Link>, listed: &Listed) -> ServerTool {
        ServerTool { link, definition: listed.clone() }
    }

    /// Fetches the definition of the tool again if its server has announced a change, and fails if the
    /// definition differs.
    fn still_as_checked(&self, request: &Request<'_>) -> Result<(), Failure> {
        if !self.link.changed.load(Ordering::Acquire) {
            return Ok(());
        }
        let peer = self.link.peer.clone();
        let listed = self.link.wait(async move { list(&peer).await }, request.deadline, request.interrupt)?;
        let same = listed.map_err(Failure::text)?.contains(&self.definition);
        if same {
            return Ok(());
        }
        let (server, tool) = (&self.link.server, &self.definition.name);
        Err(Failure::text(format!("server `{server}` has changed its tool `{tool}` since it was checked")))
    }
}

impl Provider for ServerTool {
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        let bad =
            |error: serde_json::Error| Failure::text(format!("arguments that MCP cannot carry: {error}"));
        let arguments: JsonObject = serde_json::from_str(&request.arguments.to_json()).map_err(bad)?;
        self.still_as_checked(request)?;
        let peer = self.link.peer.clone();
        let params = CallToolRequestParams::new(self.definition.name.clone()).with_arguments(arguments);
        let sent = async move { peer.call_tool_once(params).await };
        let response = self.link.wait(sent, request.deadline, request.interrupt)?;
        match response.map_err(|error| self.link.failure(&error))? {
            CallToolResponse::Complete(result) => {
                answer::read(result, &self.definition, &request.bounds, request.bytes)
            }
            CallToolResponse::InputRequired(_) => {
                Err(Failure::text("the server asks for input, which a program cannot give"))
            }
            _ => Err(Failure::text("the server made a task of the call, which a program cannot wait for")),
        }
    }
}
