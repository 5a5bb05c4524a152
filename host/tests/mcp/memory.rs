//! Floods: what a server sends within the limits takes no more memory than a few times its bytes, and keeps
//! no other server waiting.

use super::{FLOOD, SERVE, call, tools};
use ilo_host::Tools;
use ilo_host::data::Data;
use ilo_host::tools::Failure;
use ilo_spec::error::Code;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

/// The most that a process grows by while it reads a message of 16 MiB.
const MOST: u64 = 64 << 10;

/// Calls a server of this scenario in a process of its own, and prints the greatest memory that this took.
pub(crate) fn client(scenario: &str) {
    let before = kib("VmHWM");
    let mut tools = tools(scenario, 60_000);
    let answer = tools.connect(["say"]).map(|()| call(&tools, "mcp://h/echo", "text", 60_000));
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
    let program = std::env::current_exe().unwrap();
    for (scenario, expected) in [
        ("flood:structured", format!("limit {}", Code::FaultTooLarge)),
        ("flood:content", "cannot be read".to_owned()),
        ("flood:meta", "ok \"hello\"".to_owned()),
        ("flood:other", "ok \"hello\"".to_owned()),
        ("flood-of-list", "ok \"hello\"".to_owned()),
    ] {
        let output = Command::new(&program).args([FLOOD, scenario]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (grown, shown) = text.trim().split_once(' ').unwrap();
        assert!(shown.contains(&expected), "{scenario}: {shown}");
        let grown: u64 = grown.parse().unwrap();
        assert!(grown <= MOST, "{scenario}: {grown} KiB");
    }
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
            assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
            thread::sleep(Duration::from_millis(10));
        }
        for flood in floods {
            assert_eq!(flood.join().unwrap(), Ok(Data::from("hello")));
        }
    });
}
