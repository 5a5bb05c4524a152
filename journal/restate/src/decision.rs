//! Decisions of people on runs that wait for them, and the description of a waiting run.

use ilo_drive::data::Data;
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::failure::Failure;
use ilo_drive::validate::expected::unexpected;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Why a run waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Reason {
    /// Its call needs approval.
    Asking,
    /// It is not known whether its call was made.
    InDoubt,
    /// Its call was made, and its answer comes from outside.
    Deferred,
}

/// A run that waits for a person.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) reason: Reason,
    /// The number of the call.
    pub(crate) call: u64,
    pub(crate) tool: String,
    pub(crate) arguments: Box<RawValue>,
    /// The idempotency key that the tool got or gets.
    pub(crate) key: String,
    /// The durable promise that the run waits for.
    pub(crate) promise: String,
    /// What is known about the call.
    pub(crate) message: String,
    /// What its answer must be, as a JSON schema; nothing if that may be anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expects: Option<String>,
}

/// A person's decision on the call with this number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Decision {
    pub(crate) call: u64,
    pub(crate) decision: Verdict,
}

/// The decision.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Verdict {
    /// The call may be made.
    Approve,
    /// The call may not be made, with the reason.
    Deny(String),
    /// The call was made, and its answer is this value.
    Answer(Box<RawValue>),
    /// The call has failed with this value.
    Fail(Box<RawValue>),
    /// The call was not made, or may be made again.
    Retry,
}

impl Verdict {
    fn word(&self) -> &'static str {
        match self {
            Verdict::Approve => "approve",
            Verdict::Deny(_) => "deny",
            Verdict::Answer(_) => "answer",
            Verdict::Fail(_) => "fail",
            Verdict::Retry => "retry",
        }
    }

    /// The failure of a call that was denied.
    pub(crate) fn denial(tool: &str, why: &str) -> Failure {
        let why = if why.is_empty() { String::new() } else { format!(": {why}") };
        Failure::Failed(Data::Text(format!("tool `{tool}` was not called: a person denied it{why}")))
    }
}

/// The promise that a decision resolves, if the run waits for it.
///
/// # Errors
/// Why the decision is not one that the run waits for, with the status: 422 for an answer that does not fit,
/// else 409.
pub(crate) fn promise(waiting: Option<Waiting>, decided: &Decision) -> Result<String, (u16, String)> {
    let late = |why: String| (409, why);
    let Some(waiting) = waiting else { return Err(late("the run waits for nobody's decision".to_owned())) };
    let Waiting { call, tool, reason, promise, expects, .. } = waiting;
    if call != decided.call {
        return Err(late(format!(
            "the decision is on call {}, and the run is at call {call} of `{tool}`",
            decided.call
        )));
    }
    let (state, allowed) = match reason {
        Reason::Asking => ("asks for approval of", ["approve", "deny"].as_slice()),
        Reason::InDoubt => ("is in doubt about", ["answer", "fail", "retry"].as_slice()),
        Reason::Deferred => ("waits for the answer of", ["answer", "fail"].as_slice()),
    };
    let word = decided.decision.word();
    if !allowed.contains(&word) {
        let allowed = allowed.join("`, `");
        return Err(late(format!(
            "the run {state} call {call} of `{tool}`: decide `{allowed}`, not `{word}`"
        )));
    }
    if let (Verdict::Answer(answer), Some(expects)) = (&decided.decision, expects) {
        let bounds = Bounds { bytes: usize::MAX, ..Bounds::default() };
        let misfit = match read(answer.get().as_bytes(), &bounds) {
            Ok(answer) => unexpected(&expects, &answer),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = misfit {
            return Err((
                422,
                format!("the answer does not fit tool `{tool}`: {why}; the run waits as before"),
            ));
        }
    }
    Ok(promise)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test")]

    use super::{Reason, Waiting, promise};
    use serde_json::json;

    /// What follows a decision on call 3 of a run that waits at it for this reason.
    fn decided(reason: Reason, call: u64, decision: &serde_json::Value) -> Result<String, (u16, String)> {
        let waiting = Waiting {
            reason,
            call: 3,
            tool: "pay".to_owned(),
            arguments: serde_json::from_str("{}").unwrap(),
            key: "k-3".to_owned(),
            promise: "p".to_owned(),
            message: String::new(),
            expects: Some(r#"{"type":"integer"}"#.to_owned()),
        };
        let decided = json!({ "call": call, "decision": decision });
        promise(Some(waiting), &serde_json::from_value(decided).unwrap())
    }

    #[test]
    fn a_decision_fits_the_reason_for_which_the_run_waits() {
        let decisions = [
            json!("approve"),
            json!({"deny": "no"}),
            json!({"answer": 1}),
            json!({"fail": "x"}),
            json!("retry"),
        ];
        let allowed = |reason| decisions.clone().map(|decision| decided(reason, 3, &decision).is_ok());
        assert_eq!(allowed(Reason::Asking), [true, true, false, false, false]);
        assert_eq!(allowed(Reason::InDoubt), [false, false, true, true, true]);
        assert_eq!(allowed(Reason::Deferred), [false, false, true, true, false]);
        assert_eq!(decided(Reason::Asking, 3, &json!("approve")).unwrap(), "p");
    }

    #[test]
    fn a_decision_on_another_call_decides_nothing() {
        let refused = decided(Reason::Asking, 2, &json!("approve")).unwrap_err();
        let late = "the decision is on call 2, and the run is at call 3 of `pay`";
        assert_eq!(refused, (409, late.to_owned()));
        let decision = serde_json::from_value(json!({"call": 3, "decision": "approve"})).unwrap();
        let nobody = "the run waits for nobody's decision";
        assert_eq!(promise(None, &decision).unwrap_err(), (409, nobody.to_owned()));
    }

    #[test]
    fn an_answer_that_does_not_fit_decides_nothing() {
        for reason in [Reason::InDoubt, Reason::Deferred] {
            for answer in [json!("no"), json!(1.5), json!(null), json!([1])] {
                let (status, why) = decided(reason, 3, &json!({ "answer": answer })).unwrap_err();
                assert_eq!(status, 422);
                assert!(why.starts_with("the answer does not fit tool `pay`: expected "), "{why}");
            }
            assert_eq!(decided(reason, 3, &json!({"answer": 7})).unwrap(), "p");
        }
    }
}
