//! The running servers: starts them in parallel, lists their tools, and closes them.

use super::link::{Link, Refusal};
use super::listing::Listed;
use super::server_config::Server;
use super::server_tool::ServerTool;
use super::stderr::Tail;
use super::{Health, RunningServers, Started, StartingServers};
use crate::tool::secrets::Secrets;
use crate::tool::{Schema, Source, Tool};
use ilo_asm::catalog::address;
use ilo_drive::locked::locked;
use ilo_drive::problem::Problem;
use ilo_spec::error::Code;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::Duration;
use tokio::runtime::Runtime;

/// The running servers. When this is dropped, each is asked to end and, if necessary, killed.
///
/// Each has its own thread, so that what one sends does not delay the others.
#[derive(Debug, Default)]
struct Connections {
    servers: Mutex<Vec<(Arc<Link>, Runtime)>>,
}

/// Servers that are being started in parallel.
#[derive(Debug)]
struct Starting {
    connections: Arc<Connections>,
    /// Those that have not answered yet. One that could not be begun has no runtime.
    left: BTreeMap<String, (Secrets, Option<Runtime>)>,
    tried: mpsc::Receiver<(String, Tried)>,
}

/// A server, started or not.
type Tried = Result<(Arc<Link>, Vec<(String, String)>), Refusal>;

/// No servers yet.
#[allow(clippy::unnecessary_wraps, reason = "a build without the client has none")]
pub(crate) fn connections() -> Result<Arc<dyn RunningServers>, Problem> {
    Ok(Arc::new(Connections::default()))
}

impl RunningServers for Connections {
    fn health(&self) -> Vec<(String, Health)> {
        locked(&self.servers).iter().map(|(link, _)| (link.server.name.clone(), link.health())).collect()
    }

    fn notes(&self) -> Vec<String> {
        locked(&self.servers).iter().flat_map(|(link, _)| link.notes()).collect()
    }

    fn begin(self: Arc<Self>, servers: Vec<Server>) -> Box<dyn StartingServers> {
        let (to, tried) = mpsc::channel();
        let mut left = BTreeMap::new();
        for server in servers {
            let (name, secrets) = (server.name.clone(), server.secrets.clone());
            let runtime = begin(server, to.clone());
            if let Err(error) = &runtime {
                let why = format!("cannot be served: {error}");
                // Its receiver is there.
                drop(to.send((name.clone(), Err(Refusal { why, errors: Tail::default() }))));
            }
            left.insert(name, (secrets, runtime.ok()));
        }
        Box::new(Starting { connections: self, left, tried })
    }
}

impl StartingServers for Starting {
    fn servers(&self) -> Vec<&str> {
        self.left.keys().map(String::as_str).collect()
    }

    fn next(&mut self) -> Option<(String, Result<Started, Problem>)> {
        let ended = |left: &BTreeMap<String, _>| {
            let why = "cannot be served: its thread has ended".to_owned();
            Some((left.keys().next()?.clone(), Err(Refusal { why, errors: Tail::default() })))
        };
        let waits = !self.left.is_empty();
        let (server, tried) = self.tried.recv().ok().filter(|_| waits).or_else(|| ended(&self.left))?;
        let (secrets, runtime) = self.left.remove(&server)?;
        let started = match (tried, runtime) {
            (Ok((link, bad)), Some(runtime)) => {
                let listed = link.open_now().map(|live| live.listed().0).unwrap_or_default();
                let tools = listed.iter().map(|listed| tool(&link, listed)).collect();
                let bad = bad.into_iter().map(|(name, why)| (name, secrets.hidden(&why))).collect();
                locked(&self.connections.servers).push((link, runtime));
                Ok(Started { server: server.clone(), tools, bad })
            }
            (tried, runtime) => {
                let refusal = tried.err();
                let message = refusal
                    .map(|refusal| {
                        format!("{}{}", secrets.hidden(&refusal.why), refusal.errors.said(&secrets))
                    })
                    .unwrap_or_default();
                runtime.into_iter().for_each(Runtime::shutdown_background);
                Err(Problem::new(Code::BadUsage, format!("server `{server}`"), message))
            }
        };
        Some((server, started))
    }
}

impl Drop for Starting {
    /// Nobody waits for them any more. Waiting here for a runtime would panic on a thread of another.
    fn drop(&mut self) {
        let left = std::mem::take(&mut self.left);
        left.into_values().filter_map(|(_, runtime)| runtime).for_each(Runtime::shutdown_background);
    }
}

/// Starts a server on its own thread.
fn begin(server: Server, to: mpsc::Sender<(String, Tried)>) -> io::Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("mcp")
        .enable_all()
        .build()?;
    let (handle, name) = (runtime.handle().clone(), server.name.clone());
    // If nobody waits any more, the server is dropped.
    runtime.spawn(async move { drop(to.send((name, Link::start(server, handle).await))) });
    Ok(runtime)
}

impl Drop for Connections {
    /// Closes all servers. This runs on a thread, since a host may drop its tools on a thread of a runtime,
    /// where waiting for another runtime panics.
    fn drop(&mut self) {
        let servers = std::mem::take(&mut *locked(&self.servers));
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
