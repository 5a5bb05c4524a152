//! Measures an MCP server: calls of a tool per second, the duration of each, and the server's processor time
//! and memory.
//!
//! `measure NAME stdio|http CLIENTS SECONDS COMMAND…` starts the server (over stdio one for each client) and
//! prints a row of a table. Each client makes one call of `add` after the other. Clients send each request
//! at once, in one write, and use one connection.

use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

type Failure = Box<dyn Error + Send + Sync>;

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"measure","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
/// How long a server may take from its first output until it listens.
const LISTENING: Duration = Duration::from_secs(20);
/// The unit in which Linux reports processor time, in milliseconds.
const TICK: u64 = 10;
/// Calls of each client that are not counted.
const WARM: usize = 20;

/// One client's connection.
enum Line {
    Stdio(ChildStdin, BufReader<ChildStdout>),
    Http { stream: BufReader<TcpStream>, host: String, session: String },
}

impl Line {
    /// Sends a message. Returns the answer to a request.
    fn send(&mut self, message: &str, is_request: bool) -> Result<String, Failure> {
        match self {
            Line::Stdio(input, output) => {
                input.write_all(format!("{message}\n").as_bytes())?;
                let mut line = String::new();
                while is_request && !line.contains("\"id\"") {
                    line.clear();
                    if output.read_line(&mut line)? == 0 {
                        return Err("the server has ended".into());
                    }
                }
                Ok(line)
            }
            Line::Http { stream, host, session } => {
                let request = format!(
                    "POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
                     Accept: application/json, text/event-stream\r\n{session}Content-Length: {}\r\n\r\n{message}",
                    message.len()
                );
                stream.get_mut().write_all(request.as_bytes())?;
                let (head, body) = answer(stream)?;
                let name = head.lines().find_map(|line| {
                    let (name, value) = line.split_once(':')?;
                    name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
                });
                if let Some(name) = name {
                    *session = format!("Mcp-Session-Id: {name}\r\nMcp-Protocol-Version: 2025-06-18\r\n");
                }
                Ok(body)
            }
        }
    }

    fn open(&mut self) -> Result<(), Failure> {
        let answer = self.send(INITIALIZE, true)?;
        if !answer.contains("serverInfo") {
            return Err(format!("no server: {answer}").into());
        }
        self.send(INITIALIZED, false).map(drop)
    }

    fn call(&mut self, id: usize) -> Result<Duration, Failure> {
        let message = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"add","arguments":{{"a":{id},"b":1}}}}}}"#
        );
        let begun = Instant::now();
        let answer = self.send(&message, true)?;
        let took = begun.elapsed();
        if answer.contains(&(id + 1).to_string()) { Ok(took) } else { Err(format!("wrong: {answer}").into()) }
    }
}

/// Reads an answer over HTTP: head and body.
fn answer(stream: &mut BufReader<TcpStream>) -> Result<(String, String), Failure> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        if stream.read_line(&mut head)? == 0 {
            return Err("the connection has ended".into());
        }
    }
    let lower = head.to_ascii_lowercase();
    let mut body = Vec::new();
    if lower.contains("transfer-encoding: chunked") {
        loop {
            let mut size = String::new();
            stream.read_line(&mut size)?;
            let size = usize::from_str_radix(size.trim(), 16)?;
            let start = body.len();
            body.resize(start + size + 2, 0);
            stream.read_exact(body.get_mut(start..).ok_or("no room")?)?;
            body.truncate(start + size);
            if size == 0 {
                break;
            }
        }
    } else if let Some(length) = lower.lines().find_map(|line| line.strip_prefix("content-length: ")) {
        body.resize(length.trim().parse()?, 0);
        stream.read_exact(&mut body)?;
    }
    Ok((head, String::from_utf8_lossy(&body).into_owned()))
}

/// Servers, which are ended when this is dropped.
struct Servers(Vec<Child>);

impl Drop for Servers {
    fn drop(&mut self) {
        for child in &mut self.0 {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

impl Servers {
    /// The most memory that they have used together, in megabytes.
    fn memory(&self) -> u64 {
        let peak = |child: &Child| {
            let status = std::fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
            let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
            line.split_whitespace().next()?.parse::<u64>().ok()
        };
        self.0.iter().filter_map(peak).sum::<u64>() / 1024
    }

    /// The processor time that they have used together, in milliseconds. Other work hardly changes it.
    fn time(&self) -> u64 {
        let ticks = |child: &Child| {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
            // After the name in parentheses, the user time is the twelfth field, and the system time is the
            // next.
            let fields = stat.rsplit_once(')')?.1.split_whitespace();
            Some(fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok()).sum::<u64>())
        };
        self.0.iter().filter_map(ticks).sum::<u64>() * TICK
    }
}

fn start(command: &[String], output: Stdio) -> io::Result<Child> {
    let mut child = Command::new(command.first().map_or("", String::as_str));
    child.args(command.iter().skip(1)).stdin(Stdio::piped()).stdout(output).stderr(Stdio::piped());
    child.spawn()
}

/// The address in the first output of an HTTP server.
fn address(child: &mut Child) -> Result<String, Failure> {
    let mut errors = BufReader::new(child.stderr.take().ok_or("no standard error")?);
    let mut line = String::new();
    while !line.contains("http://") {
        line.clear();
        if errors.read_line(&mut line)? == 0 {
            return Err("the server has ended".into());
        }
    }
    thread::spawn(move || io::copy(&mut errors, &mut io::sink()));
    let rest = line.split("http://").nth(1).unwrap_or_default();
    Ok(rest.split(['/', ' ', '\n']).next().unwrap_or_default().to_owned())
}

/// A connection to a server, which may print its address before it listens there.
fn connected(host: &str) -> io::Result<TcpStream> {
    let until = Instant::now() + LISTENING;
    loop {
        match TcpStream::connect(host) {
            Err(error) if error.kind() == io::ErrorKind::ConnectionRefused && Instant::now() < until => {
                thread::sleep(Duration::from_millis(50));
            }
            connected => return connected,
        }
    }
}

fn lines(over: &str, clients: usize, command: &[String]) -> Result<(Servers, Vec<Line>), Failure> {
    let (mut servers, mut lines) = (Servers(Vec::new()), Vec::new());
    if over == "http" {
        servers.0.push(start(command, Stdio::null())?);
        let host = address(servers.0.last_mut().ok_or("no server")?)?;
        for _ in 0..clients {
            let stream = connected(&host)?;
            stream.set_nodelay(true)?;
            lines.push(Line::Http {
                stream: BufReader::new(stream),
                host: host.clone(),
                session: String::new(),
            });
        }
    } else {
        for _ in 0..clients {
            let mut child = start(command, Stdio::piped())?;
            let (input, output) = (child.stdin.take(), child.stdout.take());
            let mut errors = child.stderr.take().ok_or("no standard error")?;
            thread::spawn(move || io::copy(&mut errors, &mut io::sink()));
            servers.0.push(child);
            lines.push(Line::Stdio(input.ok_or("no input")?, BufReader::new(output.ok_or("no output")?)));
        }
    }
    Ok((servers, lines))
}

/// Makes calls until the time is over. Returns the duration of each, and the connection, which keeps its
/// server running.
fn client(mut line: Line, begin: &Barrier, over: &AtomicBool) -> Result<(Vec<Duration>, Line), Failure> {
    let warm = line.open().and_then(|()| (1..=WARM).try_for_each(|id| line.call(id).map(drop)));
    begin.wait();
    warm?;
    let mut times = Vec::new();
    while !over.load(Ordering::Relaxed) {
        times.push(line.call(WARM + 1 + times.len())?);
    }
    Ok((times, line))
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, over, clients, seconds, command @ ..] = arguments.as_slice() else {
        return Err("measure NAME stdio|http CLIENTS SECONDS COMMAND…".into());
    };
    let (clients, seconds): (usize, u64) = (clients.parse()?, seconds.parse()?);
    let (servers, lines) = lines(over, clients, command)?;
    let (begin, stop) = (Arc::new(Barrier::new(clients + 1)), Arc::new(AtomicBool::new(false)));
    let threads: Vec<_> = lines
        .into_iter()
        .map(|line| {
            let (begin, stop) = (Arc::clone(&begin), Arc::clone(&stop));
            thread::spawn(move || client(line, &begin, &stop))
        })
        .collect();
    begin.wait();
    let (begun, used) = (Instant::now(), servers.time());
    thread::sleep(Duration::from_secs(seconds));
    stop.store(true, Ordering::Relaxed);
    let (mut times, mut open) = (Vec::new(), Vec::new());
    for thread in threads {
        let (more, line) = thread.join().map_err(|_| "a client broke")??;
        times.extend(more);
        open.push(line);
    }
    let (took, used) = (begun.elapsed().as_secs_f64(), servers.time() - used);
    times.sort_unstable();
    let at = |hundredths: usize| {
        let place = (times.len() * hundredths / 100).min(times.len().saturating_sub(1));
        times.get(place).map_or(0.0, |time| time.as_secs_f64() * 1e3)
    };
    #[allow(clippy::cast_precision_loss, reason = "a count of calls")]
    let (each, cost) = (times.len() as f64 / took, used as f64 * 1e3 / times.len().max(1) as f64);
    let memory = servers.memory();
    drop(open);
    println!(
        "| {over} | {clients} | {name} | {each:.0} | {:.2} | {:.2} | {cost:.0} | {memory} |",
        at(50),
        at(99)
    );
    Ok(())
}
