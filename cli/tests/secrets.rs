//! Secrets of a tools file are in no message, trace, log or outcome, whatever servers and commands print.
#![cfg(unix)]
use std::io::Write;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// Each secret is in another place; all contain this text.
const CANARY: &str = "canary";

/// Servers and a command that print everything that they get, and fail.
const TOOLS: &str = r#"{
  "mcpServers": {
    "dies": {
      "command": "sh",
      "args": ["-c", "echo \"$* $CANARY_KEY $OTHER\" >&2; exit 1", "x", "--api-key", "canary-51-argument", "--root=${CANARY_ROOT}"],
      "env": {"CANARY_KEY": "canary-52-environment", "OTHER": "canary_53_Environment"}
    },
    "errs": {
      "command": "sh",
      "args": ["-c", "read x; printf '{\"jsonrpc\":\"2.0\",\"id\":0,\"error\":{\"code\":-1,\"message\":\"no %s\"}}\\n' \"$CANARY_KEY\"; sleep 1"],
      "env": {"CANARY_KEY": "canary-65-environment"}
    },
    "web": {
      "url": "http://user:canary-54-password@127.0.0.1:1/mcp?api_key=${CANARY_URL}&x=canary%2F55",
      "headers": {"Authorization": "Bearer canary-56-header", "X-Api-Key": "canary-57-header"}
    },
    "bad": {"url": "ftp://127.0.0.1/?key=canary-58-url"}
  },
  "tools": {
    "leak": {
      "command": ["sh", "-c", "echo \"$* $LEAK_TOKEN\" >&2; exit 3", "x", "--token", "canary-59-argument", "--password=canary-60"],
      "env": {"LEAK_TOKEN": "canary-61-environment"}
    },
    "codes": {
      "command": ["sh", "-c", "printf 'user:%s' \"$CODED_TOKEN\" | base64 >&2; printf %s \"$CODED_TOKEN\" | od -An -tx1 | tr -d ' \\n' >&2; exit 3"],
      "env": {"CODED_TOKEN": "canary-64-environment"}
    },
    "prints": {
      "command": ["sh", "-c", "printf 'it is %s' \"$PRINTED_TOKEN\""],
      "env": {"PRINTED_TOKEN": "canary-66-environment"}
    },
    "misfits": {
      "command": ["sh", "-c", "printf '{\"state\":\"%s\"}' \"$MISFIT_TOKEN\""],
      "env": {"MISFIT_TOKEN": "canary-67-environment"},
      "output_schema": {"type": "object", "properties": {"state": {"enum": ["on", "off"]}}, "required": ["state"]}
    },
    "dies": {
      "command": ["sh", "-c", "echo $DYING_TOKEN >&2; kill -9 $$"],
      "env": {"DYING_TOKEN": "canary-68-environment"}
    }
  }
}"#;

fn program(tool: &str) -> String {
    format!("; fn f(id: text) -> any\n; Tools: 0={tool}\n; Fields: 0=id\nRET CALL 0 1 0 REF 0\n")
}

/// The output of a command on both streams.
fn said(folder: &TempDir, line: &[&str], input: &str) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_ilo-vm"))
        .args(line)
        .current_dir(folder.path())
        .envs([("CANARY_URL", "canary-62-variable"), ("CANARY_ROOT", "canary-63-variable")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdin.take().unwrap().write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat()
}

#[test]
fn no_secret_of_the_tools_file_is_shown_anywhere() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("bad.json", TOOLS);
    write("tools.json", &TOOLS.replace("ftp://", "http://").replace("127.0.0.1/?key", "127.0.0.1:1/?key"));
    for (name, tool) in [
        ("leak.ilo", "leak"),
        ("codes.ilo", "codes"),
        ("prints.ilo", "prints"),
        ("misfits.ilo", "misfits"),
        ("killed.ilo", "dies"),
        ("dies.ilo", "mcp://dies/x"),
        ("errs.ilo", "mcp://errs/x"),
        ("web.ilo", "mcp://web/x"),
    ] {
        write(name, &program(tool));
    }
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"f","arguments":{"id":"1"}}}
"#;
    let tools = ["--tools", "tools.json"];
    let all = [
        (vec!["tools", "--tools", "bad.json"], "bad-tools-file", ""),
        ([&["tools"], &tools[..]].concat(), "command: sh", ""),
        ([&["tools"], &tools[..]].concat(), "in the list of processes (`ps`); give it with `env`", ""),
        ([&["tools", "--json"], &tools[..]].concat(), "leak", ""),
        ([&["run", "leak.ilo", "--arg", "id=1", "--trace", "trace"], &tools[..]].concat(), "tool-failed", ""),
        ([&["run", "codes.ilo", "--arg", "id=1"], &tools[..]].concat(), "tool-failed", ""),
        ([&["run", "prints.ilo", "--arg", "id=1"], &tools[..]].concat(), "found `it is ***`", ""),
        ([&["run", "misfits.ilo", "--arg", "id=1"], &tools[..]].concat(), "the answer does not fit", ""),
        (
            [&["run", "killed.ilo", "--arg", "id=1", "--journal", "journal"], &tools[..]].concat(),
            "in-doubt",
            "",
        ),
        (vec!["runs", "show", "1", "--journal", "journal"], "dies", ""),
        ([&["check", "leak.ilo", "--lock", "lock"], &tools[..]].concat(), "", ""),
        ([&["run", "dies.ilo", "--arg", "id=1"], &tools[..]].concat(), "it said", ""),
        ([&["run", "errs.ilo", "--arg", "id=1"], &tools[..]].concat(), "server `errs`", ""),
        ([&["run", "web.ilo", "--arg", "id=1"], &tools[..]].concat(), "Connection refused", ""),
        ([&["check", "leak.ilo"], &tools[..]].concat(), "", ""),
        ([&["plan", "leak.ilo"], &tools[..]].concat(), "leak", ""),
        ([&["serve", "leak.ilo", "--log", "trace"], &tools[..]].concat(), "\"id\":2", hello),
    ];
    for (line, expected, input) in all {
        let said = said(&folder, &line, input);
        assert!(said.contains(expected), "{line:?}: {said}");
        let shown = said.replace("CANARY", "").lines().find(|line| line.contains(CANARY)).map(str::to_owned);
        assert_eq!(shown, None, "{line:?}");
        // `canary-64-environment` in base64 after `user:`, and as digits.
        for coded in ["Y2FuYXJ5LTY0", "jYW5hcnktNjQt", "63616e6172792d3634"] {
            assert!(!said.contains(coded), "{line:?}: {said}");
        }
    }
    let trace = std::fs::read_to_string(folder.path().join("trace")).unwrap();
    assert!(
        trace.contains("\"failed\":\"--token *** --password=*** ***\"") && !trace.contains(CANARY),
        "{trace}"
    );
}
