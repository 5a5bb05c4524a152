//! What one client can take from another: nothing that makes it wait long.

use crate::support::{INITIALIZE, Lines, Served, folder, program};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const PROXY: [&str; 2] = ["--trusted-proxy", "127.0.0.1"];

fn from(address: &str) -> String {
    format!("x-forwarded-for: {address}\r\n")
}

/// Runs a program that takes 200 ms. Returns how long that took.
fn run(served: &Served, header: &str) -> Duration {
    let begun = Instant::now();
    let answer = served.call_with(header, "run_program", &program("wait"), "");
    assert!(answer.contains(r#""status":"ok""#), "{answer}");
    begun.elapsed()
}

/// The longest time that a quiet client waits while others do something all the time.
fn quiet(served: &Served, quiet: &str, loud: impl Fn(usize) + Sync) -> Duration {
    let over = AtomicBool::new(false);
    thread::scope(|threads| {
        for client in 0..20 {
            let (loud, over) = (&loud, &over);
            threads.spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    loud(client);
                }
            });
        }
        thread::sleep(Duration::from_millis(500));
        let longest = (0..3).map(|_| run(served, quiet)).max().unwrap();
        over.store(true, Ordering::Relaxed);
        longest
    })
}

/// Twenty clients through a proxy, each with four runs under way or in line, on two slots.
#[test]
fn a_quiet_client_waits_for_one_run_of_others_at_most() {
    let served = Served::start(&folder(), &[&["--max-runs", "2"][..], &PROXY].concat());
    let round = || {
        quiet(&served, &from("9.9.9.9"), |client| {
            thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| run(&served, &from(&format!("10.0.0.{client}"))));
                }
            });
        })
    };
    // Its own run, and the rest of one of another client; without turns, each time forty runs are before it.
    let rounds: Vec<Duration> =
        (0..5).map(|_| round()).take_while(|time| *time >= Duration::from_millis(2_500)).collect();
    assert!(rounds.len() < 5, "{rounds:?}");
}

#[test]
fn sessions_give_a_client_no_more() {
    let served =
        Served::start(&folder(), &[&["--max-runs", "4", "--max-client-runs", "1"][..], &PROXY].concat());
    let open = |address: &str| {
        let answer = served.post(&format!("{}{}", served.host(), from(address)), INITIALIZE);
        let name = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
        format!("{}mcp-session-id: {name}\r\n", from(address))
    };
    let call = |session: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"run_program","arguments":{}}}}}"#,
            program("wait")
        );
        let answer = served.post(&format!("{}{session}", served.host()), &body);
        assert!(answer.contains(r#"\"status\":\"ok\""#), "{answer}");
    };
    let sessions: Vec<String> = (0..3).map(|_| open("10.0.0.1")).collect();
    let begun = Instant::now();
    thread::scope(|threads| sessions.iter().for_each(|session| drop(threads.spawn(|| call(session)))));
    assert!(begun.elapsed() >= Duration::from_millis(600), "three sessions of one client, one run at a time");
    let others: Vec<String> = (2..5).map(|last| open(&format!("10.0.0.{last}"))).collect();
    // One after the other they never take less than 600 ms; on a busy machine they may at the same time.
    let soon = (0..10).any(|_| {
        let begun = Instant::now();
        thread::scope(|threads| others.iter().for_each(|session| drop(threads.spawn(|| call(session)))));
        begun.elapsed() < Duration::from_millis(550)
    });
    assert!(soon, "three clients at the same time");
}

#[test]
fn a_header_about_the_sender_is_believed_from_a_proxy_only() {
    // Without a trusted proxy all come from one address, whatever they say.
    let served = Served::start(&folder(), &["--max-client-runs", "1"]);
    let begun = Instant::now();
    thread::scope(|threads| {
        for last in 1..4 {
            let served = &served;
            threads.spawn(move || run(served, &from(&format!("10.0.0.{last}"))));
        }
    });
    assert!(begun.elapsed() >= Duration::from_millis(600));
}

#[test]
fn a_subject_that_a_proxy_names_has_its_own_sessions() {
    let served = Served::start(&folder(), &[&["--subject-header", "x-remote-user"][..], &PROXY].concat());
    let post =
        |who: &str, session: &str, body: &str| served.post(&format!("{}{who}{session}", served.host()), body);
    let (ada, eve) = ("x-remote-user: ada\r\n", "x-remote-user: eve\r\n");
    let answer = post(ada, "", INITIALIZE);
    let name = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).unwrap();
    let session = format!("mcp-session-id: {name}\r\n");
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let status = |who: &str| post(who, &session, ping).split(' ').nth(1).unwrap().to_owned();
    assert_eq!(status(eve), "404");
    assert_eq!(status(ada), "200");
    assert_eq!(status(""), "401", "the proxy names nobody");
    assert_eq!(status(&format!("{ada}{eve}")), "401", "the proxy names two");
}

/// Connections without a request, and others with half a head, make room for one with a request.
#[test]
fn silent_connections_do_not_keep_others_out() {
    let served = Served::start(&folder(), &[]);
    let over = AtomicBool::new(false);
    let is_open = |mut stream: &TcpStream| {
        let read = stream.read(&mut [0; 64]);
        matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
    };
    let took = thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                let mut open = Vec::new();
                // Those that are closed are opened again: 560 in all, more than the server takes.
                while !over.load(Ordering::Relaxed) {
                    open.retain(is_open);
                    while open.len() < 140 {
                        let Ok(mut stream) = TcpStream::connect(&served.address) else { break };
                        drop(stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: loc"));
                        drop(stream.set_nonblocking(true));
                        open.push(stream);
                    }
                    thread::sleep(Duration::from_millis(50));
                }
            });
        }
        thread::sleep(Duration::from_secs(1));
        let begun = Instant::now();
        let head = format!("GET /nothing HTTP/1.1\r\n{}connection: close\r\n\r\n", served.host());
        let answered = TcpStream::connect(&served.address).and_then(|mut stream| {
            stream.set_read_timeout(Some(Duration::from_secs(30)))?;
            stream.write_all(head.as_bytes())?;
            stream.read(&mut [0; 64])
        });
        over.store(true, Ordering::Relaxed);
        answered.is_ok_and(|count| count > 0).then(|| begun.elapsed())
    });
    assert!(took.is_some_and(|took| took < Duration::from_secs(15)), "{took:?}");
}

#[test]
fn a_head_has_five_seconds() {
    let served = Served::start(&folder(), &[]);
    let mut stream = TcpStream::connect(&served.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(b"POST /mcp HTTP/1.1\r\nhost: localhost\r\n").unwrap();
    let begun = Instant::now();
    let mut rest = Vec::new();
    drop(stream.read_to_end(&mut rest));
    let took = begun.elapsed();
    assert!((4..12).contains(&took.as_secs()), "{took:?}");
}

#[test]
fn a_request_target_of_another_host_is_not_taken() {
    let served = Served::start(&folder(), &[]);
    let status = |target: &str| {
        let head = format!("GET {target} HTTP/1.1\r\n{}", served.host());
        served.request(&head, "").split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(status("http://evil.example/mcp"), "400");
    assert_eq!(status(&format!("http://user@{}/mcp", served.address)), "400");
    assert_ne!(status(&format!("http://{}/mcp", served.address)), "400");
}

#[test]
fn a_notification_as_the_first_message_is_ignored() {
    let folder = folder();
    let mut lines = Lines::unopened(&folder, &[]);
    lines.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    lines.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    lines.open("{}");
    lines.run(2, "wait");
    assert!(lines.hear_with(r#""id":2,"#).contains(r#"\"status\":\"ok\""#));
}

/// Sends the head of a request from an address, and none of its body.
fn begun(served: &Served, address: &str, length: usize) -> TcpStream {
    let mut stream = TcpStream::connect(&served.address).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\n{}{}content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         content-length: {length}\r\n\r\n",
        served.host(),
        from(address)
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream
}

#[test]
fn bodies_of_one_client_leave_room_for_those_of_others() {
    let served = Served::start(&folder(), &PROXY);
    // Together they are more than all bodies may have, and more than one client's part.
    let _slow: Vec<TcpStream> = (0..16).map(|_| begun(&served, "10.0.0.1", 5 << 20)).collect();
    thread::sleep(Duration::from_millis(300));
    let source = format!("; {}\\n; fn f() -> number\\nRET 1\\n", "x".repeat(500_000));
    let begun = Instant::now();
    let answer =
        served.call_with(&from("10.0.0.2"), "check_program", &format!(r#"{{"source":"{source}"}}"#), "");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer:.300}");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
}

#[test]
fn a_client_has_only_so_many_requests_at_a_time() {
    let served = Served::start(&folder(), &PROXY);
    let status = |address: &str| served.status(&format!("{}{}", served.host(), from(address)));
    let mut open: Vec<TcpStream> = (0..255).map(|_| begun(&served, "10.0.0.1", 9)).collect();
    let begins = Instant::now();
    // On a busy machine the time of the oldest may be over before the last one is open.
    while status("10.0.0.1") != "429" {
        assert!(begins.elapsed() < Duration::from_mins(1));
        open.push(begun(&served, "10.0.0.1", 9));
    }
    assert_ne!(status("10.0.0.2"), "429");
    drop(open);
    while status("10.0.0.1") == "429" {
        assert!(begins.elapsed() < Duration::from_mins(1));
        thread::sleep(Duration::from_millis(50));
    }
}

/// Answers on connections that nobody reads: without a bound for one client, they fill the memory. Each takes
/// 11 MB, as a text whose quotes are escaped twice and as a value: more than the buffers of a system.
#[test]
fn a_client_that_reads_no_answers_gets_no_more_work_done() {
    let served = Served::start(&folder(), &PROXY);
    let source = format!("; fn f(t: text) -> any\\nRET LIST 30{}\\n", " REF 0".repeat(30));
    let large = format!(r#"{{"source":"{source}","inputs":{{"t":"{}"}}}}"#, r#"\""#.repeat(60_000));
    let small = r#"{"source":"; fn f() -> number\nRET LIT 1 1\n"}"#;
    let begins = Instant::now();
    let until = |refused: bool, tool: &str| loop {
        let answer = served.call_with(&from("10.0.0.1"), tool, small, "");
        if answer.contains("has not read 32 MiB of answers") == refused {
            return;
        }
        assert!(begins.elapsed() < Duration::from_mins(2), "{answer:.300}");
        thread::sleep(Duration::from_millis(50));
    };
    let unread: Vec<TcpStream> =
        (0..16).map(|_| served.called(&from("10.0.0.1"), "run_program", &large, "")).collect();
    until(true, "run_program");
    until(true, "check_program");
    let other = served.call_with(&from("10.0.0.2"), "run_program", small, "");
    assert!(other.contains(r#""status":"ok""#), "{other:.600}");
    drop(unread);
    until(false, "run_program");
    until(false, "check_program");
}
