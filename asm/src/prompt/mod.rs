//! The prompt for a model: the card of a notation, and the signatures of the available tools.
//!
//! A card has everything that a model needs to write correct programs, in as few tokens as possible, and ends
//! with an example. It describes only the canonical form.

mod about;

use crate::catalog::Catalog;
use crate::compile::{OutputSchema, Signature};
use crate::notation::Notation;
use std::fmt::Write as _;

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
        out.push_str("\nTools (? marks what may be left out):\n");
        if catalog.tools().is_empty() {
            out.push_str("none\n");
        }
        for tool in catalog.tools() {
            out.push_str(&tool.signature());
            if let Some(about) = about::tool(tool) {
                out.push_str(" # ");
                out.push_str(&about);
            }
            out.push('\n');
            for (name, about) in about::arguments(tool) {
                out.push_str("  # ");
                out.push_str(&name);
                out.push_str(": ");
                out.push_str(&about);
                out.push('\n');
            }
        }
    }
    out
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
    fn tools_are_a_line_each() {
        let catalog = Catalog::from_json(
            r##"[
                {"name": "get-user", "description": "\n  Looks a user up.\nSecond line",
                 "inputSchema": {"type": "object", "properties": {"user-id": {"type": "string", "description": "The number. Not the name."}, "deep": {"type": "boolean"}}, "required": ["user-id"]},
                 "outputSchema": {"type": "object", "properties": {"email": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}}, "required": ["email"]}},
                {"name": "mcp://mail/send", "inputSchema": {"type": "object", "properties": {"First Name": {"type": ["string", "null"]}, "level": {"enum": ["gold", "silver"]}}},
                 "outputSchema": {"type": "null"}},
                {"name": "free", "inputSchema": {"type": "object"}},
                {"name": "ping", "inputSchema": {"type": "object", "additionalProperties": false}, "outputSchema": {"$ref": "#/x"}}
            ]"##,
        )
        .unwrap();
        let all = prompt(Notation::Id, Some(&catalog));
        let tools = all.strip_prefix(card(Notation::Id)).unwrap();
        assert_eq!(
            tools,
            "\nTools (? marks what may be left out):\n\
             get-user(user-id: text, deep?: bool) -> {email: text, tags?: list text} # Looks a user up.\n  # user-id: The number.\n\
             mcp://mail/send(\"First Name\"?: text|nil, level?: \"gold\"|\"silver\") -> nil\n\
             free(…) -> any\n\
             ping() -> any\n"
        );
        assert_eq!(prompt(Notation::Mcp, None), card(Notation::Mcp));
        assert!(
            prompt(Notation::Id, Some(&Catalog::default()))
                .ends_with("\nTools (? marks what may be left out):\nnone\n")
        );
    }
}
