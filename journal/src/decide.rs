//! What is decided about a run that was read: pure functions of its rows, of who lives, and of the time.

use crate::answer::Answer;
use crate::backend::{Alive, Change, Outcome, Rows};
use crate::cipher::{Cipher, Column};
use crate::error::{Error, ErrorCode, Result};
use crate::limits::RunLimits;
use crate::model::{Claimed, Decision, Held, Lease};
use crate::policy::Effect;
use crate::row::{DecisionRow, EXPECTS, Live, OWNER_ENDED, Run};
use crate::state::{Action, Before, Leads, State};
use ilo_drive::data::read::{Bounds, read};
use ilo_drive::validate::expected::unexpected;
use std::sync::Arc;

/// What is written, if anything, and what the caller gets.
type Verdict = Result<(Option<Change>, Outcome)>;

/// What an approval is bound to.
pub(crate) fn approval(live: &Live) -> Vec<u8> {
    [live.digest.to_le_bytes(), live.policy.to_bits().to_le_bytes()].concat()
}

/// Takes a run over.
pub(crate) fn claim(cipher: &Cipher, own: i64, rows: Rows, alive: &dyn Alive, now: i64) -> Verdict {
    let Rows { run, live, decided, .. } = rows;
    let Some(mut live) = live else { return Ok((None, Outcome::Ended(run))) };
    if live.exported {
        return Err(exported(&run));
    }
    let if_epoch = live.epoch;
    let slept = live.state == State::Sleeping && wake(cipher, &run, &mut live, now)?;
    if !live.state.is_for_owners() {
        let waits = Outcome::Waits { state: live.state, call: live.call, wake: live.wake };
        return Ok((slept.then_some(Change { if_epoch, live, entry: None, decided: None }), waits));
    }
    if let Some(owner) = live.owner
        && (owner == own || alive.lives(owner)?)
    {
        return Err(owned(alive, owner, &run));
    }
    if let Some(Leads::State(before)) = live.state.after(Action::Unblock) {
        live.state = before;
    }
    if live.state == State::Calling {
        live.tries = live.tries.saturating_add(1);
        live.was = who_began(&live);
    }
    live.epoch = next_epoch(if_epoch)?;
    live.owner = Some(own);
    live.wake = None;
    let change = Change { if_epoch, live: live.clone(), entry: None, decided: None };
    Ok((Some(change), Outcome::Claimed { run, live, decided: decided? }))
}

/// The owner that may still be making the call at which a run is, once it has another owner or none. Of a
/// call that changes something, that is the first one.
fn who_began(live: &Live) -> Option<i64> {
    let keeps = live.was.is_some() && live.policy.effect == Effect::Changes;
    if keeps { live.was } else { live.owner }
}

/// Wakes a run that sleeps, if it is time or it was cancelled. Returns whether it sleeps on, until another
/// time.
fn wake(cipher: &Cipher, run: &Run, live: &mut Live, now: i64) -> Result<bool> {
    if live.cancel {
        // The call that waited fails as cancelled.
        live.state = State::Ready;
    } else if live.wake.is_none_or(|wake| wake <= now) {
        live.state = State::Answered;
        live.answer = Some(cipher.seal(&run.key, live.call, Column::Answer, &nothing())?);
    } else if live.since > now {
        // The clock was set back. How long the run has slept is unknown; it sleeps its whole time again,
        // and not until the clock has come to where it was.
        let time = live.wake.map(|wake| wake.saturating_sub(live.since));
        (live.since, live.wake) = (now, time.map(|time| now.saturating_add(time)));
        live.epoch = next_epoch(live.epoch)?;
        return Ok(true);
    }
    Ok(false)
}

/// Makes what its new owner gets of a run that was taken over.
pub(crate) fn claimed(
    cipher: &Cipher,
    (run, live, decided): (Run, Live, &[DecisionRow]),
    program: Arc<[u8]>,
) -> Result<Claimed> {
    let bound = approval(&live);
    let of = |what: &str| decided.iter().rfind(|decided| decided.what == what);
    let unchecked = of(Action::Answer.name()).is_some() && of(EXPECTS).is_none();
    let approved = match of(Action::Approve.name()).cloned() {
        Some(decided) => cipher.open(&run.key, live.call, Column::Detail, decided.detail)? == bound,
        None => false,
    };
    let answer = live.answer.map(|answer| cipher.open(&run.key, live.call, Column::Answer, answer));
    Ok(Claimed {
        program,
        function: run.function.clone(),
        limits: RunLimits::from_bytes(&run.limits)?,
        state: live.state,
        call: live.call,
        tool: live.tool,
        policy: live.policy,
        digest: live.digest,
        tries: live.tries,
        active_ms: live.active_ms,
        cancel: live.cancel,
        snapshot: cipher.open(&run.key, live.call, Column::Snapshot, live.snapshot)?,
        answer: answer.transpose()?.map(|bytes| Answer::from_bytes(&bytes)).transpose()?,
        approved,
        unchecked,
        lease: Lease {
            state: live.state,
            call: live.call,
            epoch: live.epoch,
            owner: live.owner.unwrap_or_default(),
            run,
        },
    })
}

/// A person's decision on a call, with who decides.
pub(crate) fn resolve(
    cipher: &Cipher,
    (call, decision, who): (Option<u64>, &Decision, &str),
    rows: Rows,
    alive: &dyn Alive,
    now: i64,
) -> Verdict {
    let Rows { mut run, live, decided, last } = rows;
    let Some(mut live) = live else {
        let message = format!("run {} has ended", run.shown());
        return Err(Error::new(ErrorCode::NotNow, message).remedy("see its outcome with `runs show`"));
    };
    if live.exported {
        return Err(exported(&run));
    }
    let if_epoch = live.epoch;
    let action = decision.action();
    let of_call = !matches!(decision, Decision::Cancel | Decision::More(_));
    if of_call && call != Some(live.call) {
        return Err(other_call(&run, &live, call));
    }
    let to = match live.state.after(action) {
        Some(Leads::State(to)) => to,
        Some(Leads::Stored) if live.answer.is_some() => State::Answered,
        Some(Leads::Stored) => State::Ready,
        Some(Leads::Ended) | None => return Err(live.state.refuse(action, &run.shown(), live.call)),
    };
    if let (Decision::Retry, Some(was)) = (decision, live.was)
        && alive.may_speak(was)
    {
        return Err(owner_may_live(&run, live.call, &alive.shown(was)));
    }
    let answer = decision.answer(who)?;
    if let Some(answer) = &answer {
        hold(cipher, (&run, &live), &decided?, answer)?;
    }
    let answer = answer.map(|answer| answer.to_bytes());
    let detail = match decision {
        Decision::Approve => approval(&live),
        Decision::More(limits) => limits.to_bytes(),
        _ => answer.clone().unwrap_or_default(),
    };
    let detail = cipher.seal(&run.key, live.call, Column::Detail, &detail)?;
    let decided = of_live(&live, action.name(), who, detail, next_time(last, now));
    let mut entry = None;
    if let Decision::More(limits) = decision {
        run.limits = limits.to_bytes();
        entry = Some(run.clone());
    }
    if let Decision::Cancel = decision {
        live.cancel = true;
    }
    if let Some(answer) = answer {
        live.answer = Some(cipher.seal(&run.key, live.call, Column::Answer, &answer)?);
    }
    if to != live.state {
        // A process that waited for this takes the run over again.
        live.epoch = next_epoch(if_epoch)?;
        (live.state, live.owner, live.wake, live.tries) = (to, None, None, 0);
        live.was = None;
        live.since = now;
    }
    Ok((Some(Change { if_epoch, live, entry, decided: Some(decided) }), Outcome::Decided(to)))
}

/// What an owner says late of a call that it had begun when it was taken for dead or lost its run: its
/// answer, or that it was not made. It counts while nobody else can have made the call: until the run is
/// taken over, and after that where the call changes something, or is in doubt and has an answer.
pub(crate) fn late(
    cipher: &Cipher,
    (held, call, who): (Held, u64, &str),
    answer: Option<&Answer>,
    rows: Rows,
    now: i64,
) -> Verdict {
    let Rows { run, live, last, .. } = rows;
    let counts = |live: &Live| {
        let changes = live.policy.effect == Effect::Changes;
        let is_own = (live.owner, live.epoch) == (Some(held.owner), held.epoch);
        match live.state {
            State::Calling if is_own => true,
            State::Calling | State::Blocked(Before::Calling) => live.was == Some(held.owner) && changes,
            State::Doubt => live.was == Some(held.owner) && (changes || answer.is_some()),
            _ => false,
        }
    };
    let Some(mut live) = live.filter(|live| live.call == call && !live.exported && counts(live)) else {
        return Ok((None, Outcome::Done));
    };
    let if_epoch = live.epoch;
    let (action, detail) = match answer {
        Some(Answer::Ok(_)) => (Action::Answer, answer.map(Answer::to_bytes)),
        Some(_) => (Action::Fail, answer.map(Answer::to_bytes)),
        None => (Action::Retry, None),
    };
    let sealed = cipher.seal(&run.key, call, Column::Detail, detail.as_deref().unwrap_or_default())?;
    let decided = of_live(&live, action.name(), who, sealed, next_time(last, now));
    live.answer = detail.map(|answer| cipher.seal(&run.key, call, Column::Answer, &answer)).transpose()?;
    live.epoch = next_epoch(if_epoch)?;
    live.state = if live.answer.is_some() { State::Answered } else { State::Ready };
    (live.owner, live.was, live.wake, live.tries, live.since) = (None, None, None, 0, now);
    Ok((Some(Change { if_epoch, live, entry: None, decided: Some(decided) }), Outcome::Done))
}

/// The process that may still be making the call of a run that nobody works on.
fn may_be_making(live: &Live, alive: &dyn Alive) -> Option<i64> {
    let began = match live.state {
        State::Calling if live.policy.effect == Effect::Changes => who_began(live),
        State::Doubt | State::Blocked(Before::Calling) => live.was,
        _ => None,
    };
    began.filter(|&owner| alive.may_speak(owner))
}

/// Records that a person knows that the process has ended which may have been making a call.
pub(crate) fn owner_ended(cipher: &Cipher, who: &str, rows: Rows, alive: &dyn Alive, now: i64) -> Verdict {
    let Rows { run, live, last, .. } = rows;
    let Some(mut live) = live.filter(|live| may_be_making(live, alive).is_some()) else {
        return Ok((None, Outcome::Done));
    };
    if let Some(owner) = live.owner.take()
        && alive.lives(owner)?
    {
        return Err(owned(alive, owner, &run));
    }
    if live.state == State::Calling {
        live.state = State::Doubt;
    }
    let if_epoch = live.epoch;
    let sealed = cipher.seal(&run.key, live.call, Column::Detail, b"")?;
    let decided = of_live(&live, OWNER_ENDED, who, sealed, next_time(last, now));
    live.epoch = next_epoch(if_epoch)?;
    live.was = None;
    Ok((Some(Change { if_epoch, live, entry: None, decided: Some(decided) }), Outcome::Done))
}

fn owner_may_live(run: &Run, call: u64, shown: &str) -> Error {
    let message = format!("{shown} began call {call} of run {} and may still be making it", run.shown());
    Error::new(ErrorCode::OwnerMayLive, message)
}

/// Refuses an answer that is past the limits of its run, which it would end, or does not fit what was stored
/// with its call.
pub(crate) fn hold(
    cipher: &Cipher,
    (run, live): (&Run, &Live),
    decided: &[DecisionRow],
    answer: &Answer,
) -> Result<()> {
    let (Answer::Ok(json) | Answer::Failed(json)) = answer else { return Ok(()) };
    let bounds = Bounds::from(&RunLimits::from_bytes(&run.limits)?.machine);
    let value =
        read(json.as_bytes(), &bounds).map_err(|error| misfit(&live.tool, &error.kind.to_string()))?;
    let of_call = |decided: &&DecisionRow| decided.call == live.call && decided.what == EXPECTS;
    let (Some(expects), Answer::Ok(_)) = (decided.iter().rfind(of_call), answer) else { return Ok(()) };
    let schema = cipher.open(&run.key, live.call, Column::Detail, expects.detail.clone())?;
    let why = unexpected(&String::from_utf8_lossy(&schema), &value);
    why.map_or(Ok(()), |why| Err(misfit(&live.tool, &why)))
}

/// Records that a run cannot continue, and why. A later owner finds its state unchanged.
pub(crate) fn block(cipher: &Cipher, why: &str, rows: Rows, alive: &dyn Alive, now: i64) -> Verdict {
    let nothing = || Ok((None, Outcome::Done));
    let Rows { run, live, decided, last } = rows;
    let Some(mut live) = live.filter(|live| !live.exported) else { return nothing() };
    if let Some(owner) = live.owner
        && alive.lives(owner)?
    {
        return nothing();
    }
    let if_epoch = live.epoch;
    let slept = live.state == State::Sleeping && wake(cipher, &run, &mut live, now)?;
    let to = match live.state.after(Action::Block) {
        Some(Leads::State(to)) => to,
        _ if matches!(live.state, State::Blocked(_)) => live.state,
        // It waits for something else.
        _ if slept => {
            return Ok((Some(Change { if_epoch, live, entry: None, decided: None }), Outcome::Done));
        }
        _ => return nothing(),
    };
    if to == live.state && blocked(cipher, (&run, &live), &decided?)?.as_deref() == Some(why) {
        return nothing();
    }
    let detail = cipher.seal(&run.key, live.call, Column::Detail, why.as_bytes())?;
    let decided = of_live(&live, Action::Block.name(), "", detail, next_time(last, now));
    live.epoch = next_epoch(live.epoch)?;
    if live.state == State::Calling {
        live.was = who_began(&live);
    }
    (live.state, live.owner, live.wake, live.since) = (to, None, None, now);
    Ok((Some(Change { if_epoch, live, entry: None, decided: Some(decided) }), Outcome::Done))
}

/// Why a run is blocked, if that was recorded among the decisions on its call.
pub(crate) fn blocked(
    cipher: &Cipher,
    (run, live): (&Run, &Live),
    decided: &[DecisionRow],
) -> Result<Option<String>> {
    let last = decided.iter().rfind(|decided| decided.what == Action::Block.name());
    let Some(last) = last else { return Ok(None) };
    let why = cipher.open(&run.key, live.call, Column::Detail, last.detail.clone())?;
    Ok(Some(String::from_utf8_lossy(&why).into_owned()))
}

/// Marks a run that has not ended as exported, so that it is not continued here.
pub(crate) fn export(rows: Rows, alive: &dyn Alive) -> Verdict {
    let Rows { run, live, .. } = rows;
    let Some(mut live) = live else { return Ok((None, Outcome::Exported { run, live: None })) };
    if let Some(owner) = live.owner
        && alive.lives(owner)?
    {
        return Err(owned(alive, owner, &run));
    }
    // The other journal does not know that process.
    if let Some(owner) = may_be_making(&live, alive) {
        return Err(owner_may_live(&run, live.call, &alive.shown(owner)));
    }
    let if_epoch = live.epoch;
    // A second export, after a crash before the first was written to a file, gives the same.
    (live.exported, live.owner) = (false, None);
    let before = live.clone();
    live.epoch = next_epoch(if_epoch)?;
    live.exported = true;
    let change = Change { if_epoch, live, entry: None, decided: None };
    Ok((Some(change), Outcome::Exported { run, live: Some(before) }))
}

/// A row about the call at which a run is.
pub(crate) fn of_live(live: &Live, what: &str, who: &str, detail: Vec<u8>, at: i64) -> DecisionRow {
    DecisionRow {
        who: who.to_owned(),
        ..DecisionRow::noted(live.run, (live.call, &live.tool), at, what, detail)
    }
}

/// A time that comes after those of the call's other decisions, even if the clock was set back.
pub(crate) fn next_time(last: Option<i64>, now: i64) -> i64 {
    last.map_or(now, |last| now.max(last.saturating_add(1)))
}

fn next_epoch(epoch: i64) -> Result<i64> {
    epoch.checked_add(1).ok_or_else(|| Error::damaged("an epoch"))
}

/// The error if a process works on a run.
fn owned(alive: &dyn Alive, owner: i64, run: &Run) -> Error {
    let shown = alive.shown(owner);
    Error::new(ErrorCode::Owned, format!("{shown} works on run {}", run.shown()))
}

/// The error for an answer that does not fit.
fn misfit(tool: &str, why: &str) -> Error {
    Error::new(ErrorCode::Value, format!("the answer does not fit tool `{tool}`: {why}"))
        .remedy("give an answer that fits; the run waits as before")
}

/// The answer of a call that only waits.
fn nothing() -> Vec<u8> {
    Answer::Ok("null".to_owned()).to_bytes()
}

/// The outcome of a run that has ended.
pub(crate) fn outcome_of(cipher: &Cipher, run: &Run) -> Result<Vec<u8>> {
    cipher.open(&run.key, 0, Column::Outcome, run.outcome.clone().unwrap_or_default())
}

fn exported(run: &Run) -> Error {
    let message = format!("run {} was exported and continues elsewhere", run.shown());
    Error::new(ErrorCode::NotNow, message).remedy("continue it there, or bring it back with `runs import`")
}

fn other_call(run: &Run, live: &Live, call: Option<u64>) -> Error {
    let (shown, state, at) = (run.shown(), live.state, live.call);
    let message = match call {
        Some(call) => format!("run {shown} is {state} at call {at} of `{}`, not at call {call}", live.tool),
        None => format!("the number of a call is missing; run {shown} is {state} at call {at}"),
    };
    Error::new(ErrorCode::OtherCall, message)
}

#[cfg(test)]
mod tests {
    use super::late;
    use crate::answer::Answer;
    use crate::backend::Rows;
    use crate::cipher::Cipher;
    use crate::limits::RunLimits;
    use crate::model::Held;
    use crate::policy::Effect;
    use crate::row::{Live, Run};
    use crate::state::{Before, State};

    const HELD: Held = Held { run: 1, owner: 7, epoch: 4 };

    fn rows(live: Live) -> Rows {
        let run = Run {
            id: 1,
            key: [0; 16],
            name: None,
            input: 0,
            program: [0; 32],
            function: "f".to_owned(),
            limits: RunLimits::default().to_bytes(),
            started: 0,
            ended: None,
            outcome: None,
            subject: None,
        };
        Rows { run, live: Some(live), decided: Ok(Vec::new()), last: None }
    }

    /// A run at call 3 in a state, of an owner, with the one before and an epoch.
    fn live(state: State, (owner, was, epoch): (Option<i64>, Option<i64>, i64), effect: Effect) -> Live {
        Live { epoch, owner, was, state, call: 3, tries: 2, ..Live::blank(effect) }
    }

    /// The state in which a late word leaves a run, if it counts: with an answer, and without one.
    fn after(live: &Live) -> [Option<State>; 2] {
        [Some(Answer::Ok("1".to_owned())), None].map(|answer| {
            let said = late(&Cipher::new(None), (HELD, 3, "p"), answer.as_ref(), rows(live.clone()), 9);
            let change = said.unwrap().0?;
            assert_eq!((change.if_epoch, change.live.epoch), (live.epoch, live.epoch + 1));
            assert_eq!((change.live.owner, change.live.was, change.live.tries), (None, None, 0));
            assert_eq!(change.live.answer.is_some(), answer.is_some());
            let what = change.decided.unwrap().what;
            assert_eq!(what, if answer.is_some() { "answer" } else { "retry" });
            // Said again, it counts no more.
            let again =
                late(&Cipher::new(None), (HELD, 3, "p"), answer.as_ref(), rows(change.live.clone()), 9);
            assert!(again.unwrap().0.is_none());
            Some(change.live.state)
        })
    }

    #[test]
    fn a_late_word_counts_while_nobody_else_can_have_made_the_call() {
        const BOTH: [Option<State>; 2] = [Some(State::Answered), Some(State::Ready)];
        let (own, taken) = ((Some(7), None, 4), (Some(8), Some(7), 5));
        for effect in [Effect::Changes, Effect::Idempotent] {
            assert_eq!(after(&live(State::Calling, own, effect)), BOTH, "nobody has taken it over");
            for of_others in [(Some(8), None, 4), (Some(7), None, 5), (None, None, 4), (Some(8), Some(9), 5)]
            {
                for state in [State::Calling, State::Doubt, State::Blocked(Before::Calling)] {
                    assert_eq!(after(&live(state, of_others, effect)), [None; 2], "{state} {of_others:?}");
                }
            }
            for state in [State::Ready, State::Answered, State::Asking, State::Deferred, State::Limited] {
                assert_eq!(after(&live(state, taken, effect)), [None; 2], "{state}");
            }
            let exported = Live { exported: true, ..live(State::Doubt, taken, effect) };
            assert_eq!(after(&exported), [None; 2]);
            let later = Live { call: 4, ..live(State::Calling, own, effect) };
            assert_eq!(after(&later), [None; 2]);
        }
        for state in [State::Calling, State::Doubt, State::Blocked(Before::Calling)] {
            assert_eq!(
                after(&live(state, taken, Effect::Changes)),
                BOTH,
                "who took it over does not make it"
            );
        }
        // Who took it over may have made it too.
        assert_eq!(after(&live(State::Calling, taken, Effect::Idempotent)), [None; 2]);
        assert_eq!(after(&live(State::Doubt, taken, Effect::Idempotent)), [Some(State::Answered), None]);
    }

    #[test]
    fn a_run_that_is_blocked_keeps_who_may_be_making_its_call() {
        struct Nobody;
        impl crate::backend::Alive for Nobody {
            fn lives(&self, _: i64) -> crate::error::Result<bool> {
                Ok(false)
            }
        }
        let calling = live(State::Calling, (Some(7), None, 4), Effect::Changes);
        let (change, _) =
            super::block(&Cipher::new(None), "missing-tool", rows(calling), &Nobody, 9).unwrap();
        let blocked = change.unwrap().live;
        assert_eq!((blocked.state, blocked.was), (State::Blocked(Before::Calling), Some(7)));
        let claimed = super::claim(&Cipher::new(None), 8, rows(blocked), &Nobody, 10).unwrap().0.unwrap();
        assert_eq!((claimed.live.state, claimed.live.was), (State::Calling, Some(7)));
    }
}
