//! Where a file of tools describes a tool.

use ilo_asm::catalog::server_and_tool;
use ilo_asm::span::Span;
use ilo_spec::json::quoted;

/// A text of a JSON file, with its quotes.
struct Text<'s> {
    span: (usize, usize),
    quoted: &'s str,
    /// How many records and lists are around it.
    depth: usize,
    /// Whether a colon follows: it is a key.
    is_key: bool,
}

/// The texts of a JSON file, in order. Comments are passed over.
fn texts(file: &str) -> Vec<Text<'_>> {
    let bytes = file.as_bytes();
    let (mut found, mut depth, mut at) = (Vec::new(), 0_usize, 0);
    while let Some(&byte) = bytes.get(at) {
        let rest = file.get(at..).unwrap_or("");
        if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else if byte == b'"' {
            let start = at;
            at += 1;
            while let Some(&inside) = bytes.get(at).filter(|&&inside| inside != b'"') {
                at += if inside == b'\\' { 2 } else { 1 };
            }
            at = at.saturating_add(1).min(bytes.len());
            let is_key = file.get(at..).is_some_and(|behind| behind.trim_start().starts_with(':'));
            found.push(Text { span: (start, at), quoted: file.get(start..at).unwrap_or(""), depth, is_key });
        } else {
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            at += 1;
        }
    }
    found
}

/// The name of a tool in a list of tools, or in a tools file; the server, for a tool that only its server
/// lists.
pub(super) fn entry_of(file: &str, tool: &str) -> Option<Span> {
    let (name, server) = (quoted(tool), quoted(server_and_tool(tool).map_or(tool, |(server, _)| server)));
    let all = texts(file);
    // In a list, the value of `name`; in a tools file, a key below `tools` or `mcpServers`.
    let listed = all.windows(2).find_map(|two| match two {
        [key, value] if key.quoted == "\"name\"" && key.is_key && value.quoted == name => Some(value),
        _ => None,
    });
    let key = |of: &str| all.iter().find(|text| text.is_key && text.depth == 2 && text.quoted == of);
    let (start, end) = key(&name).or(listed).or_else(|| key(&server))?.span;
    Some(Span::new(u32::try_from(start).ok()?, u32::try_from(end).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offset of the entry.
    fn found(file: &str, tool: &str) -> Option<usize> {
        let span = entry_of(file, tool)?;
        file.get(span.range()).map(|_| span.start as usize)
    }

    #[test]
    fn a_tool_is_found_in_each_form_of_a_file() {
        let file = r#"{"tools": {"a": {"mock": {"get-user": 1}}, /* "get-user": */ "get-user": {}}, "mcpServers": {"mail": {}}}"#;
        assert_eq!(found(file, "get-user"), file.rfind("\"get-user\""));
        // Its server lists it, not the file.
        assert_eq!(found(file, "mcp://mail/send"), file.find("\"mail\""));
        assert_eq!(found(file, "other"), None);
        let list = r#"[{"name": "a"}, {"description": "b", "name": "b"}]"#;
        assert_eq!(found(list, "b"), list.rfind("\"b\""));
        let answer = format!(r#"{{"jsonrpc": "2.0", "result": {{"tools": {list}}}}}"#);
        assert_eq!(found(&answer, "a"), answer.find("\"a\""));
        for broken in
            ["", "{", "\"", "\"\\", "[1, {}]", r#"{"tools": 1}"#, "\u{feff}{}", "/*", "//", "]]\u{e9}\""]
        {
            assert_eq!(found(broken, "a"), None, "{broken}");
        }
    }
}
