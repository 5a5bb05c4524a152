//! What a tool's name leads to. The forms of `mcp://` are known here and nowhere else in the host.

/// What a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found<'n> {
    /// An entry of the tools file, under this name.
    Entry(&'n str),
    /// A tool of a server that the file gives.
    Server {
        /// The server's name.
        server: &'n str,
        /// The tool's name there.
        tool: &'n str,
    },
    /// Nothing.
    Nothing,
}

/// Server and tool of `mcp://server/tool`.
pub(crate) fn split(name: &str) -> Option<(&str, &str)> {
    let (server, tool) = name.strip_prefix("mcp://")?.split_once('/')?;
    (!server.is_empty() && !tool.is_empty()).then_some((server, tool))
}

/// Finds what serves a name: an entry of that very name; a server's tool; and where no such server is given, the entry
/// with the tool's bare name, so that a composition can be tried without its servers.
pub(crate) fn lookup(
    name: &str,
    is_entry: impl Fn(&str) -> bool,
    is_server: impl Fn(&str) -> bool,
) -> Found<'_> {
    if is_entry(name) {
        return Found::Entry(name);
    }
    match split(name) {
        Some((server, tool)) if is_server(server) => Found::Server { server, tool },
        Some((_, tool)) if is_entry(tool) => Found::Entry(tool),
        _ => Found::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_entry_stands_in_for_a_server_that_is_not_given() {
        let find = |name| lookup(name, |n| n == "get-user" || n == "mcp://a/b", |s| s == "mail");
        assert_eq!(find("get-user"), Found::Entry("get-user"));
        assert_eq!(find("mcp://users/get-user"), Found::Entry("get-user"));
        assert_eq!(find("mcp://a/b"), Found::Entry("mcp://a/b"));
        assert_eq!(find("mcp://mail/get-user"), Found::Server { server: "mail", tool: "get-user" });
        for name in ["mcp://users/other", "other", "mcp://", "mcp:///get-user", "mcp://users/"] {
            assert_eq!(find(name), Found::Nothing, "{name}");
        }
    }
}
