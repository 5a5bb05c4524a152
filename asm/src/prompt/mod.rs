//! The prompt for a model: the card of a notation, and the signatures of the available tools.
//!
//! A card has everything that a model needs to write correct programs, in as few tokens as possible, and ends
//! with an example. It describes only the canonical form.

mod about;

use crate::catalog::{Catalog, ToolSignature, bare};
use crate::compile::{OutputSchema, Signature};
use crate::notation::Notation;
use hashbrown::HashMap;
use std::cmp::Reverse;
use std::fmt::Write as _;

/// The most records that get a name.
const NAMES: usize = 50;
/// What a name must save, in bytes, beside itself.
const LEAST: usize = 40;

/// The card of a notation.
pub const fn card(notation: Notation) -> &'static str {
    match notation {
        Notation::Id => include_str!("id.md"),
        Notation::ToolCalling => include_str!("tool-calling.md"),
        Notation::Constrained => include_str!("constrained.md"),
        Notation::Workflow => include_str!("workflow.md"),
        Notation::Mcp => include_str!("mcp.md"),
    }
}

/// The card of a notation, with a line for each tool of a catalogue.
pub fn prompt(notation: Notation, catalog: Option<&Catalog>) -> String {
    let mut out = card(notation).to_owned();
    if let Some(catalog) = catalog {
        out.push_str("\nTools (? marks what may be left out");
        if catalog.tools().iter().any(ToolSignature::has_no_output_schema) {
            out.push_str("; an `any` answer that is JSON text is read as its value");
        }
        out.push_str("):\n");
        if catalog.tools().is_empty() {
            out.push_str("none\n");
        }
        let names = names(catalog);
        let short = |text: String, from: usize| {
            names.iter().skip(from).fold(text, |all, (name, record)| all.replace(record, name))
        };
        for (at, (name, record)) in names.iter().enumerate() {
            out.extend([name, " = ", &short(record.clone(), at + 1), "\n"]);
        }
        for tool in catalog.tools() {
            out.push_str(&short(tool.signature(), 0));
            if let Some(about) = about::tool(tool) {
                out.extend([" # ", &about]);
            }
            out.push('\n');
            for (name, about) in about::arguments(tool) {
                out.extend(["  # ", &name, ": ", &about, "\n"]);
            }
        }
    }
    out
}

/// The records that several arguments or answers of tools are, the longest first, each with a name: `User`.
fn names(catalog: &Catalog) -> Vec<(String, String)> {
    let (mut times, mut first) = (HashMap::<String, usize>::new(), Vec::new());
    for tool in catalog.tools() {
        let arguments = tool.input().fields().map(|field| (field.name, field.shape));
        for (label, shape) in arguments.chain([(bare(&tool.name), tool.output())]) {
            let record = if shape.has_fields() { shape } else { shape.item() };
            if record.has_fields() {
                let times = times.entry(record.written()).or_insert_with_key(|record| {
                    first.push((label, record.clone()));
                    0
                });
                *times += 1;
            }
        }
    }
    let mut names: Vec<(String, String)> = Vec::new();
    for (label, record) in first {
        let name = type_name(label);
        let is_new = !name.is_empty() && names.iter().all(|(other, _)| *other != name);
        let times = times.get(&record).copied().unwrap_or(1);
        let saves = (times - 1) * record.len() > LEAST + (times + 1) * name.len();
        if saves && is_new && names.len() < NAMES {
            names.push((name, record));
        }
    }
    crate::sorting::sort_by_key(&mut names, |(_, record)| Reverse(record.len()));
    names
}

/// The name of an argument or a tool as that of a record: `ShippingAddress`.
fn type_name(label: &str) -> String {
    let upper =
        |all: &str| all.chars().take(1).flat_map(char::to_uppercase).chain(all.chars().skip(1)).collect();
    label.split(|c: char| !c.is_alphanumeric()).map(upper).collect::<Vec<String>>().concat()
}

/// The same for a program of which the host expects a signature, or a value.
pub fn prompt_for(
    notation: Notation,
    catalog: Option<&Catalog>,
    signature: Option<&Signature>,
    output: Option<&OutputSchema>,
) -> String {
    let mut out = prompt(notation, catalog);
    // Writing to a string does not fail.
    if let Some(signature) = signature {
        let beginning = signature.beginning(notation);
        let _ = write!(
            out,
            "\nWrite one program, of the function `{signature}`. It begins like this:\n{beginning}"
        );
    }
    if let Some(output) = output {
        let _ = writeln!(out, "\nThe program returns a value of this type: {}", output.shape().written());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_check_will_ask_is_said() {
        let catalog = Catalog::from_json(
            r#"[{"name": "pay", "policy": {"confirm": true, "rollback": "required"}, "inputSchema": {"type": "object", "properties": {
                "amount": {"type": "number", "minimum": 1, "maximum": 500, "description": "In euros. Not in cents."},
                "to": {"type": "string", "format": "email"}, "note": {"type": "string"}}, "required": ["amount"]}}]"#,
        )
        .unwrap();
        let all = prompt(Notation::Mcp, Some(&catalog));
        let expected = "pay(amount: number, to?: text, note?: text) -> any # A person is asked before each call. \
            Each call needs a rollback directly after it.\n  # amount: In euros. (1 to 500)\n  # to: email\n";
        assert!(all.ends_with(expected), "{all}");
        let signature: Signature = "buy(amount: number) -> result text, text".parse().unwrap();
        for (notation, _) in Notation::ALL {
            let all = prompt_for(notation, None, Some(&signature), None);
            let end = all.strip_prefix(card(notation)).unwrap();
            assert!(end.contains("of the function `buy(amount: number) -> result text, text`"), "{end}");
            assert!(end.contains("amount") && end.ends_with('\n'), "{end}");
            let output = r#"{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}"#
                .parse()
                .unwrap();
            let all = prompt_for(notation, None, None, Some(&output));
            assert!(all.ends_with("\nThe program returns a value of this type: {id: text}\n"), "{all}");
        }
    }

    #[test]
    fn a_record_that_is_there_twice_has_a_name() {
        let address = r#"{"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"},
            "geo": {"type": "object", "properties": {"at": {"type": "object", "properties": {"lat": {"type": "number"}}}}}}}"#;
        let orders = format!(
            r#"[{{"name": "order", "inputSchema": {{"properties": {{"ship_to": {address}, "lines": {{"type": "array", "items": {address}}}}}}}}},
                {{"name": "home", "inputSchema": {{"properties": {{}}}}, "outputSchema": {address}}}]"#
        );
        let all = prompt(Notation::Mcp, Some(&Catalog::from_json(&orders).unwrap()));
        let expected = "(? marks what may be left out; an `any` answer that is JSON text is read as its value):\n\
            ShipTo = {street?: text, city?: text, geo?: {at?: {lat?: number}}}\n\
            order(ship_to?: ShipTo, lines?: list ShipTo) -> any\nhome() -> ShipTo\n";
        assert!(all.ends_with(expected), "{all}");
        let pair = r#"{"properties": {"first": PART, "second": PART}}"#.replace("PART", address);
        let pairs = r#"[{"name": "a", "inputSchema": {"properties": {"both": PAIR}}, "outputSchema": PAIR}, {"name": "b", "outputSchema": PART}]"#;
        let pairs = pairs.replace("PAIR", &pair).replace("PART", address);
        let all = prompt(Notation::Mcp, Some(&Catalog::from_json(&pairs).unwrap()));
        let expected =
            "\na(both?: Both) -> Both\nb(…) -> {street?: text, city?: text, geo?: {at?: {lat?: number}}}\n";
        assert!(all.contains("\nBoth = {first?: {street?: text, ") && all.ends_with(expected), "{all}");
        let tree = r##"[{"name": "tree", "inputSchema": {"properties": {}}, "outputSchema": {"$ref": "#/$defs/T", "$defs": {"T":
            {"properties": {"name": {"type": "string"}, "below": {"type": "array", "items": {"$ref": "#/$defs/T"}}}}}}}]"##;
        let all = prompt(Notation::Mcp, Some(&Catalog::from_json(tree).unwrap()));
        assert!(
            all.ends_with("\ntree() -> {name?: text, below?: list {name?: text, below?: list {…}}}\n"),
            "{all}"
        );
    }

    #[test]
    fn tools_are_a_line_each() {
        let catalog = Catalog::from_json(
            r##"[
                {"name": "get-user", "description": "\n  Looks a user up.\nSecond line",
                 "inputSchema": {"type": "object", "properties": {"user-id": {"type": "string", "description": "The number. Not the name."}, "deep": {"type": "boolean"}}, "required": ["user-id"]},
                 "outputSchema": {"type": "object", "properties": {"email": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["email"]}},
                {"name": "mcp://mail/send", "inputSchema": {"type": "object", "properties": {"First Name": {"type": ["string", "null"]}, "level": {"enum": ["gold", "silver"]}}},
                 "outputSchema": {"type": "null"}},
                {"name": "free", "description": "Does it. Returns a\n\nlist.", "inputSchema": {"type": "object"}},
                {"name": "ping", "inputSchema": {"type": "object", "additionalProperties": false}, "outputSchema": {"$ref": "#/x"}}
            ]"##,
        )
        .unwrap();
        let all = prompt(Notation::Id, Some(&catalog));
        let tools = all.strip_prefix(card(Notation::Id)).unwrap();
        assert_eq!(
            tools,
            "\nTools (? marks what may be left out; an `any` answer that is JSON text is read as its value):\n\
             get-user(user-id: text, deep?: bool) -> {email: text, tags?: list text} # Looks a user up.\n  # user-id: The number.\n\
             mcp://mail/send(\"First Name\"?: text|nil, level?: \"gold\"|\"silver\") -> nil\n\
             free(…) -> any # Does it. Returns a list.\n\
             ping() -> any\n"
        );
        assert_eq!(prompt(Notation::Mcp, None), card(Notation::Mcp));
        assert!(
            prompt(Notation::Id, Some(&Catalog::default()))
                .ends_with("\nTools (? marks what may be left out):\nnone\n")
        );
    }
}
