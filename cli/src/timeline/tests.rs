//! Timelines of traces: what they show, what they leave out, and what is not a trace.

use super::Timeline;

fn timeline(trace: &str) -> Timeline {
    Timeline::read("trace", trace.as_bytes()).unwrap()
}

/// A call of a trace.
fn call(seq: u64, tool: &str, rest: &str, start: f64, duration: f64) -> String {
    format!(
        "{{\"seq\":{seq},\"tool\":\"{tool}\",\"args\":{{\"id\":{seq}}},{rest},\"start_ms\":{start},\"duration_ms\":{duration}}}\n"
    )
}

#[test]
fn each_call_has_a_line_with_a_bar_where_it_lies() {
    let trace = [
        call(0, "get", r#""ok":1"#, 10.0, 20.0),
        call(1, "set-it", r#""failed":"no such thing""#, 30.0, 0.5),
        call(2, "get", r#""ok":{"a":[1]}"#, 10.0, 40.0),
    ];
    // 40 ms are 40 columns; what takes less has one.
    let bar = |before: usize, mark: &str, count: usize| {
        format!("{}{}{}", "·".repeat(before), mark.repeat(count), "·".repeat(40 - before - count))
    };
    let expected = format!(
        "3 calls, 1 failed, 40 ms from first to last, 60.5 ms one by one\n\
         \x20   0  get     {}     20 ms  id: 0\n    1  set-it  {}    500 µs  failed: no such thing\n    2  get     {}     40 ms  id: 2\n",
        bar(0, "█", 20),
        bar(20, "░", 1),
        bar(0, "█", 40)
    );
    assert_eq!(timeline(&trace.concat()).text(), expected);
}

#[test]
fn times_have_the_digits_that_count() {
    let times = [
        (0.0, "0 ms"),
        (0.0125, "12.5 µs"),
        (0.9999, "1 ms"),
        (1.234, "1.23 ms"),
        (12.34, "12.3 ms"),
        (999.4, "999 ms"),
        (1_500.0, "1.5 s"),
        (599_000.0, "599 s"),
        (600_000.0, "10 min"),
    ];
    for (time, shown) in times {
        let text = timeline(&call(0, "t", r#""ok":1"#, 0.0, time)).text();
        assert_eq!(
            text.lines().next().unwrap(),
            format!("1 call, {shown} from first to last, {shown} one by one")
        );
    }
}

/// Checks that tags are closed in order, and gives the text between them.
fn content(svg: &str) -> String {
    let (mut open, mut text) = (Vec::new(), String::new());
    for part in svg.split('<').skip(1) {
        let (tag, after) = part.split_once('>').unwrap();
        text.push_str(after);
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name));
        } else if !tag.ends_with('/') {
            open.push(tag.split(' ').next().unwrap());
        }
    }
    assert_eq!(open, [""; 0]);
    text
}

#[test]
fn the_picture_is_whole_and_hostile_text_is_only_text() {
    let hostile = r#"{"seq":0,"tool":"<script>x</script>","args":{"a'\"b":"]]><b>&\u001b[2J\u202e"},"failed":"<i onload=x>","start_ms":1,"duration_ms":2}"#;
    let svg = timeline(hostile).svg();
    let text = content(&svg);
    assert!(!svg.contains("<script") && !svg.contains("<i ") && !svg.contains("<b>"), "{svg}");
    assert!(!svg.chars().any(|c| c == '\u{1b}' || c == '\u{202e}'), "{svg}");
    for shown in ["&lt;script&gt;x&lt;/script&gt;", "&lt;i onload=x&gt;", "2 ms failed", "1 call, 1 failed"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(svg.contains("@media (prefers-color-scheme:dark)"));
    let terminal = timeline(hostile).text();
    assert!(!terminal.chars().any(|c| c.is_control() && c != '\n' || c == '\u{202e}'), "{terminal}");
}

#[test]
fn nothing_and_less_than_a_line_are_traces_too() {
    for empty in ["", "\n", "  \n\n"] {
        assert_eq!(timeline(empty).text(), "no calls\n");
        assert!(content(&timeline(empty).svg()).contains("no calls"));
    }
    let whole = call(0, "t", r#""ok":1"#, 0.0, 1.0);
    assert_eq!(
        timeline(whole.trim_end()).text(),
        timeline(&whole).text(),
        "the last line may end without a break"
    );
    let cut = format!("{whole}{}", &whole[..20]);
    for shown in [timeline(&cut).text(), content(&timeline(&cut).svg())] {
        assert!(shown.contains("1 call,"), "{shown}");
        assert!(shown.contains("the last line of the trace is cut off and left out"), "{shown}");
    }
}

#[test]
fn a_long_trace_shows_what_took_longest_and_counts_the_rest() {
    let calls: Vec<String> = (0..100_000)
        .map(|seq| {
            call(
                seq,
                "t",
                r#""ok":1"#,
                f64::from(u32::try_from(seq).unwrap()),
                if seq % 1_000 == 7 { 9.0 } else { 1.0 },
            )
        })
        .collect();
    let timeline = timeline(&calls.concat());
    let (text, svg) = (timeline.text(), timeline.svg());
    assert!(text.starts_with("100,000 calls, 100 s from first to last,"), "{text}");
    assert!(text.ends_with("99,800 calls left out, which took at most 1 ms each\n"), "{text}");
    assert_eq!(text.lines().count(), 202);
    assert_eq!(text.lines().filter(|line| line.contains(" 9 ms ")).count(), 100);
    assert_eq!(content(&svg).matches(", took ").count(), 200);
    assert!(svg.len() < 200_000, "{}", svg.len());
}

#[test]
fn what_is_no_call_is_told_with_its_line() {
    let whole = call(0, "t", r#""ok":1"#, 0.0, 1.0);
    let cases = [
        ("hello\n", "no call of a trace: "),
        ("{}\n", "no call of a trace: it has no `seq`"),
        ("{\"seq\":\"1\"}\n", "`seq` is not a whole number"),
        ("{\"seq\":0,\"tool\":\"t\",\"args\":{},\"ok\":1}\n", "no call of a trace: it has no `start_ms`"),
        (
            "{\"seq\":0,\"tool\":\"t\",\"args\":{},\"ok\":1,\"start_ms\":-1,\"duration_ms\":1}\n",
            "`start_ms` is not a time",
        ),
        (
            "{\"seq\":0,\"tool\":\"t\",\"args\":{},\"ok\":1,\"start_ms\":1,\"duration_ms\":1e300}\n",
            "`duration_ms` is not a time",
        ),
        ("{\"seq\":0,\"tool\":\"t\",\"args\":{},\"start_ms\":1,\"duration_ms\":1}\n", "it has no `ok`"),
    ];
    for (line, message) in cases {
        let problem = Timeline::read("trace", format!("{whole}{line}{whole}").as_bytes()).unwrap_err();
        assert_eq!(problem.place, "trace:2", "{line}");
        assert!(problem.message.contains(message), "{line}: {problem}");
    }
}

/// A line of a trace whose result is of the greatest depth is read on a small stack; a deeper one is refused.
#[test]
fn a_trace_of_the_greatest_depth_is_read() {
    let work = || {
        let read = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            let times = r#""start_ms":0,"duration_ms":1"#;
            let line = format!(r#"{{"seq":1,"tool":"t","args":{{}},"ok":{open}1{close},{times}}}"#);
            Timeline::read("t.jsonl", (line + "\n").as_bytes()).map(|timeline| timeline.text().len())
        };
        assert!(read(ilo_spec::limits::VALUE_DEPTH).unwrap() > 0);
        let error = read(100_000).unwrap_err().to_string();
        assert!(error.contains("nested deeper"), "{error}");
    };
    std::thread::Builder::new().stack_size(128 << 10).spawn(work).unwrap().join().unwrap();
}
