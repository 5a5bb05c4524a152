//! The MCP server: checks and runs programs of agents with the configured tools.
//!
//! It offers `run_program`, `check_program` and `find_tools`, each configured function as a tool, and the
//! cards of the notations as resources. The number of simultaneous runs is limited, in total and for each
//! client. A run ends if its client cancels it. This module does not know the transport: [`stdio`] and
//! [`http`] do.

mod answer;
mod arguments;
mod arriving;
mod bound;
mod connections;
mod consent;
mod door;
mod durable;
mod http;
mod keys;
mod lines;
mod listen;
mod message;
mod offer;
mod origin;
mod progress;
mod resource;
mod search;
mod sender;
mod sessions;
mod signature;
mod slots;
mod tasks;
mod turns;
mod waiting;

use crate::interrupt::Interrupt;
use crate::run;
use crate::tools::Tools;
use answer::{Long, Short, Work};
use arguments::Given;
use arriving::Stand;
use axum::http::request::Parts;
use bound::Bound;
use consent::{AskingWay, QuestionLine, Questions};
use durable::Keeping;
use ilo_drive::problem::meant_or_all;
use ilo_vm::{FunctionId, Program};
use lines::Lines;
use message::Arguments;
use progress::{Progress, Watch};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CustomRequest, CustomResult, ErrorData, GetTaskParams, GetTaskResult, Implementation,
    ListPromptsResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig, SubscriptionFilter,
    TaskPayload, Tool, UpdateTaskParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use sender::Sender;
use serde_json::Value;
use sessions::Sessions;
use slots::{Client, Slot, Slots, Unread};
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{mpsc, watch};
use tokio::task::{JoinError, JoinHandle};
use tokio::time::sleep;
use turns::Busy;
use waiting::Waiting;

pub use arriving::{Arrivals, Arriving};
pub use durable::{Call, Durable, DurableWork, NewRun, Now, Seen, Verdict};
pub use http::{Http, http};
pub use resource::Issuer;

/// A function that is offered as a tool.
#[derive(Clone)]
pub struct Offered {
    /// The tool's name.
    pub name: String,
    /// The program.
    pub program: Program,
    /// Its function.
    pub function: FunctionId,
}

/// The settings of a server: what it offers, and its limits.
#[derive(Clone)]
pub struct Service {
    /// The tools that programs may call; their servers are connected, or arrive while it serves.
    pub tools: Tools,
    /// Functions that are offered as tools.
    pub functions: Vec<Offered>,
    /// The limits of each run.
    pub options: run::Options,
    /// The most runs at a time, for all clients.
    pub runs: usize,
    /// The most runs at a time for one client: a subject of an issuer or of a proxy, else an address.
    pub runs_of_client: usize,
    /// The most bytes of a journal that the runs of one subject may take before it starts another.
    pub journal_of_client: usize,
    /// The maximum size of a source.
    pub source: usize,
    /// How long a question to a person may be open.
    pub question: Duration,
    /// Records runs in a journal; without it they end with the server.
    pub durable: Option<Arc<dyn Durable>>,
}

/// Bytes that a message may have in addition to the source of a program, for its inputs.
const INPUTS: usize = 4 << 20;
/// How long runs that were cancelled because the server ends may take to roll back.
const ROLLBACK: Duration = Duration::from_mins(1);
/// How long writing the answers of these runs may take.
const ANSWERS: Duration = Duration::from_millis(200);

impl Service {
    /// The most bytes of one message. A source as a JSON string is at most twice as long, if its only control
    /// characters are line ends.
    fn message(&self) -> usize {
        self.source.saturating_mul(2).saturating_add(INPUTS)
    }

    /// The most threads that may wait or work at a time, in addition to those of the runtime.
    pub fn threads(&self) -> usize {
        slots::threads(self.runs)
    }
}

/// The state that all clients share.
struct Shared {
    stand: watch::Sender<Arc<Stand>>,
    begun: tokio::time::Instant,
    slots: Arc<Slots>,
    waiting: Arc<Waiting>,
    keeping: Option<Arc<Keeping>>,
}

/// The server for one client.
#[derive(Clone)]
struct Session {
    shared: Arc<Shared>,
    own: Arc<Client>,
    /// The sessions of all clients, over HTTP.
    sessions: Option<Arc<Sessions>>,
}

/// The address of a client without a session.
#[derive(Clone, Copy, Debug)]
struct Address(IpAddr);

/// A run on its thread. Dropping it cancels the run.
struct Running {
    task: JoinHandle<CallToolResult>,
    questions: mpsc::UnboundedReceiver<Questions>,
    interrupt: Interrupt,
    /// How often it has asked by returning questions as the answer of its call.
    rounds: u32,
    /// The call to which such questions belong.
    bound: Box<Bound>,
    /// Completes when all progress has been sent to the client.
    progress: Option<JoinHandle<()>>,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.interrupt.set();
    }
}

/// Serves one client over standard input and output, until it closes them or `until` completes. Active runs
/// are then cancelled and rolled back.
///
/// # Errors
/// If the streams cannot be served.
pub fn stdio(service: Service, arriving: Option<Arriving>, until: Serving<()>) -> Serving<io::Result<()>> {
    let (input, output) = rmcp::transport::stdio();
    serving(service, arriving, (Box::new(input), Box::new(output)), until)
}

/// Serves one client over any two streams, with one message per line, until it closes them.
///
/// # Errors
/// If the streams cannot be served.
pub fn streams(service: Service, input: InputStream, output: OutputStream) -> Serving<io::Result<()>> {
    serving(service, None, (input, output), Box::pin(std::future::pending()))
}

fn serving(
    service: Service,
    arriving: Option<Arriving>,
    (input, output): (InputStream, OutputStream),
    until: Serving<()>,
) -> Serving<io::Result<()>> {
    Box::pin(async move {
        let most = service.message();
        let shared = Shared::new(service, arriving);
        let (lines, broken) = Lines::new(input, output, most);
        let served = async {
            let running = shared.session(None).serve(lines).await.map_err(io::Error::other)?;
            running.waiting().await.map_err(io::Error::other)
        };
        let ending = async {
            until.await;
            shared.stop().await;
            sleep(ANSWERS).await;
        };
        let served = tokio::select! {
            served = served => served.map(drop),
            () = ending => Ok(()),
        };
        shared.stop().await;
        broken.error().map_or(served, Err)
    })
}

/// The future of a running server, for a tokio runtime. It is boxed so that it is compiled once, in this
/// crate.
pub type Serving<T> = Pin<Box<dyn Future<Output = T> + Send>>;
/// The stream of messages from a client.
pub type InputStream = Box<dyn AsyncRead + Send + Unpin>;
/// The stream of messages to a client.
pub type OutputStream = Box<dyn AsyncWrite + Send + Unpin>;

impl Shared {
    fn new(service: Service, arriving: Option<Arriving>) -> Arc<Shared> {
        let bodies = (http::TOGETHER / 2).max(service.message().div_ceil(1024));
        let slots = Arc::new(Slots::new(service.runs, service.runs_of_client, bodies));
        let keep = |durable: &Arc<dyn Durable>| {
            Arc::new(Keeping::new(Arc::clone(durable), Slots::client_of(service.runs)))
        };
        let keeping = service.durable.as_ref().map(keep);
        let stand = watch::Sender::new(Arc::new(Stand::new(service, arriving.as_ref())));
        let begun = tokio::time::Instant::now();
        let shared = Arc::new(Shared { stand, begun, slots, waiting: Arc::default(), keeping });
        if let Some(arriving) = arriving {
            arriving::receive(&shared, arriving);
        }
        if shared.keeping.is_some() {
            tokio::spawn(durable::supervise(Arc::downgrade(&shared)));
        }
        shared
    }

    fn session(self: &Arc<Shared>, sessions: Option<Arc<Sessions>>) -> Session {
        Session { shared: Arc::clone(self), own: self.slots.client(), sessions }
    }

    /// Cancels all work and waits for it.
    async fn stop(&self) {
        let left = self.slots.stop(ROLLBACK).await;
        if left > 0 {
            tracing::error!("{left} runs did not end in time; what they have done is not rolled back");
        }
    }
}

impl ServerHandler for Session {
    fn get_info(&self) -> ServerConfig {
        let offers = ServerCapabilities::builder().enable_tools().enable_resources();
        let offers = if self.shared.now().functions { offers.enable_tool_list_changed() } else { offers };
        let capabilities =
            if self.shared.keeping.is_some() { offers.enable_tasks().build() } else { offers.build() };
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("ilo-vm", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(offer::INSTRUCTIONS.to_owned());
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared.now().offered.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.shared.soon(|stand| !stand.functions).await;
        Ok(ListToolsResult::with_all_items(self.shared.now().offered.clone()))
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.tell_of_more(context.peer);
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.shared.now().functions.then(|| requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.tell_a_subscriber(&context).await;
        context.cancelled().await;
        Ok(())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (begun, name, unread) = (Instant::now(), request.name.clone(), unread_of(&context));
        let answer = self.begin(request, context).await;
        if let (Some(unread), Ok(CallToolResponse::Complete(result))) = (unread, &answer) {
            let texts = result.content.iter().filter_map(|block| block.as_text());
            unread.add(texts.map(|text| text.text.len()).sum());
        }
        let Some(telemetry) = self.shared.now().service.options.telemetry.clone() else { return answer };
        let error = match &answer {
            Err(error) => Some(error.code.0.to_string()),
            Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
                Some("tool_error".to_owned())
            }
            Ok(_) => None,
        };
        // Clients may make up any name.
        let name = if self.get_tool(&name).is_some() { &*name } else { "unknown" };
        telemetry.answered(name, error.as_deref(), begun.elapsed());
        answer
    }

    // What is not declared is not there: the protocol library would answer these two with empty lists.

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Err(message::unknown_request("prompts/list"))
    }

    async fn complete(
        &self,
        _request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        Err(message::unknown_request("completion/complete"))
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        Err(message::unknown_request(&request.method))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let unread = unread_of(&context);
        let _place = self.shared.slots.check(&self.client(&context)).await.map_err(busy)?;
        let task = self.task(request.task_id, sender_of(&context)).await?;
        if let (Some(unread), TaskPayload::Completed { result }) = (unread, &task.payload) {
            let texts = result.get("content").and_then(Value::as_array).into_iter().flatten();
            unread.add(texts.filter_map(|block| block.get("text")?.as_str()).map(str::len).sum());
        }
        Ok(GetTaskResult::new(task))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.update(&request.task_id, request.input_responses, sender_of(&context))
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.stop_task(&request.task_id, sender_of(&context))
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(ListResourcesResult::with_all_items(offer::resources()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if request.uri != offer::SERVERS {
            self.shared.soon(|stand| stand.starting.is_empty()).await;
        }
        offer::resource(&request.uri, &self.shared.now())
            .map(ReadResourceResponse::from)
            .ok_or_else(|| ErrorData::resource_not_found("no such resource", None))
    }
}

impl Session {
    /// Answers a call.
    async fn begin(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        // The future of each request is moved with the size of its largest case, so the longer cases are
        // boxed.
        if request.request_state.is_some() {
            return Box::pin(self.resumed(request, context)).await;
        }
        let given = Given::of(context.extensions.get::<Arguments>().or_else(|| arguments_of(&context)));
        self.shared.until(|stand| stand.knows(&request.name)).await;
        let stand = self.shared.now();
        let work = match given.and_then(|given| Work::of(&stand.service, &request.name, given)) {
            Ok(work) => work,
            // The model reads what a tool answers, an error of the protocol perhaps only its client.
            Err(why) => return Ok(CallToolResponse::Complete(answer::failed(&why))),
        };
        let Some(work) = work else {
            let names: Vec<&str> = stand.offered.iter().map(|tool| tool.name.as_ref()).collect();
            let there = meant_or_all(&request.name, names);
            return Err(ErrorData::invalid_params(
                format!("there is no tool `{}`{there}", request.name),
                None,
            ));
        };
        match work.quick(&stand.service) {
            Some(quick) => Ok(CallToolResponse::Complete(quick)),
            None => {
                let bound = bound_of(&request, &context);
                Box::pin(self.called(work, bound, context)).await
            }
        }
    }

    /// Answers a call that continues with the answer of a person.
    async fn resumed(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let state = request.request_state.as_deref().unwrap_or_default();
        let bound = bound_of(&request, &context);
        if let Some(answer) = self.answered(state, request.input_responses.clone(), &bound, &context).await {
            return answer;
        }
        let running = self.shared.waiting.resume(state, &bound, request.input_responses);
        let over = || ErrorData::invalid_params("no such run waits for an answer; it may be over", None);
        self.drive(running.ok_or_else(over)?, context).await
    }

    /// Executes a call.
    async fn called(
        &self,
        work: Work,
        bound: Bound,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        tokio::select! {
            () = context.ct.cancelled() => return Ok(cancelled()),
            () = work.arrived(&self.shared) => {}
        }
        let work = match work {
            Work::Short(short) => return self.answer(short, &context).await,
            Work::Long(work) => work,
        };
        if let Some(keeping) = self.shared.keeping.clone() {
            return self.keep(work, keeping, bound, context).await;
        }
        match self.start(work, bound, &context).await? {
            Some(running) => self.drive(running, context).await,
            None => Ok(cancelled()),
        }
    }

    /// The client for which a request is counted: over HTTP its subject or address, never its session, of
    /// which a client can begin any number.
    fn client(&self, context: &RequestContext<RoleServer>) -> Arc<Client> {
        let client = sender_of(context).map(|sender| self.shared.slots.client_at(&sender.counted));
        client.unwrap_or_else(|| Arc::clone(&self.own))
    }

    /// Checks or searches, on a thread that may block.
    async fn answer(
        &self,
        short: Short,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let client = self.client(context);
        let slot = tokio::select! {
            () = context.ct.cancelled() => return Ok(cancelled()),
            slot = self.shared.slots.check(&client) => slot.map_err(busy)?,
        };
        let stand = self.shared.now();
        let task = tokio::task::spawn_blocking(move || {
            let _held = slot;
            short.done(&stand)
        });
        ended(task.await)
    }

    /// Waits for a slot for another run, then starts the work on a thread that may block. `None` if the
    /// request is cancelled first.
    async fn start(
        &self,
        work: Long,
        bound: Bound,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Running>, ErrorData> {
        let slot = tokio::select! {
            () = context.ct.cancelled() => return Ok(None),
            slot = self.shared.slots.run(self.client(context)) => slot.map_err(busy)?,
        };
        let interrupt = slot.cancel().clone();
        let request = context.extensions.get::<Parts>();
        let of_session = self
            .sessions
            .as_ref()
            .zip(request)
            .and_then(|(sessions, request)| sessions.run(request, &interrupt));
        let progress =
            context.meta.get_progress_token().map(|token| Progress::new(context.peer.clone(), token)).unzip();
        let slot = Arc::new(slot);
        tokio::spawn(Slot::left_when_cancelled(Arc::downgrade(&slot)));
        let (to, questions) = mpsc::unbounded_channel();
        let at_once = matches!(AskingWay::of(context), AskingWay::Answer);
        let stand = self.shared.now();
        let line = QuestionLine::new(to, Arc::clone(&slot), stand.service.question, at_once);
        let cancel = interrupt.clone();
        let parent = context.meta.get_traceparent().and_then(|text| text.parse().ok());
        let task = tokio::task::spawn_blocking(move || {
            let _held = (slot, of_session);
            work.done(&stand.service, cancel, Arc::new(line), parent, Watch::new(progress.0))
        });
        Ok(Some(Running {
            task,
            questions,
            interrupt,
            rounds: 0,
            bound: Box::new(bound),
            progress: progress.1,
        }))
    }

    /// Waits for the end of a run, or for a question that the client must answer first.
    async fn drive(
        &self,
        mut running: Running,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let (way, longest) = (AskingWay::of(&context), self.shared.now().service.question);
        loop {
            let asked = tokio::select! {
                result = &mut running.task => return running.ended(result, &context).await,
                Some(asked) = running.questions.recv() => asked,
                () = context.ct.cancelled() => return Ok(cancelled()),
            };
            match &way {
                AskingWay::None => {
                    asked.refuse("this client offers no way to ask (no `elicitation`)");
                }
                AskingWay::Answer => match self.shared.waiting.keep(running, asked, longest) {
                    Ok(questions) => return Ok(questions.into()),
                    Err(same) => running = same,
                },
                AskingWay::Request(peer) => asked.put(peer, longest, context.ct.cancelled()).await,
            }
        }
    }
}

impl Running {
    /// The result of a run, after all progress has been sent.
    async fn ended(
        &mut self,
        result: Result<CallToolResult, JoinError>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if let Some(progress) = &mut self.progress {
            tokio::select! {
                _ = progress => {}
                () = context.ct.cancelled() => {}
            }
        }
        ended(result)
    }
}

/// Who sends a request over HTTP.
fn sender_of(context: &RequestContext<RoleServer>) -> Option<&Sender> {
    context.extensions.get::<Parts>()?.extensions.get()
}

/// The budget in which the answer to a request over HTTP is counted, unless its client has left.
fn unread_of(context: &RequestContext<RoleServer>) -> Option<Arc<Unread>> {
    context.extensions.get::<Parts>()?.extensions.get::<Weak<Unread>>()?.upgrade()
}

/// The call of a request, to which its questions belong.
fn bound_of(request: &CallToolRequestParams, context: &RequestContext<RoleServer>) -> Bound {
    let arguments = context.extensions.get::<Arguments>().or_else(|| arguments_of(context));
    let arguments = arguments.map_or(&b"{}"[..], |arguments| &arguments.0);
    let subject = sender_of(context).and_then(|sender| sender.subject.as_ref());
    // Others are asked by requests, which need no state.
    let asked = if matches!(AskingWay::of(context), AskingWay::Answer) { arguments } else { b"" };
    Bound::new(subject, &request.name, asked)
}

#[allow(clippy::needless_pass_by_value, reason = "`map_err` passes it so")]
fn busy(busy: Busy) -> ErrorData {
    ErrorData::internal_error(busy.to_string(), None)
}

/// The arguments of a call over HTTP.
fn arguments_of(context: &RequestContext<RoleServer>) -> Option<&Arguments> {
    context.extensions.get::<Parts>()?.extensions.get()
}

fn cancelled() -> CallToolResponse {
    CallToolResponse::Complete(CallToolResult::error(vec![]))
}

fn ended(result: Result<CallToolResult, JoinError>) -> Result<CallToolResponse, ErrorData> {
    let broke = |error| ErrorData::internal_error(format!("the run broke: {error}"), None);
    result.map(CallToolResponse::Complete).map_err(broke)
}
