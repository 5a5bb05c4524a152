//! MCP servers that a host describes in code. Nothing in their settings is replaced: `${NAME}` and `$` are
//! themselves, as references to the environment belong to files.

use super::Policy;
use crate::mcp::server_config::{Server, Way};
use crate::tool::policy::{Rules, ServerPolicy};
use crate::tool::secrets::Secrets;
use ilo_drive::problem::{Problem, shortened};
use ilo_spec::error::Code;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// An MCP server. Programs call its tools as `mcp://name/tool`, or by their own names where only one server
/// has them.
///
/// A server says nothing about its tools that is believed: without a policy each may change something.
///
/// ```
/// use ilo_host::tools::{McpServer, Policy, Tools};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let files = McpServer::program("files", "npx")
///     .args(["-y", "@modelcontextprotocol/server-filesystem", "/srv/$data"])
///     .env("LOG", "${none}")
///     .tool_policy("read_text_file", &Policy::reads());
/// let mut tools = Tools::new();
/// tools.add_mcp_server(files)?;
/// // `connect`, or `connect_async` in asynchronous code, starts it.
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct McpServer(Server);

impl McpServer {
    fn new(name: String, way: Way) -> McpServer {
        let policy = ServerPolicy { server: name.clone(), ..ServerPolicy::default() };
        let (timeout, lacks, inputs) = (Server::TIMEOUT, Vec::new(), Vec::new());
        McpServer(Server { name, way, timeout, policy, secrets: Secrets::default(), lacks, inputs })
    }

    /// A program that is started: a name that is searched for in `PATH`, or a path.
    pub fn program(name: impl Into<String>, program: impl Into<String>) -> McpServer {
        let (arguments, environment, folder) = (Vec::new(), Vec::new(), PathBuf::from("."));
        McpServer::new(name.into(), Way::Program { program: program.into(), arguments, folder, environment })
    }

    /// A server that is reached by streamable HTTP.
    pub fn http(name: impl Into<String>, url: impl Into<String>) -> McpServer {
        McpServer::new(name.into(), Way::Http { url: url.into(), headers: Vec::new() })
    }

    /// Adds arguments of the program.
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> McpServer {
        if let Way::Program { arguments, .. } = &mut self.0.way {
            arguments.extend(args.into_iter().map(Into::into));
        }
        self
    }

    /// Adds a variable to the environment of the program. From the environment of the host it gets only
    /// `PATH`, `HOME` and the like.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> McpServer {
        if let Way::Program { environment, .. } = &mut self.0.way {
            environment.push((name.into(), value.into()));
        }
        self
    }

    /// The folder in which the program runs; without this, that of the host.
    pub fn folder(mut self, path: impl AsRef<Path>) -> McpServer {
        if let Way::Program { folder, .. } = &mut self.0.way {
            *folder = path.as_ref().to_path_buf();
        }
        self
    }

    /// Adds a header to each request to a server with a URL.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> McpServer {
        if let Way::Http { headers, .. } = &mut self.0.way {
            headers.push((name.into(), value.into()));
        }
        self
    }

    /// How long it may take to start and to list its tools; without this, as long as a call.
    pub fn timeout(self, timeout: Duration) -> McpServer {
        McpServer(Server { timeout, ..self.0 })
    }

    /// Programs may use only these tools.
    pub fn allow<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> McpServer {
        self.0.policy.allow.get_or_insert_default().extend(tools.into_iter().map(Into::into));
        self
    }

    /// Programs may not use these tools.
    pub fn deny<N: Into<String>>(mut self, tools: impl IntoIterator<Item = N>) -> McpServer {
        self.0.policy.deny.extend(tools.into_iter().map(Into::into).collect::<BTreeSet<_>>());
        self
    }

    /// The policy of its tools that have none of their own.
    pub fn policy(mut self, policy: &Policy) -> McpServer {
        self.0.policy.all = Rules::of(policy);
        self
    }

    /// The policy of one of its tools.
    pub fn tool_policy(mut self, tool: impl Into<String>, policy: &Policy) -> McpServer {
        self.0.policy.tools.insert(tool.into(), Rules::of(policy));
        self
    }

    /// Its settings, if a system can pass them on.
    pub(super) fn checked(self) -> Result<Server, Problem> {
        if let Some(why) = self.wrong() {
            let place = format!("server `{}`", shortened(&self.0.name, 80));
            return Err(Problem::new(Code::BadUsage, place, why));
        }
        let McpServer(server) = self;
        let secrets = server.way.secrets(&[]);
        // A `/` would end the name in the address of a tool.
        let name = server.name.replace('/', "%2F");
        Ok(Server { name, secrets, ..server })
    }

    /// Why it cannot be used.
    fn wrong(&self) -> Option<String> {
        if self.0.name.is_empty() {
            return Some(
                "the name of a server is not empty, since tools are named `mcp://server/tool`".to_owned(),
            );
        }
        match &self.0.way {
            Way::Program { program, arguments, folder, environment } => {
                let has_nul = |text: &str| text.contains('\0');
                let bad = environment.iter().find(|(name, _)| name.is_empty() || name.contains(['=', '\0']));
                if program.is_empty() {
                    Some("the program is empty".to_owned())
                } else if has_nul(program) || has_nul(&folder.to_string_lossy()) {
                    Some(
                        "the program or its folder has a character NUL, which no system can pass on"
                            .to_owned(),
                    )
                } else if let Some(at) = arguments.iter().position(|argument| has_nul(argument)) {
                    Some(format!("argument {at} has a character NUL, which no system can pass on"))
                } else if let Some((name, _)) = bad {
                    Some(format!("`{}` is no name of a variable", shortened(&name.replace('\0', "\\0"), 80)))
                } else {
                    let value = environment.iter().find(|(_, value)| has_nul(value));
                    value.map(|(name, _)| {
                        let name = shortened(name, 80);
                        format!("the variable `{name}` has a character NUL, which no system can pass on")
                    })
                }
            }
            Way::Http { url, headers } => {
                let bad = headers.iter().find(|(name, value)| !is_header(name, value));
                if !url.starts_with("http://") && !url.starts_with("https://") {
                    Some("expected a URL that begins with `https://` or `http://`".to_owned())
                } else {
                    bad.map(|(name, _)| format!("the header `{}` cannot be sent", shortened(name, 80)))
                }
            }
            Way::None => None,
        }
    }
}

/// Whether these are a name and a value that HTTP can send (RFC 9110, 5.1 and 5.5).
fn is_header(name: &str, value: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(token) && !value.chars().any(|c| c.is_control() && c != '\t')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tools;

    #[test]
    fn settings_are_taken_as_they_are() {
        let server = McpServer::program("a/b", "run $me")
            .args(["${HOME}", "\"quoted\"", "$$"])
            .env("KEY", "${KEY} 'x'")
            .folder("/srv/$x");
        let mut tools = Tools::new();
        tools.add_mcp_server(server).unwrap();
        let server = tools.server("a%2Fb").unwrap();
        let Way::Program { program, arguments, folder, environment } = &server.way else {
            panic!("a program")
        };
        assert_eq!(program, "run $me");
        assert_eq!(arguments, &["${HOME}", "\"quoted\"", "$$"]);
        assert_eq!(environment, &[("KEY".to_owned(), "${KEY} 'x'".to_owned())]);
        assert_eq!(folder, Path::new("/srv/$x"));
        assert_eq!(tools.servers().collect::<Vec<_>>(), ["a%2Fb"]);
    }

    #[test]
    fn what_no_system_can_pass_on_is_refused() {
        let program = || McpServer::program("s", "run");
        let http = || McpServer::http("s", "https://example.com/mcp");
        for (server, expected) in [
            (McpServer::program("", "run"), "the name of a server is not empty"),
            (McpServer::program("s", ""), "the program is empty"),
            (McpServer::program("s", "a\0b"), "the program or its folder has a character NUL"),
            (program().args(["a", "\0"]), "argument 1 has a character NUL"),
            (program().env("A=B", "x"), "`A=B` is no name of a variable"),
            (program().env("", "x"), "`` is no name of a variable"),
            (program().env("A", "x\0"), "the variable `A` has a character NUL"),
            (McpServer::http("s", "ftp://example.com"), "expected a URL that begins with `https://`"),
            (http().header("a b", "x"), "the header `a b` cannot be sent"),
            (http().header("a", "x\r\nb: y"), "the header `a` cannot be sent"),
        ] {
            let problem = Tools::new().add_mcp_server(server).unwrap_err();
            assert!(problem.message.starts_with(expected), "{problem}");
        }
        assert!(Tools::new().add_mcp_server(http().header("Authorization", "Bearer $x")).is_ok());
    }

    #[test]
    fn policies_hold_for_one_tool_or_all() {
        let server = McpServer::program("s", "run")
            .policy(&Policy { confirm: true, ..Policy::default() })
            .tool_policy("read", &Policy::reads())
            .deny(["drop"]);
        assert!(server.0.policy.rules("write").policy().confirm);
        assert_eq!(server.0.policy.rules("read").policy(), Policy::reads());
        assert!(server.0.policy.allows("read") && !server.0.policy.allows("drop"));
    }
}
