//! The running servers: starts them in parallel, lists their tools, and closes them.

use super::link::{Link, Refusal};
use super::listing::Listed;
use super::server_config::Server;
use super::server_tool::ServerTool;
use super::{Health, Started};
use crate::tool::{Schema, Source, Tool};
use ilo_asm::catalog::address;
use ilo_drive::problem::Problem;
use ilo_spec::error::Code;
use std::io;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The running servers. When this is dropped, each is asked to end and, if necessary, killed.
///
/// Each has its own thread, so that what one sends does not delay the others.
#[derive(Debug, Default)]
pub(crate) struct Connections {
    servers: Vec<(Arc<Link>, Runtime)>,
}

/// A server, started or not.
type Tried = Result<(Arc<Link>, Vec<(String, String)>), Refusal>;

impl Connections {
    /// No servers yet.
    #[allow(clippy::unnecessary_wraps, reason = "a build without the client has none")]
    pub(crate) fn new() -> Result<Connections, Problem> {
        Ok(Connections::default())
    }

    /// The state of the servers that were started.
    pub(crate) fn health(&self) -> Vec<(String, Health)> {
        self.servers.iter().map(|(link, _)| (link.server.name.clone(), link.health())).collect()
    }

    /// Takes the notes about answers that did not make them fail.
    pub(crate) fn notes(&self) -> Vec<String> {
        self.servers.iter().flat_map(|(link, _)| link.notes()).collect()
    }

    /// Starts servers in parallel and lists their tools as `mcp://server/tool`. Reports servers that do not
    /// start.
    pub(crate) fn start(&mut self, servers: Vec<Server>) -> (Vec<Started>, Vec<Problem>) {
        let (mut started, mut problems) = (Vec::new(), Vec::new());
        let begun = |server: Server| (server.name.clone(), server.secrets.clone(), begin(server));
        let tries: Vec<_> = servers.into_iter().map(begun).collect();
        for (server, secrets, tried) in tries {
            let place = format!("server `{server}`");
            let result = tried.and_then(|(runtime, result)| {
                let result = result.recv().map_err(|_| io::Error::other("its thread has ended"))?;
                Ok((runtime, result))
            });
            match result {
                Ok((runtime, Ok((link, bad)))) => {
                    let listed = link.open_now().map(|live| live.listed().0).unwrap_or_default();
                    let tools = listed.iter().map(|listed| tool(&link, listed)).collect();
                    let bad = bad.into_iter().map(|(name, why)| (name, secrets.hidden(&why))).collect();
                    started.push(Started { server, tools, bad });
                    self.servers.push((link, runtime));
                }
                Ok((runtime, Err(refusal))) => {
                    let message =
                        format!("{}{}", secrets.hidden(&refusal.why), refusal.errors.said(&secrets));
                    problems.push(Problem::new(Code::BadUsage, place, message));
                    runtime.shutdown_background();
                }
                Err(error) => {
                    problems.push(Problem::new(Code::BadUsage, place, format!("cannot be served: {error}")));
                }
            }
        }
        (started, problems)
    }
}

/// Starts a server on its own thread.
fn begin(server: Server) -> io::Result<(Runtime, mpsc::Receiver<Tried>)> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("mcp")
        .enable_all()
        .build()?;
    let (sender, receiver) = mpsc::channel();
    let handle = runtime.handle().clone();
    // The receiver waits for it, so nothing is lost here.
    runtime.spawn(async move { drop(sender.send(Link::start(server, handle).await)) });
    Ok((runtime, receiver))
}

impl Drop for Connections {
    /// Closes all servers. This runs on a thread, since a host may drop its tools on a thread of a runtime,
    /// where waiting for another runtime panics.
    fn drop(&mut self) {
        let servers = std::mem::take(&mut self.servers);
        if servers.is_empty() {
            return;
        }
        let work = move || {
            let closing: Vec<_> = servers
                .iter()
                .map(|(link, runtime)| {
                    let link = Arc::clone(link);
                    runtime.spawn(async move { link.close().await })
                })
                .collect();
            for (closing, (_, runtime)) in closing.into_iter().zip(servers) {
                drop(runtime.block_on(closing));
                runtime.shutdown_timeout(Duration::from_secs(1));
            }
        };
        if let Ok(thread) = thread::Builder::new().spawn(work) {
            drop(thread.join());
        }
    }
}

/// The table entry for a tool of a server.
fn tool(link: &Arc<Link>, listed: &Listed) -> Tool {
    let name = address(&link.server.name, &listed.name);
    let provider = ServerTool::new(Arc::clone(link), listed);
    let mut tool = Tool::of(name.clone(), Source::Server(name), Some(Box::new(provider)));
    tool.description.clone_from(&listed.description);
    tool.input_schema = listed.input_schema.clone().map(Schema::from);
    tool.output_schema = listed.output_schema.clone().map(Schema::from);
    tool
}
