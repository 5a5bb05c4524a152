//! Floods: messages within the limits take no more memory than a few times their bytes, and do not delay
//! other servers.

use super::{FLOOD, SERVE, call, one_tool, over_http, survival, tools, web, web_tools};
use ilo_host::Tools;
use ilo_host::data::Data;
use ilo_host::tools::Failure;
use ilo_spec::error::Code;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// The most that a process grows while it reads a message of 16 MiB.
const MOST: u64 = 64 << 10;
/// Bytes of a message.
const MESSAGE: usize = 16 << 20;
/// How long a call waits if its server never answers.
const LIMIT: u64 = 5_000;

/// Calls a server of this scenario, or at this URL, in a process of its own, and prints the greatest memory
/// that this took.
pub(crate) fn client(scenario: &str) {
    let before = kib("VmHWM");
    let (mut tools, tool) = if scenario.starts_with("http:") {
        (web_tools(scenario), "mcp://w/get")
    } else {
        (tools(scenario, 60_000), "mcp://h/echo")
    };
    let answer = tools.connect([tool]).map(|()| {
        let limit = if scenario == "notifies-without-end" { LIMIT } else { 60_000 };
        call(&tools, tool, "text", limit)
    });
    let shown = match answer {
        Err(problems) => format!("refused {}", problems.first().map(ToString::to_string).unwrap_or_default()),
        Ok(Ok(value)) => format!("ok {}", value.to_json()),
        Ok(Err(Failure::Limit(code, _))) => format!("limit {code}"),
        Ok(Err(other)) => format!("{other:?}"),
    };
    println!("{} {shown}", kib("VmHWM") - before);
}

fn kib(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok()).unwrap_or(0)
}

pub(crate) fn a_flood_takes_no_more_memory_than_four_times_its_bytes() {
    if !cfg!(target_os = "linux") {
        return;
    }
    for (scenario, expected) in [
        ("flood:structured", format!("limit {}", Code::FaultTooLarge)),
        ("flood:content", "cannot be read".to_owned()),
        ("flood:meta", "ok \"hello\"".to_owned()),
        ("flood:other", "ok \"hello\"".to_owned()),
        ("flood-of-list", "ok \"hello\"".to_owned()),
    ] {
        grows_little(scenario, &expected);
    }
    let values = br#"{"":0},"#.repeat((MESSAGE - 1000) / 7);
    let values = String::from_utf8(values).unwrap();
    for kind in ["application/json", "text/event-stream"] {
        let result = format!(r#""result":{{"content":[],"structuredContent":[{values}0]}}"#);
        let url = web(move |asked| one_tool(asked, || over_http(asked, kind, &result)));
        grows_little(&url, &format!("limit {}", Code::FaultTooLarge));
    }
}

/// Checks the answer to a process that calls the server, and that the process stays within its memory.
#[track_caller]
fn grows_little(scenario: &str, expected: &str) {
    grows_at_most(MOST, scenario, expected);
}

#[track_caller]
fn grows_at_most(most: u64, scenario: &str, expected: &str) {
    let program = std::env::current_exe().unwrap();
    let output = Command::new(program).args([FLOOD, scenario]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let (grown, shown) = text.trim().split_once(' ').unwrap();
    assert!(shown.contains(expected), "{scenario}: {shown}");
    let grown: u64 = grown.parse().unwrap();
    assert!(grown <= most, "{scenario}: {grown} KiB");
}

/// Servers that send messages without end that are not answers: requests whose replies they never read, and
/// notifications.
pub(crate) fn what_comes_without_end_takes_no_memory() {
    if !cfg!(target_os = "linux") {
        return;
    }
    let dropped = "was dropped: it sends requests and does not read the replies";
    grows_little("asks-and-never-reads", dropped);
    // Without a bound it would be gigabytes.
    grows_at_most(4 * MOST, "notifies-without-end", "took longer than its limit");
    grows_little(&survival::asking_without_end(), dropped);
}

pub(crate) fn a_flood_of_one_server_does_not_delay_another() {
    let program = serde_json::to_string(&std::env::current_exe().unwrap()).unwrap();
    let server = |scenario: &str| format!(r#"{{"command": {program}, "args": ["{SERVE}", "{scenario}"]}}"#);
    let (flood, calm) = (server("flood:meta"), server("none"));
    let text = format!(r#"{{"mcpServers": {{"flood": {flood}, "calm": {calm}}}}}"#);
    let mut tools = Tools::from_text("tools.json", &text, Path::new(".")).unwrap();
    tools.connect_all().unwrap();
    let tools = &tools;
    thread::scope(|scope| {
        let floods: Vec<_> =
            (0..2).map(|_| scope.spawn(|| call(tools, "mcp://flood/echo", "text", 60_000))).collect();
        while floods.iter().any(|flood| !flood.is_finished()) {
            let begun = Instant::now();
            assert_eq!(call(tools, "mcp://calm/echo", "text", 10_000), Ok(Data::from("hello")));
            assert!(begun.elapsed() < Duration::from_secs(9), "{:?}", begun.elapsed());
            thread::sleep(Duration::from_millis(10));
        }
        for flood in floods {
            assert_eq!(flood.join().unwrap(), Ok(Data::from("hello")));
        }
    });
}
