//! `serve`: offer programs to agents, as an MCP server.

use super::lock::LockArgs;
use super::run::RunLimits;
use super::tools::connect_all;
use super::{Exit, Refused, load, output, tools_of};
use ilo_host::interrupt::Interrupt;
use ilo_host::problem::Problem;
use ilo_host::serve::{Http, Offered, Service, http, stdio};
use ilo_host::tools::{Tools, process_mark};
use ilo_spec::error::Code;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use tracing::level_filters::LevelFilter;

/// How to try it, and how a client starts it.
const HELP: &str = "\
Offers `run_program`, `check_program` and `find_tools`, and each function of the programs that are named here.
Standard output belongs to the protocol; all else goes to standard error.

Example: ilo-vm serve --tools examples/tools.json examples/notify.ilo
Example: ilo-vm serve --tools examples/tools.json --http 8080";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Programs whose functions are tools of their own
    programs: Vec<PathBuf>,
    /// The tools file; all its servers are started
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    #[command(flatten)]
    lock: LockArgs,
    /// Serve streamable HTTP at `/mcp` instead of standard input and output
    #[arg(long, value_name = "PORT|ADDRESS:PORT", value_parser = address)]
    http: Option<SocketAddr>,
    /// The variable of the environment that holds the token which HTTP requests must bear
    #[arg(long, value_name = "NAME", requires = "http")]
    token_env: Option<String>,
    /// An origin whose pages may send HTTP requests, such as `https://app.example.com:443`
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "http")]
    origins: Vec<String>,
    /// A name of this machine that HTTP requests may ask for, beside those of loopback
    #[arg(long = "allow-host", value_name = "HOST", requires = "http")]
    hosts: Vec<String>,
    /// Runs at a time, for all clients
    #[arg(long, value_name = "N", default_value_t = 16)]
    max_runs: usize,
    /// Runs at a time, for one client
    #[arg(long, value_name = "N", default_value_t = 4)]
    max_client_runs: usize,
    /// What is logged to standard error: off, error, warn, info, debug
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: LevelFilter,
    #[command(flatten)]
    limits: RunLimits,
    #[command(flatten)]
    files: load::FileLimits,
}

/// An address, or a port of loopback.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|_| text.parse())
        .map_err(|_| "expected a port, or an address such as 127.0.0.1:8080".to_owned())
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    tracing_subscriber::fmt().with_max_level(args.log).with_writer(std::io::stderr).with_ansi(false).init();
    let mut tools = tools_of(args.tools.as_deref())?;
    connect_all(&mut tools);
    let functions = functions(args, &mut tools)?;
    args.lock.hold(&tools, tools.iter().map(|tool| tool.name.as_str()))?;
    let service = Service {
        functions,
        tools,
        options: args.limits.options(Interrupt::default(), Interrupt::default()),
        runs: args.max_runs.max(1),
        runs_of_client: args.max_client_runs.max(1),
        source: args.files.max_source,
    };
    let broken = |error: std::io::Error| Problem::new(Code::BadUsage, "", format!("cannot serve: {error}"));
    let runtime = tokio::runtime::Runtime::new().map_err(broken)?;
    let served = match args.http {
        None => runtime.block_on(stdio(service)).map_err(broken),
        Some(address) => {
            let (origins, hosts) = (args.origins.clone(), args.hosts.clone());
            let settings = Http { address, token: token(args)?, origins, hosts };
            let ready = |address| output::error(&format!("serving http://{address}/mcp\n"));
            let until = async { drop(tokio::signal::ctrl_c().await) };
            runtime.block_on(http(service, settings, Box::new(ready), Box::pin(until)))
        }
    };
    runtime.shutdown_background();
    // What runs that were under way have started ends with the server.
    process_mark::end_all(process_mark::of_process());
    served?;
    Ok(Exit::Ok)
}

/// The token, from the environment so that no list of processes shows it.
fn token(args: &Args) -> Result<Option<String>, Problem> {
    let Some(name) = &args.token_env else { return Ok(None) };
    match std::env::var(name) {
        Ok(token) if !token.is_empty() => Ok(Some(token)),
        _ => {
            let message = format!("the environment has no text `{name}`");
            Err(Problem::new(Code::BadUsage, "--token-env", message))
        }
    }
}

/// The functions of the programs, those that no other function of their file calls.
fn functions(args: &Args, tools: &mut Tools) -> Result<Vec<Offered>, Refused> {
    let mut offered: Vec<Offered> = Vec::new();
    for path in &args.programs {
        let program = load::load_file(path, &args.files, Some(&mut *tools), &args.lock)?;
        let problems = tools.problems(program.tools());
        if !problems.is_empty() {
            return Err(problems.into());
        }
        let functions = program.entry().map_or_else(|several| several, |only| vec![only]);
        for function in functions {
            let name = program.function_name(function).to_owned();
            let taken = ["run_program", "check_program", "find_tools"].contains(&name.as_str());
            if taken || offered.iter().any(|offered| offered.name == name) {
                let message = format!("a second tool named `{name}`; rename the function");
                return Err(Problem::new(Code::BadUsage, path.display().to_string(), message).into());
            }
            offered.push(Offered { name, program: program.clone(), function });
        }
    }
    Ok(offered)
}
