//! Reads each message of a server as bytes, in bounded memory and before any library parses it, and decides
//! what happens to it.
//!
//! - The answer to a call or a listing is kept as text ([`super::pending`]).
//! - An answer for which the library waits must be small; otherwise it becomes an error.
//! - Of the messages that a server sends on its own, only these pass: requests, so that they are rejected,
//!   and the notification that its tools have changed.
//! - Anything that is not a message is dropped.

use super::pending::{Pending, Purpose};
use crate::json::InString;
use crate::tool::Failure;
use ilo_spec::error::Code;
use rmcp::model::{ErrorData, ServerJsonRpcMessage};
use serde_json::{Value, json};
use std::sync::Arc;

/// Bytes of one message.
pub(super) const MESSAGE: usize = 16 << 20;
/// The maximum nesting of one message.
const DEPTH: usize = 127;
/// The nesting of a message around the value of an answer: the message, its result, and the content.
const AROUND: usize = 2;
/// The most bytes and values of a message that the library parses: it needs several hundred bytes for a
/// value.
const OWN: usize = 1 << 20;
const OWN_VALUES: usize = 20_000;
/// The size up to which a request passes unchanged; of a larger one only the method passes.
const REQUEST: usize = 4 << 10;
/// The bytes of a name that are kept: the names that matter are shorter.
const KEPT: usize = 64;

/// The notification that passes.
const CHANGED: &str = "notifications/tools/list_changed";
/// The schema keyword that makes an argument a header. The library reads such schemas.
const HEADERS: &[u8] = b"x-mcp-header";
/// The most values of a listing that the library parses for this.
const HEADER_VALUES: usize = 50_000;

/// The codes of the errors that replace answers; no other error of a server has them.
const TOO_LONG: i32 = -31_001;
const TOO_DEEP: i32 = -31_002;
const UNREADABLE: i32 = -31_004;

/// The meaning of an error answer that was created here.
pub(super) fn failure(error: &ErrorData) -> Option<Failure> {
    match error.code.0 {
        TOO_LONG => Some(too_long(MESSAGE)),
        TOO_DEEP => Some(too_deep()),
        UNREADABLE => Some(Failure::text(error.message.to_string())),
        _ => None,
    }
}

/// The failure of an answer that is longer than a message may be, which no option changes.
pub(super) fn too_long(most: usize) -> Failure {
    let message = format!("the tool's answer has more than {most} bytes, which is the limit of a message");
    Failure::Limit(Code::FaultTooLarge, message)
}

fn too_deep() -> Failure {
    let message = format!("the tool's answer is nested more than {} deep", DEPTH - AROUND);
    Failure::Limit(Code::FaultDepth, message)
}

/// A complete message in the form for the library; `None` if it is dropped.
pub(super) fn passed(message: Vec<u8>, pending: &Pending) -> Option<Vec<u8>> {
    let mut scan = Scan::default();
    scan.feed(&message);
    scan.passed(message, pending)
}

/// A reader of messages, one per line.
pub(super) struct GuardedLines {
    pending: Arc<Pending>,
    line: Vec<u8>,
    scan: Scan,
    /// Whether this line has been replaced by an error, so that the rest of it is dropped.
    answered: bool,
}

impl GuardedLines {
    pub(super) fn new(pending: Arc<Pending>) -> GuardedLines {
        GuardedLines { pending, line: Vec::new(), scan: Scan::default(), answered: false }
    }

    /// Takes bytes and returns the messages that pass.
    pub(super) fn feed(&mut self, bytes: &[u8], out: &mut impl Extend<Vec<u8>>) {
        for part in bytes.split_inclusive(|&byte| byte == b'\n') {
            if !self.answered {
                self.scan.feed(part);
                if self.scan.length > MESSAGE {
                    // If its request is known by now, that is answered with an error; otherwise it is dropped
                    // at its end.
                    self.line = Vec::new();
                    if let Some(id) = self.scan.answers() {
                        out.extend(refused(&id, &self.scan, &self.pending));
                        self.answered = true;
                    }
                } else {
                    self.line.extend_from_slice(part);
                }
            }
            if part.ends_with(b"\n") {
                let (line, scan) = (std::mem::take(&mut self.line), std::mem::take(&mut self.scan));
                if !std::mem::take(&mut self.answered) {
                    if !scan.is_message() {
                        self.pending.heard(&line);
                    }
                    out.extend(scan.passed(line, &self.pending));
                }
            }
        }
        // A server that asks something does not end its line.
        let begun = if self.scan.is_message() { &[][..] } else { &self.line };
        self.pending.begun(begun);
    }
}

/// The error for an answer that must not pass. Requests of the library get it; others find it among the kept
/// answers.
fn refused(id: &str, scan: &Scan, pending: &Pending) -> Option<Vec<u8>> {
    let (code, failure) =
        if scan.length > MESSAGE { (TOO_LONG, too_long(MESSAGE)) } else { (TOO_DEEP, too_deep()) };
    let Some(kind) = pending.kind(id) else {
        pending.unexpected(id);
        return None;
    };
    if kind == Purpose::Own {
        let Failure::Limit(_, message) = &failure else { return None };
        pending.answered(id);
        return Some(error(id, code, message));
    }
    pending.answer(id, Err(failure));
    Some(in_place(id, kind, &[]))
}

fn error(id: &str, code: i32, message: &str) -> Vec<u8> {
    let error = json!({"code": code, "message": message});
    json!({"jsonrpc": "2.0", "id": number(id), "error": error}).to_string().into_bytes()
}

/// What the library gets in place of a kept answer.
fn in_place(id: &str, kind: Purpose, tools: &[Value]) -> Vec<u8> {
    let result = match kind {
        Purpose::List => json!({"resultType": "complete", "tools": tools}),
        Purpose::Call | Purpose::Own => json!({"resultType": "complete", "content": []}),
    };
    json!({"jsonrpc": "2.0", "id": number(id), "result": result}).to_string().into_bytes()
}

/// The ID in the form of the library: a number.
fn number(id: &str) -> Value {
    id.parse::<u64>().map_or_else(|_| Value::from(id), Value::from)
}

/// The tools of a listing whose arguments become headers.
fn with_headers(message: &[u8], scan: &Scan) -> Vec<Value> {
    let has = |text: &[u8]| text.windows(HEADERS.len()).any(|part| part == HEADERS);
    if scan.values > HEADER_VALUES || !has(message) {
        return Vec::new();
    }
    let Ok(mut message) = serde_json::from_slice::<Value>(message) else { return Vec::new() };
    let tools = message.pointer_mut("/result/tools").and_then(Value::as_array_mut).map(std::mem::take);
    let marked = |tool: &Value| {
        tool.get("name").is_some_and(Value::is_string)
            && tool.get("inputSchema").is_some_and(|schema| has(schema.to_string().as_bytes()))
    };
    let bare = |tool: Value| json!({"name": tool.get("name"), "inputSchema": tool.get("inputSchema")});
    tools.unwrap_or_default().into_iter().filter(marked).map(bare).collect()
}

/// What is known about a message from its bytes so far.
#[derive(Default)]
struct Scan {
    length: usize,
    depth: usize,
    deepest: usize,
    /// The number of values so far, or at least half of it.
    values: usize,
    place: InString,
    /// The last text, with its escapes, and the member whose value is being read.
    text: Vec<u8>,
    name: String,
    /// The value of `id`, as written.
    id: Vec<u8>,
    method: Option<String>,
    /// Whether there was an `id`, and whether there was a result or an error.
    has_id: bool,
    has_answer: bool,
}

impl Scan {
    fn feed(&mut self, bytes: &[u8]) {
        self.length = self.length.saturating_add(bytes.len());
        bytes.iter().for_each(|&byte| self.byte(byte));
    }

    fn byte(&mut self, byte: u8) {
        let blank = matches!(byte, b' ' | b'\r' | b'\n' | b'\t');
        let is_outside = self.place.is_outside(byte);
        let ends = is_outside && (blank || matches!(byte, b',' | b'}'));
        if self.depth == 1 && self.name == "id" && self.id.len() <= KEPT && !ends {
            self.id.push(byte);
        }
        if !is_outside {
            if !self.place.is_inside {
                if self.depth == 1 && self.name == "method" {
                    self.method = Some(self.text());
                }
            } else if self.text.len() < KEPT {
                self.text.push(byte);
            }
            return;
        }
        match byte {
            b'"' => self.text.clear(),
            b'{' | b'[' => {
                self.values = self.values.saturating_add(1);
                self.depth = self.depth.saturating_add(1);
                self.deepest = self.deepest.max(self.depth);
            }
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' if self.depth == 1 => self.begin_value(),
            b',' => {
                self.values = self.values.saturating_add(1);
                if self.depth == 1 {
                    self.name.clear();
                }
            }
            _ => {}
        }
    }

    /// A name at the top level of the message has ended, and its value begins.
    fn begin_value(&mut self) {
        self.name = self.text();
        match self.name.as_str() {
            "id" => {
                self.has_id = true;
                self.id.clear();
            }
            "method" => self.method = Some(String::new()),
            "result" | "error" => self.has_answer = true,
            _ => {}
        }
    }

    /// The last text, with escapes decoded.
    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.text);
        if !text.contains('\\') {
            return text.into_owned();
        }
        serde_json::from_str(&format!("\"{text}\"")).unwrap_or_default()
    }

    /// The ID of the message, a number or a text, as a text.
    fn id(&self) -> Option<String> {
        match serde_json::from_slice(&self.id).ok()? {
            Value::Number(number) => Some(number.to_string()),
            Value::String(text) => Some(text),
            _ => None,
        }
    }

    /// Whether this has the parts of a message.
    fn is_message(&self) -> bool {
        self.method.is_some() || self.has_id || self.has_answer
    }

    /// The request to which this is the answer.
    fn answers(&self) -> Option<String> {
        if self.method.is_some() { None } else { self.id() }
    }

    /// The form of a message for the library.
    fn passed(self, message: Vec<u8>, pending: &Pending) -> Option<Vec<u8>> {
        if let Some(method) = &self.method {
            return self.request(method, message);
        }
        let Some(id) = self.answers() else { return self.rejects(&message, pending) };
        if self.length > MESSAGE || self.deepest > DEPTH {
            return refused(&id, &self, pending);
        }
        let Some(kind) = pending.kind(&id) else {
            pending.unexpected(&id);
            return None;
        };
        if kind != Purpose::Own {
            let tools = if kind == Purpose::List { with_headers(&message, &self) } else { Vec::new() };
            pending.answer(&id, Ok(message));
            return Some(in_place(&id, kind, &tools));
        }
        pending.answered(&id);
        if message.len() > OWN || self.values > OWN_VALUES {
            return Some(error(&id, UNREADABLE, "an answer that is too large"));
        }
        Some(match serde_json::from_slice::<ServerJsonRpcMessage>(&message) {
            Ok(_) if self.has_answer => message,
            Ok(_) => error(&id, UNREADABLE, "an answer without a result"),
            Err(why) => error(&id, UNREADABLE, &format!("an answer that cannot be read: {why}")),
        })
    }

    /// The form for the library of an error without an ID. A server that cannot read a request sends one; it
    /// belongs to the only request for which the library waits.
    fn rejects(&self, message: &[u8], pending: &Pending) -> Option<Vec<u8>> {
        if !self.has_answer || message.len() > REQUEST {
            return None;
        }
        let message: Value = serde_json::from_slice(message).ok()?;
        let (error, id) = (message.get("error")?, pending.starting()?);
        pending.answered(&id);
        let (code, text) = (error.get("code")?.as_i64()?, error.get("message")?.as_str()?);
        let error = json!({"code": i32::try_from(code).ok()?, "message": text});
        Some(json!({"jsonrpc": "2.0", "id": number(&id), "error": error}).to_string().into_bytes())
    }

    /// The form for the library of a request or a notification.
    fn request(&self, method: &str, message: Vec<u8>) -> Option<Vec<u8>> {
        if !self.has_id {
            let changed = json!({"jsonrpc": "2.0", "method": CHANGED});
            return (method == CHANGED).then(|| changed.to_string().into_bytes());
        }
        if self.length <= REQUEST && serde_json::from_slice::<ServerJsonRpcMessage>(&message).is_ok() {
            return Some(message);
        }
        let id: Value = serde_json::from_slice(&self.id).ok()?;
        let whole = id.is_string() || id.is_u64() || id.is_i64();
        whole.then(|| json!({"jsonrpc": "2.0", "id": id, "method": method}).to_string().into_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::RequestId;

    fn pending(kind: Purpose) -> Arc<Pending> {
        let pending = Arc::new(Pending::default());
        pending.register(&RequestId::Number(7), kind);
        pending
    }

    /// Tests that feed lines in parts: what passes, and which answer is kept.
    fn lines(kind: Purpose, parts: &[&[u8]]) -> (Vec<String>, Option<Result<Vec<u8>, Failure>>) {
        let (pending, mut out) = (pending(kind), Vec::new());
        let mut lines = GuardedLines::new(Arc::clone(&pending));
        parts.iter().for_each(|part| lines.feed(part, &mut out));
        let out = out.into_iter().map(|line| String::from_utf8(line).unwrap()).collect();
        (out, pending.take(&RequestId::Number(7)))
    }

    #[test]
    fn an_answer_to_a_call_is_kept_however_it_is_cut() {
        let text = b"{\"id\":7,\"result\":{\"structuredContent\":{\"id\":8,\"method\":\"\\\"}\"}}}\n";
        for id in [&b"7"[..], b"\"7\"", b" 7 "] {
            let text = [b"{\"id\":", id, text.strip_prefix(b"{\"id\":7").unwrap()].concat();
            for at in 0..text.len() {
                let (a, b) = text.split_at(at);
                let (out, kept) = lines(Purpose::Call, &[b"noise\n\n", a, b, b"[]\n"]);
                assert_eq!(kept, Some(Ok(text.clone())));
                let expected = r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","content":[]}}"#;
                assert_eq!(out, [expected]);
            }
        }
    }

    #[test]
    fn an_answer_is_found_by_an_escaped_name() {
        let (out, kept) = lines(Purpose::Call, &[b"{\"i\\u0064\":7,\"result\":{}}\n"]);
        assert!(out.len() == 1 && kept.is_some_and(|kept| kept.is_ok()));
    }

    #[test]
    fn depth_holds_at_n_and_not_at_n_plus_1() {
        let kept = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            let text = format!("{{\"id\":7,\"result\":{{\"structuredContent\":{open}{close}}}}}\n");
            lines(Purpose::Call, &[text.as_bytes()]).1.unwrap()
        };
        let most = DEPTH - AROUND;
        assert!(kept(most).is_ok());
        assert_eq!(kept(most + 1), Err(too_deep()));
        assert_eq!(kept(1_000_000), Err(too_deep()));
    }

    #[test]
    fn length_holds_at_n_and_not_at_n_plus_1() {
        let frame = "{\"result\":\"\",\"id\":7}\n";
        let message =
            |length: usize| frame.replace("\"\"", &format!("\"{}\"", "x".repeat(length - frame.len())));
        let whole = message(MESSAGE);
        assert_eq!(lines(Purpose::Call, &[whole.as_bytes()]).1.unwrap().map(|kept| kept.len()), Ok(MESSAGE));
        let early = format!("{{\"id\":7,\"result\":\"{}", "x".repeat(MESSAGE));
        let (out, kept) = lines(Purpose::Call, &[early.as_bytes(), early.as_bytes()]);
        assert_eq!((out.len(), kept), (1, Some(Err(too_long(MESSAGE)))), "it is answered before its end");
        // If the ID comes at the end of the message.
        let (out, kept) = lines(Purpose::Call, &[message(MESSAGE + 1).as_bytes(), b"{\"a\":1}\n"]);
        assert_eq!((out.len(), kept), (1, Some(Err(too_long(MESSAGE)))));
    }

    #[test]
    fn what_the_library_reads_is_small_and_can_be_read() {
        let code = |result: &str| {
            let text = format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{result}}}\n");
            let (out, _) = lines(Purpose::Own, &[text.as_bytes()]);
            let value: Value = serde_json::from_str(out.first().unwrap()).unwrap();
            value.pointer("/error/code").and_then(Value::as_i64)
        };
        assert_eq!(code("{}"), None);
        assert_eq!(code("{\"a\":NaN}"), Some(UNREADABLE.into()));
        assert_eq!(code(&format!("[{}0]", "0,".repeat(OWN_VALUES - 10))), None);
        assert_eq!(code(&format!("[{}0]", "0,".repeat(OWN_VALUES))), Some(UNREADABLE.into()));
        assert_eq!(code(&format!("\"{}\"", "x".repeat(OWN))), Some(UNREADABLE.into()));
        assert_eq!(code(&"[".repeat(1_000_000)), Some(TOO_DEEP.into()));
    }

    #[test]
    fn requests_pass_without_what_is_large() {
        let large = format!("[\"{}\"]", "x".repeat(REQUEST));
        let (out, _) = lines(
            Purpose::Call,
            &[
                b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n",
                format!("{{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\",\"params\":{large}}}\n").as_bytes(),
                b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n",
                format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{CHANGED}\",\"params\":{large}}}\n").as_bytes(),
                b"{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\n",
            ],
        );
        let expected = [
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n".to_owned(),
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\"}".to_owned(),
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{CHANGED}\"}}"),
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn an_error_without_an_id_is_for_the_only_request() {
        let text = b"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"what?\"}}\n";
        let (out, _) = lines(Purpose::Own, &[text]);
        let expected = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32700,"message":"what?"}}"#;
        assert_eq!(out, [expected]);
    }
}
