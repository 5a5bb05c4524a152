//! Tools files: what is accepted, and every error with its place.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use ilo_host::tools::{OnDoubt, Source, Tools};
use std::path::{Path, PathBuf};

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
    let text = "[mcpServers.m]\nurl = \"https://x/mcp\"\n[mcpServers.m.policy]\ndeny = [\"x\"]\nconfirm = true\n\
                [mcpServers.m.policy.tools.get]\nread_only = true\nidempotent = true\nretries = 2\n\
                [tools.get]\nmcp = \"mcp://m/get\"\nretries = 1\n[tools.set]\nmcp = \"mcp://m/set\"\n";
    let tools = Tools::from_file(&folder.file("tools.toml", text)).unwrap();
    let policy = |name: &str| tools.get(name).unwrap().policy.to_string();
    assert_eq!(policy("get"), "reads only, idempotent, 1 retry");
    assert_eq!(policy("set"), "may change something, asks first");
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
  "mcpServers": { "mail": { "url": "ftp://x" }, "": { "command": "x" }, "d": {} },
  "toolz": {}
}"#;
    let found = problems("tools.json", text);
    let expected = [
        ("13:3", "toolz: unknown key `toolz`; did you mean `tools`?"),
        ("12:29", "mcpServers.mail.url: expected `http://…` or `https://…`, found `ftp://x`"),
        ("12:49", "mcpServers.: a server's name is not empty, since tools are named `mcp://server/tool`"),
        ("12:73", "mcpServers.d: expected `command` or `url`, found neither"),
        ("3:12", "tools.a.mok: unknown key `mok`; did you mean `mock`?"),
        ("3:5", "tools.a: expected one of mock, command, mcp, builtin, found none"),
        ("4:22", "tools.b.mock[0]: expected `returns` or `fails`, found both"),
        ("4:56", "tools.b.mock[1].when: expected a record, found a number"),
        ("4:99", "tools.b.mock[2].times: expected a whole number from 1, found 0"),
        ("5:12", "tools.c.command: expected a list, the program first; write it as [\"sh\",\"resize.sh\"]"),
        ("6:41", "tools.d.timeout_ms: expected a whole number from 1, found 1.5"),
        ("7:12", "tools.e.mcp: `mcpServers` has no `mial`; did you mean `mail`?"),
        ("9:30", "tools.g.command[1]: expected a text, found a number"),
        ("9:34", "tools.g.args: write the arguments into `command`, after the program"),
        ("10:5", "tools.h: expected a record, found a number"),
        ("8:38", "tools.f.input_schema: no JSON Schema that can be used: "),
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, (place, message)) in found.iter().zip(expected) {
        let expected = format!("error[bad-tools-file]: tools.json:{place}: {message}");
        assert!(found.starts_with(&expected), "expected {expected}\nfound    {found}");
    }
}

#[test]
fn rates_and_built_in_tools_are_checked() {
    let text = r#"{
  "tools": {
    "a": { "mock": { "returns": 1 }, "rate": { "calls": 0, "per_ms": 1 } },
    "b": { "mock": { "returns": 1 }, "rate": { "calls": 10001, "per_ms": 1 } },
    "c": { "mock": { "returns": 1 }, "rate": { "calls": 1 } },
    "d": { "mock": { "returns": 1 }, "rate": 5 },
    "e": { "builtin": "nwo" },
    "f": { "builtin": "now", "output_schema": {} },
    "g": { "builtin": "hash", "rate": { "calls": 1, "per": 1, "per_ms": 86400000 } },
    "h": { "mock": { "returns": 1 }, "json": true }
  }
}"#;
    let expected = [
        ("3:48", "tools.a.rate.calls: expected a whole number from 1, found 0"),
        ("4:48", "tools.b.rate.calls: expected at most 10000, found 10001"),
        ("5:38", "tools.c.rate: expected `calls` and `per_ms`, found no `per_ms`"),
        ("6:38", "tools.d.rate: expected a record, found a number"),
        ("7:12", "tools.e.builtin: there is no built-in tool `nwo`; did you mean `now`?"),
        ("8:30", "tools.f.output_schema: `output_schema` of a built-in tool is given, so leave it out"),
        ("9:53", "tools.g.rate.per: unknown key `per`; known are calls, per_ms"),
        ("10:38", "tools.h.json: `json` belongs to an entry with `mcp`"),
    ];
    let found = problems("tools.json", text);
    let expected =
        expected.map(|(place, message)| format!("error[bad-tools-file]: tools.json:{place}: {message}"));
    assert_eq!(found, expected);
}

#[test]
fn of_many_problems_the_first_are_shown_and_that_is_said() {
    let file = |count: usize| {
        let tools: Vec<String> = (0..count).map(|it| format!(r#""t{it}": {{"command": 1}}"#)).collect();
        problems("tools.json", &format!(r#"{{"tools": {{{}}}}}"#, tools.join(",")))
    };
    let (all, some) = (file(100), file(101));
    assert_eq!((all.len(), some.len()), (100, 101));
    assert!(all.iter().all(|it| it.contains("expected a list of texts")), "{all:?}");
    assert!(some.last().unwrap().ends_with("tools.json: there are more problems; the first 100 are shown"));
}

#[test]
fn a_file_that_cannot_be_read_says_where() {
    let cases = [
        ("a.json", "{\"tools\": {}", "a.json:1:13: "),
        ("a.json", "{\"tools\": {\"a\":1,\"a\":2}}", "a.json:1:18: `a` is given twice"),
        ("a.json", "{}", "a.json:1:1: expected `tools` or `mcpServers`, found neither"),
        ("a.json", "[]", "a.json:1:1: expected a record, found a list"),
        ("a.toml", "[tools.a]\nmock = [", "a.toml:2:"),
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
        let tools = Tools::from_text("a.json", &text, Path::new(".")).unwrap();
        let found = tools.problems(["a"]);
        assert!(
            found[0].message.starts_with("tools.a.input_schema: no JSON Schema that can be used"),
            "{found:?}"
        );
    }
    let own = r##"{"tools":{"a":{"mock":{"returns":1},"input_schema":{"type":"object","properties":{"x":{"$ref":"#/$defs/x"}},
        "$defs":{"x":{"type":"string"}}}}}}"##;
    assert_eq!(problems("a.json", own), [""; 0]);
}

#[test]
fn a_schema_that_cannot_be_used_is_in_the_way_of_calls_of_its_tool_alone() {
    for (schema, place, expected) in [
        (r#"{"type": "objekt"}"#, "3:33", "no JSON Schema that can be used: `type` is one of "),
        (r#"{"type": "object", "type": "string"}"#, "3:49", "a record with the key `type` twice"),
        (r#"{"const": 9223372036854775808}"#, "3:59", "the integer 9223372036854775808 does not fit 64 bits"),
    ] {
        let text = format!(
            r#"{{"tools": {{
                "good": {{"mock": {{"returns": 1}}, "output_schema": {{"type": "integer"}}}},
"bad": {{"mock": {{"returns": 1}}, "input_schema": {schema}}}}}}}"#
        );
        let tools = Tools::from_text("a.json", &text, Path::new(".")).unwrap();
        assert_eq!(tools.problems(["good"]), []);
        let found = tools.problems(["bad"]);
        assert_eq!(found[0].place, format!("a.json:{place}"), "{found:?}");
        assert!(found[0].message.starts_with(&format!("tools.bad.input_schema: {expected}")), "{found:?}");
        assert_eq!(tools.schema_problems().collect::<Vec<_>>(), found);
    }
    let twice = r#"{"tools": {"a": {"mock": {"returns": 1}, "input_schema": {}, "input_schema": {}}}}"#;
    assert!(problems("a.json", twice)[0].contains("`input_schema` is given twice"));
}

#[test]
fn what_follows_an_answer_that_never_came_has_its_usual_name_and_its_earlier_one() {
    for key in ["on_unanswered", "on_doubt"] {
        let entry = |word: &str| {
            let text = format!(r#"{{"tools": {{"t": {{"mock": {{"returns": 1}}, "{key}": "{word}"}}}}}}"#);
            Tools::from_text("tools.json", &text, Path::new("."))
        };
        let stops = entry("stop").unwrap();
        assert_eq!(stops.get("t").unwrap().policy.on_doubt, OnDoubt::Stop, "{key}");
        let refused = entry("ask").unwrap_err().to_string();
        assert!(refused.contains(&format!("tools.t.{key}: expected \"fail\" or \"stop\"")), "{refused}");
    }
}

#[test]
fn every_contradiction_of_a_policy_is_reported_with_its_place() {
    let text = r#"{
  "mcpServers": {
    "a": { "command": "x", "policy": { "alow": [], "deny": ["d"], "allow": ["d"], "retries": 11,
           "confirm": true, "read_only": true } },
    "b": { "command": "x", "policy": { "allow": ["r"], "idempotent": true, "read_only": true,
           "tools": { "r": { "confirm": true, "retrie": 1 }, "w": { "binary": "hex" } } } },
    "c": { "command": "x", "allow": [], "policies": {}, "policy": { "tools": { "t": { "retries": 1 } } } },
    "d": { "command": "x", "policy": { "deny": ["t"] } }
  },
  "tools": {
    "m": { "mock": { "returns": 1 }, "binary": "base64", "confirm": true, "read_only": true },
    "n": { "mcp": "mcp://d/t" },
    "o": { "mcp": "mcp://b/r", "confirm": true },
    "p": { "mcp": "mcp://b/r", "retries": 1 }
  }
}"#;
    let found = problems("tools.json", text);
    let expected = [
        ("3:40", "mcpServers.a.policy.alow: unknown key `alow`; did you mean `allow`?"),
        ("3:83", "mcpServers.a.policy.retries: expected at most 10, found 11"),
        (
            "4:12",
            "mcpServers.a.policy.confirm: asking is for tools that change something, and here all are `read_only`",
        ),
        ("3:52", "mcpServers.a.policy.deny: `d` is both allowed and denied"),
        ("6:47", "mcpServers.b.policy.tools.r.retrie: unknown key `retrie`; did you mean `retries`?"),
        (
            "6:30",
            "mcpServers.b.policy.tools.r.confirm: asking is for tools that change something, and this one is `read_only`",
        ),
        ("6:69", "mcpServers.b.policy.tools.w.binary: expected \"base64\" or \"size\", found \"hex\""),
        (
            "6:62",
            "mcpServers.b.policy.tools.w: the policy does not allow this tool, so nothing else can hold for it",
        ),
        ("7:28", "mcpServers.c.allow: `allow` has no meaning here; write it as `\"policy\": {\"allow\": …}`"),
        ("7:41", "mcpServers.c.policies: `policies` has no meaning here; did you mean `policy`?"),
        (
            "7:87",
            "mcpServers.c.policy.tools.t.retries: only calls of a tool that is marked `\"idempotent\": true` are made again",
        ),
        ("11:38", "tools.m.binary: `binary` belongs to an entry with `mcp`"),
        ("11:58", "tools.m.confirm: asking is for tools that change something, and this one is `read_only`"),
        ("12:12", "tools.n.mcp: the policy of the server `d` does not allow `t`"),
        ("13:32", "tools.o.confirm: asking is for tools that change something, and this one is `read_only`"),
    ];
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, (place, message)) in found.iter().zip(expected) {
        let expected = format!("error[bad-tools-file]: tools.json:{place}: {message}");
        assert!(found.starts_with(&expected), "expected {expected}\nfound    {found}");
    }
}

#[test]
fn what_a_tool_lacks_is_in_the_way_of_those_who_call_it() {
    let folder = Folder::new();
    let text = r#"{
  "mcpServers": {
    "s": { "command": "x", "env": { "KEY": "${NO_SUCH_VARIABLE_HERE}" } },
    "old": { "url": "http://127.0.0.1:1/sse", "type": "sse" },
    "ask": { "command": "x", "args": ["${input:token}"], "envFile": ".env" }
  },
  "tools": {
    "good": { "mock": { "returns": 1 } },
    "gone": { "command": ["./missing.sh"] },
    "get": { "mcp": "mcp://s/get" }
  }
}"#;
    let mut tools = Tools::from_file(&folder.file("tools.json", text)).unwrap();
    let told = |problems: &mut dyn Iterator<Item = String>| -> Vec<String> {
        let prefix = format!("error[bad-tools-file]: {}/tools.json:", folder.0.path().display());
        problems.map(|problem| problem.strip_prefix(&prefix).unwrap().to_owned()).collect()
    };
    let variable = "3:37: mcpServers.s.env.KEY: the environment has no text `NO_SUCH_VARIABLE_HERE`; set it, or write \
                    `${NO_SUCH_VARIABLE_HERE:-default}`";
    let gone = "9:27: tools.gone.command[0]: no program `./missing.sh` that can be run, seen from the folder of the tools file";
    let sse = "4:47: mcpServers.old.type: the transport of the older protocol, `sse`, is not spoken; give the URL of the \
               server's streamable HTTP, with the type `http`";
    assert_eq!(tools.problems(["good", "unknown:no"]).len(), 1);
    assert_eq!(told(&mut tools.problems(["gone"]).iter().map(ToString::to_string)), [gone]);
    assert_eq!(told(&mut tools.problems(["get"]).iter().map(ToString::to_string)), [variable]);
    assert_eq!(told(&mut tools.connect(["mcp://old/x"]).unwrap_err().iter().map(ToString::to_string)), [sse]);
    let all = told(&mut tools.lacking().map(ToString::to_string));
    assert_eq!(all.len(), 5, "{all:#?}");
    assert!(
        all.iter().any(|told| told.ends_with("write `${NAME}` for `${input:token}`, and set it")),
        "{all:#?}"
    );
    assert!(
        all.iter().any(|told| told.contains("mcpServers.ask.envFile: files of variables are not read")),
        "{all:#?}"
    );
}

#[test]
fn the_files_that_the_page_on_mcp_prints_are_read() {
    let page = include_str!("../MCP.md");
    let blocks: Vec<&str> =
        page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(blocks.len() >= 3, "it has files");
    for block in blocks {
        assert_eq!(problems("tools.json", block), [""; 0], "{block}");
    }
}

/// A byte order mark, comments, UTF-16 and size: each says what it is, or is read.
#[test]
fn bytes_that_editors_write_are_read_or_told() {
    let folder = Folder::new();
    let read = |name: &str, bytes: &[u8]| {
        let path = folder.0.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        Tools::from_file(&path).map(|tools| tools.servers().map(str::to_owned).collect::<Vec<_>>())
    };
    let text = "\u{feff}/* a */ { // b\n \"mcpServers\" /* c */ : { \"a\" : { // \"d\"\n \"command\": \"x // y\", /* e */ }, } , } // f";
    assert_eq!(read("a.json", text.as_bytes()).unwrap(), ["a"]);
    assert_eq!(read("a.toml", "\u{feff}# a\n[mcpServers.a] # b\ncommand = \"x\"".as_bytes()).unwrap(), ["a"]);
    assert_eq!(read("goose.yaml", "\u{feff}# a\nextensions:\n  a:\n    cmd: x".as_bytes()).unwrap(), ["a"]);
    let wide: Vec<u8> = "{}".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for bytes in [[&[0xff, 0xfe], &wide[..]].concat(), wide.clone(), [&[0xfe, 0xff], &wide[..]].concat()] {
        let problems = read("w.json", &bytes).unwrap_err();
        assert!(
            problems[0].to_string().ends_with("it is UTF-16 or UTF-32; save it as UTF-8"),
            "{problems:?}"
        );
    }
    let large =
        format!("{{\"mcpServers\": {{\"a\": {{\"command\": \"x\"}}}} /*{}*/}}", " ,]".repeat(3_500_000));
    assert!(large.len() > 10_000_000);
    assert_eq!(read("large.json", large.as_bytes()).unwrap(), ["a"]);
    let larger = format!("{large}//{}", " ".repeat(16 << 20));
    assert!(
        read("larger.json", larger.as_bytes()).unwrap_err()[0].to_string().contains("larger than its limit")
    );
    let open = read("open.json", b"{\"mcpServers\": {} /* and so on").unwrap_err();
    assert!(open[0].to_string().contains("open.json:1:19: "), "{open:?}");
}
