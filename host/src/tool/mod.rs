//! A tool: who answers its calls, how it may be called, and the limits that each call is held to.
//!
//! A host adds its own kind of tool through [`Provider`]. Nothing here knows where tools come from, or
//! programs.

pub mod consent;
pub(crate) mod policy;
pub mod process_mark;

pub use policy::Policy;

use crate::data::Data;
use crate::data::read::Bounds;
use crate::interrupt::Interrupt;
use crate::problem::{Problem, shortened};
use consent::{Ask, Consent, Question};
use ilo_asm::catalog;
use ilo_spec::error::Code;
use ilo_spec::limits;
use process_mark::Mark;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// One call that a provider answers.
#[derive(Clone, Copy, Debug)]
pub struct Request<'c> {
    /// The name of the tool as the table has it.
    pub tool: &'c str,
    /// The arguments: a record.
    pub arguments: &'c Data,
    /// When the answer must be there; a provider gives up then.
    pub deadline: Instant,
    /// How large the answer may be.
    pub bounds: Bounds,
    /// Whether the bytes of images and the like are wanted with it.
    pub bytes: bool,
    /// Asked for while a provider waits; it gives up once it is set.
    pub interrupt: &'c Interrupt,
    /// What a program that is started bears.
    pub mark: &'c Mark,
}

/// Why a call has no value.
#[derive(Clone, Debug, PartialEq)]
pub enum Failure {
    /// The tool failed; the program can handle it. Normally a text.
    Failed(Data),
    /// The call may have been made: no answer came in time, or the connection was lost. The program can
    /// handle it; the message says what happened.
    InDoubt(String),
    /// The deadline passed.
    TimedOut,
    /// The run was interrupted from outside.
    Interrupted,
    /// The answer passed a limit: a fault that no program can handle.
    Limit(Code, String),
}

impl Failure {
    /// A failure with a message.
    pub fn text(message: impl Into<String>) -> Failure {
        Failure::Failed(Data::Text(message.into()))
    }
}

/// Answers calls of a tool.
pub trait Provider: Send + Sync {
    /// Answers one call.
    ///
    /// # Errors
    /// The tool's failure, or the limit that was met.
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure>;

    /// Whether calls of it, where its tool is read-only, may be under way at once and begin in any order.
    /// A call that nobody waits for any more is interrupted through its request; the run ends only when it
    /// has ended.
    fn may_run_ahead(&self) -> bool {
        true
    }
}

/// A function of the host's answers by itself.
impl<F> Provider for F
where
    F: Fn(&Request<'_>) -> Result<Data, Failure> + Send + Sync,
{
    fn call(&self, request: &Request<'_>) -> Result<Data, Failure> {
        self(request)
    }
}

/// Where a tool comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Fixed answers.
    Mock,
    /// A program, by its command line.
    Command(String),
    /// A tool of an MCP server, as `mcp://server/tool`.
    Server(String),
    /// The program that embeds this library.
    Host,
}

impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Mock => f.write_str("mock"),
            Source::Command(line) => write!(f, "command: {}", shortened(line, 80)),
            Source::Server(name) => f.write_str(name),
            Source::Host => f.write_str("host"),
        }
    }
}

/// A tool of the table.
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it does, for people and models.
    pub description: Option<String>,
    /// The JSON Schema of its arguments.
    pub input_schema: Option<Arc<Data>>,
    /// The JSON Schema of its answer.
    pub output_schema: Option<Arc<Data>>,
    /// Whether its answers are held against their schema. If not, programs do not rely on their types.
    pub validate: bool,
    /// How it may be called.
    pub policy: Policy,
    /// Where it comes from.
    pub source: Source,
    /// Its arguments' names here and on its server, where they differ.
    pub(crate) renames: Vec<(String, String)>,
    /// What it lacks to be called, such as its program; this is in the way only of programs that call it.
    pub(crate) lacks: Vec<Problem>,
    /// Who answers; a server's tool has none before its server is started.
    pub(crate) provider: Option<Arc<dyn Provider>>,
}

/// The schemas of a tool, which the catalogue reads when a program names it.
struct Described {
    input: Option<Arc<Data>>,
    output: Option<Arc<Data>>,
}

impl catalog::Schemas for Described {
    fn schemas(&self) -> (Option<Cow<'_, Value>>, Option<Cow<'_, Value>>) {
        // A schema was read as JSON, so it can be written as such.
        let json = |schema: &Option<Arc<Data>>| {
            let schema = schema.as_ref()?;
            serde_json::from_str(&schema.to_json()).ok().map(Cow::Owned)
        };
        (json(&self.input), json(&self.output))
    }
}

impl std::fmt::Debug for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tool").field("name", &self.name).field("source", &self.source).finish_non_exhaustive()
    }
}

impl Tool {
    /// A tool of the host's own.
    pub fn new(name: impl Into<String>, provider: Box<dyn Provider>) -> Tool {
        Tool::of(name.into(), Source::Host, Some(provider))
    }

    /// What programs are checked against.
    pub(crate) fn signature(&self) -> catalog::Tool {
        let schemas = Described { input: self.input_schema.clone(), output: self.output_schema.clone() };
        let mut tool = catalog::Tool::with_schemas(&self.name, self.description.clone(), Arc::new(schemas));
        tool.requires_rollback = self.policy.requires_rollback;
        if self.validate { tool } else { tool.not_validated() }
    }

    pub(crate) fn of(name: String, source: Source, provider: Option<Box<dyn Provider>>) -> Tool {
        Tool {
            name,
            description: None,
            input_schema: None,
            output_schema: None,
            validate: true,
            policy: Policy::default(),
            source,
            renames: Vec::new(),
            lacks: Vec::new(),
            provider: provider.map(Arc::from),
        }
    }

    /// Becomes another name of a server's tool: what this entry does not say itself is as that tool says.
    pub(crate) fn take_from(&mut self, found: &Tool) {
        self.provider.clone_from(&found.provider);
        if self.description.is_none() {
            self.description.clone_from(&found.description);
        }
        if self.output_schema.is_none() {
            self.output_schema.clone_from(&found.output_schema);
        }
        if self.input_schema.is_none() {
            let own = |name: &str| {
                self.renames.iter().find(|(_, theirs)| theirs == name).map(|(own, _)| own.as_str())
            };
            self.input_schema =
                found.input_schema.as_deref().map(|schema| Arc::new(renamed_schema(schema.clone(), own)));
        }
    }

    /// Asks for a call; an error where it must not be made.
    fn ask(&self, name: &str, given: &Data, limits: &CallLimits, until: Instant) -> Result<(), Failure> {
        let whole = match &self.source {
            Source::Server(target) if target != name => format!("{name} ({target})"),
            _ => name.to_owned(),
        };
        let refused = |why: &str| {
            let name = shortened(name, 200);
            Err(Failure::text(format!(
                "tool `{name}` was not called: it needs a confirmation (`confirm`), and {why}"
            )))
        };
        let Some(ask) = &limits.ask else { return refused("there is nobody to ask") };
        let interrupt = limits.interrupt.or(&limits.cancel);
        let question = Question { tool: &whole, arguments: given, deadline: until, interrupt: &interrupt };
        match ask.ask(&question) {
            Consent::Given => Ok(()),
            Consent::Refused(why) => refused(&why),
            Consent::TimedOut => Err(Failure::TimedOut),
            Consent::Interrupted => Err(Failure::Interrupted),
        }
    }

    /// Calls it, once a person has said so where its policy wants that, and again where it fails and may be
    /// called again. A tool without a provider has no answer.
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
            && let Err(failure) = self.ask(name, &arguments, limits, until)
        {
            return Some(Err(failure));
        }
        let mut retry = 0;
        loop {
            let result = self.call_once(name, provider.as_ref(), &arguments, limits, until);
            let again = matches!(result, Err(Failure::Failed(_) | Failure::InDoubt(_)))
                && self.policy.idempotent
                && retry < self.policy.retries
                && policy::pause(retry, until, &limits.interrupt.or(&limits.cancel));
            if !again {
                return Some(result);
            }
            retry += 1;
        }
    }

    /// Calls it once. What takes longer than its own time is a failure, unless the run's time is over as
    /// well.
    fn call_once(
        &self,
        name: &str,
        provider: &dyn Provider,
        arguments: &Data,
        limits: &CallLimits,
        until: Instant,
    ) -> Result<Data, Failure> {
        let allowed = self.policy.timeout.unwrap_or(limits.timeout);
        let deadline = Instant::now().checked_add(allowed).map_or(until, |own| own.min(until));
        let request = Request {
            tool: &self.name,
            arguments,
            deadline,
            bounds: limits.bounds,
            bytes: self.policy.bytes,
            interrupt: &limits.interrupt,
            mark: &limits.mark,
        };
        match provider.call(&request) {
            Err(Failure::TimedOut) if Instant::now() < until => {
                let limit = allowed.as_millis();
                Err(Failure::InDoubt(format!("tool `{name}` took longer than its limit of {limit} ms")))
            }
            result => result,
        }
    }

    /// The arguments under the names that the provider knows.
    fn arguments<'d>(&self, arguments: &'d Data) -> Cow<'d, Data> {
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

/// A schema of arguments with other names for them; a name without another stays.
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

/// How long a call may take and how large its answer may be.
#[derive(Clone, Debug)]
pub struct CallLimits {
    /// The time of a call whose tool says nothing else.
    pub timeout: Duration,
    /// The size of an answer.
    pub bounds: Bounds,
    /// What ends a call before its time.
    pub interrupt: Interrupt,
    /// What ends the question before a call, and the retries, but not a call under way.
    pub cancel: Interrupt,
    /// Who asks a person, where a tool wants it; without one such a call is refused.
    pub ask: Option<Arc<dyn Ask>>,
    /// What programs that are started bear: those that are left of them end once nobody holds it.
    pub mark: Mark,
}

impl Default for CallLimits {
    fn default() -> CallLimits {
        CallLimits {
            timeout: Duration::from_millis(limits::DEFAULT_CALL_MS),
            bounds: Bounds::default(),
            interrupt: Interrupt::default(),
            cancel: Interrupt::default(),
            ask: None,
            mark: Mark::default(),
        }
    }
}
