//! `serve`: runs an MCP server that offers programs to agents.

mod programs;

use super::lock::LockArgs;
use super::log::Log;
use super::run::RunLimits;
use super::{Exit, Refused, load, output, tools_without_questions};
use ilo_host::interrupt::Interrupt;
use ilo_host::problem::Problem;
use ilo_host::run::Options;
use ilo_host::serve::{Arriving, Durable, Http, Issuer, Service, Serving, http, stdio};
use ilo_host::telemetry::Telemetry;
use ilo_host::tools::process_mark;
use ilo_spec::error::Code;
use programs::{End, OfferedPrograms};
use std::collections::BTreeSet;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tracing::level_filters::LevelFilter;

/// Threads beside those of runs and questions, for what the runtime itself does.
const SPARE: usize = 64;
/// How long to wait at the end until the log is written.
const FLUSH: Duration = Duration::from_millis(200);

/// How to try it, and how a client starts it.
const HELP: &str = "\
Offers `run_program`, `check_program` and `find_tools`, and each function of the programs that are named here.
Standard output belongs to the protocol; all else goes to standard error.

With --journal runs outlive the server. A client that knows tasks gets each run as a task: it asks for the state \
of the task, and its person approves calls and decides on those in doubt. When the server ends, its runs stay in the \
journal. The next server continues them, and every other run of the journal that can continue.

Example: ilo-vm serve --tools examples/tools.json examples/notify.ilo
Example: ilo-vm serve --tools examples/tools.json --http 8080
Example: ilo-vm serve --tools examples/tools.json --journal runs.journal --http 8080";

#[derive(clap::Args)]
#[command(after_help = HELP)]
pub(super) struct Args {
    /// Programs whose functions are tools of their own
    programs: Vec<PathBuf>,
    /// The tools file; all its servers are started, while this one answers already
    #[arg(long, value_name = "FILE")]
    tools: Option<PathBuf>,
    #[command(flatten)]
    lock: LockArgs,
    /// What is logged to standard error: off, error, warn, info, debug
    #[arg(long, value_name = "LEVEL", default_value = "warn")]
    log: LevelFilter,
    #[cfg(feature = "journal")]
    #[command(flatten)]
    journal: super::journal::ServeJournal,
    #[command(flatten)]
    http: HttpArgs,
    #[command(flatten)]
    clients: ClientLimits,
    #[command(flatten)]
    limits: RunLimits,
    #[command(flatten)]
    files: load::FileLimits,
}

/// How the server is reached by HTTP, and by whom.
#[derive(clap::Args)]
#[command(next_help_heading = "HTTP")]
struct HttpArgs {
    /// Serve streamable HTTP at `/mcp` instead of standard input and output
    #[arg(long = "http", id = "http", value_name = "PORT|ADDRESS:PORT", value_parser = address)]
    address: Option<SocketAddr>,
    /// The environment variable with the token that HTTP requests must carry
    #[arg(long, value_name = "NAME", requires = "http")]
    token_env: Option<String>,
    /// The authorization server (OAuth) whose access tokens HTTP requests must carry
    #[arg(long, value_name = "URL", requires = "http")]
    issuer: Option<String>,
    /// The URL by which clients know this server, which access tokens name [default: that of --http]
    #[arg(long, value_name = "URL", requires = "issuer")]
    resource: Option<String>,
    /// A scope that every access token must have
    #[arg(long = "scope", value_name = "SCOPE", requires = "issuer")]
    scopes: Vec<String>,
    /// A scope whose subjects may decide on the calls of others; without it each decides on its own
    #[arg(long, value_name = "SCOPE", requires = "issuer")]
    approver_scope: Option<String>,
    /// The address of a proxy, whose header `X-Forwarded-For` says where a request comes from
    #[arg(long = "trusted-proxy", value_name = "ADDRESS", requires = "http")]
    proxies: Vec<IpAddr>,
    /// The header in which the trusted proxies name the subject of a request, such as `X-Remote-User`
    #[arg(long, value_name = "NAME", requires = "proxies", conflicts_with = "issuer")]
    subject_header: Option<String>,
    /// An origin whose pages may send HTTP requests, such as `https://app.example.com:443`
    #[arg(long = "allow-origin", value_name = "ORIGIN", requires = "http")]
    origins: Vec<String>,
    /// A host name that HTTP requests may ask for, in addition to those of loopback
    #[arg(long = "allow-host", value_name = "HOST", requires = "http")]
    hosts: Vec<String>,
}

/// The limits for clients.
#[derive(clap::Args)]
#[command(next_help_heading = "Limits of clients")]
struct ClientLimits {
    /// Runs at a time, for all clients
    #[arg(long, value_name = "N", default_value_t = 16)]
    max_runs: usize,
    /// Runs at a time, for one client: a subject with --issuer or --subject-header, otherwise an address
    #[arg(long, value_name = "N", default_value_t = 4)]
    max_client_runs: usize,
    /// Mebibytes of the journal that the runs of one subject may take before it starts another
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    max_client_journal: usize,
    /// How long a question to a person may be open before it counts as refused
    #[arg(long, value_name = "MS", default_value_t = 120_000)]
    question_timeout: u64,
}

/// An address, or a port of loopback.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = text.parse().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    port.or_else(|_| text.parse())
        .map_err(|_| "expected a port, or an address such as 127.0.0.1:8080".to_owned())
}

pub(super) fn run(args: &Args) -> Result<Exit, Refused> {
    output::log_errors();
    tracing_subscriber::fmt().with_max_level(args.log).with_writer(Log::of_process).with_ansi(false).init();
    let served = serve(args);
    // What runs that were under way have started ends with the server.
    process_mark::end_all(process_mark::of_process());
    let served = served.map_err(|refused| match refused {
        Refused::Problems(problems) => {
            output::problems(&problems);
            Refused::Shown
        }
        other => other,
    });
    Log::of_process().flush(FLUSH);
    served
}

fn serve(args: &Args) -> Result<Exit, Refused> {
    let mut tools = tools_without_questions(args.tools.as_deref())?;
    let mut programs = OfferedPrograms::new(args.files.clone(), args.lock.clone());
    let mut functions = programs.read(&args.programs, &tools)?;
    let (starting, problems) = tools.start_all();
    programs.tell(&tools, &problems);
    let names: BTreeSet<String> = starting.servers().map(str::to_owned).collect();
    functions.extend(programs.ready(&tools, &names));
    if names.is_empty() {
        programs.hold(&tools)?;
    }
    let telemetry = Telemetry::from_environment()?;
    let options = args.limits.options(Interrupt::default(), Interrupt::default());
    let service = Service {
        functions,
        tools,
        options: Options { telemetry: telemetry.clone(), ..options },
        runs: args.clients.max_runs.max(1),
        runs_of_client: args.clients.max_client_runs.max(1),
        journal_of_client: args.clients.max_client_journal.saturating_mul(1 << 20),
        source: args.files.max_source,
        question: Duration::from_millis(args.clients.question_timeout),
        durable: durable(args)?,
    };
    let broken = |error: io::Error| Problem::new(Code::BadUsage, "", format!("cannot serve: {error}"));
    let (threads, keeps) = (service.threads() + SPARE, service.durable.is_some());
    // One client needs no more than one thread for its messages, beside those of its runs.
    let mut builder =
        if args.http.address.is_some() { Builder::new_multi_thread() } else { Builder::new_current_thread() };
    let runtime = builder.max_blocking_threads(threads).enable_all().build().map_err(broken)?;
    let (end, until) = ending(&runtime, keeps, &mut programs);
    let arriving = (!names.is_empty()).then(|| Arriving {
        starting,
        together: args.lock.path().is_some(),
        functions: programs.wait(),
        host: Box::new(programs),
    });
    let served = match args.http.address {
        None => match runtime.block_on(stdio(service, arriving, until)) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Exit::Ok),
            // An error of the protocol, such as an input that ends before its first request. Those of output
            // have another kind.
            Err(error) if error.kind() == io::ErrorKind::Other => Err(broken(error).into()),
            Err(error) => {
                output::error(&format!(
                    "error: standard output cannot be written: {error}; all runs were cancelled\n"
                ));
                Err(Refused::Unwritten)
            }
            Ok(()) => Ok(Exit::Ok),
        },
        Some(address) => {
            let (origins, hosts) = (args.http.origins.clone(), args.http.hosts.clone());
            let (resource, scopes) = (args.http.resource.clone(), args.http.scopes.clone());
            let approver_scope = args.http.approver_scope.clone();
            let issuer = args.http.issuer.clone().map(|url| Issuer { url, resource, scopes, approver_scope });
            let (proxies, subject_header) = (args.http.proxies.clone(), args.http.subject_header.clone());
            let settings =
                Http { address, token: token(args)?, issuer, origins, hosts, proxies, subject_header };
            let ready = |address| output::error(&format!("serving http://{address}/mcp\n"));
            let served = runtime.block_on(http(service, arriving, settings, Box::new(ready), until));
            served.map(|()| Exit::Ok).map_err(Refused::from)
        }
    };
    super::run::flush(telemetry.as_ref());
    runtime.shutdown_background();
    let refused = end.lock().unwrap_or_else(PoisonError::into_inner).take();
    refused.map_or(served, Err)
}

/// When the server ends: at a signal, or when the lock refuses the tools. Also returns why, in that case.
fn ending(runtime: &Runtime, keeps: bool, programs: &mut OfferedPrograms) -> (End, Serving<()>) {
    let (end, (to, refused)) = (End::default(), oneshot::channel());
    programs.set_end(to, Arc::clone(&end));
    let signal = signal(runtime, keeps);
    let until = Box::pin(async {
        tokio::select! {
            () = signal => {}
            Ok(()) = refused => {}
        }
    });
    (end, until)
}

/// The journal of the runs, if there is one.
#[cfg(feature = "journal")]
fn durable(args: &Args) -> Result<Option<Arc<dyn Durable>>, Refused> {
    let Some(served) = args.journal.serve()? else { return Ok(None) };
    Ok(Some(Arc::new(served)))
}

/// Without a journal no run is kept.
#[cfg(not(feature = "journal"))]
#[allow(clippy::unnecessary_wraps, reason = "as with a journal")]
fn durable(_args: &Args) -> Result<Option<Arc<dyn Durable>>, Refused> {
    Ok(None)
}

/// The first signal that ends the program: what is under way is awaited for a moment, then cancelled and
/// rolled back, or left in the journal where there is one (`keeps`). A second one ends the program at once.
fn signal(runtime: &Runtime, keeps: bool) -> Serving<()> {
    let (first, ended) = oneshot::channel();
    runtime.spawn(async move {
        heard().await;
        let runs = if keeps { "left in the journal at their next call" } else { "cancelled and rolled back" };
        output::error(&format!("ending: runs are {runs}; a second signal ends the program at once\n"));
        let _ = first.send(());
        heard().await;
        process_mark::end_all(process_mark::of_process());
        std::process::exit(i32::from(Exit::Interrupted as u8));
    });
    Box::pin(async {
        if ended.await.is_err() {
            std::future::pending::<()>().await;
        }
    })
}

#[cfg(unix)]
async fn heard() {
    use tokio::signal::unix::{SignalKind, signal};
    // Where nobody can listen, the system ends the program.
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

#[cfg(not(unix))]
async fn heard() {
    drop(tokio::signal::ctrl_c().await);
}

/// The token, from the environment so that no list of processes shows it.
fn token(args: &Args) -> Result<Option<String>, Problem> {
    let Some(name) = &args.http.token_env else { return Ok(None) };
    match std::env::var(name) {
        Ok(token) if !token.is_empty() => Ok(Some(token)),
        _ => {
            let message = format!("the environment has no text `{name}`");
            Err(Problem::new(Code::BadUsage, "--token-env", message))
        }
    }
}
