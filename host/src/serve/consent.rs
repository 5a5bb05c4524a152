//! Asks the person at the client: the run waits on its thread while the code that serves the request sends
//! the question to the client.
//!
//! In the older protocol the question is a request to the client (elicitation). In the newer one the server
//! returns the questions as the result of the call, and the client sends the call again with the answers; the
//! run waits in the meantime (`waiting`).

use super::slots::Slot;
use crate::tools::consent::{Ask, Consent, Question, arguments_shown, tool_shown};
use ilo_drive::data::Data;
use ilo_drive::locked::locked;
use rmcp::RoleServer;
use rmcp::model::{
    BooleanSchema, ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction,
    ElicitationSchema, PrimitiveSchemaDefinition, ProtocolVersion, ServerRequest,
};
use rmcp::service::{Peer, PeerRequestOptions, RequestContext};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::oneshot;
use tokio::time::sleep;

/// The maximum size of a question: nobody reads a longer one in a dialog.
const LONGEST: usize = 64 << 10;
/// The maximum total size of the questions about later calls.
const TOGETHER: usize = 256 << 10;
/// The longest interval between checks for an interrupt.
const PAUSE: Duration = Duration::from_millis(20);
/// The additional time for which a run waits that is cancelled when its question expires.
const LATER: Duration = Duration::from_secs(5);
/// The message for an answer that refuses the call.
pub(super) const NO: &str = "the answer was no";
/// The name of the answer in the form.
const YES: &str = "call_it";

/// The end of the run of a channel to the code that serves its call.
#[derive(Debug)]
pub(super) struct QuestionLine {
    to: UnboundedSender<Questions>,
    slot: Arc<Slot>,
    /// How long a question may be open.
    longest: Duration,
    /// Whether later calls are asked about too.
    at_once: bool,
    /// Answers to questions about calls that the run has not reached yet, by question.
    early: Mutex<HashMap<String, VecDeque<Consent>>>,
}

/// Questions with the channel for their answers. The run waits for the first; the others are about calls that
/// will probably follow.
#[derive(Debug)]
pub(super) struct Questions {
    messages: Vec<String>,
    answers: SyncSender<Vec<Consent>>,
    /// Completes when the run no longer waits.
    over: oneshot::Receiver<()>,
}

impl QuestionLine {
    pub(super) fn new(
        to: UnboundedSender<Questions>,
        slot: Arc<Slot>,
        longest: Duration,
        at_once: bool,
    ) -> QuestionLine {
        // If the run is kept, it is cancelled first.
        let longest = if at_once { longest + LATER } else { longest };
        QuestionLine { to, slot, longest, at_once, early: Mutex::default() }
    }

    /// Asks, and waits without a slot.
    fn put(&self, messages: &[String], question: &Question<'_>) -> Consent {
        let waiting = self.slot.without(|| {
            let (answers, answered) = sync_channel(1);
            let (_open, over) = oneshot::channel();
            if self.to.send(Questions { messages: messages.to_vec(), answers, over }).is_err() {
                return Err(gone());
            }
            wait(&answered, question, Instant::now() + self.longest)
        });
        let consent = match waiting {
            None => return Consent::Refused("too many questions wait for an answer".to_owned()),
            Some(Err(consent)) => consent,
            Some(Ok(answers)) => {
                let mut answers = messages.iter().zip(answers);
                let first = answers.next().map(|(_, consent)| consent);
                let mut early = locked(&self.early);
                for (message, consent) in answers {
                    early.entry(message.clone()).or_default().push_back(consent);
                }
                first.unwrap_or_else(gone)
            }
        };
        let is_over = || question.interrupt.is_set() || Instant::now() >= question.deadline;
        if self.slot.again(is_over) {
            consent
        } else if question.interrupt.is_set() {
            Consent::Interrupted
        } else {
            Consent::TimedOut
        }
    }
}

impl Ask for QuestionLine {
    fn ask(&self, question: &Question<'_>) -> Consent {
        let message = match asking(question.tool, question.arguments) {
            Ok(message) => message,
            Err(size) => {
                return Consent::Refused(format!("its arguments are too long to ask about ({size} bytes)"));
            }
        };
        if let Some(consent) = locked(&self.early).get_mut(&message).and_then(VecDeque::pop_front) {
            return consent;
        }
        let mut left = TOGETHER;
        let follow = question.foreseen.iter().map_while(|(tool, arguments)| {
            let message = asking(tool, arguments).ok()?;
            left = left.checked_sub(message.len())?;
            Some(message)
        });
        let messages: Vec<String> = std::iter::once(message).chain(follow).collect();
        self.put(&messages, question)
    }

    fn asks_at_once(&self) -> bool {
        self.at_once
    }
}

/// A question, or the size of arguments that are too long for one.
pub(super) fn asking(tool: &str, arguments: &Data) -> Result<String, usize> {
    let arguments = arguments_shown(arguments);
    if arguments.len() > LONGEST {
        return Err(arguments.len());
    }
    Ok(format!("May `{}` be called? Its arguments:\n{arguments}", tool_shown(tool)))
}

fn gone() -> Consent {
    Consent::Refused("the client has gone".to_owned())
}

fn wait(
    answered: &Receiver<Vec<Consent>>,
    question: &Question<'_>,
    expires: Instant,
) -> Result<Vec<Consent>, Consent> {
    loop {
        let now = Instant::now();
        let left = question.deadline.min(expires).saturating_duration_since(now);
        match answered.recv_timeout(left.min(PAUSE)) {
            Ok(answers) => return Ok(answers),
            Err(RecvTimeoutError::Disconnected) => return Err(gone()),
            Err(RecvTimeoutError::Timeout) if question.interrupt.is_set() => {
                return Err(Consent::Interrupted);
            }
            Err(RecvTimeoutError::Timeout) if now >= question.deadline => return Err(Consent::TimedOut),
            Err(RecvTimeoutError::Timeout) if now >= expires => return Err(expired()),
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The result of a question that nobody answered.
pub(super) fn expired() -> Consent {
    Consent::Refused("nobody answered the question in time".to_owned())
}

/// How the person at a client can be asked.
pub(super) enum AskingWay {
    /// Not at all.
    None,
    /// By a request to the client.
    Request(Peer<RoleServer>),
    /// By answering the call with the question.
    Answer,
}

impl AskingWay {
    /// How the client of a request can be asked: only if it declares that it can show a form.
    pub(super) fn of(context: &RequestContext<RoleServer>) -> AskingWay {
        let offered = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        let forms = offered.is_some_and(|offered| offered.form.is_some() || offered.url.is_none());
        let newer =
            context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        match (forms, newer) {
            (false, _) => AskingWay::None,
            (true, false) => AskingWay::Request(context.peer.clone()),
            (true, true) => AskingWay::Answer,
        }
    }
}

impl Questions {
    /// The questions as requests of the protocol.
    pub(super) fn requests(&self) -> impl Iterator<Item = ElicitRequest> {
        self.messages.iter().cloned().map(form)
    }

    /// The number of questions.
    pub(super) fn count(&self) -> usize {
        self.messages.len()
    }

    /// Gives the run its answers, if it still waits.
    pub(super) fn answer(&self, consents: Vec<Consent>) {
        drop(self.answers.try_send(consents));
    }

    /// Refuses the call at which the run waits.
    pub(super) fn refuse(&self, why: impl Into<String>) {
        self.answer(vec![Consent::Refused(why.into())]);
    }

    /// Asks the first question by a request. It is withdrawn if nobody answers within this time, if the
    /// run no longer waits, or if its call is cancelled.
    pub(super) async fn put(
        mut self,
        peer: &Peer<RoleServer>,
        longest: Duration,
        cancelled: impl Future<Output = ()>,
    ) {
        let Some(request) = self.requests().next() else { return };
        let over = async {
            tokio::select! {
                _ = &mut self.over => "the run no longer waits",
                () = cancelled => "the call was cancelled",
            }
        };
        let consent = request_answer(request, peer, longest, over).await;
        self.answer(vec![consent]);
    }
}

/// A form with one box to tick.
pub(super) fn form(message: String) -> ElicitRequest {
    let yes = PrimitiveSchemaDefinition::Boolean(BooleanSchema::new());
    let mut schema = ElicitationSchema::new(BTreeMap::from([(YES.to_owned(), yes)]));
    schema.required = Some(vec![YES.to_owned()]);
    form_of(message, schema)
}

pub(super) fn form_of(message: String, requested_schema: ElicitationSchema) -> ElicitRequest {
    ElicitRequest::new(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema })
}

/// Asks whether a call may be made, by a request.
pub(super) async fn put(
    message: String,
    peer: &Peer<RoleServer>,
    longest: Duration,
    cancelled: impl Future<Output = ()>,
) -> Consent {
    let over = async {
        cancelled.await;
        "the call was cancelled"
    };
    request_answer(form(message), peer, longest, over).await
}

/// Sends a question. It is withdrawn if nobody answers within this time, or if it is over before.
async fn request_answer(
    request: ElicitRequest,
    peer: &Peer<RoleServer>,
    longest: Duration,
    over: impl Future<Output = &'static str>,
) -> Consent {
    let request = ServerRequest::ElicitRequest(request);
    let mut sent = match peer.send_cancellable_request(request, PeerRequestOptions::no_options()).await {
        Ok(sent) => sent,
        Err(error) => return failed(&error.to_string()),
    };
    let answer = tokio::select! {
        answer = &mut sent.rx => Ok(answer),
        () = sleep(longest) => Err("nobody answered in time"),
        why = over => Err(why),
    };
    match answer {
        Ok(Ok(Ok(ClientResult::ElicitResult(result)))) => understood(&result),
        Ok(Ok(Ok(_))) => failed("its answer is not an answer to a question"),
        Ok(Ok(Err(error))) => failed(&error.to_string()),
        Ok(Err(_)) => gone(),
        Err(why) => {
            drop(sent.cancel(Some(why.to_owned())).await);
            expired()
        }
    }
}

fn failed(why: &str) -> Consent {
    Consent::Refused(format!("the client could not ask: {}", ilo_drive::problem::shortened(why, 200)))
}

/// Whether the box of a form is ticked; nothing if the answer has no such box.
pub(super) fn ticked(result: &ElicitResult) -> Option<bool> {
    result.content.as_ref()?.get(YES)?.as_bool()
}

/// The answer of a person.
pub(super) fn understood(result: &ElicitResult) -> Consent {
    match (&result.action, ticked(result)) {
        (ElicitationAction::Accept, Some(true)) => Consent::Given,
        (ElicitationAction::Accept, None) => {
            Consent::Refused("nobody could be asked: the answer does not fit the form".to_owned())
        }
        (ElicitationAction::Cancel, _) => Consent::Refused("the question was put away unanswered".to_owned()),
        _ => Consent::Refused(NO.to_owned()),
    }
}
