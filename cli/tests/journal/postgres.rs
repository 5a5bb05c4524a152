//! A journal in a PostgreSQL database: the commands are the same, and a person accepts a failover.

#[path = "../../../journal/tests/support/server.rs"]
#[allow(unreachable_pub, missing_docs, clippy::missing_panics_doc, reason = "a test's own helpers")]
mod server;

use super::support::{Place, code, error, json_of, kill, spawn, wait_for};
use serde_json::json;
use server::Server;
use std::process::Output;

#[test]
fn a_run_that_waits_in_a_database_goes_on_after_a_failover_that_a_person_accepts() {
    let Some(server) = Server::start() else { return };
    let address = server.address_of("cli", "");
    let address = address.to_str().unwrap();
    let place = Place::new("", ", \"confirm\": true");
    let run =
        ["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", address, "--name", "order"];
    let waits = place.run(&run);
    assert_eq!((code(&waits), place.tools_called()), (4, vec!["pay".to_owned()]), "{}", error(&waits));
    let after = ["runs", "after-failover", "--journal", address];
    let none = place.run(&after);
    assert_eq!((code(&none), none.stdout), (0, b"0 calls are in doubt\n".to_vec()));

    // The timeline of the server is another one than the journal has noted, as after a failover.
    server.sql(
        "UPDATE cli.setting SET value = set_byte(value, 8, get_byte(value, 8) # 1) WHERE name = 'cluster'",
    );
    let resume = ["resume", "order", "--tools", "tools.json", "--journal", address];
    let refused = place.run(&resume);
    assert_eq!(code(&refused), 2, "{}", error(&refused));
    assert!(
        error(&refused).contains("failed-over") && error(&refused).contains("runs after-failover"),
        "{refused:?}"
    );
    assert!(!error(&refused).contains("ss-word"), "{refused:?}");
    let accepted = place.run(&after);
    assert_eq!((code(&accepted), accepted.stdout), (0, b"0 calls are in doubt\n".to_vec()));
    assert_eq!(code(&place.approve_in(address, "order", &[])), 0);
    let ended = place.run(&resume);
    assert_eq!(json_of(&ended), json!({"status": "ok", "value": 7}), "{}", error(&ended));
    assert_eq!(place.tools_called(), ["pay", "ship"]);
}

/// Run, list, show, decide, wait, keep calls, move, remove: as in a file.
#[test]
fn the_commands_are_those_of_a_file() {
    let Some(server) = Server::start() else { return };
    let (address, place) = (server.address(""), Place::new("", ", \"confirm\": true"));
    let address = address.to_str().unwrap();
    let runs = |arguments: &[&str]| place.run(&[&["runs"][..], arguments, &["--journal", address]].concat());
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).trim().to_owned();
    assert_eq!(code(&runs(&["calls", "--keep", "yes"])), 0);
    let start = |name: &str, tenant: &str| {
        let base = ["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", address];
        place.run(&[&base[..], &["--name", name, "--metadata", tenant]].concat())
    };
    for (name, tenant) in [("a-1", "tenant=x"), ("a-2", "tenant=y"), ("b", "tenant=y")] {
        assert_eq!(code(&start(name, tenant)), 4);
    }
    let listed = |more: &[&str]| -> Vec<String> {
        let lines = text(&runs(&[&["list", "--json"][..], more].concat()));
        let name = |line: &str| json_name(line);
        lines.lines().map(name).collect()
    };
    assert_eq!(listed(&["--state", "asking"]), ["a-1", "a-2", "b"]);
    assert_eq!(listed(&["--name", "a"]), ["a-1", "a-2"]);
    assert_eq!(listed(&["--metadata", "tenant=y", "--limit", "1"]), ["b"]);
    assert_eq!(code(&runs(&["wait", "b", "--time", "10"])), 4);
    assert_eq!(code(&place.approve_in(address, "b", &["--by", "ann"])), 0);
    assert_eq!(code(&runs(&["deny", "a-2", "--call", "2", "--message", "no"])), 0);
    let resumed = place.run(&["resume", "--tools", "tools.json", "--journal", address]);
    assert_eq!(text(&resumed).lines().count(), 2, "{}", error(&resumed));
    assert_eq!(json_of(&runs(&["wait", "b"])), json!({"status": "ok", "value": 7}));
    assert_eq!(listed(&["--state", "ended"]), ["a-2", "b"]);
    let calls = text(&runs(&["calls", "b", "--json"]));
    assert_eq!(calls.lines().count(), 2, "{calls}");
    // In both directions.
    assert_eq!(code(&runs(&["export", "a-1", "--output", "one.run"])), 0);
    let there = place.run(&["runs", "import", "one.run", "--journal", "j"]);
    assert_eq!(text(&there), "imported as run 1", "{}", error(&there));
    assert_eq!(code(&place.run(&["runs", "export", "a-1", "--output", "two.run", "--journal", "j"])), 0);
    assert_eq!(code(&runs(&["import", "two.run"])), 0);
    assert_eq!(code(&runs(&["cancel", "a-1"])), 0);
    let cancelled = place.run(&["resume", "a-1", "--tools", "tools.json", "--journal", address]);
    assert_eq!(json_of(&cancelled)["status"], "fault", "{}", error(&cancelled));
    assert_eq!(place.tools_called(), ["pay", "pay", "pay", "refund", "ship", "refund"]);
    std::thread::sleep(std::time::Duration::from_millis(50));
    assert_eq!(code(&runs(&["prune", "--days", "0"])), 0);
    assert_eq!(listed(&[]), ["b"], "the last run stays");
}

fn json_name(line: &str) -> String {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    line["name"].as_str().unwrap().to_owned()
}

#[test]
fn a_call_of_a_process_that_was_killed_is_retried_once_somebody_says_that_it_has_ended() {
    let Some(server) = Server::start() else { return };
    let (address, place) = (server.address("&lease=1"), Place::new("", ""));
    let address = address.to_str().unwrap();
    let runs = |arguments: &[&str]| place.run(&[&["runs"][..], arguments, &["--journal", address]].concat());
    place.write("hang-pay", "");
    let run =
        ["run", "p.ilo", "--tools", "tools.json", "--arg", "n=5", "--journal", address, "--name", "order"];
    let child = spawn(place.command(&run));
    wait_for(|| place.tools_called() == ["pay"]);
    let id = child.id();
    kill(child);
    let resume = ["resume", "--tools", "tools.json", "--journal", address];
    let doubt = place.run(&resume);
    assert_eq!(json_of(&doubt)["reason"], "in-doubt", "{}", error(&doubt));
    let shown = runs(&["show", "order"]);
    let who = format!("process {id} on ");
    assert!(String::from_utf8_lossy(&shown.stdout).contains(&who), "{shown:?}");
    let refused = runs(&["retry", "order", "--call", "1"]);
    assert_eq!(code(&refused), 2);
    assert!(error(&refused).contains("owner-may-live") && error(&refused).contains(&who), "{refused:?}");
    assert_eq!(code(&runs(&["retry", "order", "--call", "1", "--owner-ended", "--by", "ann"])), 0);
    std::fs::remove_file(place.0.path().join("hang-pay")).unwrap();
    assert_eq!(json_of(&place.run(&resume)), json!({"status": "ok", "value": 7}));
    assert_eq!(place.tools_called(), ["pay", "pay", "ship"]);
}
