//! An MCP server: other agents' programs, checked and run over the tools that are configured here.
//!
//! It offers `run_program`, `check_program` and `find_tools`, each function that it was given as a tool of
//! its own, and the cards of the notations as resources. The number of simultaneous runs is limited, in total
//! and for each client. A run ends if its client cancels it. This module does not know the transport:
//! [`stdio`] and [`http`] do.

mod answer;
mod consent;
mod http;
mod lines;
mod listen;
mod offer;
mod search;
mod sessions;

use crate::interrupt::Interrupt;
use crate::run::{self, Ended, Observer};
use crate::tools::Tools;
use crate::tools::consent::Consent;
use axum::http::request::Parts;
use consent::{Line, Running, Waiting, Way};
use ilo_vm::{FunctionId, Program};
use lines::Lines;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ProgressNotificationParam, ProgressToken,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::{Peer, RequestContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use sessions::Sessions;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinError;

pub use http::{Http, http};

/// A function that is offered as a tool.
pub struct Offered {
    /// The tool's name.
    pub name: String,
    /// The program.
    pub program: Program,
    /// The function of it.
    pub function: FunctionId,
}

/// What a server offers, and within which limits.
pub struct Service {
    /// The tools that programs may call; their servers are connected.
    pub tools: Tools,
    /// Functions that are tools of their own.
    pub functions: Vec<Offered>,
    /// The limits of each run.
    pub options: run::Options,
    /// Runs at a time, for all clients.
    pub runs: usize,
    /// Runs at a time, for one client.
    pub runs_of_client: usize,
    /// Bytes of a program's source.
    pub source: usize,
}

/// Bytes that a message may have in addition to the source of a program, for its inputs.
const INPUTS: usize = 4 << 20;

impl Service {
    /// The most bytes of one message. A source as a JSON string is at most twice as long, if its only control
    /// characters are line ends.
    fn message(&self) -> usize {
        self.source.saturating_mul(2).saturating_add(INPUTS)
    }
}

/// What all clients share.
struct Shared {
    service: Service,
    offered: Vec<Tool>,
    running: Arc<Semaphore>,
    waiting: Waiting,
}

/// The server as one client sees it.
#[derive(Clone)]
struct Session {
    shared: Arc<Shared>,
    own: Arc<Semaphore>,
    /// The sessions of all clients, where they come over HTTP.
    sessions: Option<Arc<Sessions>>,
}

/// Serves one client over standard input and output, until it closes them.
///
/// # Errors
/// Where the streams cannot be served.
pub fn stdio(service: Service) -> Serving<io::Result<()>> {
    let (input, output) = rmcp::transport::stdio();
    streams(service, Box::new(input), Box::new(output))
}

/// Serves one client over any two streams, a message a line, until it closes them.
///
/// # Errors
/// Where the streams cannot be served.
pub fn streams(service: Service, input: Input, output: Output) -> Serving<io::Result<()>> {
    Box::pin(async move {
        let most = service.message();
        let session = Shared::new(service).session(None);
        let running = session.serve(Lines::new(input, output, most)).await.map_err(io::Error::other)?;
        running.waiting().await.map_err(io::Error::other)?;
        Ok(())
    })
}

/// The future of a running server, for a tokio runtime. It is boxed so that it is compiled once, in this
/// crate.
pub type Serving<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// Where a client's messages come from.
pub type Input = Box<dyn AsyncRead + Send + Unpin>;
/// Where messages to a client go.
pub type Output = Box<dyn AsyncWrite + Send + Unpin>;

impl Shared {
    fn new(service: Service) -> Arc<Shared> {
        let offered = offer::tools(&service);
        let running = Arc::new(Semaphore::new(service.runs));
        Arc::new(Shared { service, offered, running, waiting: Waiting::default() })
    }

    fn session(self: &Arc<Shared>, sessions: Option<Arc<Sessions>>) -> Session {
        let own = Arc::new(Semaphore::new(self.service.runs_of_client));
        Session { shared: Arc::clone(self), own, sessions }
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("ilo-vm", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(offer::INSTRUCTIONS.to_owned());
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.offered.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.shared.offered.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(state) = &request.request_state {
            let running = self.shared.waiting.resume(state, request.input_responses);
            let over = || ErrorData::invalid_params("no such run waits for an answer; it may be over", None);
            return self.drive(running.ok_or_else(over)?, context).await;
        }
        let Some(work) = answer::Work::of(&self.shared.service, request)? else {
            return Err(ErrorData::invalid_params("no such tool", None));
        };
        match self.start(work, &context).await? {
            Some(running) => self.drive(running, context).await,
            None => Ok(cancelled()),
        }
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(offer::cards()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        offer::card(&request.uri, self.shared.service.tools.catalog())
            .map(ReadResourceResponse::from)
            .ok_or_else(|| ErrorData::resource_not_found("no such card", None))
    }
}

impl Session {
    /// Waits for room for another run, then starts the work on a thread that may block. `None` if the request
    /// is cancelled before.
    async fn start(
        &self,
        work: answer::Work,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Running>, ErrorData> {
        let request = context.extensions.get::<Parts>();
        let busy = self.sessions.as_ref().zip(request).and_then(|(sessions, request)| sessions.run(request));
        let closed = |_| ErrorData::internal_error("the server is closing", None);
        let room = async {
            let own = Arc::clone(&self.own).acquire_owned().await.map_err(closed)?;
            let all = Arc::clone(&self.shared.running).acquire_owned().await.map_err(closed)?;
            Ok((own, all))
        };
        let room = tokio::select! {
            () = context.ct.cancelled() => return Ok(None),
            room = room => room?,
        };
        let interrupt = Interrupt::default();
        let progress =
            context.meta.get_progress_token().map(|token| Progress::new(context.peer.clone(), token));
        let (shared, flag) = (Arc::clone(&self.shared), interrupt.clone());
        let (line, questions) = mpsc::unbounded_channel();
        let task = tokio::task::spawn_blocking(move || {
            let _held = (room, busy);
            work.done(&shared.service, flag, Arc::new(Line(line)), progress)
        });
        Ok(Some(Running { task, questions, interrupt }))
    }

    /// Sees a run to its end, or to a question that the client has to answer first.
    async fn drive(
        &self,
        mut running: Running,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let way = Way::of(&context);
        loop {
            let asked = tokio::select! {
                result = &mut running.task => return ended(result),
                Some(asked) = running.questions.recv() => asked,
                () = context.ct.cancelled() => {
                    running.interrupt.set();
                    return Ok(cancelled());
                }
            };
            match &way {
                Way::None => {
                    let why = "this client offers no way to ask (no `elicitation`)";
                    asked.answer(Consent::Refused(why.to_owned()));
                }
                Way::Answer => return Ok(self.shared.waiting.keep(running, asked).into()),
                Way::Request(peer) => tokio::select! {
                    result = &mut running.task => return ended(result),
                    consent = asked.put(peer) => asked.answer(consent),
                    () = context.ct.cancelled() => {
                        running.interrupt.set();
                        return Ok(cancelled());
                    }
                },
            }
        }
    }
}

fn cancelled() -> CallToolResponse {
    CallToolResponse::Complete(CallToolResult::error(vec![]))
}

fn ended(result: Result<CallToolResult, JoinError>) -> Result<CallToolResponse, ErrorData> {
    let broke = |error| ErrorData::internal_error(format!("the run broke: {error}"), None);
    result.map(CallToolResponse::Complete).map_err(broke)
}

/// Tells a client how far its run is: a notification for each call as it begins.
struct Progress(mpsc::UnboundedSender<ProgressNotificationParam>, ProgressToken);

impl Progress {
    fn new(peer: Peer<RoleServer>, token: ProgressToken) -> Progress {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            // A client that has gone gets no answer.
            while let Some(told) = receiver.recv().await {
                drop(peer.notify_progress(told).await);
            }
        });
        Progress(sender, token)
    }

    fn tell(&self, seq: u64, tool: &str) {
        // Calls are few enough that their number is exact as a double.
        #[allow(clippy::cast_precision_loss, reason = "calls are far fewer than 2^52")]
        let done = (seq + 1) as f64;
        let told = ProgressNotificationParam::new(self.1.clone(), done).with_message(tool.to_owned());
        drop(self.0.send(told));
    }
}

/// Watches a run for its answer: the calls that it made, as a trace has them.
#[derive(Default)]
struct Watch {
    calls: Vec<String>,
    progress: Option<Progress>,
}

impl Observer for Watch {
    fn started(&mut self, seq: u64, tool: &str) {
        tracing::debug!(seq, tool, "call");
        if let Some(progress) = &self.progress {
            progress.tell(seq, tool);
        }
    }

    fn ended(&mut self, call: &Ended<'_>) {
        self.calls.push(crate::trace::line(call));
    }

    fn ahead(&mut self, tool: &str) {
        tracing::debug!(tool, "call started ahead");
    }

    fn untaken(&mut self, tool: &str) {
        tracing::info!(tool, "a call was started ahead and is not needed");
    }
}
