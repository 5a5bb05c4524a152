//! Which requests over HTTP are accepted, and how the others are answered.

use crate::support::{ILO, Served, at, call, folder, program};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
fn http_lets_in_who_may_come() {
    let served =
        Served::start(&folder(), &["--token-env", "ILO_TOKEN", "--allow-origin", "https://good.example:443"]);
    let host = format!("host: {}\r\n", served.address);
    let bearer = "authorization: Bearer open sesame\r\n";
    assert_eq!(served.status(&host), "401");
    assert_eq!(served.status(&format!("{host}authorization: Bearer open sesam\r\n")), "401");
    assert_eq!(served.status(&format!("{host}{bearer}origin: https://evil.example\r\n")), "403");
    assert_eq!(served.status(&format!("host: evil.example\r\n{bearer}")), "403");
    assert!(served.tools("{}").unwrap_err().contains("server `ilo`"));
    let tools = served.tools(r#"{"authorization": "Bearer open sesame"}"#).unwrap();
    let answer = call(&tools, "find_tools", r#"{"query": "user"}"#).unwrap();
    assert_eq!(at(&answer, &["tools", "0", "name"]), r#""get-user""#);
}

#[test]
fn beyond_loopback_only_with_a_token() {
    let ended = Command::new(ILO).args(["serve", "--http", "0.0.0.0:0"]).output().unwrap();
    assert_eq!(ended.status.code(), Some(2));
    let told = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(told.contains("only loopback is served without a token; give one with `--token-env`"), "{told}");
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).unwrap_or_default()
}

/// The line of a header, in lower case.
fn header<'a>(answer: &'a str, name: &str) -> Option<&'a str> {
    answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

#[test]
fn a_page_of_an_allowed_origin_can_connect() {
    let served =
        Served::start(&folder(), &["--token-env", "ILO_TOKEN", "--allow-origin", "https://good.example"]);
    let asks = |origin: &str| {
        let head = format!(
            "OPTIONS /mcp HTTP/1.1\r\n{}origin: {origin}\r\naccess-control-request-method: POST\r\n\
             access-control-request-headers: authorization,content-type,mcp-session-id\r\n",
            served.host()
        );
        served.request(&head, "")
    };
    for origin in ["https://good.example", "http://localhost:5173"] {
        let answer = asks(origin);
        assert_eq!(status(&answer), "200", "{answer}");
        assert_eq!(header(&answer, "access-control-allow-origin"), Some(origin));
        assert_eq!(header(&answer, "access-control-allow-methods"), Some("GET,POST,DELETE"));
        let allowed = header(&answer, "access-control-allow-headers");
        assert_eq!(allowed, Some("authorization,content-type,mcp-session-id"));
    }
    assert_eq!(status(&asks("https://evil.example")), "403");
    // The page can read a refusal too.
    let refused = served.post(&format!("{}origin: https://good.example\r\n", served.host()), "{}");
    assert_eq!(status(&refused), "401");
    assert_eq!(header(&refused, "access-control-allow-origin"), Some("https://good.example"));
    assert!(header(&refused, "access-control-expose-headers").unwrap().contains("mcp-session-id"));
}

#[test]
fn a_setting_that_cannot_work_says_what_to_write() {
    for (arguments, words) in [
        (["--allow-origin", "app.example"], "it has no scheme; write `https://app.example`"),
        (["--allow-host", "http://box"], "a host has no scheme; write `box`"),
        (["--token-env", "ILO_BROKEN"], "the token has a line break, which no header can carry"),
    ] {
        let mut command = Command::new(ILO);
        command.args(["serve", "--http", "0"]).args(arguments).env("ILO_BROKEN", "open sesame\n");
        let ended = command.output().unwrap();
        let written = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(2), "{written}");
        assert!(written.contains(words), "{written}");
    }
}

#[test]
fn the_scheme_of_a_token_has_no_case_and_a_refusal_says_why() {
    let served = Served::start(&folder(), &["--token-env", "ILO_TOKEN"]);
    let asks = |line: &str| served.post(&format!("{}{line}", served.host()), "{}");
    assert_ne!(status(&asks("authorization: bearer open sesame\r\n")), "401");
    assert!(asks("").ends_with("the request has no Authorization header with a bearer token\n"));
    assert!(asks("authorization: Basic open sesame\r\n").ends_with("has no bearer token\n"));
    assert!(asks("authorization: Bearer Open sesame\r\n").ends_with("another token\n"));
}

#[test]
fn a_host_is_looked_at_before_the_body() {
    let served = Served::start(&folder(), &[]);
    for host in ["evil.example", "user@localhost"] {
        let begun = Instant::now();
        let mut stream = served.begin(
            &format!("POST /mcp HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: 1000000\r\n"),
            "",
        );
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(status(&answer), "403", "{answer}");
        assert!(begun.elapsed() < Duration::from_secs(20), "the body was waited for");
    }
    // A body that is announced as too long is not read.
    let length = "content-length: 100000000\r\n";
    let mut stream = served.begin(&format!("POST /mcp HTTP/1.1\r\n{}{length}", served.host()), "");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert_eq!(status(&answer), "413", "{answer}");
}

#[test]
fn a_session_that_is_deleted_has_no_content() {
    let served = Served::start(&folder(), &[]);
    let session = served.session();
    let delete = || served.request(&format!("DELETE /mcp HTTP/1.1\r\n{}{session}", served.host()), "");
    assert_eq!(status(&delete()), "204");
    assert_eq!(status(&delete()), "404");
    assert_eq!(served.status(&format!("{}{session}", served.host())), "404");
}

#[test]
fn a_request_that_is_none_of_mcp_says_what_is_expected() {
    let served = Served::start(&folder(), &[]);
    let (host, session) = (served.host(), served.session());
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    for path in ["/", "/mcp/", "/MCP", "/sse", "/mcp/../mcp"] {
        let head = format!("POST {path} HTTP/1.1\r\n{host}content-length: {}\r\n", ping.len());
        let answer = served.request(&head, ping);
        assert_eq!(status(&answer), "404", "{answer}");
        assert!(answer.ends_with("there is nothing here; the endpoint is /mcp\n"), "{answer}");
    }
    for method in ["PUT", "PATCH", "HEAD", "TRACE", "post", "X"] {
        let answer = served.request(&format!("{method} /mcp HTTP/1.1\r\n{host}{session}"), "");
        assert_eq!(status(&answer), "405", "{answer}");
        assert_eq!(header(&answer, "allow"), Some("GET, POST, DELETE"), "{answer}");
    }
    for kind in ["content-type: text/plain\r\n", "content-type: application/jsonx\r\n", ""] {
        let head = format!(
            "POST /mcp HTTP/1.1\r\n{host}{session}{kind}accept: application/json, text/event-stream\r\ncontent-length: {}\r\n",
            ping.len()
        );
        let answer = served.request(&head, ping);
        assert_eq!(status(&answer), "415", "{answer}");
        assert!(answer.contains("Content-Type must be application/json"), "{answer}");
    }
    for (body, code, words) in [
        ("", "-32700", "expected a message as JSON"),
        ("{}", "-32600", "found no `jsonrpc`"),
        (&format!("[{ping}]"), "-32600", "found a list; MCP has no batches"),
        (
            &ping.replace('2', "null").replace("null.0", "2.0"),
            "-32600",
            "as `id`, found `null`; a notification has no `id`",
        ),
        (
            r#"{"jsonrpc":"2.0","id":2,"method":"ping","params":[]}"#,
            "-32600",
            "expected an object as `params`, found a list",
        ),
        (r#"{"jsonrpc":"2.0","id":2}"#, "-32600", "expected `method`"),
    ] {
        let answer = served.post(&format!("{host}{session}"), body);
        assert_eq!(status(&answer), "400", "{body}: {answer}");
        assert!(answer.contains(&format!("\"code\":{code}")) && answer.contains(words), "{body}: {answer}");
    }
    let long = served.request(&format!("POST /mcp HTTP/1.1\r\n{host}x: {}\r\n", "x".repeat(1 << 20)), "");
    assert_eq!(status(&long), "431", "{long:.300}");
    // It serves the next request.
    assert_eq!(status(&served.post(&format!("{host}{session}"), ping)), "200");
}

#[test]
fn a_request_with_the_id_of_one_that_waits_is_refused_and_the_first_is_answered() {
    let served = Served::start(&folder(), &[]);
    let head = format!("{}{}", served.host(), served.session());
    let call = |id: u64| {
        let arguments = program("wait");
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"run_program","arguments":{arguments}}}}}"#
        );
        served.post(&head, &body)
    };
    // Each takes 200 ms; those that are refused say so before the first is answered.
    let answers: Vec<String> = std::thread::scope(|threads| {
        let threads: Vec<_> = [7, 7, 7, 8].map(|id| threads.spawn(move || call(id))).into();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let (refused, done): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| status(answer) == "400");
    assert_eq!((refused.len(), done.len()), (2, 2), "{answers:?}");
    assert!(refused.iter().all(|answer| answer.contains("request 7 waits for its answer")), "{answers:?}");
    assert!(done.iter().all(|answer| answer.contains(r#"\"status\":\"ok\""#)), "{answers:?}");
    assert_eq!(status(&call(7)), "200", "its ID is free again");
    // A longer ID would not be noticed.
    for (length, code, words) in [(256, "200", "result"), (257, "400", "at most 256 bytes, found 257 bytes")]
    {
        let id = "x".repeat(length - 2);
        let answer = served.post(&head, &format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#));
        assert_eq!(status(&answer), code, "{answer}");
        assert!(answer.contains(words), "{answer}");
    }
}

#[test]
fn an_idle_session_makes_room_for_a_new_one() {
    let served = Served::start(&folder(), &[]);
    let first = served.session();
    for _ in 0..512 {
        served.session();
    }
    assert_eq!(served.status(&format!("{}{first}", served.host())), "404", "the first was idle for longest");
    let last = served.session();
    assert_eq!(served.status(&format!("{}{last}", served.host())), "200");
}

#[test]
fn clients_without_a_session_have_a_limit_too() {
    let served = Served::start(&folder(), &["--max-client-runs", "1"]);
    let begun = Instant::now();
    std::thread::scope(|threads| {
        // A session that does not exist is refused.
        for header in ["", "mcp-session-id: made-up\r\n", "mcp-session-id: another\r\n"] {
            let served = &served;
            threads.spawn(move || {
                let answer = served.call_with(header, "run_program", &program("wait"), "");
                assert!(answer.contains(r#""status":"ok""#), "{answer}");
            });
        }
    });
    assert!(begun.elapsed() >= Duration::from_millis(600), "three runs of 200 ms, one after the other");
}

#[test]
fn the_runs_of_a_client_that_left_are_cancelled() {
    let hours = ["--max-runs", "1", "--call-timeout", "3600000", "--timeout", "3600000"];
    let served = Served::start(&folder(), &hours);
    let (session, arguments) = (served.session(), program("wait-long"));
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"run_program","arguments":{arguments}}}}}"#
    );
    let head = format!(
        "POST /mcp HTTP/1.1\r\n{}{session}content-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         content-length: {}\r\n",
        served.host(),
        body.len()
    );
    let mut stream = served.begin(&head, &body);
    let mut first = [0; 1];
    stream.read_exact(&mut first).unwrap();
    drop(stream);
    let answer = served.call("run_program", &program("wait"), "");
    assert!(answer.contains(r#""status":"ok""#), "{answer}");
}

/// A request of 5.9 MB that would be 840,000 records, in several trees.
#[cfg(target_os = "linux")]
#[test]
fn a_request_takes_at_most_four_times_its_bytes() {
    let source = r#""source":"; fn f(x: any) -> number\nRET 1\n""#;
    let records = |count: usize| format!("[{}{{}}]", r#"{"":0},"#.repeat(count));
    // Each on a server of its own: memory of one request is freed while the next one is read.
    let grows_little = |arguments: &str, other: &str| {
        let served = Served::start(&folder(), &[]);
        served.call("run_program", &format!("{{{source}}}"), "");
        let before = served.peak();
        let answer = served.call("run_program", arguments, other);
        let grown = served.peak() - before;
        assert!(grown < 4 * 5_900_000, "{grown} bytes");
        answer
    };
    for arguments in [
        format!(r#"{{{source},"inputs":{{"x":{}}}}}"#, records(840_000)),
        format!(r#"{{"x":{}}}"#, records(840_000)),
        format!(r#"{{{source},"inputs":{{"x":{}}}}}"#, records(49_000)),
        format!(r#"{{"source":{}}}"#, records(840_000)),
    ] {
        let answer = grows_little(&arguments, "");
        assert_eq!(status(&answer), "200", "{answer:.300}");
    }
    let meta = grows_little("{}", &format!(r#","x":{}"#, records(100_000)));
    assert!(meta.contains("more than 10000 values outside the arguments of a call"), "{meta:.300}");
}

/// Without an immediate acknowledgement, each such request takes 40 ms.
#[cfg(target_os = "linux")]
#[test]
fn a_client_that_writes_head_and_body_apart_does_not_wait() {
    let served = Served::start(&folder(), &[]);
    let (body, host) = (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, served.host());
    let mut times: Vec<Duration> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(&served.address).unwrap();
            // Any system acknowledges the first request of a connection immediately.
            let mut took = Duration::ZERO;
            for _ in 0..4 {
                let begun = Instant::now();
                let length = body.len();
                let head = format!("POST /mcp HTTP/1.1\r\n{host}content-length: {length}\r\n\r\n");
                stream.write_all(head.as_bytes()).unwrap();
                stream.write_all(body.as_bytes()).unwrap();
                let (mut answer, mut buffer) = (String::new(), [0; 1024]);
                while !answer.ends_with("event-stream") {
                    let count = stream.read(&mut buffer).unwrap();
                    answer.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
                }
                took = begun.elapsed();
            }
            took
        })
        .collect();
    times.sort_unstable();
    assert!(times[0] < Duration::from_millis(30), "{times:?}");
}
