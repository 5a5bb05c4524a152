//! Runs that wait for answers from clients of the newer protocol: the call was answered with the questions,
//! and the client will repeat it with the answers.
//!
//! A question expires after a time. Then its run is cancelled and rolled back, since nobody waits for its
//! outcome; the outcome is kept for a while, for a client that answers late.

use super::Running;
use super::bound::Bound;
use super::consent::{Questions, expired, understood};
use crate::tools::consent::Consent;
use ilo_drive::locked::locked;
use rmcp::model::{ElicitResult, InputRequest, InputRequiredResult, InputResponses};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::task::AbortHandle;
use tokio::time::sleep;

/// How often a run may ask. Clients give up after ten rounds, without the outcome and the calls made.
const ROUNDS: u32 = 9;
/// How long the outcome of a run with an expired question is kept.
const LATE: Duration = Duration::from_mins(1);
/// The most runs that are kept; there are fewer with an open question.
const KEPT: usize = 256;

/// The runs, by unguessable names.
#[derive(Default)]
pub(super) struct Waiting {
    runs: Mutex<HashMap<String, Kept>>,
    secrets: [RandomState; 2],
}

struct Kept {
    running: Running,
    /// The question, until it expires.
    asked: Option<Questions>,
    since: Instant,
    /// Ends the wait for the answer.
    timer: Option<Timer>,
}

/// A task that ends when this is dropped.
struct Timer(AbortHandle);

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Waiting {
    /// Keeps a run until its question is answered or expires. Returns the question as the answer to the call,
    /// or the run if it may not ask again.
    pub(super) fn keep(
        self: &Arc<Waiting>,
        mut running: Running,
        asked: Questions,
        longest: Duration,
    ) -> Result<InputRequiredResult, Running> {
        if running.rounds >= ROUNDS {
            let why = format!(
                "this run has asked {ROUNDS} times already, and clients give up at the tenth; make fewer such calls in one run"
            );
            asked.refuse(why);
            return Err(running);
        }
        running.rounds += 1;
        let requests = asked.requests().enumerate();
        let requests: BTreeMap<String, InputRequest> =
            requests.map(|(at, request)| (question(at), InputRequest::Elicitation(request))).collect();
        let name = self.insert(Kept { running, asked: Some(asked), since: Instant::now(), timer: None });
        let (waiting, kept) = (Arc::clone(self), name.clone());
        let timer = tokio::spawn(async move {
            sleep(longest).await;
            waiting.expire(&kept);
            sleep(LATE).await;
            drop(locked(&waiting.runs).remove(&kept));
        });
        if let Some(kept) = locked(&self.runs).get_mut(&name) {
            kept.timer = Some(Timer(timer.abort_handle()));
        }
        Ok(InputRequiredResult::new(Some(requests), Some(name)))
    }

    fn insert(&self, kept: Kept) -> String {
        let mut runs = locked(&self.runs);
        let mut name = String::new();
        for secret in &self.secrets {
            // Writing to a string does not fail.
            let _ =
                write!(name, "{:016x}", secret.hash_one((kept.running.task.id(), runs.len(), kept.since)));
        }
        while runs.len() >= KEPT {
            let expired = runs.iter().filter(|(_, kept)| kept.asked.is_none());
            let Some(oldest) = expired.min_by_key(|(_, kept)| kept.since).map(|(name, _)| name.clone())
            else {
                break;
            };
            runs.remove(&oldest);
        }
        runs.insert(name.clone(), kept);
        name
    }

    fn expire(&self, name: &str) {
        if let Some(kept) = locked(&self.runs).get_mut(name) {
            kept.running.interrupt.set();
            if let Some(asked) = kept.asked.take() {
                asked.answer(vec![expired()]);
            }
        }
    }

    /// Takes a kept run and gives it the answer of the client. `None` if there is no such run, or if another
    /// subject asks, or with another call.
    pub(super) fn resume(
        &self,
        name: &str,
        bound: &Bound,
        responses: Option<InputResponses>,
    ) -> Option<Running> {
        let kept = {
            let mut runs = locked(&self.runs);
            runs.get(name).filter(|kept| *kept.running.bound == *bound)?;
            runs.remove(name)?
        };
        if let Some(asked) = kept.asked {
            let mut responses = responses.unwrap_or_default();
            let mut consents = (0..asked.count()).map_while(|at| {
                let response = responses.remove(&question(at))?;
                Some(understood(&serde_json::from_value::<ElicitResult>(response).ok()?))
            });
            let first = consents.next();
            let first = first.unwrap_or_else(|| Consent::Refused("the client gave no answer".to_owned()));
            asked.answer(std::iter::once(first).chain(consents).collect());
        }
        Some(kept.running)
    }
}

/// The name of a question that answers a call.
fn question(at: usize) -> String {
    if at == 0 { "consent".to_owned() } else { format!("consent-{}", at + 1) }
}
