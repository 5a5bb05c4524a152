//! `ilo-vm test` and `ilo-vm replay`: their output, the files that they write and their exit codes. The
//! programs of `spec/programs`, converted to every notation, keep their outcome and calls.

use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, read_and_check};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_asm::print::print;
use std::fmt::Write as _;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// How a program ended.
#[derive(Debug)]
struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
}

fn ilo(folder: &Path, arguments: &str, input: &str) -> Ended {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ilo-vm"));
    let child = command.current_dir(folder).args(arguments.split(' ')).stdin(Stdio::piped());
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that does not read its input closes it.
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

const PROGRAM: &str = "; fn price(id: text) -> number\n; Tools: 0=get-item\n; Fields: 0=id 1=price\n\
    LET 1 CALL 0 1 0 REF 0\nRET MUL FIELD 1 1 LIT 1 2\n";

const TOOLS: &str = "{\"get-item\": {\"mock\": [{\"returns\": {\"price\": 5}}]}}\n";

/// A case of the program, with sections after its tools.
fn price_case(sections: &str) -> String {
    format!(
        "about: twice the price\n=== source id\n{PROGRAM}=== tools\n{TOOLS}=== input\n{{\"id\": \"a\"}}\n{sections}"
    )
}

const CALL: &str = r#"{"seq":0,"tool":"get-item","args":{"id":"a"},"ok":{"price":5}}"#;

/// The lines of a report without the last one, which has the time.
fn lines(report: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = report.lines().collect();
    lines.pop();
    lines
}

#[test]
fn a_case_that_holds_is_a_line() {
    let good =
        price_case(&format!("=== outcome\n{{\"status\": \"ok\", \"value\": 10.0}}\n=== trace\n{CALL}\n"));
    let folder = folder(&[("a/good.case", &good), ("a/notes.txt", "not a case")]);
    let ended = ilo(folder.path(), "test a", "");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    assert_eq!(lines(&ended.out), ["ok      a/good.case: twice the price", ""]);
    assert!(ended.out.lines().last().unwrap().starts_with("1 passed in "), "{}", ended.out);
    let piped = ilo(folder.path(), "test -", &good);
    assert_eq!((piped.code, lines(&piped.out)[0]), (Some(0), "ok      standard input: twice the price"));
    let json = ilo(folder.path(), "test a --json", "");
    assert_eq!(json.out, "{\"case\":\"a/good.case\",\"about\":\"twice the price\",\"status\":\"passed\"}\n");
}

#[test]
fn a_difference_is_shown_with_its_path() {
    let bad = price_case(
        "=== outcome\n{\"status\": \"ok\", \"value\": 11}\n=== trace\n\
         {\"tool\": \"get-item\", \"args\": {\"id\": \"b\"}, \"ok\": {\"price\": 5}, \"start_ms\": 1.5}\n",
    );
    let folder = folder(&[("bad.case", &bad)]);
    let ended = ilo(folder.path(), "test bad.case", "");
    assert_eq!(ended.code, Some(1));
    assert_eq!(
        lines(&ended.out),
        [
            "FAILED  bad.case: twice the price",
            "    outcome",
            "      value: expected 11, found 10",
            "      - {\"status\":\"ok\",\"value\":11}",
            "      + {\"status\":\"ok\",\"value\":10}",
            "    calls",
            "      call 1: args.id: expected \"b\", found \"a\"",
            "      - {\"tool\":\"get-item\",\"args\":{\"id\":\"b\"},\"ok\":{\"price\":5}}",
            &format!("      + {CALL}"),
            "",
        ]
    );
    let json = ilo(folder.path(), "test bad.case --json", "");
    let line: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!((json.code, &line["status"]), (Some(1), &"failed".into()));
    assert_eq!(line["failures"][0]["part"], "outcome");
    assert_eq!(line["failures"][1]["differences"][0], "call 1: args.id: expected \"b\", found \"a\"");
}

#[test]
fn a_program_with_an_error_shows_it() {
    let wrong = price_case("=== outcome\n{\"status\": \"ok\", \"value\": 10}\n").replace("MUL", "MULL");
    let folder = folder(&[("wrong.case", &wrong)]);
    let ended = ilo(folder.path(), "test wrong.case", "");
    assert_eq!(ended.code, Some(1));
    assert!(ended.out.contains("unexpected error unknown-instruction 5:5"), "{}", ended.out);
    assert!(ended.out.contains("--> wrong.case (source id):5:5"), "{}", ended.out);
}

#[test]
fn a_program_and_tools_in_files_of_their_own_are_found_beside_the_case() {
    let tools = format!("{{\"tools\": {TOOLS}}}");
    let case = "program: ../price.ilo\ntools: ../tools.json\noptions: --fn price --max-calls 5\n\
        === input\n{\"id\": \"a\"}\n=== outcome\n{\"status\": \"ok\", \"value\": 10}\n";
    let folder = folder(&[("price.ilo", PROGRAM), ("tools.json", &tools), ("cases/a.case", case)]);
    let ended = ilo(folder.path(), "test cases", "");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let built = ilo_asm::compile::compile(PROGRAM, &Options::default()).0.unwrap();
    fs::write(folder.path().join("price.ilo"), ilo_spec::encode::encode(&built)).unwrap();
    let ended = ilo(folder.path(), "test cases", "");
    assert_eq!(ended.code, Some(0), "bytecode: {ended:?}");
    fs::write(folder.path().join("tools.json"), "{\"tools\": {}}").unwrap();
    let ended = ilo(folder.path(), "test cases", "");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.contains("    start\n      error[unknown-tool]: tool `get-item`: "), "{}", ended.out);
}

#[test]
fn update_writes_what_the_run_gave_and_says_so() {
    let old = price_case("=== outcome\n1\n=== trace\n")
        .replace("=== outcome\n1", "=== outcome\n{\"status\": \"ok\"}");
    let new = price_case("");
    let folder = folder(&[("old.case", &old), ("new.case", &new)]);
    let ended = ilo(folder.path(), "test old.case new.case --update", "");
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let expected = [
        "updated old.case: twice the price",
        "    written: outcome, trace",
        "updated new.case: twice the price",
        "    written: outcome, trace",
        "",
    ];
    assert_eq!(lines(&ended.out), expected);
    let written = format!("=== outcome\n{{\"status\":\"ok\",\"value\":10}}\n=== trace\n{CALL}\n");
    for name in ["old.case", "new.case"] {
        assert_eq!(fs::read_to_string(folder.path().join(name)).unwrap(), price_case(&written), "{name}");
    }
    assert_eq!(ilo(folder.path(), "test old.case new.case", "").code, Some(0));
    let piped = ilo(folder.path(), "test - --update", &new);
    assert_eq!(piped.err, "error[bad-usage]: --update: standard input cannot be updated; name a file\n");
}

#[test]
fn sources_that_differ_are_not_both_written() {
    let case = "=== source id\n; fn f() -> number\nRET LIT 1 1\n\
        === source constrained\n{\"fn\":\"f\",\"in\":{},\"out\":\"num\",\"body\":[{\"ret\":2}]}\n";
    let folder = folder(&[("two.case", case)]);
    let ended = ilo(folder.path(), "test two.case --update", "");
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(ended.out.contains("    outcome (constrained)\n"), "{}", ended.out);
    assert!(ended.out.contains("    written: outcome, trace\n"), "{}", ended.out);
}

#[test]
fn a_bad_case_has_its_place_and_its_fix() {
    let nothing = price_case("");
    let not_json = price_case("=== outcome\n{\"status\" \"ok\"}\n");
    let bad_option = format!("options: --feul 5\n{}", price_case("=== outcome\n{}\n"));
    let bad_tools = price_case("=== outcome\n{}\n").replace("mock", "mok");
    for (text, expected) in [
        ("", "bad.case:1: a case has a program, and this has none; write `=== source NOTATION`"),
        (
            &nothing,
            "bad.case:1: nothing of the source `id` is expected; write a section `=== outcome`, or let --update",
        ),
        (&not_json, "bad.case:13:11: `outcome`: "),
        (&bad_option, "bad.case:1: unexpected argument '--feul' found"),
        (&bad_tools, "bad.case:9:15: tools.get-item.mok: unknown key `mok`; did you mean `mock`?"),
        ("program: no-such-file\n=== outcome\n{}\n", "no-such-file: cannot be read: "),
        (
            "=== source id\nx\n=== outcome\n1\n=== outcome\n1\n",
            "bad.case:5: the section `outcome` is in line 3 already",
        ),
    ] {
        let folder = folder(&[("bad.case", text)]);
        let ended = ilo(folder.path(), "test bad.case", "");
        assert_eq!(ended.code, Some(2), "{text}: {ended:?}");
        assert!(ended.out.starts_with("INVALID bad.case"), "{text}: {}", ended.out);
        assert!(ended.out.contains(expected), "expected {expected}, found {}", ended.out);
    }
    let folder = folder(&[
        ("empty/x", ""),
        ("good.case", &price_case("=== outcome\n{\"status\":\"ok\",\"value\":10}\n")),
    ]);
    fs::write(folder.path().join("binary.case"), [b'a', b'\n', 0xff, 0]).unwrap();
    let ended = ilo(folder.path(), "test binary.case good.case", "");
    assert_eq!(ended.code, Some(2));
    assert!(ended.out.contains("error[bad-case]: binary.case:2: a byte that is not UTF-8"), "{}", ended.out);
    assert!(
        ended.out.contains("\nok      good.case") && ended.out.contains("1 passed, 1 invalid in "),
        "{}",
        ended.out
    );
    for (arguments, expected) in [
        ("test empty", "error[bad-usage]: empty: a folder without cases; their files end in `.case`\n"),
        (
            "test good.case --filter zzz",
            "error[bad-usage]: --filter: none of the 1 cases has `zzz` in its path or its `about`\n",
        ),
    ] {
        let ended = ilo(folder.path(), arguments, "");
        assert_eq!((ended.code, ended.err.as_str()), (Some(2), expected));
    }
    assert_eq!(ilo(folder.path(), "test good.case --filter twice", "").code, Some(0));
}

#[cfg(unix)]
#[test]
fn a_folder_that_contains_itself_or_a_pipe_is_walked_once() {
    let good = price_case("=== outcome\n{\"status\":\"ok\",\"value\":10}\n");
    let folder = folder(&[("a/good.case", &good)]);
    std::os::unix::fs::symlink(folder.path().join("a"), folder.path().join("a/again")).unwrap();
    // A pipe in it is passed over: nobody writes to it.
    let pipe = folder.path().join("a/pipe.case");
    rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RWXU).unwrap();
    let ended = ilo(folder.path(), "test a", "");
    assert!(ended.code == Some(0) && ended.out.contains("1 passed in "), "{ended:?}");
}

/// The trace of a run of a program with two calls.
const TWO: &str = "{\"seq\":1,\"tool\":\"add\",\"args\":{\"n\":2},\"failed\":\"full\",\"start_ms\":1,\"duration_ms\":1}\n\
    {\"seq\":0,\"tool\":\"add\",\"args\":{\"n\":1},\"ok\":null}\n";

const ADDS: &str = "{\"fn\":\"f\",\"in\":{\"ns\":\"list num\"},\"out\":\"result nil text\",\"body\":[\
    {\"for\":\"n\",\"in\":\"ns\",\"yield\":[{\"call\":\"add\",\"args\":{\"n\":\"n\"}}]}]}\n";

#[test]
fn a_replay_has_the_outcome_of_the_trace_or_says_where_it_differs() {
    let folder = folder(&[("f.json", ADDS), ("two.jsonl", TWO), ("empty.jsonl", "")]);
    let replay =
        |trace: &str, ns: &str| ilo(folder.path(), &format!("replay {trace} f.json --arg ns={ns}"), "");
    let same = replay("two.jsonl", "[1,2.0]");
    assert_eq!(
        (same.code, same.out.as_str()),
        (Some(1), "{\"status\":\"err\",\"error\":\"full\"}\n"),
        "{same:?}"
    );
    let none = replay("empty.jsonl", "[]");
    assert_eq!((none.code, none.out.as_str()), (Some(0), "{\"status\":\"ok\",\"value\":null}\n"));
    for (trace, ns, expected) in [
        ("two.jsonl", "[1,3]", "two.jsonl:1: call 2: expected `add` with {\"n\":2}, found {\"n\":3}\n"),
        (
            "two.jsonl",
            "[1]",
            "two.jsonl:1: call 2: expected `add` with {\"n\":2}, \
             found the end of the run with {\"status\":\"ok\",\"value\":null}\n",
        ),
        (
            "empty.jsonl",
            "[1]",
            "empty.jsonl: call 1: expected the end, since the trace has no more calls, found `add` with {\"n\":1}\n",
        ),
    ] {
        let ended = replay(trace, ns);
        assert_eq!(ended.err, format!("error[trace-differs]: {expected}"));
        assert_eq!((ended.code, ended.out.as_str()), (Some(2), ""));
    }
    let other = ADDS.replace("\"add\"", "\"put\"");
    fs::write(folder.path().join("g.json"), other).unwrap();
    let ended = ilo(folder.path(), "replay two.jsonl g.json --arg ns=[1]", "");
    let expected = "two.jsonl:2: call 1: expected `add` with {\"n\":1}, found `put` with {\"n\":1}\n";
    assert_eq!(ended.err, format!("error[trace-differs]: {expected}"));
}

#[test]
fn a_trace_that_is_cut_changed_or_too_large_is_refused_in_words_or_read() {
    let folder = folder(&[("f.json", ADDS)]);
    let path = folder.path().join("t");
    let replay = |trace: &[u8]| {
        fs::write(&path, trace).unwrap();
        let ended = ilo(folder.path(), "replay t f.json --arg ns=[1,2]", "");
        assert!(ended.code.is_some_and(|code| code < 4), "{ended:?}");
        assert!(ended.code != Some(2) || ended.err.starts_with("error["), "{ended:?}");
        ended
    };
    let marked = replay(format!("\u{feff}{TWO}").as_bytes());
    assert_eq!(marked.code, Some(1), "a byte order mark is no part of it: {marked:?}");
    for at in (0..TWO.len()).step_by(3) {
        replay(&TWO.as_bytes()[..at]);
        let mut changed = TWO.as_bytes().to_vec();
        changed[at] ^= [1, 0x20, 0x80, 0xff][at % 4];
        replay(&changed);
    }
    // Each value takes two bytes here, and many times that in memory.
    let zeros = "0,".repeat(8 << 20);
    let line = |seq: u8| {
        format!(
            "{{\"seq\":{seq},\"tool\":\"add\",\"args\":{{}},\"ok\":[{zeros}0],\"start_ms\":0,\"duration_ms\":0}}\n"
        )
    };
    let ended = replay(format!("{}{}", line(0), line(1)).as_bytes());
    assert_eq!(ended.err, "error[bad-input]: t:2: a trace of more than 16777216 values\n");
}

const PURCHASE: &str = "{\"fn\":\"f\",\"out\":\"result nil text\",\"body\":[\
    {\"call\":\"reserve\",\"args\":{},\"rollback\":{\"call\":\"release\",\"args\":{}}},\
    {\"call\":\"charge\",\"args\":{}},{\"call\":\"look\",\"args\":{}}]}\n";

#[test]
fn a_run_that_was_cancelled_is_replayed_with_its_rollback() {
    let reserve = "{\"seq\":0,\"tool\":\"reserve\",\"args\":{},\"ok\":null,\"number\":1";
    let release =
        "\"tool\":\"release\",\"args\":{},\"rollback\":true,\"ok\":null,\"cancelled\":true,\"number\"";
    let look = "\"tool\":\"look\",\"args\":{},\"failed\":\"interrupted\",\"cancelled\":true,\"ended\":\"interrupted\"";
    let charge = "{\"seq\":1,\"tool\":\"charge\",\"args\":{},\"ok\":null,\"number\":2}\n";
    let looked = "{\"seq\":2,\"tool\":\"look\",\"args\":{},\"ok\":null,\"number\":3}\n";
    for (trace, number) in [
        // During the first call: `charge` is refused, so it has a number and no line.
        (format!("{reserve},\"cancelled\":true}}\n{{\"seq\":1,{release}:3}}\n"), 3),
        // After it.
        (format!("{reserve}}}\n{{\"seq\":1,{release}:3}}\n"), 3),
        // During a call that only reads, which the cancel ends.
        (format!("{reserve}}}\n{charge}{{\"seq\":2,{look},\"number\":3}}\n{{\"seq\":3,{release}:4}}\n"), 4),
        // After the last call.
        (format!("{reserve}}}\n{charge}{looked}{{\"seq\":3,{release}:4}}\n"), 4),
    ] {
        let folder = folder(&[("t", &trace), ("f.json", PURCHASE)]);
        let ended = ilo(folder.path(), "replay t f.json", "");
        assert_eq!(ended.code, Some(3), "{trace}{ended:?}");
        let rolled = format!("\"rolled_back\":[{{\"tool\":\"release\",\"number\":{number}}}]");
        assert!(
            ended.out.starts_with("{\"status\":\"fault\",\"code\":\"cancelled\"")
                && ended.out.contains(&rolled),
            "{trace}{ended:?}"
        );
    }
}

#[test]
fn a_trace_that_cannot_be_one_is_refused_with_its_line() {
    let call = "{\"seq\":0,\"tool\":\"add\",\"args\":{},\"ok\":1}\n";
    for (trace, expected) in [
        ("{}\n", "t:1: no call of a trace: it has no `seq`"),
        ("no\n", "t:1: no call of a trace: "),
        (&call.repeat(2), "t:2: `seq` 0 is there twice; a trace has each call of one run once"),
        (
            &call.replace(":0,", ":3,"),
            "t:1: `seq` 0 is missing before 3; a trace has each call of one run once",
        ),
        (&call.replace("\"ok\":1", "\"no\":1"), "t:1: no call of a trace: it has neither `ok` nor `failed`"),
        (
            &call.replace("\"ok\":1", "\"failed\":\"x\",\"ended\":\"no\""),
            "t:1: `ended`: expected the code of a fault",
        ),
        (&call.replace("{}", "[]"), "t:1: `args`: expected a record, found a list"),
    ] {
        let folder = folder(&[("t", trace), ("f.json", ADDS)]);
        let ended = ilo(folder.path(), "replay t f.json --arg ns=[1]", "");
        assert_eq!(ended.code, Some(2));
        assert!(ended.err.starts_with(&format!("error[bad-input]: {expected}")), "{trace}: {}", ended.err);
    }
}

#[test]
fn a_replay_ends_as_the_run_did_where_a_limit_ended_it() {
    let call =
        "{\"seq\":0,\"tool\":\"add\",\"args\":{\"n\":1},\"failed\":\"too slow\",\"ended\":\"timed-out\"}\n";
    let folder = folder(&[("t", call), ("u", &call.replace("timed-out", "interrupted")), ("f.json", ADDS)]);
    let ended = ilo(folder.path(), "replay t f.json --arg ns=[1,2]", "");
    assert_eq!(ended.code, Some(3), "{ended:?}");
    assert!(
        ended.out.starts_with("{\"status\":\"fault\",\"code\":\"timed-out\",\"message\":\"too slow\""),
        "{ended:?}"
    );
    let doubt = call.replace("\"ended\":\"timed-out\"", "\"in_doubt\":true");
    fs::write(folder.path().join("d"), doubt).unwrap();
    let ended = ilo(folder.path(), "replay d f.json --arg ns=[1,2]", "");
    let listed = ",\"not_rolled_back\":[{\"tool\":\"add\",\"why\":";
    assert_eq!(ended.code, Some(1), "{ended:?}");
    assert!(
        ended.out.starts_with("{\"status\":\"err\",\"error\":\"too slow\"") && ended.out.contains(listed),
        "{ended:?}"
    );
    let ended = ilo(folder.path(), "replay u f.json --arg ns=[1,2]", "");
    let expected = "u:1: call 1: the run of the trace was interrupted here, so it has no outcome\n";
    assert_eq!((ended.code, ended.err), (Some(2), format!("error[trace-differs]: {expected}")));
    let limited = ilo(folder.path(), "replay t f.json --arg ns=[1,2] --fuel 1", "");
    let found = "found the end of the run with {\"status\":\"fault\",\"code\":\"fuel\"";
    assert!(limited.code == Some(2) && limited.err.contains(found), "{limited:?}");
}

/// Every case of the repository holds, in one run.
#[test]
fn the_corpus_holds() {
    let spec = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec");
    let ended = ilo(&spec, "test corpus programs ../examples/cases", "");
    assert_eq!(ended.code, Some(0), "{}\n{}", ended.out, ended.err);
}

/// Every recipe: the trace of its run is replayed, with the same outcome.
#[test]
fn every_recipe_replays_its_own_trace() {
    for case in crate::case::all(&crate::case::folder("programs")) {
        let source = case.sources()[0];
        let (input, trace) = (case.section("input").unwrap(), case.section("trace").unwrap());
        let folder = folder(&[("program", source.text), ("trace", trace), ("input", input)]);
        let ended = ilo(folder.path(), "replay trace program --input @input", "");
        let outcome = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        let path = case.path.display();
        assert!(!ended.out.is_empty(), "{path}: {ended:?}");
        let expected = outcome(case.section("outcome").unwrap());
        let found = outcome(&ended.out);
        for member in ["status", "value", "error", "code", "compensation_failures", "rolled_back"] {
            assert_eq!(expected.get(member), found.get(member), "{path}");
        }
    }
}

/// Every recipe, printed in all five notations: one case with five sources, whose outcome and calls are those
/// of the recipe.
#[test]
fn every_recipe_holds_in_every_notation() {
    let folder = tempfile::tempdir().unwrap();
    let cases = crate::case::all(&crate::case::folder("programs"));
    for case in &cases {
        let source = case.sources()[0];
        let (arena, mut diagnostics) = (Arena::new(), Diagnostics::default());
        let options = Options { from: Some(source.notation), ..Options::default() };
        let (file, _) = read_and_check(source.text, &arena, &options, &mut diagnostics);
        let mut text = String::new();
        for (notation, name) in Notation::ALL {
            let printed = print(&file, notation, &mut Diagnostics::default());
            writeln!(text, "=== source {name}").unwrap();
            text.push_str(&printed);
        }
        for title in ["tools", "input", "outcome", "trace"] {
            writeln!(text, "=== {title}").unwrap();
            text.push_str(case.section(title).unwrap());
        }
        fs::write(folder.path().join(case.path.file_name().unwrap()), text).unwrap();
    }
    let ended = ilo(folder.path(), "test .", "");
    assert_eq!(ended.code, Some(0), "{}", ended.out);
    assert!(ended.out.contains(&format!("\n{} passed in ", cases.len())), "{}", ended.out);
}
