//! Asking the person at the other end, through the client: the run waits on its thread while the code that
//! serves the request sends the question to the client.
//!
//! Clients of the older protocol are sent a request of their own (elicitation). In the newer one a server
//! sends none: the server returns the question as the result of the call. The client then sends the call
//! again with the answer; the run has waited in the meantime.

use crate::interrupt::Interrupt;
use crate::tools::consent::{Ask, Consent, Question};
use rmcp::RoleServer;
use rmcp::model::{
    BooleanSchema, CallToolResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, InputRequest, InputRequiredResult, InputResponses, PrimitiveSchemaDefinition,
    ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;
use tokio::task::JoinHandle;

/// Bytes of a question: what is longer nobody reads in a dialog.
const LONGEST: usize = 64 << 10;
/// The longest wait between two looks at whether the run was interrupted.
const PAUSE: Duration = Duration::from_millis(20);
/// The name of the answer in the form.
const YES: &str = "call_it";
/// The name of the question where a call is answered by it.
const QUESTION: &str = "consent";

/// The run's end of a line to whoever drives its call.
#[derive(Debug)]
pub(super) struct Line(pub(super) UnboundedSender<Asked>);

/// A question on its way, with where its answer goes.
#[derive(Debug)]
pub(super) struct Asked {
    message: String,
    answer: SyncSender<Consent>,
}

/// A run on its thread.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) task: JoinHandle<CallToolResult>,
    pub(super) questions: tokio::sync::mpsc::UnboundedReceiver<Asked>,
    pub(super) interrupt: Interrupt,
}

impl Ask for Line {
    fn ask(&self, question: &Question<'_>) -> Consent {
        let arguments = question.arguments_shown();
        if arguments.len() > LONGEST {
            let size = arguments.len();
            return Consent::Refused(format!("its arguments are too long to ask about ({size} bytes)"));
        }
        let message = format!("May `{}` be called? Its arguments:\n{arguments}", question.tool_shown());
        let (answer, answered) = sync_channel(1);
        if self.0.send(Asked { message, answer }).is_err() {
            return gone();
        }
        wait(&answered, question)
    }
}

fn gone() -> Consent {
    Consent::Refused("the client has gone".to_owned())
}

fn wait(answered: &Receiver<Consent>, question: &Question<'_>) -> Consent {
    loop {
        let left = question.deadline.saturating_duration_since(Instant::now());
        match answered.recv_timeout(left.min(PAUSE)) {
            Ok(consent) => return consent,
            Err(RecvTimeoutError::Disconnected) => return gone(),
            Err(RecvTimeoutError::Timeout) if question.interrupt.is_set() => return Consent::Interrupted,
            Err(RecvTimeoutError::Timeout) if left.is_zero() => return Consent::TimedOut,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// How a client's person can be asked.
pub(super) enum Way {
    /// Not at all.
    None,
    /// By a request to the client.
    Request(Peer<RoleServer>),
    /// By answering the call with the question.
    Answer,
}

impl Way {
    /// How the client of a request can be asked: only where it says that it can show a form.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> Way {
        let offered = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        let forms = offered.is_some_and(|offered| offered.form.is_some() || offered.url.is_none());
        let newer =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        match (forms, newer) {
            (false, _) => Way::None,
            (true, false) => Way::Request(context.peer.clone()),
            (true, true) => Way::Answer,
        }
    }
}

impl Asked {
    fn form(&self) -> ElicitRequestParams {
        let yes = PrimitiveSchemaDefinition::Boolean(BooleanSchema::new());
        let mut schema = ElicitationSchema::new(BTreeMap::from([(YES.to_owned(), yes)]));
        schema.required = Some(vec![YES.to_owned()]);
        ElicitRequestParams::FormElicitationParams {
            meta: None,
            message: self.message.clone(),
            requested_schema: schema,
        }
    }

    /// Gives the run its answer; a run that no longer waits needs none.
    pub(super) fn answer(&self, consent: Consent) {
        drop(self.answer.try_send(consent));
    }

    /// Asks by a request.
    pub(super) async fn put(&self, peer: &Peer<RoleServer>) -> Consent {
        match peer.create_elicitation(self.form()).await {
            Ok(result) => understood(&result),
            Err(error) => {
                let why = crate::problem::shortened(&error.to_string(), 200);
                Consent::Refused(format!("the client could not ask: {why}"))
            }
        }
    }
}

fn understood(result: &ElicitResult) -> Consent {
    let yes =
        result.content.as_ref().and_then(|content| content.get(YES)).and_then(serde_json::Value::as_bool);
    match (&result.action, yes) {
        (ElicitationAction::Accept, Some(true)) => Consent::Given,
        (ElicitationAction::Cancel, _) => Consent::Refused("the question was put away unanswered".to_owned()),
        _ => Consent::Refused("the answer was no".to_owned()),
    }
}

/// Runs whose question is with the client, by a name that nobody else can guess.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    runs: Mutex<HashMap<String, (Running, Asked)>>,
    secrets: [RandomState; 2],
}

impl Waiting {
    /// Keeps a run until its question is answered, and gives the question as an answer to the call.
    pub(super) fn keep(&self, running: Running, asked: Asked) -> InputRequiredResult {
        let request = InputRequest::Elicitation(ElicitRequest::new(asked.form()));
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner);
        runs.retain(|_, (running, _)| !running.task.is_finished());
        let mut name = String::new();
        for secret in &self.secrets {
            // Writing to a string does not fail.
            let _ = write!(name, "{:016x}", secret.hash_one((running.task.id(), runs.len(), Instant::now())));
        }
        runs.insert(name.clone(), (running, asked));
        InputRequiredResult::new(Some(BTreeMap::from([(QUESTION.to_owned(), request)])), Some(name))
    }

    /// Takes a run back and gives it the client's answer.
    pub(super) fn resume(&self, name: &str, responses: Option<InputResponses>) -> Option<Running> {
        let kept = self.runs.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        let (running, asked) = kept?;
        let response = responses.and_then(|mut responses| responses.remove(QUESTION));
        let result = response.and_then(|response| serde_json::from_value::<ElicitResult>(response).ok());
        let consent = result.as_ref().map(understood);
        asked.answer(consent.unwrap_or_else(|| Consent::Refused("the client gave no answer".to_owned())));
        Some(running)
    }
}
