//! Clients against `ilo-vm serve` over streamable HTTP, well-behaved and not; prints throughput, times and
//! memory.
//!
//! `cargo run --release -p ilo-serve-bench --bin load -- [CLIENTS] [SECONDS] [FEW]`; the server is the
//! `ilo-vm` of the same build. All clients but a few run a program of ten reads and some arithmetic, one run
//! after the other. FEW (4) break off in the middle of a run, as many send a byte a second, as many ask and
//! never read, and two hundred connections say nothing.

use rmcp::model::{CallToolRequestParams, JsonObject};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceExt};
use serde_json::json;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

type Failure = Box<dyn Error + Send + Sync>;
type Client = rmcp::service::RunningService<RoleClient, ()>;

const PROGRAM: &str = "; fn total(items: list number) -> number\n; Tools: 0=price\n; Fields: 0=item\nLET 1 LIT 1 0\n\
    FOR 2 REF 0 2\n  LET 3 CALL 0 1 0 REF 2\n  LET 1 ADD REF 1 MUL REF 3 REF 2\nRET REF 1\n";
const TOOLS: &str = r#"{"tools": {"price": {"mock": {"returns": 2, "delay_ms": 2}, "read_only": true}}}"#;
/// The first message of a client.
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"load","version":"1"}}}"#;
/// The number of silent connections.
const SILENT: usize = 200;
/// The pause of the server before its memory is read for the last time.
const REST: Duration = Duration::from_secs(10);

/// The server, which is ended when this is dropped.
struct Server {
    child: Child,
    address: String,
    _folder: tempfile::TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Server {
    fn start() -> Result<Server, Failure> {
        let folder = tempfile::TempDir::new()?;
        let tools = folder.path().join("tools.json");
        std::fs::write(&tools, TOOLS)?;
        let build = std::env::current_exe()?;
        let binary = build.parent().ok_or("no folder")?.join("ilo-vm");
        let mut child = Command::new(&binary)
            .args(["serve", "--http", "0", "--tools"])
            .arg(&tools)
            // Clients are counted by address, so each names its own, as a proxy does.
            .args(["--trusted-proxy", "127.0.0.1"])
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| format!("{}: {error}; build it first", binary.display()))?;
        let mut line = String::new();
        let mut errors = BufReader::new(child.stderr.take().ok_or("no standard error")?);
        errors.read_line(&mut line)?;
        let address = line.trim().strip_prefix("serving http://").and_then(|rest| rest.strip_suffix("/mcp"));
        let address = address.ok_or("it does not serve")?.to_owned();
        Ok(Server { child, address, _folder: folder })
    }

    /// A figure of the system about the process.
    fn status(&self, key: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(key));
        line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok()).unwrap_or(0)
    }

    fn look(&self) -> String {
        let files = std::fs::read_dir(format!("/proc/{}/fd", self.child.id())).map_or(0, Iterator::count);
        let megabytes = self.status("VmRSS") / 1024;
        format!("{megabytes} MB, {} threads, {files} files", self.status("Threads"))
    }
}

#[derive(Default)]
struct Counts {
    broken_off: AtomicU64,
    /// The clients that meant to break off.
    refused: AtomicU64,
    errors: AtomicU64,
}

async fn connect(address: &str, number: usize) -> Result<Client, Failure> {
    // Once for each process: a second provider would be refused, and the first one is used.
    drop(rustls::crypto::ring::default_provider().install_default());
    let from = format!("10.{}.{}.1", number >> 8 & 255, number & 255).parse()?;
    let headers = reqwest::header::HeaderMap::from_iter([(
        reqwest::header::HeaderName::from_static("x-forwarded-for"),
        from,
    )]);
    let client = reqwest::Client::builder().tls_certs_only([]).default_headers(headers).build()?;
    let config = StreamableHttpClientTransportConfig::with_uri(format!("http://{address}/mcp"));
    Ok(().serve(StreamableHttpClientTransport::with_client(client, config)).await?)
}

/// Runs the program once.
async fn run(client: &Client) -> Result<(), Failure> {
    let items: Vec<u32> = (1..=10).collect();
    let arguments = json!({"source": PROGRAM, "inputs": {"items": items}});
    let arguments: JsonObject = arguments.as_object().cloned().unwrap_or_default();
    let answer =
        client.call_tool(CallToolRequestParams::new("run_program").with_arguments(arguments)).await?;
    let value = answer.structured_content.as_ref().and_then(|content| content.pointer("/outcome/value"));
    if value == Some(&json!(110)) { Ok(()) } else { Err(format!("another answer: {answer:?}").into()) }
}

/// Runs until the time is over. Returns the duration of each run.
async fn steady(address: Arc<str>, number: usize, until: Instant, counts: Arc<Counts>) -> Vec<Duration> {
    let mut times = Vec::new();
    let Ok(client) = connect(&address, number).await else {
        counts.errors.fetch_add(1, Ordering::Relaxed);
        return times;
    };
    while Instant::now() < until {
        let begun = Instant::now();
        match run(&client).await {
            Ok(()) => times.push(begun.elapsed()),
            Err(error) => {
                eprintln!("{error}");
                counts.errors.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    drop(client.cancel().await);
    times
}

/// A request of the protocol, on a new connection.
async fn ask(address: &str, session: &str, body: &str) -> Result<TcpStream, Failure> {
    let mut stream = TcpStream::connect(address).await?;
    let session = if session.is_empty() { String::new() } else { format!("Mcp-Session-Id: {session}\r\n") };
    let request = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await?;
    Ok(stream)
}

/// Begins a run, and disconnects in the middle of it.
async fn break_off(address: &str, after: Duration) -> Result<(), Failure> {
    let mut stream = ask(address, "", INITIALIZE).await?;
    let mut answer = vec![0; 4096];
    let count = stream.read(&mut answer).await?;
    let head = String::from_utf8_lossy(answer.get(..count).unwrap_or_default()).to_lowercase();
    let session = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).ok_or("no session")?;
    ask(address, session, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await?;
    let arguments = json!({"source": PROGRAM, "inputs": {"items": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}});
    let params = json!({"name": "run_program", "arguments": arguments});
    let call = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": params});
    let stream = ask(address, session, &call.to_string()).await?;
    tokio::time::sleep(after).await;
    drop(stream);
    Ok(())
}

/// Breaks off in the middle of runs, a few times a second.
async fn breaking_off(address: Arc<str>, until: Instant, counts: Arc<Counts>) {
    for times in 1.. {
        if Instant::now() >= until {
            break;
        }
        match break_off(&address, Duration::from_millis(times % 5 * 10)).await {
            Ok(()) => &counts.broken_off,
            Err(_) => &counts.refused,
        }
        .fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Sends a byte each second, and begins again if that is refused.
async fn slow(address: Arc<str>, until: Instant) {
    while Instant::now() < until {
        let Ok(mut stream) = TcpStream::connect(&*address).await else { return };
        for byte in
            format!("POST /mcp HTTP/1.1\r\nHost: {address}\r\nX-Long: {}", "x".repeat(1_000)).into_bytes()
        {
            if Instant::now() >= until || stream.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }
}

/// Sends requests without end, and reads none of the answers.
async fn deaf(address: Arc<str>, until: Instant) {
    while Instant::now() < until {
        let Ok(mut stream) = ask(&address, "", INITIALIZE).await else { return };
        for _ in 0..100 {
            if Instant::now() >= until || stream.write_all(&[b' '; 100]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
        }
    }
}

/// The longest time of this percentage of runs.
fn quantile(times: &[Duration], hundredths: usize) -> f64 {
    let place = (times.len() * hundredths / 100).min(times.len().saturating_sub(1));
    times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u64>());
    let clients = usize::try_from(numbers.next().unwrap_or(Ok(64))?)?;
    let seconds = numbers.next().unwrap_or(Ok(60))?;
    let few = usize::try_from(numbers.next().unwrap_or(Ok(4))?)?;
    let server = Server::start()?;
    let address: Arc<str> = server.address.as_str().into();
    println!("at the start: {}", server.look());
    let (begun, counts) = (Instant::now(), Arc::new(Counts::default()));
    let until = begun + Duration::from_secs(seconds);
    let mut silent = Vec::new();
    for _ in 0..SILENT {
        silent.push(TcpStream::connect(&*address).await?);
    }
    let others: Vec<_> = (0..few)
        .flat_map(|_| {
            [
                tokio::spawn(breaking_off(Arc::clone(&address), until, Arc::clone(&counts))),
                tokio::spawn(slow(Arc::clone(&address), until)),
                tokio::spawn(deaf(Arc::clone(&address), until)),
            ]
        })
        .collect();
    let well: Vec<_> = (few * 3..clients.max(few * 3 + 1))
        .map(|number| tokio::spawn(steady(Arc::clone(&address), number, until, Arc::clone(&counts))))
        .collect();
    for part in 1..6 {
        tokio::time::sleep_until((begun + Duration::from_secs(seconds) * part / 6).into()).await;
        println!("after {:.0} s: {}", begun.elapsed().as_secs_f64(), server.look());
    }
    let mut times = Vec::new();
    for client in well {
        times.extend(client.await?);
    }
    let took = begun.elapsed().as_secs_f64();
    for client in others {
        client.await?;
    }
    drop(silent);
    println!("at the end: {}", server.look());
    tokio::time::sleep(REST).await;
    println!("{} s later: {}; at most {} MB", REST.as_secs(), server.look(), server.status("VmHWM") / 1024);
    times.sort_unstable();
    let [half, most, last] = [50, 95, 99].map(|hundredths| quantile(&times, hundredths));
    #[allow(clippy::cast_precision_loss, reason = "a count of runs")]
    let each = times.len() as f64 / took;
    println!(
        "{} runs of ten calls by {} clients in {took:.1} s: {each:.0} a second",
        times.len(),
        clients - few * 3
    );
    println!(
        "a run took {half:.1} ms (median); 95 % took at most {most:.1} ms, 99 % at most {last:.1} ms, all at most \
         {:.1} ms",
        quantile(&times, 100)
    );
    let [broken_off, refused, errors] =
        [&counts.broken_off, &counts.refused, &counts.errors].map(|count| count.load(Ordering::Relaxed));
    println!("{broken_off} clients broke off in a run, {refused} were refused; {errors} errors");
    if errors == 0 { Ok(()) } else { Err("there were errors".into()) }
}
