//! Tools files: what is accepted, and every error with its place.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use ilo_host::tools::{Source, Tools};
use std::path::PathBuf;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

/// The problems of a file, without the folder's path.
fn problems(name: &str, text: &str) -> Vec<String> {
    let folder = Folder::new();
    match Tools::from_file(&folder.file(name, text)) {
        Ok(_) => Vec::new(),
        Err(problems) => {
            let prefix = format!("{}/", folder.0.path().display());
            problems.iter().map(|problem| problem.to_string().replace(&prefix, "")).collect()
        }
    }
}

#[test]
fn the_printed_example_is_read() {
    let folder = Folder::new();
    let text = r#"{
      "mcpServers": {
        "time":  { "command": "mcp-server-time", "args": ["--local-timezone", "UTC"], "env": {} },
        "mail": { "url": "http://127.0.0.1:3001/mcp" }
      },
      "tools": {
        "get-user":   { "mock": [ { "when": { "user-id": "u1" }, "returns": { "email": "a@b.c", "verified": true } },
                                  { "fails": "no such user" } ] },
        "health":     { "mock": [ { "returns": true, "times": 1 }, { "returns": false } ] },
        "resize":     { "command": ["sh", "resize.sh"], "timeout_ms": 5000, "read_only": true },
        "send-email": { "mcp": "mcp://mail/send", "args": { "to": "recipient" } }
      }
    }"#;
    let tools = Tools::from_file(&folder.file("tools.json", text)).unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(names, ["get-user", "health", "resize", "send-email"]);
    assert_eq!(tools.servers().collect::<Vec<_>>(), ["mail", "time"]);
    assert_eq!(tools.get("resize").unwrap().source, Source::Command("sh resize.sh".into()));
    assert!(tools.get("resize").unwrap().policy.read_only);
    assert!(!tools.get("get-user").unwrap().policy.read_only);
    assert_eq!(tools.get("mcp://users/get-user").unwrap().name, "get-user");
    assert!(tools.get("mcp://mail/get-user").is_none());
}

#[test]
fn toml_of_the_same_shape_is_read() {
    let folder = Folder::new();
    let text = "[mcpServers.mail]\nurl = \"https://x/mcp\"\n[tools.a]\nmock = [{ when = { n = 1.5 }, returns = [1, \"x\", true] }]\n\
                [tools.b]\nmock.fails = \"no\"\n";
    let tools = Tools::from_file(&folder.file("tools.toml", text)).unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn a_clients_own_file_works_unchanged() {
    let client = r#"{"globalShortcut":"x","mcpServers":{"a":{"command":"npx","args":["-y"],"alwaysAllow":["b"],
        "type":"stdio"},"b":{"url":"https://x/","headers":{"A":"b"}}}}"#;
    assert_eq!(problems("client.json", client), [""; 0]);
    let near = r#"{"mcpServer":{},"mcpServers":{"a":{"comand":"x","command":"y"}}}"#;
    assert_eq!(
        problems("client.json", near),
        [
            "error[bad-tools-file]: client.json:1:2: mcpServer: unknown key `mcpServer`; did you mean `mcpServers`?",
            "error[bad-tools-file]: client.json:1:36: mcpServers.a.comand: unknown key `comand`; did you mean `command`?",
        ]
    );
}

#[test]
fn every_problem_is_reported_with_its_place() {
    let text = r#"{
  "tools": {
    "a": { "mok": [] },
    "b": { "mock": [ { "returns": 1, "fails": "x" }, { "when": 1, "returns": 2 }, { "returns": 1, "times": 0 } ] },
    "c": { "command": "sh resize.sh" },
    "d": { "command": ["./missing.sh"], "timeout_ms": 1.5 },
    "e": { "mcp": "mcp://mial/send" },
    "f": { "mock": { "returns": 1 }, "input_schema": { "type": "objekt" } },
    "g": { "command": ["sh", 1], "args": ["x"] },
    "h": 7
  },
  "mcpServers": { "mail": { "url": "ftp://x" }, "b/c": { "command": "x" }, "d": {} },
  "toolz": {}
}"#;
    let found = problems("tools.json", text);
    let expected = [
        ("13:3", "toolz: unknown key `toolz`; did you mean `tools`?"),
        ("12:29", "mcpServers.mail.url: expected `http://…` or `https://…`, found `ftp://x`"),
        (
            "12:49",
            "mcpServers.b/c: a server's name is not empty and has no `/`, since tools are named `mcp://server/tool`",
        ),
        ("12:76", "mcpServers.d: expected `command` or `url`, found neither"),
        ("3:12", "tools.a.mok: unknown key `mok`; did you mean `mock`?"),
        ("3:5", "tools.a: expected one of mock, command, mcp, found none"),
        ("4:22", "tools.b.mock[0]: expected `returns` or `fails`, found both"),
        ("4:56", "tools.b.mock[1].when: expected a record, found a number"),
        ("4:99", "tools.b.mock[2].times: expected a whole number from 1, found 0"),
        ("5:12", "tools.c.command: expected a list, the program first; write it as [\"sh\",\"resize.sh\"]"),
        (
            "6:24",
            "tools.d.command[0]: no program `./missing.sh` that can be run, seen from the folder of the tools file",
        ),
        ("6:41", "tools.d.timeout_ms: expected a whole number from 1, found 1.5"),
        ("7:12", "tools.e.mcp: `mcpServers` has no `mial`; did you mean `mail`?"),
        ("8:38", "tools.f.input_schema: no JSON Schema that can be used: "),
        ("9:30", "tools.g.command[1]: expected a text, found a number"),
        ("9:34", "tools.g.args: write the arguments into `command`, after the program"),
        ("10:5", "tools.h: expected a record, found a number"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, (place, message)) in found.iter().zip(expected) {
        let expected = format!("error[bad-tools-file]: tools.json:{place}: {message}");
        assert!(found.starts_with(&expected), "expected {expected}\nfound    {found}");
    }
}

#[test]
fn a_file_that_cannot_be_read_says_where() {
    let cases = [
        ("a.json", "{\"tools\": {}", "a.json:1:13: "),
        ("a.json", "{\"tools\": {\"a\":1,\"a\":2}}", "a.json:1:11: a record with the key `a` twice"),
        ("a.json", "{}", "a.json:1:1: expected `tools` or `mcpServers`, found neither"),
        ("a.json", "[]", "a.json:1:1: expected a record, found a list"),
        ("a.toml", "[tools.a]\nmock = [", "a.toml:2:"),
        (
            "a.toml",
            "[tools.a]\nmock.returns = 1979-05-27",
            "a.toml:2:16: a date is no value here; put it in quotes",
        ),
        ("a.toml", "[tools.a]\nmock.returns = inf", "a.toml:2:16: a number that is not finite"),
        (
            "a.toml",
            "[tools.a]\nmock.returns = 1\nmock.tims = 2",
            "a.toml:3:6: tools.a.mock.tims: unknown key",
        ),
    ];
    for (name, text, expected) in cases {
        let found = problems(name, text);
        assert!(found[0].starts_with(&format!("error[bad-tools-file]: {expected}")), "{text}: {found:?}");
    }
    let missing = Tools::from_file(&PathBuf::from("no/such/file.json")).unwrap_err();
    assert!(missing[0].to_string().starts_with("error[bad-usage]: no/such/file.json: cannot be read: "));
}

#[test]
fn a_schema_is_never_fetched() {
    for reference in ["http://127.0.0.1:1/schema.json", "file:///etc/passwd", "other.json"] {
        let text = format!(
            r#"{{"tools":{{"a":{{"mock":{{"returns":1}},"input_schema":{{"$ref":"{reference}"}}}}}}}}"#
        );
        let found = problems("a.json", &text);
        assert!(found[0].contains("tools.a.input_schema: no JSON Schema that can be used"), "{found:?}");
    }
    let own = r##"{"tools":{"a":{"mock":{"returns":1},"input_schema":{"type":"object","properties":{"x":{"$ref":"#/$defs/x"}},
        "$defs":{"x":{"type":"string"}}}}}}"##;
    assert_eq!(problems("a.json", own), [""; 0]);
}
