//! The hosts that the page shows do what they say, and the page shows them whole.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

/// The hosts in the order of the page.
const HOSTS: [&str; 5] = ["asynchronous", "snapshot", "durable", "recorded", "mcp_servers"];

fn output(host: &str) -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_example-users")).parent().unwrap();
    let binary = folder.join("examples").join(host);
    assert!(binary.exists(), "{host} is built by `cargo test --workspace`");
    let output = Command::new(binary).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn an_asynchronous_host_asks_cancels_and_keeps_its_times() {
    let printed = output("asynchronous");
    let line = |start: &str| printed.lines().find(|line| line.starts_with(start)).unwrap();
    let released = r#""rolled_back":[{"tool":"release","number":3}]"#;
    assert_eq!(
        line("approved"),
        r#"approved: {"status":"ok","value":{"order-id":"r-lamp","charge-id":"c-p1"}}"#
    );
    assert!(line("refused").contains("the answer was no") && line("refused").contains(released), "{printed}");
    let cancelled = line("cancelled");
    assert!(
        cancelled.contains(r#""code":"cancelled""#) && cancelled.contains("the user went away"),
        "{printed}"
    );
    assert!(cancelled.contains(released), "{printed}");
    assert!(
        line("too late").contains(r#""code":"timed-out""#) && line("too late").contains(released),
        "{printed}"
    );
    assert!(
        printed.contains("  may `charge` be called with {\"payment-id\":\"p1\",\"amount\":12.5}?\n"),
        "{printed}"
    );
    assert!(
        printed.contains("  charge has answered {\"charge-id\":\"c-p1\"}\n  2 lines of trace\n"),
        "{printed}"
    );
    assert!(printed.ends_with("100 of 100 runs ended well\n"), "{printed}");
}

#[test]
fn a_saved_run_goes_on_in_another_process() {
    let printed = output("snapshot");
    let (first, second) = printed.split_once('\n').unwrap();
    assert!(first.starts_with("process 1: the run waits at call 2, in "), "{printed}");
    assert_eq!(second, "process 2: {\"status\":\"ok\",\"value\":null}\n");
}

#[test]
fn a_recorded_run_on_a_runtime_waits_for_a_person_and_goes_on() {
    let lines = [
        "waits at call 2 of charge: Asking",
        r#"charge {"payment-id":"p1","amount":12.5}, with a key: true"#,
        r#"{"status":"ok","value":{"order-id":"r1","charge-id":"c1"}}"#,
    ];
    assert_eq!(output("recorded").lines().collect::<Vec<_>>(), lines);
}

#[test]
fn a_server_in_code_is_called() {
    let printed = output("mcp_servers");
    match printed.strip_prefix("skipped: ") {
        Some(why) => eprintln!("SKIPPED: the host with MCP servers did not run: {why}"),
        None => assert!(printed.contains("read by a server"), "{printed}"),
    }
}

/// `UPDATE=1` writes the page.
#[test]
fn the_page_shows_the_hosts_as_they_are() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = folder.join("HOSTS.md");
    let text = fs::read_to_string(&page).unwrap();
    let mut expected = text.clone();
    for host in HOSTS {
        let source = fs::read_to_string(folder.join(format!("examples/{host}.rs"))).unwrap();
        let (begin, end) = (format!("<!-- {host}.rs -->\n"), "<!-- end -->");
        let start = expected.find(&begin).unwrap_or_else(|| panic!("no {host} in the page")) + begin.len();
        let stop = start + expected[start..].find(end).unwrap();
        expected.replace_range(start..stop, &format!("```rust\n{source}```\n"));
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(page, expected).unwrap();
    } else {
        assert!(
            text == expected,
            "write the page with `UPDATE=1 cargo test -p ilo-examples --test hosts page`"
        );
    }
}
