//! `ilo-restate`: runs ilo programs as durable workflows of a Restate server.
//!
//! The server keeps the journal and starts a run again when its process has ended; this process calls the
//! tools.

mod calls;
mod decision;
mod drive;
mod entry;
mod order;
mod register;
mod workflow;

use clap::Parser;
use drive::Settings;
use ilo_host::Tools;
use ilo_host::problem::{Problem, Problems};
use restate_sdk::endpoint::ServiceOptions;
use restate_sdk::prelude::*;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use workflow::Ilo;

const HELP: &str = "\
The workflow is `ilo`; its key is the name of the run.

Example: ilo-restate --tools tools.json --register http://127.0.0.1:9070";

/// How long the server waits for a silent process, in addition to the longest call.
const PATIENCE: Duration = Duration::from_mins(1);

/// Serves runs of ilo programs to a Restate server.
#[derive(Debug, Parser)]
#[command(version, after_help = HELP)]
struct Args {
    /// The tools file
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// Where the server reaches this process
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:9080")]
    listen: SocketAddr,
    /// The server's admin address, where this process registers itself
    #[arg(long, value_name = "URL")]
    register: Option<String>,
    /// The URL that is registered, if it is not that of --listen
    #[arg(long, value_name = "URL", requires = "register")]
    advertise: Option<String>,
    /// The server's public key; requests that it has not signed are refused
    #[arg(long, value_name = "KEY")]
    identity_key: Option<String>,
    /// Milliseconds of one tool call, where its entry says nothing else
    #[arg(long, value_name = "MS", default_value_t = ilo_spec::limits::DEFAULT_CALL_MS)]
    call_timeout: u64,
}

fn main() -> ExitCode {
    let args = Args::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_default_env().unwrap_or_else(|_| "warn".into()),
        )
        .with_writer(std::io::stderr)
        .init();
    match serve(args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problems) => {
            problems.iter().for_each(|problem| eprintln!("{problem}"));
            ExitCode::from(2)
        }
    }
}

fn serve(args: Args) -> Result<(), Vec<String>> {
    let shown = |problems: Problems| problems.iter().map(Problem::to_string).collect::<Vec<_>>();
    let one = |message: String| vec![format!("error: {message}")];
    let mut tools = Tools::from_file(&args.tools).map_err(shown)?;
    tools.connect_all().map_err(shown)?;
    let settings = Settings { call_timeout: Duration::from_millis(args.call_timeout) };
    let longest = tools.iter().filter_map(|tool| tool.policy.timeout).max().unwrap_or_default();
    let longest = longest.max(settings.call_timeout);
    let workflow = Ilo { tools: Arc::new(tools), settings };
    let options = ServiceOptions::new().abort_timeout(longest + PATIENCE);
    let mut endpoint = Endpoint::builder().bind(workflow.into_service_definition().options(options));
    if let Some(key) = &args.identity_key {
        endpoint = endpoint.identity_key(key).map_err(|error| one(format!("--identity-key: {error}")))?;
    }
    let server = HttpServer::new(endpoint.build());
    let runtime = tokio::runtime::Runtime::new().map_err(|error| one(error.to_string()))?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::bind(args.listen)
            .await
            .map_err(|error| one(format!("cannot listen on {}: {error}", args.listen)))?;
        let address = listener.local_addr().map_err(|error| one(error.to_string()))?;
        eprintln!("ilo-restate listens on {address}");
        if let Some(admin) = args.register {
            let own = args.advertise.unwrap_or_else(|| format!("http://{address}"));
            tokio::spawn(async move {
                match register::register(&admin, &own).await {
                    Ok(()) => eprintln!("registered as {own}"),
                    Err(error) => eprintln!("error: not registered: {error}"),
                }
            });
        }
        server.serve(listener).await;
        Ok(())
    })
}
