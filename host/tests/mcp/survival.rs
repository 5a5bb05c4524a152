//! Servers that end, do not read, or send answers that cannot be read: the result of their calls, and how
//! soon it is there.

use super::{answers, call, fails, one_tool, over_http, tools, web_tools};
use ilo_host::Tools;
use ilo_host::data::Data;
use ilo_host::tools::Failure;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// Less than any time limit in these tests.
const SOON: Duration = Duration::from_secs(15);

pub(crate) fn a_server_that_asks_and_never_reads_is_dropped() {
    let begun = Instant::now();
    fails(
        "asks-and-never-reads",
        60_000,
        "server `h` was dropped: it sends requests and does not read the replies",
    );
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    answers("asks-often", r#""hello""#);
}

pub(crate) fn a_server_that_asks_without_end_over_http_is_dropped() {
    let mut tools = web_tools(&asking_without_end());
    tools.connect_all().unwrap();
    let begun = Instant::now();
    let failure = call(&tools, "get", "text", 60_000).unwrap_err();
    let Failure::InDoubt(message) = &failure else { panic!("{failure:?}") };
    assert!(message.contains("was dropped: it sends requests and does not read"), "{message}");
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

/// The URL of a server that answers a call with a stream of requests, and never accepts a reply.
pub(crate) fn asking_without_end() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            thread::spawn(move || {
                let asked = super::request(&mut stream);
                if asked.contains("\"method\":\"tools/call\"") {
                    let head =
                        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
                    drop(stream.write_all(head.as_bytes()));
                    let ping = "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n\n";
                    while stream.write_all(ping.repeat(100).as_bytes()).is_ok() {}
                } else if asked.starts_with("POST") && asked.contains("\"result\"") {
                    // A reply is never accepted.
                    drop(stream.read(&mut [0]));
                } else {
                    drop(stream.write_all(one_tool(&asked, String::new).as_bytes()));
                }
            });
        }
    });
    url
}

/// A server that was restarted does not know the session any more. It has not made the call, which is made in
/// a new session, unless the tool has changed.
pub(crate) fn a_session_that_is_forgotten_is_begun_again() {
    let (sessions, calls) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, made) = (Arc::clone(&sessions), Arc::clone(&calls));
    let url = super::web(move |asked| {
        let name = |number: usize| format!("mcp-session-id: s{number}\r\n");
        let current = now.load(Ordering::SeqCst);
        if asked.contains(r#""method":"initialize""#) {
            now.fetch_add(1, Ordering::SeqCst);
            let answer = one_tool(asked, String::new);
            return answer.replacen("\r\n", &format!("\r\n{}", name(current + 1)), 1);
        }
        if asked.starts_with("POST") && current > 0 && !asked.contains(&name(current)) {
            return "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_owned();
        }
        let answer = one_tool(asked, || {
            // The server forgets the session after each call.
            now.fetch_add(1, Ordering::SeqCst);
            made.fetch_add(1, Ordering::SeqCst);
            over_http(asked, "application/json", r#""result":{"content":[{"type":"text","text":"hello"}]}"#)
        });
        // After the third call its tool is another one.
        if made.load(Ordering::SeqCst) < 3 {
            answer
        } else {
            answer.replace(r#""name":"get""#, r#""name":"got""#)
        }
    });
    let mut tools = web_tools(&url);
    tools.connect_all().unwrap();
    for _ in 0..3 {
        assert_eq!(call(&tools, "get", "text", 20_000), Ok(Data::from("hello")));
    }
    let message = "server `w` has changed its tool `get` since it was checked";
    assert_eq!(call(&tools, "get", "text", 20_000), Err(Failure::text(message)));
    assert_eq!(calls.load(Ordering::SeqCst), 3);
}

pub(crate) fn an_answer_that_cannot_be_read_fails_at_once() {
    let begun = Instant::now();
    fails("answers-nan", 60_000, "the tool's answer cannot be read");
    fails("answers-1e999", 60_000, "the number 1e999 is beyond a double");
    fails("answers-bad-utf8", 60_000, "bytes that are not UTF-8");
    fails("answers-half-json", 60_000, "the tool's answer cannot be read");
    fails("escapes-a-key", 60_000, "18446744073709551616 does not fit 64 bits");
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    let mut tools = tools("answers-half-a-pair", 20_000);
    tools.connect(["say"]).unwrap();
    assert_eq!(call(&tools, "say", "words", 20_000), Ok(Data::from("a\u{fffd}!\u{fffd}")));
    let note = "server `h`: an answer of `echo` had half of a surrogate pair, which was read as U+FFFD";
    assert_eq!(tools.notes(), [note]);
    assert_eq!(tools.notes(), [""; 0], "it is noted once");
    answers("answers-null", r#""kept""#);
}

pub(crate) fn an_unreadable_answer_over_http_fails_at_once() {
    for kind in ["application/json", "text/event-stream"] {
        let result = r#""result":{"content":[],"structuredContent":{"n":NaN}}"#;
        let url = super::web(move |asked| one_tool(asked, || over_http(asked, kind, result)));
        let mut tools = web_tools(&url);
        tools.connect_all().unwrap();
        let begun = Instant::now();
        let failure = call(&tools, "get", "text", 60_000).unwrap_err();
        assert!(format!("{failure:?}").contains("the tool's answer cannot be read"), "{failure:?}");
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    }
}

pub(crate) fn a_server_that_does_not_know_the_newer_question_starts_soon() {
    for scenario in ["ignores-discover", "dies-of-discover"] {
        let begun = Instant::now();
        answers(scenario, r#""hello""#);
        assert!(begun.elapsed() < SOON, "{scenario}: {:?}", begun.elapsed());
    }
}

/// Waits until the end of the server is noticed.
fn until_ended(tools: &Tools) {
    let begun = Instant::now();
    while tools.health()[0].1.is_none_or(|health| health.running) {
        assert!(begun.elapsed() < Duration::from_mins(1), "nobody notices that it has ended");
        thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn a_server_that_has_ended_is_started_again() {
    let mut several = tools("dies-after-call", 20_000);
    several.connect(["say"]).unwrap();
    for _ in 0..4 {
        assert_eq!(call(&several, "say", "words", 20_000), Ok(Data::from("hello")));
        until_ended(&several);
    }
}

pub(crate) fn a_call_that_was_never_sent_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let marker = folder.path().join("dead");
    let mut tools = tools(&format!("dies-for-good:{}", marker.display()), 20_000);
    tools.connect(["say"]).unwrap();
    assert_eq!(call(&tools, "say", "words", 20_000), Ok(Data::from("hello")));
    until_ended(&tools);
    let begun = Instant::now();
    for at in 0..6 {
        let failure = call(&tools, "say", "words", 20_000).unwrap_err();
        let Failure::Failed(Data::Text(message)) = &failure else { panic!("{failure:?}") };
        assert!(
            message.starts_with("server `h`: it has ended") && message.contains("was not made"),
            "{message}"
        );
        let expected = if at < 3 { "could not be started again" } else { "" };
        assert!(message.contains(expected), "{message}");
    }
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
}

pub(crate) fn one_bad_tool_costs_only_itself() {
    let mut tools = tools("one-bad-tool", 20_000);
    tools.connect(["say"]).unwrap();
    assert_eq!(call(&tools, "say", "words", 20_000), Ok(Data::from("hello")));
    let lacking: Vec<String> = tools.lacking().map(ToString::to_string).collect();
    assert!(
        lacking.iter().any(|told| told.contains(
            "server `h`: its tool `odd` cannot be used: its `inputSchema` is a number, expected a record"
        )),
        "{lacking:?}"
    );
    assert!(lacking.iter().any(|told| told.contains("its tool `number 3` cannot be used")), "{lacking:?}");
    let told = tools.problems(["mcp://h/odd"]);
    assert!(told.iter().any(|told| told.message.contains("its `inputSchema` is a number")), "{told:?}");
    let mut tools = super::tools("two-of-a-name", 20_000);
    tools.connect_all().unwrap();
    for name in ["echo", "mcp://h/echo"] {
        let told = tools.problems([name]);
        assert!(
            told.iter().any(|told| told.message.contains("its server lists it more than once")),
            "{told:?}"
        );
    }
}

pub(crate) fn an_announcement_is_looked_at_once() {
    let mut tools = tools("announces-once", 20_000);
    tools.connect(["say"]).unwrap();
    assert_eq!(call(&tools, "say", "words", 20_000), Ok(Data::from("hello")));
    for _ in 0..3 {
        assert_eq!(
            call(&tools, "say", "words", 20_000),
            Ok(Data::from("2")),
            "it is listed for the second time"
        );
    }
}

/// A server that does not announce changes of its tools is listed again before a call that may change
/// something.
pub(crate) fn a_silent_change_stops_a_call_that_may_change_something() {
    let mut tools = tools("changes-silently", 20_000);
    tools.connect(["say"]).unwrap();
    assert_eq!(call(&tools, "say", "words", 20_000), Ok(Data::from("hello")));
    thread::sleep(Duration::from_millis(5_100));
    let message = "server `h` has changed its tool `echo` since it was checked";
    assert_eq!(call(&tools, "say", "words", 20_000), Err(Failure::text(message)));
}

/// A server that answers a call by a stream, which it closes with this field `retry`. `again` answers the
/// request with this number that continues the stream: with a result, or by closing it again.
fn closing(
    retry: &'static str,
    again: impl Fn(usize) -> Option<&'static str> + Send + 'static,
) -> (String, Arc<AtomicUsize>) {
    let resumed = Arc::new(AtomicUsize::new(0));
    let (count, asked_for) = (Arc::clone(&resumed), Mutex::new(String::new()));
    let stream = |body: String| {
        let length = body.len();
        format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
        )
    };
    let url = super::web(move |asked| {
        let closes = |number: usize| stream(format!("id: e{number}\n{retry}data: \n\n"));
        if asked.starts_with("GET") && asked.to_lowercase().contains("last-event-id: e") {
            let number = count.fetch_add(1, Ordering::SeqCst) + 1;
            return match again(number) {
                Some(result) => over_http(&asked_for.lock().unwrap(), "text/event-stream", result),
                None => closes(number),
            };
        }
        one_tool(asked, || {
            asked.clone_into(&mut asked_for.lock().unwrap());
            closes(0)
        })
    });
    (url, resumed)
}

/// A stream that ends before the answer continues after its last event, after the time that the server
/// states.
pub(crate) fn a_stream_that_its_server_closes_is_resumed() {
    let hello = r#""result":{"content":[{"type":"text","text":"hello"}]}"#;
    let (url, resumed) = closing("retry: 200\n", move |number| (number == 3).then_some(hello));
    let mut tools = web_tools(&url);
    tools.connect_all().unwrap();
    let begun = Instant::now();
    assert_eq!(call(&tools, "get", "text", 20_000), Ok(Data::from("hello")));
    assert_eq!(resumed.load(Ordering::SeqCst), 3);
    assert!(begun.elapsed() >= Duration::from_millis(600), "{:?}", begun.elapsed());
}

/// A server that closes the stream again and again, at once or in a year, costs little more than the call's
/// time.
pub(crate) fn a_stream_that_is_closed_for_ever_ends_with_the_time_of_its_call() {
    for retry in ["retry: 0\n", "retry: 31536000000\n", "retry: 18446744073709551615\n", ""] {
        let (url, resumed) = closing(retry, |_| None);
        let mut tools = web_tools(&url);
        tools.connect_all().unwrap();
        let begun = Instant::now();
        let failure = call(&tools, "get", "text", 2_000).unwrap_err();
        assert!(format!("{failure:?}").contains("took longer than its limit"), "{retry}: {failure:?}");
        assert!(begun.elapsed() < SOON, "{retry}: {:?}", begun.elapsed());
        let resumed = resumed.load(Ordering::SeqCst);
        assert!(resumed <= 20, "{retry}: {resumed} times in two seconds");
    }
}
