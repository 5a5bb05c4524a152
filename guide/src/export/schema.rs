//! A JSON Schema of programs in the notation `constrained`: one function, with the calls of a catalogue.
//!
//! Schemas are written as text, because engines write keys in the order of the schema.

use super::hosts::{self, Host, Optional, TooLarge};
use crate::automaton::session::{Numbered, Session};
use ilo_asm::dialect::operator::{self, Makes, Operator};
use ilo_asm::dialect::{Key, word_of};
use ilo_asm::notation::Notation;
use ilo_spec::json::quoted;
use ilo_spec::pure::Kinds;
use serde_json::Value;
use std::collections::BTreeMap;

/// The levels of blocks in a schema that does not refer to itself.
const BLOCKS: u8 = 1;
/// The level of a schema that refers to itself.
const ENDLESS: u8 = u8::MAX;

const STRING: &str = r#"{"type":"string"}"#;
const YES: &str = r#"{"type":"boolean","enum":[true]}"#;

/// A schema of one function in the notation `constrained`: with the session's signature, or with any. Schemas
/// for hosts that accept no free keys have no free signature.
///
/// # Errors
/// If the host would refuse it.
pub fn schema(session: &Session<'_>, host: Option<Host>, any_signature: bool) -> Result<String, TooLarge> {
    let rules = host.map_or(hosts::Rules::FREE, Host::rules);
    let callable = session.tools.iter().filter(|tool| tool.depth.is_some()).count();
    hosts::tools(host, callable)?;
    let mut schema = Schema { session, rules, any_signature, defs: BTreeMap::new() };
    let level = if rules.recursion { ENDLESS } else { BLOCKS };
    let steps = schema.steps(level);
    let top = schema.top(&steps);
    let about = quoted(&about(rules));
    let defs: Vec<String> = schema.defs.iter().map(|(name, it)| format!("{}:{it}", quoted(name))).collect();
    let whole = format!("{{\"description\":{about},{},\"$defs\":{{{}}}}}\n", top, defs.join(","));
    hosts::schema(host, &whole)?;
    Ok(whole)
}

/// The rules that the schema does not express.
fn about(rules: hosts::Rules) -> String {
    let mut all = vec![
        "that names are in scope, and their types: each text may be a name",
        "required values on all paths, ret of the right form, break outside for",
        "operands that an operator refuses, ranges and fields within arguments",
        "equal keys; names of fields that a record does not have",
        "required rollbacks",
    ];
    if rules.optional == Optional::None {
        all.push("and it refuses some optional arguments without the others");
    }
    if !rules.free_keys {
        all.push(
            "and it refuses records with fields (write put), cases as a record (write pairs), and arguments that \
             the schema of a tool does not list",
        );
    }
    if !rules.recursion && rules.references {
        all.push("and it refuses values nested deeper than 2, blocks deeper than 1");
    }
    if !rules.references {
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

fn key(key: Key) -> &'static str {
    word_of(Notation::Constrained, key)
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
    format!("{{\"type\":\"array\",\"items\":{item}}}")
}

/// A record of exactly these fields; the third element says whether one is required.
fn record<'k>(fields: impl IntoIterator<Item = (&'k str, String, bool)>) -> String {
    let (mut properties, mut required) = (Vec::new(), Vec::new());
    for (name, schema, is_required) in fields {
        properties.push(format!("{}:{schema}", quoted(name)));
        required.extend(is_required.then(|| quoted(name)));
    }
    let (properties, required) = (properties.join(","), required.join(","));
    format!(
        "{{\"type\":\"object\",\"properties\":{{{properties}}},\"required\":[{required}],\"additionalProperties\":false}}"
    )
}

/// A record of these keys, all of which are required.
fn step(fields: &[(Key, &str)]) -> String {
    record(fields.iter().map(|(name, schema)| (key(*name), (*schema).to_owned(), true)))
}

struct Schema<'s, 'c> {
    session: &'s Session<'c>,
    rules: hosts::Rules,
    any_signature: bool,
    defs: BTreeMap<String, String>,
}

impl Schema<'_, '_> {
    /// The members of the function itself.
    fn top(&self, steps: &str) -> String {
        let fields = if self.any_signature {
            let string = STRING.to_owned();
            vec![(Key::Name, string.clone()), (Key::Input, free(STRING)), (Key::Output, string)]
        } else {
            let header = self.session.constrained_header();
            let text = |value: &Value| constant(value.as_str().unwrap_or_default());
            let names = self.session.parameters.iter().map(|it| it.0.as_str());
            let types = names.map(|name| (name, text(&header[key(Key::Input)][name]), true));
            vec![
                (Key::Name, text(&header[key(Key::Name)])),
                (Key::Input, record(types)),
                (Key::Output, text(&header[key(Key::Output)])),
            ]
        };
        let fields = fields.into_iter().map(|(name, schema)| (key(name), schema, true));
        let whole = record(fields.chain([(key(Key::Steps), steps.to_owned(), true)]));
        // The members alone, after those that the caller writes.
        whole.trim_start_matches('{').strip_suffix('}').unwrap_or_default().to_owned()
    }

    /// Adds a definition, unless it exists, and returns the reference to it.
    fn define(&mut self, name: String, make: impl FnOnce(&mut Self) -> String) -> String {
        if !self.rules.references {
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
        if self.rules.recursion { ENDLESS } else { self.rules.values.1 }
    }

    /// A value of some kinds. A text may be the name of a value of any kind.
    fn value(&mut self, kinds: Kinds, level: u8) -> String {
        let kinds = if self.rules.typed { kinds } else { Kinds::ANY };
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
            let inner = schema.value(Kinds::ANY, below);
            if kinds.meets(Kinds::LIST) {
                all.push(list_of(&inner));
            }
            all.extend(kinds.meets(Kinds::RECORD).then(|| schema.records(&inner)).into_iter().flatten());
            all.push(schema.operations(&inner, below));
            all.extend(schema.rules.references.then(|| schema.cases(&inner, below)));
            if schema.rules.recursion {
                all.extend(schema.call());
            }
            any_of(&all)
        })
    }

    fn records(&self, inner: &str) -> Vec<String> {
        let fields = if self.rules.free_keys { free(inner) } else { record([]) };
        let mut all = vec![step(&[(Key::Obj, &fields)])];
        if self.rules.free_keys {
            all.push(step(&[(Key::Merge, inner), (Key::Set, &fields)]));
            // A record with one field that has the name of an operator is read as that operator.
            let first =
                operator::TABLE.iter().filter(|row| row.is_everywhere()).map(|row| quoted(row.spelling));
            let taken: Vec<String> = first.chain([quoted("text")]).collect();
            let only = format!(
                "\"minProperties\":1,\"maxProperties\":1,\"propertyNames\":{{\"enum\":[{}]}}",
                taken.join(",")
            );
            all.push(format!("{{\"type\":\"object\",\"additionalProperties\":{inner},\"not\":{{{only}}}}}"));
        }
        all
    }

    /// Records of these keys; the third element says whether one is required. For a host that limits absent
    /// keys, there is a record for each combination of optional keys.
    fn forms(&self, fields: &[(Key, &str, bool)]) -> Vec<String> {
        let optional = self.rules.optional == Optional::Any;
        let mut all = vec![Vec::new()];
        for &(name, schema, is_required) in fields {
            let without = if is_required || optional { Vec::new() } else { all.clone() };
            for form in &mut all {
                form.push((key(name), schema.to_owned(), is_required || !optional));
            }
            all.extend(without);
        }
        all.into_iter().map(record).collect()
    }

    /// Operators over values.
    fn operations(&mut self, inner: &str, below: u8) -> String {
        let (inner, bounds, all_ways) = (inner.to_owned(), self.rules.bounds, self.rules.references);
        self.define(Self::named("operation", below), |_| {
            let mut all = Vec::new();
            if all_ways {
                all.push(step(&[(Key::Op, &operator_of(2)), (Key::A, &inner), (Key::B, &inner)]));
                all.push(step(&[(Key::Op, &operator_of(1)), (Key::A, &inner)]));
            }
            // A step with `op` is another form of operators with one or two operands.
            let rows = operator::TABLE.iter().filter(|row| all_ways || row.most() > 2);
            all.extend(rows.map(|row| {
                let operands = if row.least() == 1 { inner.clone() } else { operands(row, &inner, bounds) };
                record([(row.spelling, operands, true)])
            }));
            any_of(&all)
        })
    }

    /// A choice by equal cases.
    fn cases(&mut self, inner: &str, below: u8) -> String {
        let inner = inner.to_owned();
        self.define(Self::named("cases", below), |schema| any_of(&schema.case_forms(&[], &inner)))
    }

    /// The records of a choice, with more keys before its own.
    fn case_forms(&self, before: &[(Key, &str, bool)], inner: &str) -> Vec<String> {
        let pair = if self.rules.bounds {
            format!("{{\"type\":\"array\",\"items\":{inner},\"minItems\":2,\"maxItems\":2}}")
        } else {
            list_of(inner)
        };
        let mut cases = vec![list_of(&pair)];
        if self.rules.free_keys {
            cases.push(free(inner));
        }
        let (cases, is_required) = (any_of(&cases), self.rules.optional == Optional::None);
        let own = [(Key::Match, inner, true), (Key::Cases, &cases, true), (Key::Default, inner, is_required)];
        self.forms(&[before, &own].concat())
    }

    fn steps(&mut self, level: u8) -> String {
        list_of(&self.step(level))
    }

    fn step(&mut self, level: u8) -> String {
        self.define(Self::named("step", level), |schema| {
            let any = schema.any();
            let mut all = Vec::new();
            schema.simple(level, &any, &mut all);
            if let Some(below) = Self::below(level) {
                schema.blocks(&any, below, &mut all);
            } else {
                use Key::{Else, If, Let, Then};
                all.push(step(&[(Let, STRING), (If, &any), (Then, &any), (Else, &any)]));
            }
            any_of(&all)
        })
    }

    fn simple(&mut self, level: u8, any: &str, all: &mut Vec<String>) {
        use Key::{Break, Compensate, Expr, Fail, Handler, If, Let, Obj, Return, Rollback, Skip};
        let level_of_whole = if self.rules.recursion { ENDLESS } else { self.rules.values.0 };
        let whole = self.value(Kinds::ANY, level_of_whole);
        let (ret, plain) = (self.returns(&whole), self.returns(any));
        let handler = self.handler(level, any);
        let undo = self.call();
        all.extend(self.forms(&[(Let, STRING, true), (Expr, &whole, true), (Handler, &handler, false)]));
        all.push(step(&[(Expr, any)]));
        let bound = (Let, STRING, false);
        let (one, two) = (operator_of(1), operator_of(2));
        all.extend(self.forms(&[bound, (Key::Op, &one, true), (Key::A, any, true)]));
        all.extend(self.forms(&[bound, (Key::Op, &two, true), (Key::A, any, true), (Key::B, any, true)]));
        all.extend(self.case_forms(&[bound], any));
        all.push(step(&[(Return, &ret)]));
        all.push(step(&[(Fail, any)]));
        all.push(step(&[(Key::Yield, any)]));
        all.push(step(&[(If, any), (Return, &plain)]));
        for leaves in [Break, Skip] {
            all.push(step(&[(leaves, YES)]));
            all.push(step(&[(If, any), (leaves, YES)]));
        }
        if self.rules.free_keys {
            let fields = free(any);
            all.push(step(&[(Obj, &fields)]));
            all.push(step(&[(Let, STRING), (Obj, &fields)]));
            all.push(step(&[(Let, STRING), (Key::Merge, any), (Key::Set, &fields)]));
        }
        let Some(undo) = undo else { return };
        let many = list_of(&undo);
        all.push(step(&[(Rollback, &any_of(&[undo, many.clone()]))]));
        all.push(step(&[(Compensate, &many)]));
        for (number, tool) in self.session.tools.iter().enumerate().filter(|it| it.1.depth.is_some()) {
            let name = constant(&tool.name);
            let args = self.args(number, tool);
            let mut fields = vec![(Let, STRING, false), (Key::Call, &name, true)];
            fields.extend(
                args.as_ref().map(|(schema, is_required)| (Key::Args, schema.as_str(), *is_required)),
            );
            fields.push((Handler, &handler, false));
            let undone = any_of(&[reference("call"), many.clone()]);
            if self.rules.optional == Optional::Any && self.rules.references {
                fields.extend([(Rollback, undone.as_str(), false), (Compensate, &many, false)]);
            }
            all.extend(self.forms(&fields));
        }
    }

    /// Steps with blocks.
    fn blocks(&mut self, any: &str, below: u8, all: &mut Vec<String>) {
        use Key::{Body, Else, For, Handler, If, In, Let, Match, Then};
        let steps = self.steps(below);
        all.extend(self.forms(&[(If, any, true), (Then, &steps, true), (Else, &steps, false)]));
        let bound = (Let, STRING, false);
        let passes =
            [bound, (For, STRING, true), (In, any, true), (Body, &steps, true), (Else, &steps, false)];
        all.extend(self.forms(&passes));
        let caught = self.handler(below, any);
        all.extend(self.forms(&[bound, (Key::Try, &steps, true), (Handler, &caught, true)]));
        let branch = any_of(&[any.to_owned(), steps.clone()]);
        all.push(step(&[(Let, STRING), (If, any), (Then, &branch), (Else, &branch)]));
        let handler = self.handler(below, any);
        let mut head = vec![bound, (Match, STRING, true)];
        head.extend(self.rules.recursion.then_some((Key::As, STRING, false)));
        for ends in
            [&[(Handler, handler.as_str(), false), (Then, &branch, true)][..], &[(Handler, &handler, true)]]
        {
            all.extend(self.forms(&[&head, ends].concat()));
        }
    }

    /// The value of `ret`.
    fn returns(&mut self, any: &str) -> String {
        let any = any.to_owned();
        let is_plain = self.any_signature || self.session.err.is_none();
        let is_result = self.any_signature || self.session.err.is_some();
        self.define("return".to_owned(), |_| {
            let mut all = Vec::new();
            if is_result {
                all.push(step(&[(Key::Ok, &any)]));
                all.push(step(&[(Key::Err, &any)]));
            }
            all.extend(is_plain.then_some(any));
            any_of(&all)
        })
    }

    /// The value of `err` beside a call.
    fn handler(&mut self, level: u8, any: &str) -> String {
        let any = any.to_owned();
        self.define(Self::named("handler", level), |schema| {
            let mut ways = vec![(Key::Return, schema.returns(&any)), (Key::Value, any)];
            ways.extend([Key::Skip, Key::Break, Key::Ignore].map(|way| (way, YES.to_owned())));
            if let Some(below) = Self::below(level).filter(|_| schema.rules.references) {
                ways.push((Key::Then, schema.steps(below)));
            }
            let mut all = vec![STRING.to_owned()];
            for (way, takes) in ways {
                if schema.rules.optional == Optional::Any && schema.rules.references {
                    let name = (key(Key::As), STRING.to_owned(), false);
                    all.push(record([name, (key(way), takes, true)]));
                } else {
                    all.push(step(&[(way, &takes)]));
                }
            }
            any_of(&all)
        })
    }

    /// A call, as a value or as a rollback; nothing if there is no tool.
    fn call(&mut self) -> Option<String> {
        let session = self.session;
        session.tools.iter().any(|tool| tool.depth.is_some()).then(|| {
            self.define("call".to_owned(), |schema| {
                let mut all = Vec::new();
                for (number, tool) in session.tools.iter().enumerate().filter(|it| it.1.depth.is_some()) {
                    let (name, args) = (constant(&tool.name), schema.args(number, tool));
                    let mut fields = vec![(Key::Call, name.as_str(), true)];
                    fields.extend(args.as_ref().map(|it| (Key::Args, it.0.as_str(), it.1)));
                    all.extend(schema.forms(&fields));
                }
                any_of(&all)
            })
        })
    }

    /// The arguments of a tool, if it has any, and whether they are required.
    fn args(&mut self, number: usize, tool: &Numbered<'_>) -> Option<(String, bool)> {
        let may_be_absent = self.rules.optional != Optional::None;
        let is_required = !tool.required.is_empty() || !may_be_absent;
        let may_have = may_be_absent || !tool.listed.is_empty();
        may_have.then(|| (self.arguments(number, tool), is_required))
    }

    /// The arguments of a tool.
    fn arguments(&mut self, number: usize, tool: &Numbered<'_>) -> String {
        let optional = self.rules.optional != Optional::None;
        self.define(format!("args{number}"), |schema| {
            let mut fields = Vec::new();
            let mut open = false;
            if let Some(callee) = &tool.callee {
                let input = callee.input();
                open = input.is_open() && schema.rules.free_keys;
                for field in input.fields() {
                    let value = schema.value(field.shape.kinds(), schema.level());
                    fields.push((field.name, value, field.required));
                }
            }
            if optional || fields.iter().all(|it| it.2) {
                let closed = record(fields);
                let any = schema.any();
                let end = "\"additionalProperties\":";
                return if open {
                    closed.replacen(&format!("{end}false"), &format!("{end}{any}"), 1)
                } else {
                    closed
                };
            }
            let required = record(fields.iter().filter(|it| it.2).cloned());
            let all = record(fields.into_iter().map(|(name, value, _)| (name, value, true)));
            any_of(&[required, all])
        })
    }
}

/// `"op":"+","a":…,"b":…`, for operators with this number of operands.
fn operator_of(operands: usize) -> String {
    let rows = operator::TABLE.iter().filter(|row| row.takes(operands));
    let rows = rows.filter(|row| !matches!(row.makes, Makes::Apply(_)) || row.least() == operands);
    let names: Vec<String> = rows.map(|row| quoted(row.spelling)).collect();
    format!("{{\"type\":\"string\",\"enum\":[{}]}}", names.join(","))
}

/// The list of an operator's operands.
fn operands(row: &Operator, inner: &str, bounds: bool) -> String {
    if !bounds {
        return list_of(inner);
    }
    let most = if row.folds { String::new() } else { format!(",\"maxItems\":{}", row.most()) };
    format!("{{\"type\":\"array\",\"items\":{inner},\"minItems\":{}{most}}}", row.least())
}
