//! The definitions of the tools of the server, and the cards of the notations as resources.

use super::{Offered, Service, Stand};
use crate::tools::Health;
use ilo_asm::catalog::Catalog;
use ilo_asm::notation::Notation;
use ilo_asm::prompt;
use ilo_spec::types::{Base, Type};
use ilo_vm::{Field, Fields, Input};
use rmcp::model::{JsonObject, ReadResourceResult, Resource, ResourceContents, Tool};
use serde_json::{Value, json};
use std::sync::Arc;

/// The instructions that a client gets when it connects.
pub(super) const INSTRUCTIONS: &str = "Instead of calling tools one by one, write one program that calls them: find the \
tools with `find_tools`, read the card of a notation (resources `ilo://card/…`), and give the program to `run_program`. It \
is checked as a whole before anything runs, and every error says what to write instead; `check_program` only checks.";

/// The scheme and path of the cards.
const CARD: &str = "ilo://card/";

/// The resource with the state of the servers.
pub(super) const SERVERS: &str = "ilo://servers";

/// All tools of the server.
pub(super) fn tools(service: &Service) -> Vec<Tool> {
    let notations: Vec<&str> = Notation::ALL.iter().map(|&(_, name)| name).collect();
    let source = json!({"type": "string", "description": "the text of the program, in any notation"});
    let notation = json!({"type": "string", "enum": notations, "description": "detected from the source if it is left out"});
    let strict = json!({"type": "boolean", "description": "false lets warnings pass that foretell a fault; true without it"});
    let signature =
        json!({"type": "string", "description": "what the function must be, as `email(id: text) -> text`"});
    let output = json!({"type": "object", "description": "what its value must be, as a JSON Schema"});
    let mut tools = vec![
        tool(
            "run_program",
            "Checks a program, then runs it over the tools that are configured here. Answers with the outcome and the \
             calls made, or with every error and what to write instead; then nothing has run.",
            &json!({"type": "object", "additionalProperties": false, "required": ["source"], "properties": {
                "source": source, "notation": notation,
                "inputs": {"type": "object", "description": "a field for each parameter of the function"},
                "function": {"type": "string", "description": "the one to run; else the only one that no other calls"},
                "signature": signature, "output_schema": output, "strict": strict,
            }}),
        ),
        tool(
            "check_program",
            "Checks a program against the tools that are configured here, without running it: every error and warning, \
             with its place and what to write instead.",
            &json!({"type": "object", "additionalProperties": false, "required": ["source"], "properties": {
                "source": source, "notation": notation, "signature": signature, "output_schema": output, "strict": strict,
            }}),
        ),
        tool(
            "find_tools",
            "Finds the tools that programs can call, by words: their names, signatures and what they are for.",
            &json!({"type": "object", "additionalProperties": false, "properties": {
                "query": {"type": "string", "description": "words of what is to be done, of which the first 32 count; every tool without it"},
                "limit": {"type": "integer", "minimum": 1, "description": "the most to answer with, 10 without it"},
            }}),
        ),
    ];
    tools.extend(service.functions.iter().map(function));
    tools
}

fn tool(name: &str, about: &str, schema: &Value) -> Tool {
    Tool::new(name.to_owned(), about.to_owned(), object(schema))
}

fn object(schema: &Value) -> Arc<JsonObject> {
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// A function as a tool.
fn function(offered: &Offered) -> Tool {
    let inputs: Vec<Input<'_>> = offered.program.inputs(offered.function).collect();
    let properties: JsonObject = inputs.iter().map(|it| (it.name.to_owned(), input_schema(it))).collect();
    let names: Vec<&str> = inputs.iter().filter(|it| !it.optional).map(|it| it.name).collect();
    let input = json!({
        "type": "object", "properties": properties, "required": names, "additionalProperties": false,
    });
    // A plain value is wrapped in a record with one field, which is marked so that a client can unwrap it.
    let output = json!({
        "type": "object", "properties": {"result": schema(offered.program.output(offered.function).ok)},
        "required": ["result"], "x-fastmcp-wrap-result": true,
    });
    let signature: Vec<String> = inputs.iter().map(|it| format!("{}: {}", it.name, it.written())).collect();
    let about = format!("{}({})", offered.name, signature.join(", "));
    let mut tool = tool(&offered.name, &about, &input);
    tool.output_schema = Some(object(&output));
    tool
}

/// An input as a schema: null is allowed where the function takes nil, and the default is listed.
fn input_schema(input: &Input<'_>) -> Value {
    let mut schema = lists(input.ty, record(input.fields, input.ty));
    if !input.takes_nil {
        return schema;
    }
    or_null(&mut schema);
    let default = input.default.and_then(|default| serde_json::from_str(default).ok());
    if let (Some(default), Some(fields)) = (default, schema.as_object_mut()) {
        fields.insert("default".to_owned(), default);
    }
    schema
}

/// Allows null besides.
fn or_null(schema: &mut Value) {
    if let Some(ty) = schema.get_mut("type") {
        *ty = json!([ty.take(), "null"]);
    }
}

/// What is inside the lists of a type: a record, if it lists fields.
fn record(fields: Option<Fields<'_>>, ty: Type) -> Value {
    let Some(fields) = fields else { return base(ty) };
    let property = |field: Field<'_>| {
        let mut schema = lists(field.ty, record(field.fields, field.ty));
        if field.nullable {
            or_null(&mut schema);
        }
        (field.name.to_owned(), schema)
    };
    let properties: JsonObject = fields.iter().map(property).collect();
    let required: Vec<&str> = fields.iter().filter(|it| !it.optional).map(|it| it.name).collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// A type as a schema; the fields of records are not known.
fn schema(ty: Type) -> Value {
    lists(ty, base(ty))
}

fn base(ty: Type) -> Value {
    match ty.base {
        Base::Nil => json!({"type": "null"}),
        Base::Bool => json!({"type": "boolean"}),
        Base::Number => json!({"type": "number"}),
        Base::Text => json!({"type": "string"}),
        Base::Any => json!({}),
    }
}

/// The lists of a type around what is inside them.
fn lists(ty: Type, inside: Value) -> Value {
    (0..ty.lists).fold(inside, |items, _| json!({"type": "array", "items": items}))
}

/// The cards and the servers as resources.
pub(super) fn resources() -> Vec<Resource> {
    let card = |&(_, name): &(Notation, &str)| {
        Resource::new(format!("{CARD}{name}"), format!("the notation {name}"))
            .with_description("all it takes to write programs in it, with the tools that are there")
            .with_mime_type("text/markdown")
    };
    let servers = Resource::new(SERVERS, "the MCP servers of this host")
        .with_description("whether each runs, and how many tools it has")
        .with_mime_type("application/json");
    Notation::ALL.iter().map(card).chain([servers]).collect()
}

/// One resource.
pub(super) fn resource(uri: &str, stand: &Stand) -> Option<ReadResourceResult> {
    if uri == SERVERS {
        let text = servers(stand).to_string();
        let contents = ResourceContents::text(text, uri).with_mime_type("application/json");
        return Some(ReadResourceResult::new(vec![contents]));
    }
    card(uri, stand.service.tools.catalog())
}

/// The state of each server.
fn servers(stand: &Stand) -> Value {
    let server = |(name, health): (&str, Option<Health>)| match health {
        _ if stand.starting.contains(name) => json!({"name": name, "state": "starting"}),
        None => json!({"name": name, "state": "not-started"}),
        Some(Health { running, tools, ended }) => {
            let state = if running { "running" } else { "ended" };
            json!({"name": name, "state": state, "tools": tools, "ended": ended})
        }
    };
    let servers: Vec<Value> = stand.service.tools.health().into_iter().map(server).collect();
    json!({ "servers": servers })
}

/// One card, with the signatures of the tools.
fn card(uri: &str, catalog: &Catalog) -> Option<ReadResourceResult> {
    let notation: Notation = uri.strip_prefix(CARD)?.parse().ok()?;
    let text = prompt::prompt(notation, Some(catalog));
    Some(ReadResourceResult::new(vec![ResourceContents::text(text, uri).with_mime_type("text/markdown")]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ilo_spec::operand::FunctionId;

    #[test]
    fn the_fields_of_a_record_are_in_its_schema() {
        let source = "; fn f(order: {id: number, lines: list {sku: text|nil, note?: text}}) -> nil\n\
                      ; Vars: 0=order\nRET LIT 2 nil\n";
        let (spec, _) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
        let program = ilo_vm::Program::new(spec.unwrap_or_default()).unwrap();
        let input = program.inputs(FunctionId(0)).next().unwrap();
        let written = "{id: number, lines: list {sku: text|nil, note?: text}}";
        assert_eq!(input.written().to_string(), written);
        let line = json!({
            "type": "object", "required": ["sku"],
            "properties": {"sku": {"type": ["string", "null"]}, "note": {"type": "string"}},
        });
        let order = json!({
            "type": "object", "required": ["id", "lines"],
            "properties": {"id": {"type": "number"}, "lines": {"type": "array", "items": line}},
        });
        assert_eq!(input_schema(&input), order);
    }
}
