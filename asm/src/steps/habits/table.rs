//! The table of habits, in the order in which they are tried. Each row has an example, which a test runs.

use super::context::{EntryList, Rewriter, Spot};
use super::{operations, steps};
use crate::document::Node;
use crate::notation::Notation;

/// One habit.
#[cfg_attr(not(test), allow(dead_code, reason = "read by tests"))]
pub(super) struct Habit {
    /// Its name, for the test of the examples.
    pub(super) name: &'static str,
    /// The positions at which it is tried.
    pub(super) at: Spot,
    /// Returns the rewritten record, or a list of steps in place of a step; `None` if the record does not
    /// have this form. What is a guess or has no meaning is reported.
    pub(super) rewrite: for<'a> fn(&mut Rewriter<'_, 'a>, EntryList<'a>) -> Option<Node<'a>>,
    /// A part of a program in JSON in a notation, before and after the rewrite.
    pub(super) example: (Notation, [&'static str; 2]),
}

use Notation::{Constrained, Mcp, ToolCalling, Workflow};
use Spot::{Condition, Formula, NoStep, Step, Value};

macro_rules! habits {
    ($($name:literal, $at:ident, $rewrite:path, $notation:ident, $written:literal => $read:literal;)*) => {
        &[$(Habit {
            name: if cfg!(test) { $name } else { "" },
            at: $at,
            rewrite: $rewrite,
            example: ($notation, if cfg!(test) { [$written, $read] } else { ["", ""] }),
        }),*]
    };
}

/// The table.
pub(super) static HABITS: &[Habit] = habits! {
    "operator of another language under `op`", Step, operations::other_word, Constrained,
        r#"{"let": "v", "op": "add", "a": 1, "b": 2}"# => r#"{"let": "v", "op": "+", "a": 1, "b": 2}"#;
    "operator of another language under `op` in a value", Value, operations::other_word, Constrained,
        r#"{"op": "add", "a": 1, "b": 2}"# => r#"{"op": "+", "a": 1, "b": 2}"#;
    "operation with `op`", Step, operations::operation_step, ToolCalling,
        r#"{"let": "v", "op": "+", "a": 1, "b": 2}"# => r#"{"let": "v", "expr": {"+": [1, 2]}}"#;
    "operation with `op` in a value", Value, operations::operation_value, Mcp,
        r#"{"op": "add", "a": 1, "b": 2}"# => r#"{"+": [1, 2]}"#;
    "`assert` where an `if` fails", Step, steps::assertion, ToolCalling,
        r#"{"assert": true, "error": "no"}"# => r#"{"if": {"not": true}, "return": {"error": "no"}}"#;
    "`elif` with its steps", Step, steps::otherwise_if, ToolCalling,
        r#"{"if": true, "then": [], "elif": {"if": false, "then": []}}"#
        => r#"{"if": true, "then": [], "else": [{"if": false, "then": []}]}"#;
    "default beside a switch", Step, steps::default_beside, Workflow,
        r#"{"switch": [{"if": "true", "return": 1}], "default": {"return": 2}}"#
        => r#"{"switch": [{"if": "true", "return": 1}, {"default": {"return": 2}}]}"#;
    "`switch` with cases", Step, steps::switch_with_cases, Mcp,
        r#"{"let": "v", "switch": {"on": "$x"}, "cases": {"a": 1}}"#
        => r#"{"let": "v", "match": "$x", "cases": {"a": 1}}"#;
    "cases beside `match`", Step, steps::loose_cases, Mcp,
        r#"{"let": "v", "match": "$x", "gold": 1, "silver": 2}"#
        => r#"{"let": "v", "match": "$x", "cases": {"gold": 1, "silver": 2}}"#;
    "step inside `if` or `match`", Step, steps::nested, ToolCalling,
        r#"{"if": {"condition": true, "then": []}}"# => r#"{"if": true, "then": []}"#;
    "condition beside a step", Step, steps::condition_beside, ToolCalling,
        r#"{"call": "t", "when": true}"# => r#"{"if": true, "then": [{"call": "t"}]}"#;
    "`continue` as a step, or beside `if`", Step, steps::continued, Mcp,
        r#"{"if": true, "continue": true}"# => r#"{"if": true, "skip": true}"#;
    "loop of another language", Step, steps::looped, ToolCalling,
        r#"{"foreach": "$xs", "as": "x", "do": []}"# => r#"{"for": "x", "in": "$xs", "do": []}"#;
    "steps for the success of a call under `ok`", Step, steps::succeeded, ToolCalling,
        r#"{"call": "t", "ok": [{"call": "u"}]}"# => r#"{"call": "t", "then": [{"call": "u"}]}"#;
    "call of another language", Step, steps::called, Mcp,
        r#"{"tool": "t", "arguments": {"a": 1}}"# => r#"{"call": "t", "with": {"a": 1}}"#;
    "value beside a call for when it fails", Step, steps::defaulted, ToolCalling,
        r#"{"call": "t", "default": 1}"# => r#"{"call": "t", "on-error": {"value": 1}}"#;
    "arguments beside a call", Step, steps::loose_arguments, Constrained,
        r#"{"let": "v", "call": "t", "user": 1}"# => r#"{"let": "v", "call": "t", "args": {"user": 1}}"#;
    "name beside its value", Step, steps::to_name, Constrained,
        r#"{"append": 1, "to": "xs"}"# => r#"{"let": "xs", "push": 1}"#;
    "name that an expression changes", Step, steps::changed, Constrained,
        r#"{"expr": "${n += 1}"}"# => r#"{"let": "n", "expr": "${n + 1}"}"#;
    "name of a step as a binding", Step, steps::of_named_step, Workflow,
        r#"{"set": "plain"}"# => r#"{"value": "plain"}"#;
    "names as the keys of their values", Step, steps::by_key, ToolCalling,
        r#"{"let": {"a": 1, "b": 2}}"# => r#"[{"let": "a", "expr": 1}, {"let": "b", "expr": 2}]"#;
    "operator beside `let`", Step, steps::operator_beside, Mcp,
        r#"{"let": "a", "+": [1, 2]}"# => r#"{"let": "a", "expr": {"+": [1, 2]}}"#;
    "kind of a step under `type`", Step, steps::by_type, Mcp,
        r#"{"type": "return", "value": 1}"# => r#"{"ok": 1}"#;
    "comparison by field", Formula, operations::compared, ToolCalling,
        r#"{"n": {">": 3}}"# => r#"{">": ["$input.n", 3]}"#;
    "question whether a list holds a value", Formula, operations::membership, ToolCalling,
        r#"{"in": ["$input.n", [1, 2]]}"# => r#"{"has": [[1, 2], "$input.n"]}"#;
    "value where another one is nil", Formula, operations::defaulted, ToolCalling,
        r#"{"default": ["$input.n", 2]}"# => r#"{"get": [["$input.n"], 0, 2]}"#;
    "operation with its operator under a key", Condition, operations::keyed, ToolCalling,
        r#"{"op": "+", "left": 1, "right": 2}"# => r#"{"+": [1, 2]}"#;
    "question of another language", Condition, operations::asked, ToolCalling,
        r#"{"is_null": "$input.n"}"# => r#"{"==": ["$input.n", null]}"#;
    "sign of another language", Value, operations::sign, ToolCalling,
        r#"{"&&": [true, false]}"# => r#"{"and": [true, false]}"#;
    "operator of another language with its operands", Formula, operations::computed, ToolCalling,
        r#"{"add": [1, 2]}"# => r#"{"+": [1, 2]}"#;
    "loop without a bound", Step, steps::unbounded, Mcp, r#"{"do_while": true, "yield": []}"# => "[]";
    "words for people alone", NoStep, steps::comment, ToolCalling, r#"{"comment": "first"}"# => "[]";
    "shell command", NoStep, steps::command, ToolCalling, r#"{"run": "make all"}"# => "[]";
    "state of a state machine", NoStep, steps::state, ToolCalling, r#"{"Type": "Wait", "Seconds": 1}"# => "[]";
    "steps that run at the same time", NoStep, steps::grouped, ToolCalling,
        r#"{"parallel": [{"call": "t"}, {"call": "u"}]}"# => r#"[{"call": "t"}, {"call": "u"}]"#;
    "`else` alone", NoStep, steps::lone_else, ToolCalling, r#"{"else": []}"# => "[]";
    "step under its name", NoStep, steps::named, Mcp,
        r#"{"a": {"call": "t"}}"# => r#"{"let": "a", "call": "t"}"#;
    "message of a failure alone", NoStep, steps::message, ToolCalling,
        r#"{"error": "no"}"# => r#"{"return": {"error": "no"}}"#;
    "word that no notation has", NoStep, steps::absent, Mcp, r#"{"do_while": true}"# => "[]";
    "operator of another language", NoStep, steps::operation, Mcp, r#"{"length": "$x"}"# => r#"{"len": "$x"}"#;
};
