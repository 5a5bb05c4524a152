//! The forms of a tool's name: bare, with its server as `mcp://server/tool`, and `mcp://self/name` for a
//! function of the file.

/// The prefix of names with a server.
const SCHEME: &str = "mcp://";
/// The prefix of functions of the file in the form of tools: the server `self` is the file.
const SELF: &str = "mcp://self/";

/// The form of a name with its server, for messages.
pub const ADDRESS: &str = "mcp://server/tool";

/// Splits `mcp://server/tool` into server and tool; neither is empty.
pub fn server_and_tool(name: &str) -> Option<(&str, &str)> {
    let parts = name.strip_prefix(SCHEME)?.split_once('/')?;
    (!parts.0.is_empty() && !parts.1.is_empty()).then_some(parts)
}

/// The name of a server's tool: `mcp://server/tool`.
pub fn address(server: &str, tool: &str) -> String {
    format!("{SCHEME}{server}/{tool}")
}

/// Whether a name has the prefix of `mcp://server/tool`.
pub fn is_address(name: &str) -> bool {
    name.starts_with(SCHEME)
}

/// A name without `mcp://`, for display.
pub fn without_scheme(name: &str) -> &str {
    name.strip_prefix(SCHEME).unwrap_or(name)
}

/// The name of a tool without its server.
pub fn bare(name: &str) -> &str {
    server_and_tool(name).map_or(name, |(_, tool)| tool)
}

/// The function of the file in `mcp://self/name`.
pub fn own_function(name: &str) -> Option<&str> {
    name.strip_prefix(SELF)
}

/// The name of a function of the file in the form of a tool: `mcp://self/name`.
pub fn own_function_address(function: &str) -> String {
    format!("{SELF}{function}")
}

/// The address meant by a misspelt one: `self/f`, `mcp:/server/tool`, `mcp:server/tool`.
pub fn meant_address(name: &str) -> Option<String> {
    let own = ["self/", "mcp:/self/", "mcp:self/"].iter().find_map(|start| name.strip_prefix(start));
    let server = || ["mcp:/", "mcp:"].iter().find_map(|start| name.strip_prefix(start));
    let (start, rest) = own.map(|rest| (SELF, rest)).or_else(|| Some((SCHEME, server()?)))?;
    (!rest.starts_with('/')).then(|| format!("{start}{rest}"))
}

/// The tool in a name of the forms that other clients use: `users/get-user`, `mcp__users__get-user`.
pub fn tool_of_client_name(name: &str) -> Option<&str> {
    let tool = name.rsplit(['/', '.', ':']).next()?.rsplit("__").next()?;
    (tool.len() < name.len()).then_some(tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_come_apart_and_together() {
        assert_eq!(server_and_tool("mcp://mail/send"), Some(("mail", "send")));
        assert_eq!(server_and_tool("mcp://files/a/b"), Some(("files", "a/b")));
        for other in ["mail/send", "mcp://mail", "mcp://mail/", "mcp:///send"] {
            assert_eq!(server_and_tool(other), None, "{other}");
        }
        assert_eq!(address("mail", "send"), "mcp://mail/send");
        assert_eq!(own_function(&own_function_address("f")), Some("f"));
        assert_eq!((bare("mcp://mail/send"), bare("send")), ("send", "send"));
    }

    #[test]
    fn misspelt_addresses_are_understood() {
        for (written, meant) in [
            ("self/f", Some("mcp://self/f")),
            ("mcp:self/f", Some("mcp://self/f")),
            ("mcp:/self/f", Some("mcp://self/f")),
            ("mcp:/mail/send", Some("mcp://mail/send")),
            ("mcp:mail/send", Some("mcp://mail/send")),
            ("mcp://mail/send", None),
            ("mcp://self/f", None),
            ("mail/send", None),
        ] {
            assert_eq!(meant_address(written).as_deref(), meant, "{written}");
        }
    }

    #[test]
    fn names_of_other_clients_end_in_the_tool() {
        assert_eq!(tool_of_client_name("users/get-user"), Some("get-user"));
        assert_eq!(tool_of_client_name("mcp__users__get-user"), Some("get-user"));
        assert_eq!(tool_of_client_name("get-user"), None);
    }
}
