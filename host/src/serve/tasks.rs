//! Runs of a journal as MCP tasks: their names, their state for clients, and decisions of people through
//! clients.
//!
//! The name of a task consists of the number of its run, the kind of tool that started it, and an unguessable
//! text. So a server needs no memory to find it again. A task belongs to the owner of the request that
//! started it, whose name is in the journal; for others there is no such task.

use super::answer::{self, Prepared, RunTool};
use super::bound::Bound;
use super::consent::{self, AskingWay};
use super::durable::{Call, Keeping, NewRun, Now, Seen, Verdict};
use super::progress::{Progress, Watch};
use super::sender::{Sender, Subject};
use super::{Session, answer::Long, busy, cancelled, ended, sender_of};
use crate::tools::consent::Consent;
use ilo_vm::calendar::to_millisecond;
use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, CallToolResult, CreateTaskResult, DetailedTask, ElicitRequest, ElicitResult,
    ElicitationAction, ElicitationSchema, EnumSchema, ErrorData, InputRequest, InputRequiredResult,
    InputResponses, PrimitiveSchemaDefinition, StringSchema, Task, TaskPayload, TaskStatus,
};
use rmcp::service::RequestContext;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::spawn_blocking;

/// The polling interval for clients, in milliseconds.
const POLL: u64 = 1_000;
/// The most runs of one owner that have not ended.
const UNFINISHED: usize = 1_000;
/// The prefix of the state that a client sends back with its answers.
const STATE: &str = "run:";

/// An error with the run that it is about.
pub(super) fn of_run(run: u64, error: &str) -> String {
    format!("run {run}: {error}")
}

fn broken(error: String) -> ErrorData {
    ErrorData::internal_error(error, None)
}

/// What is said of a task that there is not, or that is another subject's.
fn none() -> ErrorData {
    ErrorData::invalid_params("there is no such task; it may have been removed", None)
}

/// The owner that a request has, if subjects are known.
fn owner_of(sender: Option<&Sender>) -> Option<String> {
    sender.and_then(|sender| sender.subject.as_ref()).map(Subject::owner)
}

/// A run that a client knows.
#[derive(Clone, Copy)]
pub(super) struct KnownRun {
    run: u64,
    kind: RunTool,
    /// Whether it is the client's own; otherwise the client may only decide on its calls.
    own: bool,
}

impl KnownRun {
    /// The text that names it.
    fn name(self, keeping: &Keeping) -> Result<String, ErrorData> {
        let handle = keeping.durable.handle(self.run, self.kind.word()).map_err(broken)?;
        let handle = handle.ok_or_else(|| broken(of_run(self.run, "it is gone")))?;
        Ok(format!("{}-{}-{handle}", self.run, self.kind.word()))
    }

    /// The run of a name, if the sender of a request has a right to it.
    fn of(keeping: &Keeping, name: &str, sender: Option<&Sender>) -> Result<KnownRun, ErrorData> {
        let mut parts = name.splitn(3, '-');
        let run = parts.next().and_then(|run| run.parse().ok()).ok_or_else(none)?;
        let kind = parts.next().and_then(RunTool::of).ok_or_else(none)?;
        let handle = keeping.durable.handle(run, kind.word()).map_err(broken)?;
        if handle.is_none() || handle.as_deref() != parts.next() {
            return Err(none());
        }
        let owner = keeping.durable.owner(run).map_err(broken)?;
        let own = owner == owner_of(sender);
        // A run without an owner is for the command line.
        if own || (owner.is_some() && sender.is_some_and(|sender| sender.decides)) {
            Ok(KnownRun { run, kind, own })
        } else {
            Err(none())
        }
    }

    /// The run, if it is the client's own.
    fn own(self) -> Result<KnownRun, ErrorData> {
        if self.own { Ok(self) } else { Err(none()) }
    }
}

/// What the state of a question has to show that it is for this call.
fn seal(keeping: &Keeping, known: KnownRun, bound: &Bound) -> Result<String, ErrorData> {
    let sealed = keeping.durable.handle(known.run, &bound.text()).map_err(broken)?;
    sealed.ok_or_else(|| broken(of_run(known.run, "it is gone")))
}

/// The state of a run for a client.
fn task(keeping: &Keeping, known: KnownRun, name: String, seen: Seen) -> DetailedTask {
    let time = |milliseconds: u64| to_millisecond(i64::try_from(milliseconds).unwrap_or(i64::MAX));
    let mut task = Task::new(name, TaskStatus::Working, time(seen.started), time(seen.since));
    task.poll_interval_ms = Some(POLL);
    let payload = match seen.now {
        Now::Works(text) => {
            task.status_message = Some(keeping.doing(known.run).unwrap_or(text));
            TaskPayload::Working
        }
        Now::Asks(call) => {
            task.status_message = Some(question(&call));
            TaskPayload::InputRequired { input_requests: requests(&call, seen.since) }
        }
        Now::Ended(outcome) => match answer::told(known.kind, known.run, &outcome) {
            Some(result) => match serde_json::to_value(result) {
                Ok(Value::Object(result)) => TaskPayload::Completed { result },
                _ => TaskPayload::Cancelled,
            },
            None => {
                task.status_message = Some(outcome);
                TaskPayload::Cancelled
            }
        },
    };
    DetailedTask::new(task, payload)
}

/// A question to a person.
fn question(call: &Call) -> String {
    match consent::asking(&call.tool, &call.arguments) {
        Ok(text) if call.in_doubt => {
            format!("Nobody knows whether this call was made; find out first. {text}")
        }
        Ok(text) => text,
        Err(size) => format!("`{}` needs a decision; its arguments have {size} bytes", call.tool),
    }
}

/// The name of a question. It belongs to one call in its current state, so that a late answer cannot decide
/// anything else.
fn question_name(call: &Call, since: u64) -> String {
    format!("{}-{}-{since}", if call.in_doubt { "doubt" } else { "ask" }, call.number)
}

fn requests(call: &Call, since: u64) -> BTreeMap<String, InputRequest> {
    let request = if call.in_doubt { doubt_form(question(call)) } else { consent::form(question(call)) };
    BTreeMap::from([(question_name(call, since), InputRequest::Elicitation(request))])
}

/// The form for a call in doubt.
fn doubt_form(message: String) -> ElicitRequest {
    let words = ["not-made", "made", "failed"].map(str::to_owned).to_vec();
    let was = EnumSchema::builder(words).build();
    let mut value = StringSchema::new();
    value.description = Some("if it was made: its value as JSON; if it failed: why".into());
    let mut schema = ElicitationSchema::new(BTreeMap::from([
        ("was".to_owned(), PrimitiveSchemaDefinition::Enum(was)),
        ("value".to_owned(), PrimitiveSchemaDefinition::String(value)),
    ]));
    schema.required = Some(vec!["was".to_owned()]);
    consent::form_of(message, schema)
}

/// The decision of a person, if there is one.
fn verdict(call: &Call, response: Value) -> Result<Option<Verdict>, ErrorData> {
    let bad = |why: &str| ErrorData::invalid_params(why.to_owned(), None);
    let result: ElicitResult = serde_json::from_value(response).map_err(|error| bad(&error.to_string()))?;
    if !call.in_doubt {
        if result.action == ElicitationAction::Accept && consent::ticked(&result).is_none() {
            return Err(bad("expected `call_it` to be true or false"));
        }
        return Ok(match consent::understood(&result) {
            Consent::Given => Some(Verdict::Make),
            // A dismissed question stays open.
            _ if result.action == ElicitationAction::Cancel => None,
            _ => Some(Verdict::Deny),
        });
    }
    if result.action != ElicitationAction::Accept {
        return Ok(None);
    }
    let field = |name: &str| match result.content.as_ref().and_then(|content| content.get(name)) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(bad(&format!("expected `{name}` to be a text"))),
    };
    let value = field("value")?.unwrap_or_default();
    Ok(Some(match field("was")?.as_deref() {
        Some("not-made") => Verdict::Make,
        Some("made") => Verdict::Made(if value.is_empty() { "null".to_owned() } else { value }),
        Some("failed") => Verdict::Failed(value),
        _ => return Err(bad("expected `was` to be \"not-made\", \"made\" or \"failed\"")),
    }))
}

/// Records the answers to the open questions; other answers are ignored.
fn take(
    keeping: &Keeping,
    known: KnownRun,
    mut responses: InputResponses,
    who: Option<&str>,
) -> Result<(), ErrorData> {
    let seen = keeping.durable.seen(known.run).map_err(broken)?;
    let Some(Seen { now: Now::Asks(call), since, .. }) = seen else { return Ok(()) };
    let Some(response) = responses.remove(&question_name(&call, since)) else { return Ok(()) };
    let Some(verdict) = verdict(&call, response)? else { return Ok(()) };
    let refused = |error: String| ErrorData::invalid_params(error, None);
    keeping.decide(known.run, call.number, &verdict, who).map_err(refused)
}

/// The answer for a client without tasks, whose run waits for something that it cannot decide.
fn waits(known: KnownRun, seen: &Seen) -> CallToolResult {
    let why = match &seen.now {
        Now::Works(text) => text.clone(),
        Now::Asks(call) if call.in_doubt => format!("call {} of `{}` is in doubt", call.number, call.tool),
        Now::Asks(call) => format!("call {} of `{}` needs approval", call.number, call.tool),
        Now::Ended(_) => "it has ended".to_owned(),
    };
    let text = format!(
        "run {} waits in the journal: {why}; `ilo-vm runs show {}` says what to do next",
        known.run, known.run
    );
    let mut result = CallToolResult::structured_error(
        json!({"status": "suspended", "run": known.run, "why": why, "problems": [text]}),
    );
    if known.kind == RunTool::Function {
        result = answer::failed(&text);
    }
    result
}

impl Session {
    fn keeping(&self) -> Result<Arc<Keeping>, ErrorData> {
        let none = || ErrorData::invalid_params("this server has no journal", None);
        self.shared.keeping.clone().ok_or_else(none)
    }

    /// Starts a run in the journal, and answers with a task, or with the result when the run has ended.
    pub(super) async fn keep(
        &self,
        work: Long,
        keeping: Arc<Keeping>,
        bound: Bound,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let owner = owner_of(sender_of(&context));
        if let Some(owner) = &owner
            && keeping.durable.unfinished(owner).map_err(broken)? >= UNFINISHED
        {
            let why =
                format!("{UNFINISHED} runs of this subject have not ended; decide on them or cancel them");
            return Err(broken(why));
        }
        let slot = tokio::select! {
            () = context.ct.cancelled() => return Ok(cancelled()),
            slot = self.shared.slots.run(self.client(&context)) => slot.map_err(busy)?,
        };
        let progress = context.meta.get_progress_token();
        let (progress, _) = progress.map(|token| Progress::new(context.peer.clone(), token)).unzip();
        let (begun, has_begun) = oneshot::channel();
        let (stand, kept) = (self.shared.now(), Arc::clone(&keeping));
        let (kind, whose) = (work.kind(), owner.clone());
        let driving = spawn_blocking(move || {
            let most = stand.service.journal_of_client;
            let room = whose.as_ref().map_or(Ok(()), |owner| kept.has_room(owner, most));
            room.map_err(|why| Box::new(answer::refusal(kind, &why)))?;
            let Prepared { program, function, input, output, .. } = work.prepare(&stand.service)?;
            let (owner, output) = (whose.as_deref(), output.as_ref());
            let new = NewRun { program: &program, function, input: &input, owner, output };
            kept.start(&stand.service, &slot, &new, Watch::new(progress), begun).map_err(|error| {
                tracing::error!("a run: {error}");
                Box::new(answer::refusal(kind, &error))
            })
        });
        let Ok(run) = has_begun.await else {
            // It was not added to the journal; the thread reports the reason.
            return match driving.await {
                Ok(Ok(())) => Err(broken("the run was interrupted before its first call".to_owned())),
                Ok(Err(refused)) => Ok(CallToolResponse::Complete(*refused)),
                Err(error) => ended(Err(error)),
            };
        };
        let known = KnownRun { run, kind, own: true };
        if context.client_capabilities().is_some_and(|capabilities| capabilities.supports_tasks()) {
            let name = known.name(&keeping)?;
            return Ok(CallToolResponse::Task(CreateTaskResult::new(
                self.seen(&keeping, known, name).await?.task,
            )));
        }
        tokio::select! {
            driven = driving => {
                if let Ok(Err(error)) = driven {
                    return Ok(CallToolResponse::Complete(*error));
                }
            }
            () = context.ct.cancelled() => {
                keeping.cancel(run, owner.as_deref()).map_err(broken)?;
                return Ok(cancelled());
            }
        }
        self.without_tasks(known, &keeping, &bound, &context).await
    }

    /// The result of a run for a client without tasks: its outcome, or the question for which it waits.
    async fn without_tasks(
        &self,
        known: KnownRun,
        keeping: &Arc<Keeping>,
        bound: &Bound,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        loop {
            let seen = keeping.durable.seen(known.run).map_err(broken)?;
            let seen = self.named(seen.ok_or_else(|| broken(of_run(known.run, "it is gone")))?);
            let call = match (&seen.now, AskingWay::of(context)) {
                (Now::Ended(outcome), _) => {
                    let result = answer::told(known.kind, known.run, outcome);
                    return Ok(result.map_or_else(cancelled, CallToolResponse::Complete));
                }
                (Now::Asks(call), AskingWay::Answer) => {
                    let name = format!("{STATE}{}:{}", known.name(keeping)?, seal(keeping, known, bound)?);
                    let requests = requests(call, seen.since);
                    return Ok(InputRequiredResult::new(Some(requests), Some(name)).into());
                }
                (Now::Asks(call), AskingWay::Request(peer)) if !call.in_doubt => {
                    let longest = self.shared.now().service.question;
                    match consent::put(question(call), &peer, longest, context.ct.cancelled()).await {
                        Consent::Given => (call.number, Verdict::Make),
                        Consent::Refused(why) if why == consent::NO => (call.number, Verdict::Deny),
                        _ => return Ok(CallToolResponse::Complete(waits(known, &seen))),
                    }
                }
                _ => return Ok(CallToolResponse::Complete(waits(known, &seen))),
            };
            let who = owner_of(sender_of(context));
            keeping.decide(known.run, call.0, &call.1, who.as_deref()).map_err(broken)?;
            self.continue_run(known, keeping, context).await?;
        }
    }

    /// Continues a run whose client waits for its answer.
    async fn continue_run(
        &self,
        known: KnownRun,
        keeping: &Arc<Keeping>,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let slot = self.shared.slots.run(self.client(context)).await.map_err(busy)?;
        let (stand, kept) = (self.shared.now(), Arc::clone(keeping));
        let driven = spawn_blocking(move || kept.resume(&stand.service, &slot, known.run)).await;
        driven.map_err(|error| broken(error.to_string()))?.map_err(broken)?;
        // The task that continues runs without a client may have been faster.
        while keeping.is_under_way(known.run) {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// Takes the answers that a client sends with its repeated call; `None` if the state is of another kind.
    pub(super) async fn answered(
        &self,
        state: &str,
        responses: Option<InputResponses>,
        bound: &Bound,
        context: &RequestContext<RoleServer>,
    ) -> Option<Result<CallToolResponse, ErrorData>> {
        let state = state.strip_prefix(STATE)?;
        let answered = async {
            let (keeping, sender) = (self.keeping()?, sender_of(context));
            let (name, sealed) = state.split_once(':').ok_or_else(none)?;
            let known = KnownRun::of(&keeping, name, sender)?.own()?;
            // Another call, or another client of the owner.
            if seal(&keeping, known, bound)? != sealed {
                return Err(none());
            }
            take(&keeping, known, responses.unwrap_or_default(), owner_of(sender).as_deref())?;
            self.continue_run(known, &keeping, context).await?;
            self.without_tasks(known, &keeping, bound, context).await
        };
        Some(answered.await)
    }

    async fn seen(
        &self,
        keeping: &Arc<Keeping>,
        known: KnownRun,
        name: String,
    ) -> Result<DetailedTask, ErrorData> {
        let kept = Arc::clone(keeping);
        let seen = spawn_blocking(move || kept.durable.seen(known.run)).await;
        let seen = seen.map_err(|error| broken(error.to_string()))?.map_err(broken)?;
        let seen = self.named(seen.ok_or_else(|| broken(of_run(known.run, "it is gone")))?);
        // Who only decides sees the question and nothing else of the run.
        if !known.own && !matches!(seen.now, Now::Asks(_)) {
            return Err(none());
        }
        Ok(task(keeping, known, name, seen))
    }

    /// The state of a run in whose question the tool has the name of its entry: the run's own name for it
    /// could be worded by the program.
    fn named(&self, mut seen: Seen) -> Seen {
        if let Now::Asks(call) = &mut seen.now {
            let stand = self.shared.now();
            (call.tool, call.arguments) = stand.service.tools.asked(&call.tool, &call.arguments);
        }
        seen
    }

    /// The task with this name.
    pub(super) async fn task(
        &self,
        name: String,
        sender: Option<&Sender>,
    ) -> Result<DetailedTask, ErrorData> {
        let keeping = self.keeping()?;
        let known = KnownRun::of(&keeping, &name, sender)?;
        self.seen(&keeping, known, name).await
    }

    /// Takes the decisions of people on a task.
    pub(super) fn update(
        &self,
        name: &str,
        responses: InputResponses,
        sender: Option<&Sender>,
    ) -> Result<(), ErrorData> {
        let keeping = self.keeping()?;
        take(&keeping, KnownRun::of(&keeping, name, sender)?, responses, owner_of(sender).as_deref())
    }

    /// Cancels a task; its rollback follows.
    pub(super) fn stop_task(&self, name: &str, sender: Option<&Sender>) -> Result<(), ErrorData> {
        let keeping = self.keeping()?;
        let known = KnownRun::of(&keeping, name, sender)?.own()?;
        if matches!(keeping.durable.seen(known.run).map_err(broken)?, Some(Seen { now: Now::Ended(_), .. })) {
            return Ok(());
        }
        keeping.cancel(known.run, owner_of(sender).as_deref()).map_err(broken)
    }
}
