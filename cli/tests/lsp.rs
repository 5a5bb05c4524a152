//! The language server over its protocol: every method over sources of the corpus, and a client that does
//! everything wrong.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How long the server may take for an answer on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// A server with its answers.
struct Server {
    child: Child,
    /// Messages to be written, by a thread of their own, as an editor does.
    to: Option<mpsc::Sender<Vec<u8>>>,
    from: mpsc::Receiver<Value>,
    number: i64,
    /// Messages that the server has sent by itself.
    said: Vec<Value>,
}

fn read(from: ChildStdout, to: &mpsc::Sender<Value>) {
    let mut from = BufReader::new(from);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if from.read_line(&mut line).unwrap_or(0) == 0 {
                return;
            }
            match line.trim_end().strip_prefix("Content-Length: ") {
                Some(number) => length = number.parse().unwrap(),
                None if line == "\r\n" => break,
                None => panic!("{line}"),
            }
        }
        let mut bytes = vec![0; length];
        from.read_exact(&mut bytes).unwrap();
        if to.send(serde_json::from_slice(&bytes).unwrap()).is_err() {
            return;
        }
    }
}

fn framed(json: &str) -> Vec<u8> {
    format!("Content-Length: {}\r\n\r\n{json}", json.len()).into_bytes()
}

impl Server {
    fn start() -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ilo-asm"));
        command.arg("lsp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (output, mut input) = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let (answers, from) = mpsc::channel();
        thread::spawn(move || read(output, &answers));
        let (to, messages) = mpsc::channel::<Vec<u8>>();
        thread::spawn(move || messages.into_iter().try_for_each(|bytes| input.write_all(&bytes)));
        Server { child, to: Some(to), from, number: 0, said: Vec::new() }
    }

    /// A server after the handshake.
    fn ready(options: &Value) -> Server {
        let mut server = Server::start();
        let encodings = json!({"general": {"positionEncodings": ["utf-16"]}});
        let params = json!({"capabilities": encodings, "processId": null, "rootUri": null, "initializationOptions": options});
        let answer = server.ask("initialize", &params);
        assert_eq!(answer["result"]["capabilities"]["positionEncoding"], "utf-16");
        server.tell("initialized", &json!({}));
        server
    }

    fn raw(&self, bytes: Vec<u8>) {
        self.to.as_ref().unwrap().send(bytes).unwrap();
    }

    fn tell(&self, method: &str, params: &Value) {
        self.raw(framed(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()));
    }

    /// Sends a request and returns its number.
    fn send(&mut self, method: &str, params: &Value) -> i64 {
        self.number += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params});
        self.raw(framed(&request.to_string()));
        self.number
    }

    /// The next message of the server.
    fn next(&self) -> Value {
        self.from.recv_timeout(PATIENCE).expect("the server answers")
    }

    /// The answer to a request.
    fn answer(&mut self, id: i64) -> Value {
        loop {
            let message = self.next();
            if message["id"] == id {
                return message;
            }
            self.said.push(message);
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    fn open(&self, uri: &str, language: &str, text: &str) {
        let item = json!({"uri": uri, "languageId": language, "version": 1, "text": text});
        self.tell("textDocument/didOpen", &json!({"textDocument": item}));
    }

    /// The diagnostics of a document that were shown last.
    fn shown(&mut self, uri: &str) -> Option<Vec<Value>> {
        // Every message before an answer has arrived.
        self.ask("textDocument/documentSymbol", &json!({"textDocument": {"uri": uri}}));
        let of = self.said.iter().rev().find(|one| one["params"]["uri"] == uri)?;
        of["params"]["diagnostics"].as_array().cloned()
    }

    /// Closes its input, or lets it end. Returns the exit code.
    fn end(mut self) -> Option<i32> {
        self.to = None;
        let until = Instant::now() + PATIENCE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(Instant::now() < until, "the server ends");
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Every request about a place or a document.
const METHODS: [&str; 12] = [
    "textDocument/completion",
    "textDocument/hover",
    "textDocument/signatureHelp",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/documentSymbol",
    "textDocument/inlayHint",
    "textDocument/semanticTokens/full",
    "textDocument/codeAction",
    "textDocument/formatting",
];

/// Parameters that suit every method.
fn params(uri: &str, line: usize, character: usize, lines: usize) -> Value {
    json!({
        "textDocument": {"uri": uri},
        "position": {"line": line, "character": character},
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": lines, "character": 0}},
        "context": {"includeDeclaration": true, "diagnostics": []},
        "options": {"tabSize": 2, "insertSpaces": true},
        "newName": "another",
    })
}

/// Whether every range in an answer is a range of a source.
fn check_ranges(answer: &Value, lines: &[&str]) {
    match answer {
        Value::Object(fields) => {
            if let (Some(start), Some(end)) = (fields.get("start"), fields.get("end")) {
                let place = |of: &Value| (of["line"].as_u64().unwrap(), of["character"].as_u64().unwrap());
                let (start, end) = (place(start), place(end));
                assert!(start <= end, "{answer}");
                let line = usize::try_from(end.0).unwrap();
                let length = lines.get(line).map_or(0, |line| line.encode_utf16().count());
                assert!(line <= lines.len() && end.1 <= u64::try_from(length).unwrap(), "{answer}");
            }
            fields.values().for_each(|value| check_ranges(value, lines));
        }
        Value::Array(items) => items.iter().for_each(|item| check_ranges(item, lines)),
        _ => {}
    }
}

/// The sources of the corpus: each in `EVERY`, or all with `EVERY=1`.
fn sources() -> Vec<(String, &'static str, String)> {
    let every = std::env::var("EVERY").ok().and_then(|every| every.parse().ok()).unwrap_or(41);
    let mut found = Vec::new();
    for case in crate::case::selected() {
        for source in case.sources() {
            let (language, ending) = match source.notation.to_string().as_str() {
                "id" => ("ilo", "ilo".to_owned()),
                "workflow" => ("yaml", "workflow.yaml".to_owned()),
                other => ("json", format!("{other}.json")),
            };
            let uri = format!("file:///corpus/{}.{ending}", found.len());
            found.push((uri, language, source.text.to_owned()));
        }
    }
    found.into_iter().step_by(every).collect()
}

#[test]
fn every_method_answers_over_the_corpus() {
    let mut server = Server::ready(&json!({}));
    let mut asked: HashMap<i64, (&str, String)> = HashMap::new();
    for (uri, language, text) in sources() {
        let unified = text.replace("\r\n", "\n").replace('\r', "\n");
        let lines: Vec<&str> = unified.split('\n').collect();
        server.open(&uri, language, &text);
        for (number, method) in METHODS.iter().enumerate() {
            let line = (lines.len() * number) / METHODS.len();
            let character = lines.get(line).map_or(0, |line| line.len() / 2);
            let id = server.send(method, &params(&uri, line, character, lines.len()));
            asked.insert(id, (method, uri.clone()));
        }
        server.tell("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
        while !asked.is_empty() {
            let message = server.next();
            let Some((method, uri)) = message["id"].as_i64().and_then(|id| asked.remove(&id)) else {
                check_ranges(&message["params"], &lines);
                continue;
            };
            // A place may have no name to rename.
            let refused = method == "textDocument/rename" && message["error"]["code"] == -32803;
            assert!(message.get("result").is_some() || refused, "{method} of {uri}: {message}\n{text}");
            check_ranges(&message["result"], &lines);
        }
    }
    server.ask("shutdown", &Value::Null);
    server.tell("exit", &Value::Null);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn diagnostics_follow_changes_and_fixes_are_offered() {
    let mut server = Server::ready(
        &json!({"catalog": [{"name": "get-user", "inputSchema": {"properties": {"id": {"type": "string"}}}}]}),
    );
    let uri = "file:///nowhere/a.ilo";
    server.open(uri, "ilo", "; fn f() -> String\nRET LIT 0 \"\u{1f980}\" 'x'\n");
    let shown = server.shown(uri).unwrap();
    assert_eq!(shown[0]["code"], "type-synonym");
    assert_eq!(
        shown[0]["range"],
        json!({"start": {"line": 0, "character": 12}, "end": {"line": 0, "character": 18}})
    );
    let actions = server.ask("textDocument/codeAction", &params(uri, 0, 0, 1));
    let kinds: Vec<&str> =
        actions["result"].as_array().unwrap().iter().map(|one| one["kind"].as_str().unwrap()).collect();
    assert_eq!((kinds.first(), kinds.last()), (Some(&"quickfix"), Some(&"source.fixAll.ilo")));
    let edit = &actions["result"][0]["edit"]["changes"][uri][0];
    assert_eq!((&edit["newText"], &edit["range"]), (&json!("text"), &shown[0]["range"]));
    let change =
        |text: &str| json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": text}]});
    server.tell("textDocument/didChange", &change("; fn f() -> text\nRET LIT 0 \"\u{1f980}\"\n"));
    assert_eq!(server.shown(uri), Some(vec![]));
    // A part alone, although whole documents were requested. The crab is two units.
    let part = json!({"range": {"start": {"line": 1, "character": 13}, "end": {"line": 1, "character": 14}}, "text": "\" 1"});
    server.tell(
        "textDocument/didChange",
        &json!({"textDocument": {"uri": uri, "version": 3}, "contentChanges": [part]}),
    );
    let shown = server.shown(uri).unwrap();
    assert_eq!(shown[0]["range"]["start"], json!({"line": 1, "character": 15}));
    server.tell("textDocument/didChange", &change("; fn f() -> any\n; Tools: 0=get-usr\nRET CALL 0 0\n"));
    assert_eq!(server.shown(uri).unwrap()[0]["code"], "unknown-tool");
    server.tell("textDocument/didClose", &json!({"textDocument": {"uri": uri}}));
    assert_eq!(server.shown(uri), Some(vec![]));
}

#[test]
fn tools_come_from_the_nearest_file_upward() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("a b/c");
    fs::create_dir_all(&inner).unwrap();
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/tools.json"),
        folder.path().join("tools.json"),
    )
    .unwrap();
    let uri = format!("file://{}/x.ilo", inner.display()).replace(' ', "%20");
    let mut server = Server::ready(&Value::Null);
    server.open(&uri, "ilo", "; fn f() -> any\n; Tools: 0=translate\nRET CALL 0 0\n");
    assert_eq!(server.shown(&uri).unwrap()[0]["code"], "unknown-tool");
    // A server may have any tool.
    fs::write(folder.path().join("tools.json"), r#"{"mcpServers": {"users": {"command": "users"}}}"#)
        .unwrap();
    server.tell("textDocument/didSave", &json!({"textDocument": {"uri": uri}}));
    assert_eq!(server.shown(&uri), Some(vec![]));
    // What another program writes counts too.
    let file = folder.path().join("tools.json");
    fs::write(&file, r#"{"tools": {"other": {}, "translate": {"input_schema": {"properties": {"to": {"type": "string"}}}}}}"#)
        .unwrap();
    fs::write(folder.path().join("a.json"), "{}").unwrap();
    let changed = json!({"changes": [{"uri": format!("file://{}", file.display()), "type": 2}]});
    server.tell("workspace/didChangeWatchedFiles", &changed);
    assert_eq!(server.shown(&uri), Some(vec![]));
    // The definition of a tool is its entry in the file, from the registry and from the call.
    for (line, character) in [(1, 12), (2, 9)] {
        let found = server.ask("textDocument/definition", &params(&uri, line, character, 3));
        let place = &found["result"][0];
        assert!(place["uri"].as_str().unwrap().ends_with("/tools.json"), "{found}");
        assert_eq!(place["range"]["start"], json!({"line": 0, "character": 24}));
    }
    let help = server.ask("textDocument/signatureHelp", &params(&uri, 2, 9, 3));
    let label = help["result"]["signatures"][0]["label"].as_str().unwrap();
    assert!(label.starts_with("translate(to?: text)"), "{help}");
    assert_eq!(help["result"]["signatures"][0]["parameters"][0]["label"], "to?: text");
    fs::write(&file, r#"{"tools": {"another": {}}}"#).unwrap();
    server.tell("workspace/didChangeWatchedFiles", &changed);
    assert_eq!(server.shown(&uri).unwrap()[0]["code"], "unknown-tool");
}

#[test]
fn a_client_that_can_is_asked_to_watch_the_files_of_tools() {
    let mut server = Server::start();
    let watching = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    server.ask("initialize", &json!({"capabilities": watching, "processId": null, "rootUri": null}));
    server.tell("initialized", &json!({}));
    let asked = server.next();
    assert_eq!(asked["method"], "client/registerCapability");
    assert_eq!(asked["params"]["registrations"][0]["method"], "workspace/didChangeWatchedFiles");
    server.raw(framed(&json!({"jsonrpc": "2.0", "id": asked["id"], "result": null}).to_string()));
    server.ask("shutdown", &Value::Null);
}

#[test]
fn nothing_is_said_of_other_json_and_yaml() {
    let mut server = Server::ready(&Value::Null);
    for (name, language, text) in [
        ("package.json", "json", r#"{"name": "x", "version": "1.0.0""#),
        (".mcp.json", "json", r#"{"mcpServers": {}}"#),
        ("build.yaml", "yaml", "name: build\non: push\njobs:\n  a:\n    steps:\n      - run: make\n"),
        ("notes.txt", "plaintext", "CALL me\n"),
    ] {
        let uri = format!("file:///other/{name}");
        server.open(&uri, language, text);
        assert_eq!(server.shown(&uri), None, "{name}");
        let hover = server.ask("textDocument/hover", &params(&uri, 0, 3, 1));
        assert_eq!(hover["result"], Value::Null);
    }
    let uri = "file:///other/a.workflow.yaml";
    server.open(uri, "yaml", "steps:\n");
    assert!(!server.shown(uri).unwrap().is_empty(), "the name calls it ilo");
}

#[test]
fn wrong_messages_are_answered_and_the_session_goes_on() {
    let mut server = Server::start();
    let code = |answer: &Value| answer["error"]["code"].as_i64().unwrap();
    assert_eq!(code(&server.ask("textDocument/hover", &json!({}))), -32002);
    server.ask("initialize", &json!({}));
    assert_eq!(code(&server.ask("initialize", &json!({}))), -32600);
    assert_eq!(code(&server.ask("textDocument/unknown", &json!({}))), -32601);
    for bad in [json!(null), json!([]), json!({"textDocument": 1}), json!({"textDocument": {"uri": 1}})] {
        assert_eq!(code(&server.ask("textDocument/hover", &bad)), -32602, "{bad}");
    }
    for garbage in ["", "{", "[]", "1", "{\"id\": {}}", "{\"jsonrpc\": \"2.0\"}", "\u{0}", "{\"method\": 1}"]
    {
        server.raw(framed(garbage));
        let answer = server.next();
        assert!(matches!(code(&answer), -32700 | -32600), "{garbage}: {answer}");
        assert_eq!(answer["id"], Value::Null);
    }
    server.raw(framed(&format!("{}{}", "[".repeat(100_000), "]".repeat(100_000))));
    let batch = server.next();
    assert_eq!(code(&batch), -32600);
    assert!(batch["error"]["message"].as_str().unwrap().contains("no batches"), "{batch}");
    let nested = format!(
        "{{\"id\": 99, \"method\": \"x\", \"params\": {}1{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    server.raw(framed(&nested));
    assert_eq!(code(&server.answer(99)), -32601);
    // A request whose ID is unusable is answered, and is not read as a notification.
    for id in ["null", "1.5", "{}"] {
        server.raw(framed(&format!("{{\"id\": {id}, \"method\": \"shutdown\"}}")));
        let answer = server.next();
        assert_eq!((code(&answer), &answer["id"]), (-32600, &Value::Null));
        assert!(answer["error"]["message"].as_str().unwrap().contains("as `id`"), "{answer}");
    }
    server.raw(b"Content-Length: 1\r\n\r\n\xff".to_vec());
    assert_eq!(code(&server.next()), -32700);
    for bad in [json!({}), json!({"textDocument": {"uri": "file:///x", "version": "y"}}), json!(7)] {
        server.tell("textDocument/didOpen", &bad);
        server.tell("textDocument/didChange", &bad);
        server.tell("textDocument/didClose", &bad);
    }
    let uri = "file:///a.ilo";
    server.open(uri, "ilo", "; fn f() -> nil\nRET LIT 2 nil\n");
    server.open(uri, "ilo", "; fn g() -> nil\nRET LIT 2 nil\n");
    let far = [(u32::MAX, u32::MAX), (0, u32::MAX), (1, 99), (2, 0), (3, 0)];
    for (line, character) in far {
        for method in METHODS {
            let at = params(uri, line as usize, character as usize, u32::MAX as usize);
            let answer = server.ask(method, &at);
            assert!(answer.get("result").is_some() || method == "textDocument/rename", "{method} {answer}");
        }
    }
    let backward = json!({"textDocument": {"uri": uri}, "context": {},
        "range": {"start": {"line": 9, "character": 9}, "end": {"line": 0, "character": 0}}});
    assert!(server.ask("textDocument/codeAction", &backward).get("result").is_some());
    let negative = json!({"textDocument": {"uri": uri}, "position": {"line": -1, "character": 0}});
    assert_eq!(code(&server.ask("textDocument/hover", &negative)), -32602);
    server.tell(
        "textDocument/didChange",
        &json!({"textDocument": {"uri": "file:///no", "version": 1}, "contentChanges": []}),
    );
    // Each request gets one answer, whether it was cancelled in time or not.
    let id = server.send("textDocument/hover", &params(uri, 0, 5, 1));
    server.tell("$/cancelRequest", &json!({"id": id}));
    server.tell("$/cancelRequest", &json!({"id": {}}));
    let answer = server.answer(id);
    assert!(answer.get("result").is_some() || code(&answer) == -32800, "{answer}");
    assert_eq!(server.ask("shutdown", &Value::Null)["result"], Value::Null);
    assert_eq!(code(&server.ask("textDocument/hover", &params(uri, 0, 5, 1))), -32600);
    server.tell("exit", &Value::Null);
    assert_eq!(server.end(), Some(0));
}

#[test]
fn a_session_without_shutdown_ends_with_one() {
    assert_eq!(Server::ready(&Value::Null).end(), Some(1));
    let server = Server::ready(&Value::Null);
    server.tell("exit", &Value::Null);
    assert_eq!(server.end(), Some(1));
    let server = Server::start();
    server.raw(b"this is not a message\r\n\r\n".to_vec());
    assert_eq!(server.end(), Some(1));
}

#[test]
fn large_documents_are_refused_in_words_and_long_messages_at_all() {
    let mut server = Server::ready(&Value::Null);
    let uri = "file:///large.ilo";
    server.open(uri, "ilo", &"; fn f() -> nil\nRET LIT 2 nil\n\n".repeat(330_000));
    assert_eq!(server.shown(uri).unwrap()[0]["code"], "source-too-large");
    // Each reads all of it, which takes a while without optimization.
    for method in &METHODS[..3] {
        let answer = server.ask(method, &params(uri, 3, 3, 4));
        assert!(answer.get("result").is_some() || *method == "textDocument/rename", "{method} {answer}");
    }
    let uri = "file:///large.json";
    server.open(uri, "json", &format!("{{\"steps\": [{}", "[".repeat(10 << 20)));
    server.ask(METHODS[0], &params(uri, 0, 3, 4));
    let length = (64 << 20) + 1;
    let mut long = format!("Content-Length: {length}\r\n\r\n").into_bytes();
    long.resize(long.len() + length, b' ');
    server.raw(long);
    let refused = loop {
        let message = server.next();
        if message["id"].is_null() && message.get("error").is_some() {
            break message;
        }
    };
    assert!(refused["error"]["message"].as_str().unwrap().contains("at most"), "{refused}");
    assert!(server.ask("textDocument/hover", &params("file:///large.ilo", 0, 6, 1)).get("result").is_some());
}

/// The text of the last line for the log of the editor.
fn logged(server: &mut Server) -> String {
    // Every message before an answer has arrived.
    server.ask("textDocument/hover", &params("file:///none.ilo", 0, 0, 1));
    let last = server.said.iter().rev().find(|one| one["method"] == "window/logMessage");
    last.map(|last| last["params"]["message"].as_str().unwrap().to_owned()).unwrap_or_default()
}

#[test]
fn half_a_surrogate_pair_in_a_document_is_one_character_and_nothing_is_lost() {
    let mut server = Server::ready(&Value::Null);
    let uri = "file:///half.ilo";
    server.raw(framed(&format!(
        r#"{{"method": "textDocument/didOpen", "params": {{"textDocument": {{"uri": "{uri}", "languageId": "ilo", "version": 1,
        "text": "; fn f() -> text\nRET LIT 0 \"\ud83d\" x\n"}}}}}}"#
    )));
    let shown = server.shown(uri).unwrap();
    // As wide as what it replaces.
    assert_eq!(shown[0]["range"]["start"], json!({"line": 1, "character": 14}), "{shown:?}");
    let half = json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [
        {"text": "; fn f() -> text\nRET LIT 0 \"\u{1f980}\"\n"},
        // Both ends are inside the crab.
        {"range": {"start": {"line": 1, "character": 12}, "end": {"line": 1, "character": 12}}, "text": "a"}]});
    server.tell("textDocument/didChange", &half);
    assert_eq!(server.shown(uri), Some(vec![]));
}

#[test]
fn a_storm_of_messages_costs_no_more_than_each_of_them() {
    let mut server = Server::ready(&Value::Null);
    let uri = "file:///a.ilo";
    server.open(uri, "ilo", "; fn f() -> nil\nRET LIT 2 nil\n");
    let mut storm = Vec::new();
    for number in 0..20_000 {
        let of = format!("file:///{number}.ilo");
        let change = json!({"method": "textDocument/didChange",
            "params": {"textDocument": {"uri": of, "version": 1}, "contentChanges": []}});
        let hover = json!({"id": format!("{number}"), "method": "textDocument/hover", "params": params(&of, 0, 0, 1)});
        let cancel = json!({"method": "$/cancelRequest", "params": {"id": format!("x{number}")}});
        let save = json!({"method": "textDocument/didSave", "params": {"textDocument": {"uri": uri}}});
        for message in [change, hover, cancel, save] {
            storm.extend(framed(&message.to_string()));
        }
    }
    server.raw(storm);
    // Were each looked up among all that wait, this would take minutes.
    assert!(logged(&mut server).contains("file:///19999.ilo: it is not open"));
}

#[test]
fn many_changes_of_parts_of_a_large_document_are_refused() {
    let mut server = Server::ready(&Value::Null);
    let uri = "file:///a.ilo";
    let change =
        |changes: Vec<Value>| json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": changes});
    let part = json!({"range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}, "text": ";"});
    server.open(uri, "ilo", "; fn f() -> nil\nRET LIT 2 nil x\n");
    assert_eq!(server.shown(uri).unwrap().len(), 1);
    // Parts of a small document, and parts before a whole text, which replaces them.
    server.tell("textDocument/didChange", &change(vec![part.clone(); 200]));
    assert_eq!(logged(&mut server), "");
    let large = json!({"text": "; fn f() -> nil\nRET LIT 2 nil x\n".repeat(40_000)});
    let mut changes = vec![part; 1_000];
    changes.push(large.clone());
    server.tell("textDocument/didChange", &change(changes.clone()));
    assert_eq!(logged(&mut server), "");
    changes.reverse();
    server.tell("textDocument/didChange", &change(changes));
    assert!(logged(&mut server).contains("expected the whole text"), "{}", logged(&mut server));
    assert_eq!(server.shown(uri), Some(vec![]), "its diagnostics are withdrawn");
}

#[test]
fn a_message_that_promises_too_much_is_answered_before_it_arrives() {
    let server = Server::ready(&Value::Null);
    server.raw(b"Content-Length: 99999999999\r\n\r\n{}".to_vec());
    let answer = server.next();
    assert!(answer["error"]["message"].as_str().unwrap().contains("expected at most"), "{answer}");
    assert_eq!(server.end(), Some(1));
}

#[cfg(target_os = "linux")]
#[test]
fn a_message_takes_about_as_much_memory_as_its_bytes() {
    let mut server = Server::ready(&Value::Null);
    let (uri, items) = ("file:///a.ilo", "{\"a\":[0]},".repeat(1 << 20));
    server.raw(framed(&format!("{{\"method\": \"x\", \"params\": [{items}0]}}")));
    server.raw(framed(&format!(
        "{{\"id\": \"big\", \"method\": \"textDocument/hover\", \"params\": {{\"x\": [{items}0], \"textDocument\": {{\"uri\": \"{uri}\"}}}}}}"
    )));
    server.ask("textDocument/hover", &params(uri, 0, 0, 1));
    let status = fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: usize = peak.trim().trim_end_matches(" kB").parse().unwrap();
    // Each message has 11 MB.
    assert!(peak < 120 << 10, "{peak} kB");
}
