//! A tool: its provider, its policy, and the limits on each call.
//!
//! A host adds its own kinds of tools by implementing [`Provider`]. This module does not know programs, or
//! where tools come from.

#[cfg(feature = "tokio")]
pub(crate) mod asynchronous;
pub mod consent;
#[cfg(feature = "tokio")]
pub(crate) mod left;
pub(crate) mod limits;
pub(crate) mod named;
pub(crate) mod numbers;
pub(crate) mod outcome;
pub(crate) mod policy;
pub mod process_mark;
pub(crate) mod rate;
pub(crate) mod schema;
pub(crate) mod secrets;
mod typed;

pub use ilo_drive::failure::Failure;
pub use ilo_drive::policy::Policy;
pub use schema::Schema;

use crate::interrupt::Interrupt;
use crate::trace_context::Context;
use consent::{Ask, Consent, Question};
use ilo_asm::catalog::{self, Validation};
use ilo_drive::data::Data;
use ilo_drive::data::read::Bounds;
use ilo_drive::problem::{Problem, shortened};
use ilo_spec::limits::DEFAULT_CALL_MS;
use process_mark::Mark;
use rate::Limiter;
use serde_json::Value;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One call that a provider answers.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'c> {
    /// The name of the tool in the table.
    pub tool: &'c str,
    /// The arguments: a record.
    pub arguments: &'c Data,
    /// The deadline of the answer, at which a provider must give up and return [`Failure::TimedOut`].
    pub deadline: Instant,
    /// The limits on the answer.
    pub bounds: Bounds,
    /// Whether the answer includes the bytes of images and other binary content.
    pub bytes: bool,
    /// Whether every integer of the answer becomes a text.
    pub integers_as_text: bool,
    /// Whether the tool is read-only, according to the tools file or the host.
    pub read_only: bool,
    /// The interrupt, which a provider checks while it waits; when it is set, the provider gives up and
    /// returns [`Failure::Interrupted`]. At any other time that is a failure of the call.
    pub interrupt: &'c Interrupt,
    /// Whether the run was cancelled. A call that changes something is still awaited.
    pub cancel: &'c Interrupt,
    /// The time after a cancel at which the provider ends the call, in doubt; nothing if it has its own time.
    pub cancel_grace: Option<Duration>,
    /// The mark that a started program gets in its environment.
    pub mark: &'c Mark,
    /// The idempotency key of the call in a run with a journal. It is the same for each attempt.
    pub key: Option<&'c str>,
    /// Its trace context, if there is one.
    pub span: Option<Context>,
}

impl Request<'_> {
    /// The message of a call that was ended after a cancel.
    pub(crate) fn cancelled_message(&self) -> String {
        cancelled_message(self.tool, self.cancel_grace)
    }

    /// Waits, unless the call ends before.
    pub(crate) fn wait(&self, delay: Duration) -> Result<(), Failure> {
        let end = Instant::now().checked_add(delay).filter(|&end| end <= self.deadline);
        match (self.interrupt.sleep_until(end.unwrap_or(self.deadline)), end) {
            (false, _) => Err(Failure::Interrupted),
            (true, Some(_)) => Ok(()),
            (true, None) => Err(Failure::TimedOut),
        }
    }
}

/// The message of a call that was ended after a cancel, and this time.
pub(crate) fn cancelled_message(tool: &str, grace: Option<Duration>) -> String {
    let grace = grace.unwrap_or_default().as_millis();
    format!("tool `{tool}` was ended {grace} ms after the run was cancelled")
}

/// When a call is to be ended because the run was cancelled.
#[derive(Debug, Default)]
pub(crate) struct Grace(Option<Instant>);

impl Grace {
    /// Looks whether the run was cancelled. Returns whether the time after that is over.
    pub(crate) fn is_over(&mut self, request: &Request<'_>) -> bool {
        let Some(grace) = request.cancel_grace.filter(|_| request.cancel.is_set()) else { return false };
        let end = *self.0.get_or_insert_with(|| Instant::now() + grace);
        Instant::now() >= end
    }
}

/// Answers calls of a tool.
pub trait Provider: Send + Sync {
    /// Answers one call.
    ///
    /// # Errors
    /// The failure of the tool, or the limit that was exceeded.
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure>;

    /// Whether several calls may run at the same time and begin in any order, if the tool is read-only. An
    /// abandoned call is interrupted through its request; the run ends only after the call has ended.
    fn may_run_ahead(&self) -> bool {
        true
    }

    /// The asynchronous function that it is.
    #[cfg(feature = "tokio")]
    #[doc(hidden)]
    fn asynchronous(&self) -> Option<Arc<asynchronous::Begin>> {
        None
    }
}

/// A function of the host is a provider.
impl<F> Provider for F
where
    F: Fn(&Request<'_>) -> Result<Data, Failure> + Send + Sync,
{
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        self(request)
    }
}

/// The origin of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// Fixed answers.
    Mock,
    /// A tool that the host brings, by its name.
    Builtin(&'static str),
    /// A program, by its command line.
    Command(String),
    /// A tool of an MCP server, as `mcp://server/tool`.
    Server(String),
    /// The embedding program.
    Host,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Mock => f.write_str("mock"),
            Source::Builtin(name) => write!(f, "builtin: {name}"),
            Source::Command(line) => write!(f, "command: {}", shortened(line, 80)),
            Source::Server(name) => f.write_str(name),
            Source::Host => f.write_str("host"),
        }
    }
}

/// A tool of the table.
#[derive(Clone)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Its description, for people and models.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Option<Schema>,
    /// The JSON Schema of its answer.
    pub output_schema: Option<Schema>,
    /// What follows an answer that does not fit its schema.
    pub validate: Validation,
    /// Its policy.
    pub policy: Policy,
    /// Its origin.
    pub source: Source,
    /// The times of its calls, if it has a rate.
    pub(crate) limiter: Arc<Limiter>,
    /// The names of its arguments here and on its server, if they differ.
    pub(crate) renames: Vec<(String, String)>,
    /// What is missing to call it, such as its program. It is reported only for programs that call the tool.
    pub(crate) lacks: Vec<Problem>,
    /// Its provider; a tool of a server has none before the server is started.
    pub(crate) provider: Option<Arc<dyn Provider>>,
}

/// The schemas of a tool. The catalogue reads them when a program names the tool.
struct Described {
    input: Option<Schema>,
    output: Option<Schema>,
}

impl catalog::Schemas for Described {
    fn schemas(&self) -> (Option<Cow<'_, Value>>, Option<Cow<'_, Value>>) {
        // A schema was read as JSON, so it can be written as such.
        let json = |schema: &Option<Schema>| {
            let schema = schema.as_ref()?;
            serde_json::from_str(&schema.to_json()).ok().map(Cow::Owned)
        };
        (json(&self.input), json(&self.output))
    }

    fn has_output(&self) -> bool {
        self.output.is_some()
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).field("source", &self.source).finish_non_exhaustive()
    }
}

impl Tool {
    /// A tool of the host.
    pub fn new(name: impl Into<String>, provider: Box<dyn Provider>) -> Tool {
        Tool::of(name.into(), Source::Host, Some(provider))
    }

    /// The unusable schemas of the tool. They affect only programs that call it.
    pub(crate) fn schema_problems(&self) -> impl Iterator<Item = Problem> {
        let schemas = [("input_schema", &self.input_schema), ("output_schema", &self.output_schema)];
        schemas.into_iter().filter_map(|(key, schema)| schema.as_ref()?.problem(&self.name, key))
    }

    /// Its entry in the catalogue, for the check.
    pub(crate) fn signature(&self) -> catalog::ToolSignature {
        // The description is shown to people and models.
        let description = self.description.as_deref().map(ilo_asm::text::visible);
        let schemas = Described { input: self.input_schema.clone(), output: self.output_schema.clone() };
        let mut tool = catalog::ToolSignature::with_schemas(&self.name, description, Arc::new(schemas));
        tool.requires_rollback = self.policy.requires_rollback;
        tool.confirm = self.policy.confirm;
        tool.validation = self.validate;
        tool
    }

    pub(crate) fn of(name: String, source: Source, provider: Option<Box<dyn Provider>>) -> Tool {
        Tool {
            name,
            description: None,
            input_schema: None,
            output_schema: None,
            validate: Validation::Fail,
            policy: Policy::default(),
            source,
            limiter: Arc::default(),
            renames: Vec::new(),
            lacks: Vec::new(),
            provider: provider.map(Arc::from),
        }
    }

    /// Makes this another name of a server's tool: what this entry does not set is taken from that tool.
    pub(crate) fn take_from(&mut self, found: &Tool) {
        self.provider.clone_from(&found.provider);
        if self.policy.rate == found.policy.rate {
            self.limiter = Arc::clone(&found.limiter);
        }
        if self.description.is_none() {
            self.description.clone_from(&found.description);
        }
        if self.output_schema.is_none() {
            self.output_schema.clone_from(&found.output_schema);
            if self.policy.integers_as_text && !found.policy.integers_as_text {
                self.give_texts_for_integers();
            }
        }
        if self.input_schema.is_none() {
            let own = |name: &str| {
                self.renames.iter().find(|(_, theirs)| theirs == name).map(|(own, _)| own.as_str())
            };
            self.input_schema = found
                .input_schema
                .as_deref()
                .map(|schema| Arc::new(renamed_schema(schema.clone(), own)).into());
        }
    }

    /// Adapts the schema of its answers, whose integers become texts.
    pub(crate) fn give_texts_for_integers(&mut self) {
        self.output_schema =
            self.output_schema.as_deref().map(|schema| numbers::schema_with_texts(schema).into());
    }

    /// Its name in a question: that of its entry, with its origin if that is informative. The name that a
    /// program calls it by could be worded by the program.
    pub(crate) fn asked_as(&self) -> String {
        match &self.source {
            Source::Server(target) if *target != self.name => format!("{} ({target})", self.name),
            _ => self.name.clone(),
        }
    }

    /// A call in the form for a question.
    pub(crate) fn asked(&self, arguments: &Data) -> (String, Data) {
        self.question(&self.arguments(arguments))
    }

    /// Asks for confirmation of a call; an error if it must not be made.
    fn ask(&self, name: &str, given: &Data, limits: &CallLimits, until: Instant) -> Result<(), Failure> {
        let Some(ask) = &limits.ask else { return Err(consent::refused(name, consent::NOBODY)) };
        let interrupt = limits.interrupt.or(&limits.cancel);
        let (whole, shown) = self.question(given);
        let question = Question {
            tool: &whole,
            arguments: &shown,
            foreseen: &limits.foreseen,
            deadline: until,
            interrupt: &interrupt,
        };
        // What a question raises is not for the program. The hook of the process has shown it.
        let asked = catch_unwind(AssertUnwindSafe(|| ask.ask(&question)));
        let consent = asked.unwrap_or_else(|_| Consent::Refused(consent::NOT_ASKED.to_owned()));
        consent::consented(consent, name, until, interrupt.is_set())
    }

    /// The name and the arguments in a question about a call. A program may have got a secret of another tool
    /// in an answer.
    pub(crate) fn question(&self, given: &Data) -> (String, Data) {
        let mut shown = given.clone();
        secrets::hide_of_all(&mut shown);
        (self.asked_as(), shown)
    }

    /// Calls the tool: after a person has confirmed the call, if its policy requires that, and again if the
    /// call fails and may be repeated. A tool without a provider has no answer.
    pub(crate) fn call(
        &self,
        name: &str,
        arguments: &Data,
        limits: &CallLimits,
        until: Instant,
    ) -> Option<Result<Data, Failure>> {
        let provider = self.provider.as_ref()?;
        let arguments = self.arguments(arguments);
        if self.policy.confirm
            && !limits.confirmed
            && let Err(failure) = self.ask(name, &arguments, limits, until)
        {
            return Some(Err(failure));
        }
        let mut retry = 0;
        loop {
            let result = self.call_once(name, provider.as_ref(), &arguments, limits, until);
            let again = matches!(&result, Err(failure) if self.policy.retries(failure, retry))
                && policy::pause(retry, until, &limits.interrupt.or(&limits.cancel));
            if !again {
                return Some(result);
            }
            retry += 1;
        }
    }

    /// Calls it once. A call that exceeds its own time limit is a failure, unless the time of the run is over
    /// as well.
    fn call_once(
        &self,
        name: &str,
        provider: &dyn Provider,
        arguments: &Data,
        limits: &CallLimits,
        until: Instant,
    ) -> Result<Data, Failure> {
        let times = self.times(limits, until);
        let deadline = times.deadline;
        if let Some(rate) = self.policy.rate {
            self.limiter.wait(rate, name, deadline, &limits.interrupt)?;
        }
        let request = self.request(arguments, limits, deadline);
        let result = catch_unwind(AssertUnwindSafe(|| provider.call(&request)))
            .unwrap_or_else(|payload| Err(outcome::panicked(name, payload.as_ref())));
        let ended = limits.interrupt.is_set() || limits.cancel.is_set();
        self.taken(outcome::held(result, name, times, ended), limits)
    }

    /// The value of an answer: that of its text, if the policy says so, or its schema, as for servers that
    /// give no structured content.
    pub(crate) fn taken(&self, result: Result<Data, Failure>, limits: &CallLimits) -> Result<Data, Failure> {
        let is_structure = || {
            let kind = self.output_schema.as_ref().and_then(|schema| schema.get("type")?.as_text());
            matches!(kind, Some("object" | "array"))
        };
        match result {
            Ok(value @ Data::Text(_)) if self.policy.json || is_structure() => {
                from_json(value, limits, self.policy.integers_as_text)
            }
            result => result,
        }
    }

    /// A call with these arguments.
    pub(crate) fn request<'c>(
        &'c self,
        arguments: &'c Data,
        limits: &'c CallLimits,
        deadline: Instant,
    ) -> Request<'c> {
        Request {
            tool: &self.name,
            arguments,
            deadline,
            bounds: limits.bounds,
            bytes: self.policy.bytes,
            integers_as_text: self.policy.integers_as_text,
            read_only: self.policy.read_only,
            interrupt: &limits.interrupt,
            cancel: &limits.cancel,
            cancel_grace: self.policy.cancel_grace.filter(|_| !self.policy.read_only),
            mark: &limits.mark,
            key: limits.key.as_deref(),
            span: limits.span,
        }
    }

    /// The limits of one attempt that begins now.
    pub(crate) fn times(&self, limits: &CallLimits, until: Instant) -> outcome::Times {
        let allowed = self.policy.timeout.unwrap_or(limits.timeout);
        let deadline = Instant::now().checked_add(allowed).map_or(until, |own| own.min(until));
        outcome::Times { allowed, deadline, until }
    }

    /// The arguments with the names of the provider.
    pub(crate) fn arguments<'d>(&self, arguments: &'d Data) -> Cow<'d, Data> {
        let Data::Record(fields) = arguments else { return Cow::Borrowed(arguments) };
        if self.renames.is_empty() {
            return Cow::Borrowed(arguments);
        }
        let theirs =
            |name: &str| self.renames.iter().find(|(own, _)| own == name).map(|(_, theirs)| theirs.clone());
        let fields =
            fields.iter().map(|(name, value)| (theirs(name).unwrap_or_else(|| name.clone()), value.clone()));
        Cow::Owned(Data::Record(fields.collect()))
    }
}

/// The value of a text that is JSON; any other value as it is.
fn from_json(mut value: Data, limits: &CallLimits, integers_as_text: bool) -> Result<Data, Failure> {
    let Data::Text(text) = &mut value else { return Ok(value) };
    match numbers::read_answer(text.as_bytes(), &limits.bounds, integers_as_text) {
        Ok(value) => Ok(value),
        Err(error) => self::limits::exceeded(&error.kind).map_or(Ok(value), Err),
    }
}

/// A schema of arguments with the arguments renamed.
fn renamed_schema<'n>(mut schema: Data, own: impl Fn(&str) -> Option<&'n str>) -> Data {
    let rename = |name: &mut String| {
        if let Some(own) = own(name) {
            own.clone_into(name);
        }
    };
    let Data::Record(fields) = &mut schema else { return schema };
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("properties", Data::Record(properties)) => {
                properties.iter_mut().for_each(|(name, _)| rename(name));
            }
            ("required", Data::List(names)) => names.iter_mut().for_each(|name| {
                if let Data::Text(name) = name {
                    rename(name);
                }
            }),
            _ => {}
        }
    }
    schema
}

/// The limits on a call.
#[derive(Clone, Debug)]
pub struct CallLimits {
    /// The default time limit of a call.
    pub timeout: Duration,
    /// The size of an answer.
    pub bounds: Bounds,
    /// The interrupt that ends a call early.
    pub interrupt: Interrupt,
    /// Interrupts the question before a call and the retries, but not a call that has begun.
    pub cancel: Interrupt,
    /// Asks a person if a tool requires confirmation; without it such a call is refused.
    pub ask: Option<Arc<dyn Ask>>,
    /// The later calls that a question lists.
    pub foreseen: Arc<[(String, Data)]>,
    /// The mark that started programs get. When its last clone is dropped, marked programs that still run are
    /// ended.
    pub mark: Mark,
    /// The idempotency key of the call, which the tool gets with each attempt.
    pub key: Option<String>,
    /// The trace context of the call, which the tool gets.
    pub span: Option<Context>,
    /// Whether a person has already allowed the call, so that nobody is asked.
    pub confirmed: bool,
}

impl Default for CallLimits {
    fn default() -> CallLimits {
        CallLimits {
            timeout: Duration::from_millis(DEFAULT_CALL_MS),
            bounds: Bounds::default(),
            interrupt: Interrupt::default(),
            cancel: Interrupt::default(),
            ask: None,
            foreseen: Arc::default(),
            mark: Mark::default(),
            key: None,
            span: None,
            confirmed: false,
        }
    }
}
