//! Servers that run: starting them side by side, what they offer, and their end.

use super::Started;
use super::client_handler::Watcher;
use super::connection::{self, Link, ServerTool};
use super::server_config::Server;
use crate::data::Data;
use crate::data::read::{Bounds, read};
use crate::problem::{Problem, shortened};
use crate::tool::{Source, Tool};
use ilo_spec::error::Code;
use ilo_spec::limits;
use rmcp::RoleClient;
use rmcp::model::Tool as Listed;
use rmcp::service::RunningService;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;
use tokio::runtime::Runtime;

/// How long all servers together may take to go.
const CLOSING: Duration = Duration::from_secs(8);

/// Servers that run, until this is dropped: then each is asked to end, and made to.
#[derive(Debug)]
pub(crate) struct Connections {
    runtime: Option<Runtime>,
    services: Vec<RunningService<RoleClient, Watcher>>,
}

impl Connections {
    /// A runtime without servers yet.
    pub(crate) fn new() -> Result<Connections, Problem> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("mcp")
            .enable_all()
            .build()
            .map_err(|error| {
                Problem::new(Code::BadUsage, "", format!("cannot serve MCP servers: {error}"))
            })?;
        Ok(Connections { runtime: Some(runtime), services: Vec::new() })
    }

    /// Starts servers side by side and lists their tools, as `mcp://server/tool`, and reports those that do
    /// not start.
    pub(crate) fn start(&mut self, servers: Vec<Server>) -> (Vec<Started>, Vec<Problem>) {
        let Some(runtime) = &self.runtime else { return Default::default() };
        let count = servers.len();
        let (sender, receiver) = mpsc::channel();
        for (at, server) in servers.into_iter().enumerate() {
            let (sender, handle) = (sender.clone(), runtime.handle().clone());
            runtime.spawn(async move {
                let name = server.name.clone();
                // The receiver waits for every server, so nothing is lost here.
                drop(sender.send((at, name, connection::open(server, handle).await)));
            });
        }
        drop(sender);
        let mut results: Vec<_> = receiver.iter().take(count).collect();
        results.sort_by_key(|&(at, ..)| at);
        let (mut started, mut problems) = (Vec::new(), Vec::new());
        for (_, server, result) in results {
            match result {
                Ok(opened) => {
                    let tools = opened.listed.iter().map(|listed| tool(&opened.link, listed)).collect();
                    started.push(Started { server, tools });
                    self.services.push(opened.service);
                }
                Err(refusal) => {
                    let message = format!("{}{}", refusal.why, refusal.errors.said());
                    problems.push(Problem::new(Code::BadUsage, format!("server `{server}`"), message));
                }
            }
        }
        (started, problems)
    }
}

impl Drop for Connections {
    /// Closes every server. A thread does it, since a host may drop its tools on a runtime's own thread,
    /// where waiting for another runtime is a panic.
    fn drop(&mut self) {
        let Some(runtime) = self.runtime.take() else { return };
        let services = std::mem::take(&mut self.services);
        let work = move || {
            runtime.block_on(async {
                let closing: Vec<_> = services
                    .into_iter()
                    .map(|mut service| {
                        tokio::spawn(async move {
                            drop(service.close_with_timeout(CLOSING).await);
                        })
                    })
                    .collect();
                for close in closing {
                    drop(close.await);
                }
            });
            runtime.shutdown_timeout(Duration::from_secs(1));
        };
        if let Ok(thread) = thread::Builder::new().spawn(work) {
            drop(thread.join());
        }
    }
}

/// A server's tool as the table has it.
fn tool(link: &Arc<Link>, listed: &Listed) -> Tool {
    let name = format!("mcp://{}/{}", link.server(), listed.name);
    let provider = ServerTool::new(Arc::clone(link), listed);
    let mut tool = Tool::of(name.clone(), Source::Server(name), Some(Box::new(provider)));
    tool.description = listed.description.as_deref().map(|text| shortened(text, limits::DEFAULT_LINE));
    tool.input_schema = schema(&listed.input_schema).map(Arc::new);
    tool.output_schema = listed.output_schema.as_ref().and_then(|known| schema(known)).map(Arc::new);
    tool
}

/// A schema as data; one that breaks the bounds of a tool's answer is left out.
fn schema(schema: &rmcp::model::JsonObject) -> Option<Data> {
    let text = serde_json::to_vec(schema).ok()?;
    read(&text, &Bounds::default()).ok()
}
