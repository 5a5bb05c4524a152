//! Habits: `switch` in a notation that uses consecutive steps with `if`.

use super::context::{Context, Entries, Fields, Rewrite, get, others};
use super::replacement::Replacement;
use super::words::get_key;
use crate::dialect::{Key, is_outcome};
use crate::document::{Entry, Kind, Node, entries};

/// Keys under which an arm returns a plain value.
const RETURNS: [&str; 2] = ["return", "ret"];
/// Keys that end the function or a loop.
const LEAVES: [&str; 6] = ["return", "ret", "ok", "err", "error", "break"];

/// Rewrites a `switch` to steps with `if`.
pub(super) fn as_ifs<'a>(at: &Context<'_, 'a>, list: Entries<'a>) -> Option<Rewrite<'a>> {
    let switch = get(list, &["switch"]).filter(|_| !at.dialect.has(Key::Switch))?;
    let Kind::List(arms) = switch.value.kind else { return None };
    let binds = get(list, &["let"]);
    let mut steps = Vec::new();
    for arm in arms.iter().rev() {
        steps = with_arm(at, entries(arm), steps, binds.is_some())?;
    }
    if let Some(binds) = binds {
        let [Replacement::Record(step)] = steps.as_mut_slice() else { return None };
        step.insert(0, ("let", Replacement::Kept(binds.value)));
    }
    Some(Rewrite::value(Replacement::List(steps)))
}

/// The steps of an arm and of the following arms, `rest`. If the switch binds a name, `binds`, a plain return
/// is its value.
fn with_arm<'a>(
    at: &Context<'_, 'a>,
    arm: Entries<'a>,
    rest: Vec<Replacement<'a>>,
    binds: bool,
) -> Option<Vec<Replacement<'a>>> {
    let Some(condition) = get_key(arm, Key::If) else {
        let default = get_key(arm, Key::Default)?;
        let holds_action = |entry: &Entry<'a>| {
            let word = |name: &str| LEAVES.contains(&name) || matches!(name, "then" | "value" | "compensate");
            entry.is(word)
        };
        return Some(match default.value.kind {
            Kind::Null => actions(others(arm, &[default.name()?]), binds),
            Kind::Record(list) if list.iter().any(holds_action) => actions(others(list, &[]), binds),
            _ => {
                let word = if binds { "value" } else { at.dialect.word(at.dialect.return_key()) };
                vec![Replacement::one(word, Replacement::Kept(default.value))]
            }
        });
    };
    let mut step: Fields<'a> = vec![("if", Replacement::Kept(condition.value))];
    let action = others(arm, &[condition.name()?]);
    if !binds && get(arm, &LEAVES).is_some() {
        step.extend(action);
        let mut steps = vec![Replacement::Record(step)];
        steps.extend(rest);
        return Some(steps);
    }
    step.push(("then", Replacement::List(actions(action, binds))));
    if !rest.is_empty() {
        step.push(("else", Replacement::List(rest)));
    }
    Some(vec![Replacement::Record(step)])
}

/// The steps of an arm.
fn actions<'a>(mut action: Fields<'a>, binds: bool) -> Vec<Replacement<'a>> {
    let is_plain = |value: &Replacement<'a>| {
        let Replacement::Kept(node) = value else { return true };
        !matches!(entries(node), [only] if only.is(is_outcome))
    };
    if let Some(at) = action.iter().position(|(key, _)| *key == "then")
        && let (_, Replacement::Kept(Node { kind: Kind::List(steps), .. })) = action[at]
    {
        return steps.iter().map(|step| Replacement::Kept(*step)).collect();
    }
    for (key, value) in &mut action {
        if *key == "then" || binds && RETURNS.contains(key) && is_plain(value) {
            *key = "value";
        }
    }
    vec![Replacement::Record(action)]
}
