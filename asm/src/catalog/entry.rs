//! Where a file of tools describes a tool, for editors.

use crate::diagnostic::Diagnostics;
use crate::document::{Kind, Node, entries, json};
use crate::source::Limits;
use crate::span::Span;
use bumpalo::Bump;

/// The largest file that is searched.
const LARGEST: usize = 16 << 20;

/// The name of a tool in a list of tools, or in a tools file; the server, for a tool that only its server
/// lists. Comments and errors elsewhere in the file do no harm.
pub fn entry_of(file: &str, tool: &str) -> Option<Span> {
    let arena = Bump::new();
    let limits = Limits { source: LARGEST, ..Limits::default() };
    let documents = json::read(file, &arena, &limits, &mut Diagnostics::default());
    let whole = documents.first()?;
    let inner = value(whole, "result").unwrap_or(whole);
    let tools = value(inner, "tools").unwrap_or(inner);
    if let Kind::List(items) = tools.kind {
        let name = |item: &&Node<'_>| value(item, "name").is_some_and(|name| name.text() == Some(tool));
        return items.iter().find(name).and_then(|item| Some(value(item, "name")?.span));
    }
    let key = |of: &Node<'_>, name: &str| {
        entries(of).iter().find(|entry| entry.key.text() == Some(name)).map(|entry| entry.key.span)
    };
    let (server, _) = super::server_and_tool(tool).unwrap_or((tool, tool));
    let servers = || value(whole, "mcpServers").or_else(|| value(whole, "servers"));
    key(tools, tool).or_else(|| key(servers()?, server))
}

fn value<'d>(of: &Node<'d>, key: &str) -> Option<&'d Node<'d>> {
    entries(of).iter().find(|entry| entry.key.text() == Some(key)).map(|entry| &entry.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of the entry, with its offset.
    fn found(file: &str, tool: &str) -> Option<(usize, String)> {
        let span = entry_of(file, tool)?;
        Some((span.start as usize, file[span.range()].to_owned()))
    }

    #[test]
    fn a_tool_is_found_in_each_form_of_a_file() {
        let file = r#"{"tools": {"a": {"mock": {"returns": 1}}, /* here */ "get-user": {}}, "mcpServers": {"mail": {}}}"#;
        assert_eq!(
            found(file, "get-user"),
            Some((file.find("\"get-user\"").unwrap(), "\"get-user\"".to_owned()))
        );
        // Its server lists it, not the file.
        assert_eq!(found(file, "mcp://mail/send").map(|(_, text)| text), Some("\"mail\"".to_owned()));
        assert_eq!(found(file, "other"), None);
        let list = r#"[{"name": "a"}, {"description": "x", "name": "b"}]"#;
        assert_eq!(found(list, "b").map(|(at, _)| at), list.rfind("\"b\""));
        let answer = format!(r#"{{"jsonrpc": "2.0", "result": {{"tools": {list}}}}}"#);
        assert_eq!(found(&answer, "a").map(|(at, _)| at), answer.find("\"a\""));
        for broken in ["", "{", "[1, {}]", r#"{"tools": 1}"#, "\u{feff}{}"] {
            assert_eq!(found(broken, "a"), None, "{broken}");
        }
    }
}
