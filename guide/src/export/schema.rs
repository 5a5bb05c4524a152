//! A JSON Schema of programs in the notation `constrained`: one function, with the calls of a catalogue.
//!
//! Schemas are written as text, because engines write keys in the order of the schema.

use super::hosts::{self, Host, Optional, TooLarge};
use crate::automaton::session::{Callee, Numbered, Session};
use ilo_asm::catalog::SchemaShape;
use ilo_asm::dialect::operator::{self, Makes};
use ilo_spec::json::quoted;
use ilo_spec::pure::Kinds;
use serde_json::Value;
use std::collections::BTreeMap;

/// The levels of blocks in a schema that does not refer to itself.
const BLOCKS: u8 = 1;
/// The level of a schema that refers to itself.
const ENDLESS: u8 = u8::MAX;

/// The forms of steps: keys, each with the part that it has. A key with `?` may be absent; one with `*` only
/// for a host that lets keys be absent; `as` only for one whose definitions refer to themselves.
const STEPS: [&str; 13] = [
    "let:name expr:whole err?:handler",
    "expr:any",
    "let?:name op:one a:any",
    "let?:name op:two a:any b:any",
    "let?:name match:any cases:cases default*:any",
    "ret:ret",
    "raise:any",
    "yield:any",
    "if:any ret:plain",
    "break:yes",
    "if:any break:yes",
    "skip:yes",
    "if:any skip:yes",
];
const STEPS_OF_FREE_KEYS: [&str; 3] = ["obj:fields", "let:name obj:fields", "let:name merge:any set:fields"];
const STEPS_OF_CALLS: [&str; 2] = ["rollback:undo", "compensate:many"];
const STEPS_OF_BLOCKS: [&str; 6] = [
    "if:any then:steps else?:steps",
    "let?:name for:name in:any yield:steps else?:steps",
    "let?:name try:steps err:caught",
    "let:name if:any then:branch else:branch",
    "let?:name match:name as?:name err?:caught then:branch",
    "let?:name match:name as?:name err:caught",
];
/// The ways of a handler, of which the last has steps.
const WAYS: [&str; 6] = [
    "as?:name ret:plain",
    "as?:name value:any",
    "as?:name skip:yes",
    "as?:name break:yes",
    "as?:name ignore:yes",
    "as?:name then:steps",
];

const STRING: &str = r#"{"type":"string"}"#;
const YES: &str = r#"{"type":"boolean","enum":[true]}"#;

/// A schema of one function in the notation `constrained`: with the session's signature, or with any. Schemas
/// for hosts that accept no free keys have no free signature.
///
/// # Errors
/// If the host would refuse it.
pub fn schema(session: &Session<'_>, host: Option<Host>, any_signature: bool) -> Result<String, TooLarge> {
    let features = host.map_or(hosts::Features::FREE, Host::features);
    let mut schema = Schema { session, features, any_signature, defs: BTreeMap::new() };
    hosts::tools(host, schema.calls().count())?;
    let level = if features.recursion { ENDLESS } else { BLOCKS };
    let steps = schema.steps(level);
    let top = schema.top(&steps);
    let about = quoted(&about(features));
    let defs: Vec<String> = schema.defs.iter().map(|(name, it)| format!("{}:{it}", quoted(name))).collect();
    let whole = format!("{{\"description\":{about},{},\"$defs\":{{{}}}}}\n", top, defs.join(","));
    hosts::schema(host, &whole)?;
    Ok(whole)
}

/// The rules that the schema does not express.
fn about(features: hosts::Features) -> String {
    let mut all = vec![
        "that names are in scope, and their types: each text may be a name",
        "required values on all paths, ret of the right form, break outside for",
        "operands that an operator refuses, ranges and fields within arguments",
        "equal keys; names of fields that a record does not have",
        "required rollbacks",
    ];
    if features.optional == Optional::None {
        all.push("and it refuses some optional arguments without the others");
    }
    if !features.free_keys {
        all.push(
            "and it refuses records with fields (write put), cases as a record (write pairs), and arguments that \
             the schema of a tool does not list",
        );
    }
    if !features.recursion && features.references {
        all.push("and it refuses values nested deeper than 2, blocks deeper than 1");
    }
    if !features.references {
        all.push(
            "and it refuses values nested deeper than 1, or nested elsewhere than beside expr and ret (bind them \
             first), operators of one or two operands and choices but as steps, blocks deeper than 1, and blocks in \
             err",
        );
    }
    format!(
        "One function of an ilo program in the notation constrained. Check each program after: this schema does not hold {}.",
        all.join("; ")
    )
}

/// The name of a definition.
fn reference(name: &str) -> String {
    format!("{{\"$ref\":{}}}", quoted(&format!("#/$defs/{name}")))
}

fn constant(text: &str) -> String {
    format!("{{\"type\":\"string\",\"enum\":[{}]}}", quoted(text))
}

fn any_of(all: &[String]) -> String {
    match all {
        [only] => only.clone(),
        _ => format!("{{\"anyOf\":[{}]}}", all.join(",")),
    }
}

/// A record of any keys.
fn free(value: &str) -> String {
    format!("{{\"type\":\"object\",\"additionalProperties\":{value}}}")
}

fn list_of(item: &str) -> String {
    bounded(item, None, None)
}

/// A list with at least and at most so many items.
fn bounded(item: &str, least: Option<usize>, most: Option<usize>) -> String {
    let least = least.map_or_else(String::new, |least| format!(",\"minItems\":{least}"));
    let most = most.map_or_else(String::new, |most| format!(",\"maxItems\":{most}"));
    format!("{{\"type\":\"array\",\"items\":{item}{least}{most}}}")
}

/// A record of exactly these fields; the third element says whether one is required.
fn record<'k>(fields: impl IntoIterator<Item = (&'k str, String, bool)>) -> String {
    open_record(fields, "false")
}

/// A record of these fields, and of others with this schema.
fn open_record<'k>(fields: impl IntoIterator<Item = (&'k str, String, bool)>, others: &str) -> String {
    let (mut properties, mut required) = (Vec::new(), Vec::new());
    for (name, schema, is_required) in fields {
        properties.push(format!("{}:{schema}", quoted(name)));
        required.extend(is_required.then(|| quoted(name)));
    }
    let (properties, required) = (properties.join(","), required.join(","));
    format!(
        "{{\"type\":\"object\",\"properties\":{{{properties}}},\"required\":[{required}],\"additionalProperties\":{others}}}"
    )
}

/// What the parts of a form depend on.
#[derive(Default)]
struct FormParts {
    /// The level of the steps.
    level: u8,
    any: String,
    /// The name of a tool, and its arguments.
    tool: String,
    args: String,
}

struct Schema<'s, 'c> {
    session: &'s Session<'c>,
    features: hosts::Features,
    any_signature: bool,
    defs: BTreeMap<String, String>,
}

impl<'s, 'c> Schema<'s, 'c> {
    /// The members of the function itself.
    fn top(&self, steps: &str) -> String {
        let fields = if self.any_signature {
            let string = STRING.to_owned();
            [string.clone(), free(STRING), string]
        } else {
            let header = self.session.constrained_header();
            let text = |value: &Value| constant(value.as_str().unwrap_or_default());
            let names = self.session.parameters.iter().map(|it| it.0.as_str());
            let types = names.map(|name| (name, text(&header["in"][name]), true));
            [text(&header["fn"]), record(types), text(&header["out"])]
        };
        let fields =
            ["fn", "in", "out", "body"].into_iter().zip(fields.into_iter().chain([steps.to_owned()]));
        let whole = record(fields.map(|(name, schema)| (name, schema, true)));
        // The members alone, after those that the caller writes.
        whole.trim_start_matches('{').strip_suffix('}').unwrap_or_default().to_owned()
    }

    /// Adds a definition, unless it exists, and returns the reference to it.
    fn define(&mut self, name: String, make: impl FnOnce(&mut Self) -> String) -> String {
        if !self.features.references {
            return make(self);
        }
        let found = reference(&name);
        if !self.defs.contains_key(&name) {
            self.defs.insert(name.clone(), String::new());
            let schema = make(self);
            self.defs.insert(name, schema);
        }
        found
    }

    /// The level below, or nothing if this is the last.
    fn below(level: u8) -> Option<u8> {
        if level == ENDLESS { Some(ENDLESS) } else { level.checked_sub(1) }
    }

    fn named(name: &str, level: u8) -> String {
        if level == ENDLESS { name.to_owned() } else { format!("{name}{level}") }
    }

    /// Any value beside a key that is not `expr` or `ret` of a step.
    fn any(&mut self) -> String {
        self.value(Kinds::ANY, self.level())
    }

    /// The nesting of such values.
    fn level(&self) -> u8 {
        if self.features.recursion { ENDLESS } else { self.features.values.1 }
    }

    /// A value of some kinds. A text may be the name of a value of any kind.
    fn value(&mut self, kinds: Kinds, level: u8) -> String {
        let kinds = if self.features.typed { kinds } else { Kinds::ANY };
        let name = format!("value_{}", kinds.to_string().replace(" or ", "_"));
        self.define(Self::named(&name, level), |schema| {
            let mut all = vec![STRING.to_owned()];
            for (kind, ty) in [(Kinds::NUMBER, "number"), (Kinds::BOOL, "boolean"), (Kinds::NIL, "null")] {
                all.extend(kinds.meets(kind).then(|| format!("{{\"type\":\"{ty}\"}}")));
            }
            if kinds.meets(Kinds::TEXT) {
                all.push(record([("text", STRING.to_owned(), true)]));
            }
            let Some(below) = Self::below(level) else { return any_of(&all) };
            let at = FormParts { any: schema.value(Kinds::ANY, below), ..FormParts::default() };
            if kinds.meets(Kinds::LIST) {
                all.push(list_of(&at.any));
            }
            if kinds.meets(Kinds::RECORD) {
                all.extend(schema.records(&at));
            }
            all.push(schema.define(Self::named("operation", below), |schema| schema.operations(&at)));
            if schema.features.references {
                all.push(schema.define(Self::named("cases", below), |schema| {
                    any_of(&schema.forms("match:any cases:cases default*:any", &at))
                }));
            }
            if schema.features.recursion && schema.calls().next().is_some() {
                all.push(schema.call());
            }
            any_of(&all)
        })
    }

    fn records(&mut self, at: &FormParts) -> Vec<String> {
        let mut all = self.forms("obj:fields", at);
        if self.features.free_keys {
            all.extend(self.forms("merge:any set:fields", at));
            // A record with one field that has the name of an operator is read as that operator.
            let first =
                operator::TABLE.iter().filter(|row| row.is_everywhere()).map(|row| quoted(row.spelling));
            let taken: Vec<String> = first.chain([quoted("text")]).collect();
            let only = format!(
                "\"minProperties\":1,\"maxProperties\":1,\"propertyNames\":{{\"enum\":[{}]}}",
                taken.join(",")
            );
            let any = &at.any;
            all.push(format!("{{\"type\":\"object\",\"additionalProperties\":{any},\"not\":{{{only}}}}}"));
        }
        all
    }

    /// Operators over values.
    fn operations(&mut self, at: &FormParts) -> String {
        let all_ways = self.features.references;
        let mut all =
            if all_ways { self.all_of(&["op:two a:any b:any", "op:one a:any"], at) } else { Vec::new() };
        // A step with `op` is another form of operators with one or two operands.
        let rows = operator::TABLE.iter().filter(|row| all_ways || row.most() > 2);
        all.extend(rows.map(|row| {
            let least = self.features.bounds.then_some(row.least());
            let most = least.filter(|_| !row.folds).map(|_| row.most());
            let operands = if row.least() == 1 { at.any.clone() } else { bounded(&at.any, least, most) };
            record([(row.spelling, operands, true)])
        }));
        any_of(&all)
    }

    fn all_of(&mut self, forms: &[&str], at: &FormParts) -> Vec<String> {
        forms.iter().flat_map(|form| self.forms(form, at)).collect()
    }

    /// The records of a form. For a host that limits absent keys, there is a record for each combination of
    /// optional keys.
    fn forms(&mut self, form: &str, at: &FormParts) -> Vec<String> {
        let is_optional = self.features.optional == Optional::Any;
        let mut all = vec![Vec::new()];
        for (marked, part) in form.split(' ').filter_map(|it| it.split_once(':')) {
            let name = marked.trim_end_matches(['?', '*']);
            let may_be_absent =
                marked.ends_with('?') || marked.ends_with('*') && self.features.optional != Optional::None;
            if name == "as" && !self.features.recursion {
                continue;
            }
            let schema = self.part(part, at);
            let without = if may_be_absent && !is_optional { all.clone() } else { Vec::new() };
            for form in &mut all {
                form.push((name, schema.clone(), !(may_be_absent && is_optional)));
            }
            all.extend(without);
        }
        all.into_iter().map(record).collect()
    }

    /// The schema of a part of a form.
    fn part(&mut self, part: &str, at: &FormParts) -> String {
        let below = Self::below(at.level).unwrap_or_default();
        match part {
            "name" => STRING.to_owned(),
            "yes" => YES.to_owned(),
            "any" => at.any.clone(),
            "whole" => {
                let level = if self.features.recursion { ENDLESS } else { self.features.values.0 };
                self.value(Kinds::ANY, level)
            }
            "one" => operator_of(1),
            "two" => operator_of(2),
            "fields" if self.features.free_keys => free(&at.any),
            "fields" => record([]),
            "cases" => {
                let two = self.features.bounds.then_some(2);
                let mut all = vec![list_of(&bounded(&at.any, two, two))];
                all.extend(self.features.free_keys.then(|| free(&at.any)));
                any_of(&all)
            }
            "ret" => {
                let whole = self.part("whole", at);
                self.returns(&whole)
            }
            "plain" => self.returns(&at.any),
            "handler" => self.handler(at.level, &at.any),
            "caught" => self.handler(below, &at.any),
            "steps" => self.steps(below),
            "branch" => any_of(&[at.any.clone(), self.steps(below)]),
            "many" => list_of(&self.call()),
            "undo" => {
                let call = self.call();
                any_of(&[call.clone(), list_of(&call)])
            }
            "tool" => at.tool.clone(),
            _ => at.args.clone(),
        }
    }

    fn steps(&mut self, level: u8) -> String {
        list_of(&self.step(level))
    }

    fn step(&mut self, level: u8) -> String {
        self.define(Self::named("step", level), |schema| {
            let at = FormParts { level, any: schema.any(), ..FormParts::default() };
            let mut all = schema.all_of(&STEPS, &at);
            if schema.features.free_keys {
                all.extend(schema.all_of(&STEPS_OF_FREE_KEYS, &at));
            }
            if schema.calls().next().is_some() {
                all.extend(schema.all_of(&STEPS_OF_CALLS, &at));
                let undone = schema.features.optional == Optional::Any && schema.features.references;
                let undone = if undone { " rollback?:undo compensate?:many" } else { "" };
                all.extend(schema.call_forms("let?:name ", &format!(" err?:handler{undone}"), &at));
            }
            all.extend(match Self::below(level) {
                Some(_) => schema.all_of(&STEPS_OF_BLOCKS, &at),
                None => schema.forms("let:name if:any then:any else:any", &at),
            });
            any_of(&all)
        })
    }

    /// The value of `ret`.
    fn returns(&mut self, any: &str) -> String {
        let at = FormParts { any: any.to_owned(), ..FormParts::default() };
        let is_plain = self.any_signature || self.session.err.is_none();
        let is_result = self.any_signature || self.session.err.is_some();
        self.define("return".to_owned(), |schema| {
            let mut all = if is_result { schema.all_of(&["ok:any", "err:any"], &at) } else { Vec::new() };
            all.extend(is_plain.then_some(at.any));
            any_of(&all)
        })
    }

    /// The value of `err` beside a call.
    fn handler(&mut self, level: u8, any: &str) -> String {
        let at = FormParts { level, any: any.to_owned(), ..FormParts::default() };
        self.define(Self::named("handler", level), |schema| {
            let mut all = vec![STRING.to_owned()];
            let has_steps = Self::below(level).is_some() && schema.features.references;
            let ways = WAYS.iter().take(if has_steps { 6 } else { 5 });
            all.extend(ways.flat_map(|way| schema.forms(way, &at)));
            any_of(&all)
        })
    }

    /// The tools that may be called, by number.
    fn calls(&self) -> impl Iterator<Item = (usize, &'s Numbered<'c>)> + use<'s, 'c> {
        self.session.tools.iter().enumerate().filter(|it| it.1.depth.is_some())
    }

    /// A form with the call of each tool.
    fn call_forms(&mut self, before: &str, behind: &str, at: &FormParts) -> Vec<String> {
        let mut all = Vec::new();
        for (number, tool) in self.calls() {
            let (keys, args) = match self.args(number, tool) {
                None => ("", String::new()),
                Some((args, true)) => (" args:args", args),
                Some((args, false)) => (" args?:args", args),
            };
            let at = FormParts { level: at.level, any: at.any.clone(), tool: constant(&tool.name), args };
            all.extend(self.forms(&format!("{before}call:tool{keys}{behind}"), &at));
        }
        all
    }

    /// A call, as a value or as a rollback.
    fn call(&mut self) -> String {
        self.define("call".to_owned(), |schema| any_of(&schema.call_forms("", "", &FormParts::default())))
    }

    /// The arguments of a tool, if it has any, and whether they are required.
    fn args(&mut self, number: usize, tool: &Numbered<'_>) -> Option<(String, bool)> {
        let may_be_absent = self.features.optional != Optional::None;
        let input = tool.callee.as_ref().map(Callee::input);
        if !may_be_absent && input.is_none_or(|input| input.fields().next().is_none()) {
            return None;
        }
        let is_required = !may_be_absent || input.is_some_and(|input| input.required().next().is_some());
        let args = self.define(format!("args{number}"), |schema| {
            let level = schema.level();
            let listed = input.iter().flat_map(|input| input.fields());
            let fields: Vec<_> =
                listed.map(|it| (it.name, schema.value(it.shape.kinds(), level), it.required)).collect();
            if may_be_absent || fields.iter().all(|it| it.2) {
                let is_open = schema.features.free_keys && input.is_some_and(SchemaShape::is_open);
                return open_record(fields, &if is_open { schema.any() } else { "false".to_owned() });
            }
            let required = record(fields.iter().filter(|it| it.2).cloned());
            let all = record(fields.into_iter().map(|(name, value, _)| (name, value, true)));
            any_of(&[required, all])
        });
        Some((args, is_required))
    }
}

/// `"op":"+","a":…,"b":…`, for operators with this number of operands.
fn operator_of(operands: usize) -> String {
    let rows = operator::TABLE.iter().filter(|row| row.takes(operands));
    let rows = rows.filter(|row| !matches!(row.makes, Makes::Apply(_)) || row.least() == operands);
    let names: Vec<String> = rows.map(|row| quoted(row.spelling)).collect();
    format!("{{\"type\":\"string\",\"enum\":[{}]}}", names.join(","))
}
