//! The command line as a shell sees it: standard output, files that a command writes, and exit codes.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const GOOD: &str = "; fn double(x: number) -> number\n; Vars: 0=x\nRET MUL REF 0 LIT 1 2\n";
/// Two words in lower case and a count that is wrong: each has one fix.
const FIXABLE: &str = "; fn f(c: bool) -> number\nIF REF 0 2\n  ret LIT 1 1\nRET lit 1 2\n";
const WRONG: &str = "; fn f() -> number\nRET REF 1\n";

/// Runs the assembler in a folder. Returns its exit code, standard output and standard error.
fn run(folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ilo-asm"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A command that reads no input closes it, which is not a failure.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("good.ilo"), GOOD).unwrap();
    fs::write(folder.path().join("fix.ilo"), FIXABLE).unwrap();
    fs::write(folder.path().join("wrong.ilo"), WRONG).unwrap();
    folder
}

#[test]
fn build_writes_bytecode_beside_the_source_or_where_it_is_told() {
    let folder = folder();
    let at = folder.path();
    assert_eq!(run(at, &["build", "good.ilo"], ""), (0, String::new(), String::new()));
    let whole = fs::read(at.join("good.ilob")).unwrap();
    assert!(whole.starts_with(b"ilob"));
    assert_eq!(run(at, &["build", "good.ilob", "-o", "small.ilob", "--strip"], "").0, 0);
    assert!(fs::read(at.join("small.ilob")).unwrap().len() < whole.len());
    let (code, _, error) = run(at, &["build", "wrong.ilo"], "");
    assert!(code == 2 && error.contains("unset-slot") && !at.join("wrong.ilob").exists(), "{error}");
}

#[test]
fn check_ends_with_0_or_2_and_tells_as_json() {
    let folder = folder();
    let at = folder.path();
    assert_eq!(run(at, &["check", "good.ilo"], ""), (0, String::new(), String::new()));
    let (code, out, error) = run(at, &["check", "--json", "good.ilo", "wrong.ilo", "missing.ilo"], "");
    assert_eq!(code, 2);
    assert!(error.contains("missing.ilo"), "{error}");
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["code"], "unset-slot");
    assert_eq!((&report["file"], &report["line"]), (&"wrong.ilo".into(), &2.into()));
    let counted = "; fn f(c: bool) -> number\nIF REF 0 2\n  RET LIT 1 1\nRET LIT 1 2\n";
    assert_eq!(run(at, &["check", "-"], counted).0, 0, "a warning refuses nothing");
    assert_eq!(run(at, &["check", "--strict", "-"], counted).0, 0, "and foretells nothing here");
    assert_eq!(run(at, &["check", "--deny-warnings", "-"], counted).0, 2, "but where it is asked to");
    let equal = "; fn f(c: text) -> bool\nEQ REF 0 LIT 1 1\n";
    assert_eq!(run(at, &["check", "-"], equal).0, 0);
    let (code, _, error) = run(at, &["check", "--strict", "-"], equal);
    assert!(code == 2 && error.contains("error[never-equal]"), "{error}");
    let signature = ["check", "-", "--signature", "f(c: text) -> number"];
    let (code, _, error) = run(at, &signature, equal);
    assert!(
        code == 2 && error.contains("error[other-signature]: the function has another output"),
        "{error}"
    );
    assert_eq!(
        run(at, &["check", "-", "--signature", "f(c: text)"], equal).0,
        2,
        "a signature has an output"
    );
    std::fs::write(at.join("output.json"), r#"{"type": "number"}"#).unwrap();
    let (code, _, error) = run(at, &["check", "-", "--output-schema", "output.json"], equal);
    assert!(code == 2 && error.contains("error[other-signature]: the value has another type"), "{error}");
    let (code, _, error) = run(at, &["check", "-", "--output-schema", "none.json"], equal);
    assert!(code == 2 && error.contains("none.json"), "{error}");
    let (code, out, _) = run(at, &["prompt", "--notation", "mcp", "--output-schema", "output.json"], "");
    assert!(code == 0 && out.ends_with("returns a value of this type: number\n"), "{out}");
    let (code, _, error) = run(at, &["check", "-"], "{\"fn\": \"f\"}");
    assert!(code == 2 && error.contains("`out` is missing"), "{error}");
    let (code, _, error) = run(at, &["check", "-"], "def f(): pass");
    assert!(code == 2 && error.contains("unknown-notation") && error.contains("--from"), "{error}");
}

#[test]
fn fix_applies_what_has_one_mend_and_touches_nothing_else() {
    let folder = folder();
    let at = folder.path();
    let fixed = FIXABLE.replace("ret", "RET").replace("lit", "LIT").replace("0 2", "0 1");
    let (code, out, error) = run(at, &["fix", "-"], FIXABLE);
    assert_eq!((code, out.as_str()), (0, fixed.as_str()), "{error}");
    assert_eq!(run(at, &["fix", "fix.ilo"], "").0, 0);
    let misspelt = "name: f\ninput: {}\noutput: any\nsteps:\n  a:\n    call: get-usr\n";
    let catalog = "{\"tools\": [{\"name\": \"get-user\", \"inputSchema\": {\"type\": \"object\"}}]}";
    fs::write(at.join("catalog.json"), catalog).unwrap();
    assert_eq!(run(at, &["fix", "-"], misspelt).1, misspelt, "without a catalogue any tool may be there");
    let (code, out, _) = run(at, &["fix", "--catalog", "catalog.json", "-"], misspelt);
    assert_eq!((code, out.as_str()), (0, misspelt.replace("get-usr", "get-user").as_str()));
    assert_eq!(fs::read_to_string(at.join("fix.ilo")).unwrap(), fixed);
    assert_eq!(run(at, &["fix", "wrong.ilo"], "").0, 2);
    assert_eq!(fs::read_to_string(at.join("wrong.ilo")).unwrap(), WRONG);
}

/// Of a larger file only the beginning is read.
#[test]
fn fix_leaves_a_file_that_is_too_large_as_it_is() {
    let folder = folder();
    let many = |line: &str| line.repeat((1 << 20) / line.len() + 1);
    let workflow = "name: f\noutput: nil\nsteps:\n  done:\n    return: null\n";
    for (name, whole) in [
        ("diff.ilo", format!("+; fn f() -> nil\n+RET LIT 2 nil\n{}", many("+; comment\n"))),
        ("quoted.ilo", format!("> ; fn f() -> nil\n> RET LIT 2 nil\n{}", many("> ; comment\n"))),
        ("removed.yaml", many("- a: 1\n")),
        ("fenced.ilo", format!("```\n; fn f() -> nil\nRET LIT 2 nil\n{}```\n", many("; comment\n"))),
        (
            "blanks.yaml",
            format!("{workflow}{}", many("#\u{a0}comment\n")).replace("output: ", "output:\u{a0}"),
        ),
        ("halved.ilo", format!("; fn f() -> nil\nRET LIT 2 nil\n;{}", "\u{e9}".repeat(1 << 20))),
        ("halved-too.ilo", format!("; fn f() -> nil\nRET LIT 2 nil\n; {}", "\u{e9}".repeat(1 << 20))),
        ("behind.yaml", format!("{workflow}\nThis program does nothing.\n{}", many("It is short.\n"))),
    ] {
        std::fs::write(folder.path().join(name), &whole).unwrap();
        let (code, out, err) = run(folder.path(), &["fix", name], "");
        assert!(code == 2 && err.contains("error[source-too-large]") && out.is_empty(), "{name}: {err}");
        assert!(err.ends_with(&format!("ilo-asm: {name}: 0 fixed\n")), "{name}: {err}");
        assert!(
            std::fs::read_to_string(folder.path().join(name)).unwrap() == whole,
            "{name} is another file"
        );
    }
}

#[test]
fn fmt_lays_out_and_check_says_what_would_change() {
    let folder = folder();
    let at = folder.path();
    assert_eq!(run(at, &["fmt", "--check", "good.ilo"], "").0, 0);
    let crowded = GOOD.replace("RET MUL", "  RET    MUL");
    assert_eq!(run(at, &["fmt", "-"], &crowded), (0, GOOD.to_owned(), String::new()));
    fs::write(at.join("crowded.ilo"), &crowded).unwrap();
    assert_eq!(run(at, &["fmt", "--check", "crowded.ilo"], "").0, 1);
    assert_eq!(fs::read_to_string(at.join("crowded.ilo")).unwrap(), crowded);
    assert_eq!(run(at, &["fmt", "crowded.ilo"], "").0, 0);
    assert_eq!(fs::read_to_string(at.join("crowded.ilo")).unwrap(), GOOD);
}

#[test]
fn bytecode_is_listed_drawn_and_turned_back() {
    let folder = folder();
    let at = folder.path();
    run(at, &["build", "good.ilo"], "");
    assert_eq!(run(at, &["convert", "good.ilob", "--to", "id"], "").1, GOOD);
    let (_, listing, _) = run(at, &["dis", "good.ilob"], "");
    assert!(listing.contains("mul.c") && listing.contains("; 3:5"), "{listing}");
    for (format, start) in [("svg", "<svg"), ("dot", "digraph"), ("mermaid", "flowchart")] {
        let (code, picture, _) = run(at, &["graph", "good.ilob", "--format", format], "");
        assert!(code == 0 && picture.contains(start), "{picture}");
    }
    run(at, &["build", "good.ilo", "--strip", "-o", "small.ilob"], "");
    let (code, _, error) = run(at, &["convert", "small.ilob", "--to", "id"], "");
    assert!(code == 2 && error.contains("--strip"), "{error}");
}

#[test]
fn a_command_for_sources_says_that_a_file_is_bytecode() {
    let folder = folder();
    let at = folder.path();
    run(at, &["build", "good.ilo"], "");
    for verb in ["check", "fmt", "fix"] {
        let (code, out, error) = run(at, &[verb, "good.ilob"], "");
        assert_eq!((code, out.as_str()), (2, ""), "{error}");
        let expected =
            "ilo-asm: good.ilob: expected a source, found bytecode; `ilo-asm convert` writes its source, ";
        assert!(error.starts_with(expected), "{error}");
    }
}

#[test]
fn a_tree_that_is_not_the_codes_is_not_shown() {
    let folder = folder();
    let at = folder.path();
    run(at, &["build", "good.ilo"], "");
    let mut bytes = fs::read(at.join("good.ilob")).unwrap();
    let text = bytes.windows(3).rposition(|window| window == b"MUL").unwrap();
    bytes[text..text + 3].copy_from_slice(b"ADD");
    fs::write(at.join("liar.ilob"), bytes).unwrap();
    let (code, out, error) = run(at, &["convert", "liar.ilob", "--to", "id"], "");
    assert!(code == 2 && out.is_empty() && error.contains("not that of its code"), "{error}");
}

#[test]
fn explain_knows_every_code_and_the_nearest() {
    let folder = folder();
    let (code, page, _) = run(folder.path(), &["explain", "unset-slot"], "");
    assert!(code == 0 && page.contains("Wrong") && page.contains("Right"), "{page}");
    let (code, _, error) = run(folder.path(), &["explain", "unset-slots"], "");
    assert!(code == 2 && error.contains("`unset-slot`"), "{error}");
}

#[test]
fn limits_can_be_set() {
    let folder = folder();
    let (code, _, error) = run(folder.path(), &["check", "good.ilo", "--max-source", "10"], "");
    assert!(code == 2 && error.contains("source-too-large"), "{error}");
    let (code, _, error) = run(folder.path(), &["check", "good.ilo", "--max-nesting", "1"], "");
    assert!(code == 2 && error.contains("too-deep"), "{error}");
}

#[test]
fn fix_never_turns_a_failure_into_a_success() {
    let folder = folder();
    let returned = "; fn f() -> result text, text\n; Tools: 0=t\nLET 1 CALL 0 0\nMATCH 1 2\n  ERR 2 1\n    RET REF 2\n  OK 3 1\n    RET_OK REF 3\n";
    let (code, out, error) = run(folder.path(), &["fix", "-"], returned);
    assert_eq!((code, out.as_str()), (2, returned), "{error}");
    assert!(error.contains("RET_ERR") && error.contains("RET_OK"), "{error}");
    let told = returned
        .replace("RET REF 2", "RET CONCAT LIT 0 \"failed: \" REF 2")
        .replace("result text", "result nil");
    let told = told.replace("RET_OK REF 3", "RET_OK LIT 2 nil");
    let (code, out, _) = run(folder.path(), &["fix", "-"], &told);
    assert_eq!((code, out), (0, told.replace("RET CONCAT", "RET_ERR CONCAT")));
}

#[test]
fn what_is_wrong_with_the_whole_is_told_and_mended_as_one() {
    let folder = folder();
    let bare = GOOD.trim_start_matches("; ");
    let (code, _, error) = run(folder.path(), &["check", "-"], bare);
    assert!(code == 2 && error.matches("error[").count() == 1 && error.contains("; fn"), "{error}");
    assert_eq!(run(folder.path(), &["fix", "-"], bare).1, GOOD);
    let fenced = format!("```ilo\n{GOOD}```\n");
    // A fence is read in silence.
    assert_eq!(run(folder.path(), &["check", "-"], &fenced), (0, String::new(), String::new()));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_what_is_read_only_stays_as_it_is() {
    let folder = folder();
    let at = folder.path();
    std::os::unix::fs::symlink("fix.ilo", at.join("link.ilo")).unwrap();
    assert_eq!(run(at, &["fix", "link.ilo"], "").0, 0);
    assert!(fs::symlink_metadata(at.join("link.ilo")).unwrap().is_symlink());
    assert!(fs::read_to_string(at.join("fix.ilo")).unwrap().contains("  RET LIT 1 1"));
    fs::write(at.join("fix.ilo"), FIXABLE).unwrap();
    let mut permissions = fs::metadata(at.join("fix.ilo")).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(at.join("fix.ilo"), permissions).unwrap();
    assert_eq!(run(at, &["fix", "fix.ilo"], "").0, 2);
    assert_eq!(fs::read_to_string(at.join("fix.ilo")).unwrap(), FIXABLE);
}

#[cfg(unix)]
#[test]
fn a_pipe_is_written_to_and_never_replaced() {
    use std::os::unix::fs::FileTypeExt as _;
    let folder = folder();
    let at = folder.path();
    let pipe = &at.join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, pipe, rustix::fs::Mode::RWXU).unwrap();
    let is_pipe = || fs::metadata(pipe).unwrap().file_type().is_fifo();
    for (verb, source) in [("fmt", GOOD.replace("LIT 1 2", "LIT  1 2")), ("fix", FIXABLE.to_owned())] {
        let (code, _, error) = std::thread::scope(|threads| {
            threads.spawn(|| fs::write(pipe, source).unwrap());
            run(at, &[verb, "pipe"], "")
        });
        let expected = "ilo-asm: pipe: not a regular file, which is not replaced; `-` reads standard input\n";
        assert!(code == 2 && error.ends_with(expected), "{verb}: {code} {error}");
        assert!(is_pipe(), "{verb}");
    }
    assert_eq!(run(at, &["build", "good.ilo", "-o", "built"], "").0, 0);
    let built = std::thread::scope(|threads| {
        let read = threads.spawn(|| fs::read(pipe).unwrap());
        run(at, &["build", "good.ilo", "-o", "pipe"], "");
        read.join().unwrap()
    });
    assert_eq!(built, fs::read(at.join("built")).unwrap());
    assert!(is_pipe() && fs::read_dir(at).unwrap().count() == 5, "nothing is left beside them");
}

#[test]
fn a_prompt_is_the_card_and_the_tools() {
    let folder = folder();
    let (code, card, _) = run(folder.path(), &["prompt", "--notation", "id"], "");
    assert!(
        code == 0 && card.contains("; fn name(a: type, optional?: type, n: number = 10) -> type"),
        "{card}"
    );
    let catalog = r#"{"tools": [{"name": "ping", "description": "Is it there?"}]}"#;
    fs::write(folder.path().join("catalog.json"), catalog).unwrap();
    let all = run(folder.path(), &["prompt", "--notation", "id", "--catalog", "catalog.json"], "").1;
    assert_eq!(
        all,
        format!(
            "{card}\nTools (? marks what may be left out; an `any` answer that is JSON text is read as its value):\nping(…) -> any # Is it there?\n"
        )
    );
    let (code, _, error) = run(folder.path(), &["prompt", "--notation", "id", "--catalog", "none.json"], "");
    assert!(code == 2 && error.contains("none.json"), "{error}");
}

#[test]
fn next_lists_what_may_follow_or_where_a_beginning_is_wrong() {
    let folder = folder();
    let at = folder.path();
    let catalog = r#"{"tools": [{"name": "ping", "inputSchema": {"type": "object", "properties": {"host": {"type": "string"}}, "required": ["host"]}}]}"#;
    fs::write(at.join("catalog.json"), catalog).unwrap();
    let next = |text: &str, more: &[&str]| {
        let signature = ["next", "-", "--signature", "f(n: number) -> number"];
        run(at, &[&signature, more].concat(), text)
    };
    assert_eq!(
        next("RET MUL REF ", &[]),
        (0, "0 (slot n: number)\nforced: \"0 \"\nan end: \"0 LIT 1 0\"\n".to_owned(), String::new())
    );
    let (code, out, error) = next("LET 1 CALL 0 1 ", &["--catalog", "catalog.json"]);
    assert!(code == 0 && out.starts_with("0 (field host)\n"), "{out}{error}");
    let (code, out, _) = next("RET MUL REF ", &["--json"]);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, 0);
    assert_eq!(json["next"], serde_json::json!([{"slot": 0, "name": "n", "type": "number"}]));
    assert!(json["forced"] == "0 " && json["prefix"] == "; fn f(n: number) -> number\n", "{json}");
    let wrong = next("LET 1 LIT 1 2\nRET MLU REF 0\n", &[]);
    let place = "ilo-asm: standard input:2:6: expected ";
    assert!(wrong.0 == 2 && wrong.2.starts_with(place), "{}", wrong.2);
    assert!(wrong.2.ends_with("found `MLU`; did you mean `MUL`?\n"), "{}", wrong.2);
    // A header in the file gives the signature.
    let (code, out, error) = run(at, &["next", "good.ilo"], "");
    assert!(code == 0 && out.contains("the end of the program"), "{out}{error}");
    // A function in constrained gives it too.
    let header = r#"{"fn":"f","in":{"n":"num"},"out":"num","body":["#;
    let (code, out, error) = run(at, &["next", "-"], &format!("{header}{{\"ret\":{{\"*\":[\"n\""));
    assert_eq!((code, out.as_str()), (0, ",\nforced: \",\"\nan end: \",0]}}]}\"\n"), "{error}");
    let (code, _, error) = run(at, &["next", "-"], &format!("{header}{{\"ret\":\"m\"}}]}}"));
    assert!(code == 2 && error.ends_with("1:56: expected `n\"`; found `m\"}]}`\n"), "{error}");
    let (code, _, error) = run(at, &["next", "-"], "{\"fn\":");
    assert!(code == 2 && error.contains("after which a body begins"), "{error}");
    let (code, _, error) = run(at, &["next", "-"], "RET ");
    assert!(code == 2 && error.contains("a signature must be given"), "{error}");
}

#[test]
fn shells_complete_it_and_each_verb_has_a_page() {
    let folder = folder();
    let at = folder.path();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (code, script, _) = run(at, &["completions", shell], "");
        assert!(code == 0 && script.contains("ilo-asm") && script.contains("catalog"), "{shell}: {script}");
    }
    let (code, page, _) = run(at, &["man"], "");
    assert!(code == 0 && page.contains(".TH ilo-asm 1") && page.contains("explain"), "{page}");
    assert_eq!(run(at, &["man", "pages"], "").0, 0);
    let check = fs::read_to_string(at.join("pages/ilo-asm-check.1")).unwrap();
    assert!(check.contains("Example: ilo") && at.join("pages/ilo-asm.1").exists(), "{check}");
}

#[test]
fn grammar_is_for_the_tools_that_are_named() {
    let folder = folder();
    let at = folder.path();
    let tools = r#"{"tools":[{"name":"send-mail"},{"name":"get-user"}]}"#;
    fs::write(at.join("tools.json"), tools).unwrap();
    let arguments = |only| ["grammar", "--to", "ebnf", "--catalog", "tools.json", "--only", only];
    let (code, grammar, error) = run(at, &arguments("get-user"), "");
    assert!(code == 0 && error.is_empty(), "{error}");
    assert!(
        grammar.contains("# ; Tools: 0=get-user\n") && grammar.contains("\nroot ::= block0\n"),
        "{grammar}"
    );
    assert!(!grammar.contains("send-mail") && grammar.contains("It does not hold"), "{grammar}");
    let (code, out, error) = run(at, &arguments("get-usr"), "");
    assert!(code == 2 && out.is_empty() && error.contains("did you mean `get-user`?"), "{error}");
    let deep = ["grammar", "--to", "gbnf", "--depth", "99"];
    let (code, _, error) = run(at, &deep, "");
    assert!(
        code == 2 && error.contains("invalid value '99' for '--depth <DEPTH>': 99 is not in 1..=10"),
        "{error}"
    );
}

#[test]
fn schema_is_for_a_signature_and_refuses_before_a_host_does() {
    let folder = folder();
    let at = folder.path();
    let catalog = |count: usize| {
        let tools = (0..count).map(|number| {
            serde_json::json!({"name": format!("t{number}"), "inputSchema": {"type": "object",
                "properties": {"host": {"type": "number"}, "n": {"type": "number"}}, "required": ["host"]}})
        });
        serde_json::json!({"tools": tools.collect::<Vec<_>>()}).to_string()
    };
    fs::write(at.join("few.json"), catalog(3)).unwrap();
    fs::write(at.join("many.json"), catalog(1_000)).unwrap();
    let signature = ["--signature", "f(id: text, items: list number) -> result nil, text"];
    let schema = |catalog, more: &[&str]| run(at, &[&["schema", "--catalog", catalog], more].concat(), "");
    for host in [&[][..], &["--for", "openai"], &["--for", "anthropic"], &["--for", "outlines"]] {
        let (code, out, error) = schema("few.json", &[&signature[..], host].concat());
        assert!(code == 0 && error.is_empty(), "{error}");
        assert!(out.starts_with("{\"description\":\"") && out.contains("does not hold"), "{out}");
        let json: serde_json::Value = serde_json::from_str(&out).unwrap();
        let inputs = &json["properties"]["in"]["properties"];
        assert_eq!(inputs["items"]["enum"], serde_json::json!(["list num"]));
        assert_eq!(json["properties"]["out"]["enum"], serde_json::json!(["result nil text"]));
        // Those for any host and for OpenAI refer to themselves, the one for Outlines has no references.
        let is_endless = json["$defs"].get("step").is_some();
        assert_eq!(is_endless, matches!(host, [] | [_, "openai"]), "{host:?}");
        assert_eq!(out.contains("\"$ref\""), !host.contains(&"outlines"), "{host:?}");
    }
    let (code, out, _) = schema("few.json", &["--only", "t1"]);
    assert!(code == 0 && out.contains("\"t1\"") && !out.contains("\"t2\""), "{out}");
    let (code, out, error) = schema("few.json", &["--only", "t9"]);
    assert!(code == 2 && out.is_empty() && error.contains("no tool `t9`; did you mean"), "{error}");
    let (code, _, error) = schema("few.json", &["--for", "openai"]);
    assert!(code == 2 && error.contains("--signature"), "{error}");
    for (host, limit) in
        [("anthropic", "at most 20 tools, found 1000"), ("openai", "at most 5000 properties, found ")]
    {
        let (code, _, error) = schema("many.json", &[&["--for", host], &signature[..]].concat());
        assert!(code == 2 && error.contains(limit) && error.contains("--only"), "{error}");
    }
}

#[cfg(feature = "vm")]
#[test]
fn the_other_program_is_the_assembler_as_asm_and_by_its_name() {
    let folder = folder();
    let vm = env!("CARGO_BIN_EXE_ilo-vm");
    let (code, _, errors) = run(folder.path(), &["check", "wrong.ilo"], "");
    let output =
        Command::new(vm).args(["asm", "check", "wrong.ilo"]).current_dir(folder.path()).output().unwrap();
    assert_eq!(
        (output.status.code(), String::from_utf8(output.stderr).unwrap()),
        (Some(code), errors.clone())
    );
    assert_eq!(code, 2);

    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        let mut named = Command::new(vm);
        named.arg0("/anywhere/ilo-asm").args(["check", "wrong.ilo"]).current_dir(folder.path());
        let output = named.output().unwrap();
        assert_eq!((output.status.code(), String::from_utf8(output.stderr).unwrap()), (Some(code), errors));
    }

    let help = Command::new(vm).args(["asm", "check", "--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("Usage: ilo-vm asm check"), "{help}");
}
