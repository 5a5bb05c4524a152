//! Writes waiting calls and outcomes as JSON.

use ilo_drive::data::write::quote;
use ilo_vm::{Outcome, Run, Status};
use std::fmt::Write as _;

// Writing to a string does not fail, so results are ignored here.

/// A line and a column, if there are any.
fn position(out: &mut String, position: Option<(u32, u32)>) {
    if let Some((line, column)) = position {
        let _ = write!(out, r#","line":{line},"column":{column}"#);
    }
}

/// The call that a run waits for.
pub(crate) fn waiting(run: &Run) -> Option<String> {
    let call = run.waiting()?;
    let mut out = String::from(r#"{"status":"call","tool":"#);
    out.push_str(&quote(call.tool()));
    out.push_str(r#","arguments":"#);
    let _ = call.write_json(&mut out);
    let (number, function) = (call.number(), quote(call.function()));
    let _ = write!(out, r#","number":{number},"function":{function}"#);
    position(&mut out, call.position());
    let _ = write!(out, r#","isRollback":{}}}"#, call.is_rollback());
    Some(out)
}

/// The outcome of a run that has ended.
pub(crate) fn outcome(run: &Run, outcome: Outcome<'_>) -> String {
    let mut out = String::from(r#"{"status":"#);
    match outcome.status() {
        Status::Ok(value) => {
            out.push_str(r#""ok","value":"#);
            let _ = value.write_json(&mut out);
        }
        Status::Err(error) => {
            out.push_str(r#""err","error":"#);
            let _ = error.write_json(&mut out);
        }
        Status::Fault(fault) => {
            let (code, message) = (quote(fault.code.as_str()), quote(&fault.message));
            let (function, pc) = (quote(&fault.function), fault.pc);
            let _ = write!(out, r#""fault","code":{code},"message":{message},"function":{function}"#);
            position(&mut out, fault.position);
            let _ = write!(out, r#","instruction":{pc}"#);
        }
    }
    let _ = write!(out, r#","fuel":{}"#, run.fuel_used());
    list(&mut out, "compensationFailures", outcome.compensation_failures(), |out, (tool, error)| {
        let _ = write!(out, r#""tool":{},"error":"#, quote(tool));
        let _ = error.write_json(out);
    });
    list(&mut out, "rolledBack", outcome.rolled_back(), |out, (tool, number)| {
        let _ = write!(out, r#""tool":{},"number":{number}"#, quote(tool));
    });
    list(&mut out, "notRolledBack", outcome.not_rolled_back(), |out, (tool, why)| {
        let _ = write!(out, r#""tool":{},"why":{}"#, quote(tool), quote(why));
    });
    out.push('}');
    out
}

/// A field with a list of objects.
fn list<T>(
    out: &mut String,
    name: &str,
    items: impl Iterator<Item = T>,
    mut write: impl FnMut(&mut String, T),
) {
    let _ = write!(out, r#","{name}":["#);
    for (place, item) in items.enumerate() {
        out.push_str(if place == 0 { "{" } else { ",{" });
        write(out, item);
        out.push('}');
    }
    out.push(']');
}
