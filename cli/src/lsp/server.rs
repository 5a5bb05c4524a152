//! A session from `initialize` to `exit`, and the dispatch of messages.

use super::answer::{Asked, METHODS, Refusal, read};
use super::catalogues::{Catalogues, path};
use super::convert::{KINDS, MODIFIERS};
use super::documents::Documents;
use super::frame::{self, Frame, LONGEST};
use super::protocol::{DidChange, DidClose, DidOpen, PublishDiagnostics};
use super::queue::{Queue, Read};
use ilo_asm::span::Units;
use lsp_server::{ErrorCode, Message, Notification, Request, RequestId};
use serde_json::{Value, json};
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::thread;

/// The state of a session.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    New,
    Running,
    ShutDown,
}

/// Serves one client until `exit` or the end of its messages. Returns whether the session ended as the
/// protocol requires.
///
/// # Errors
/// If nothing can be written any more.
pub(crate) fn serve(input: impl BufRead + Send + 'static, output: impl Write) -> io::Result<bool> {
    let queue = Arc::new(Queue::default());
    let reader = Arc::clone(&queue);
    thread::Builder::new().name("reader".to_owned()).spawn(move || read_all(input, &reader))?;
    let mut session = Session {
        output,
        queue: Arc::clone(&queue),
        state: State::New,
        units: Units::Utf16,
        documents: Documents::default(),
        catalogues: Catalogues::default(),
    };
    let ended = session.run();
    queue.close();
    ended
}

/// Reads messages until the end of the input, or until the receiver stops.
fn read_all(mut input: impl BufRead, queue: &Queue) {
    loop {
        let (read, bytes) = match frame::read(&mut input) {
            Ok(Frame::Message(bytes)) => (message(&bytes), bytes.len()),
            Ok(Frame::TooLong(bytes)) => {
                let text = format!("a message of {bytes} bytes; expected at most {LONGEST}");
                (Read::Wrong(ErrorCode::InvalidRequest as i32, text), 0)
            }
            Ok(Frame::End) => (Read::End(None), 0),
            Err(error) => (Read::End(Some(error.to_string())), 0),
        };
        let end = matches!(read, Read::End(_));
        if !queue.push(read, bytes) || end {
            return;
        }
    }
}

fn message(bytes: &[u8]) -> Read {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return Read::Wrong(ErrorCode::ParseError as i32, format!("expected JSON: {error}")),
    };
    match serde_json::from_value(value) {
        Ok(message) => Read::Message(message),
        Err(_) => {
            let text = "expected a request, a response or a notification".to_owned();
            Read::Wrong(ErrorCode::InvalidRequest as i32, text)
        }
    }
}

struct Session<W> {
    output: W,
    queue: Arc<Queue>,
    state: State,
    units: Units,
    documents: Documents,
    catalogues: Catalogues,
}

impl<W: Write> Session<W> {
    fn run(&mut self) -> io::Result<bool> {
        loop {
            match self.queue.pop() {
                Read::Message(Message::Request(request)) => self.request(request)?,
                Read::Message(Message::Notification(one)) if one.method == "exit" => {
                    return Ok(self.state == State::ShutDown);
                }
                Read::Message(Message::Notification(one)) => {
                    if self.state == State::Running {
                        self.notification(one)?;
                    }
                }
                Read::Message(Message::Response(_)) => {}
                Read::Wrong(code, message) => {
                    self.send(&json!({"id": null, "error": {"code": code, "message": message}}))?;
                }
                Read::End(problem) => {
                    if let Some(problem) = problem {
                        self.log(&format!("the connection is no longer usable: {problem}"))?;
                    }
                    return Ok(false);
                }
            }
        }
    }

    fn send(&mut self, message: &Value) -> io::Result<()> {
        let mut whole = json!({"jsonrpc": "2.0"});
        if let (Some(whole), Some(message)) = (whole.as_object_mut(), message.as_object()) {
            whole.extend(message.iter().map(|(key, value)| (key.clone(), value.clone())));
        }
        frame::write(&mut self.output, whole.to_string().as_bytes())
    }

    fn notify(&mut self, method: &str, params: &Value) -> io::Result<()> {
        self.send(&json!({"method": method, "params": params}))
    }

    /// Writes a line to the log of the editor.
    fn log(&mut self, message: &str) -> io::Result<()> {
        const WARNING: u8 = 2;
        self.notify("window/logMessage", &json!({"type": WARNING, "message": message}))
    }

    fn request(&mut self, request: Request) -> io::Result<()> {
        let Request { id, method, params } = request;
        let answer = if self.queue.is_cancelled(&id) {
            Err((ErrorCode::RequestCanceled as i32, "cancelled".to_owned()))
        } else {
            self.answer(&method, params)
        };
        if method == "initialize" && answer.is_ok() {
            self.state = State::Running;
        }
        self.respond(&id, answer)
    }

    fn respond(&mut self, id: &RequestId, answer: Result<Value, Refusal>) -> io::Result<()> {
        match answer {
            Ok(result) => self.send(&json!({"id": id, "result": result})),
            Err((code, message)) => {
                self.send(&json!({"id": id, "error": {"code": code, "message": message}}))
            }
        }
    }

    fn answer(&mut self, method: &str, params: Value) -> Result<Value, Refusal> {
        let refused = |code: ErrorCode, message: &str| Err((code as i32, message.to_owned()));
        match (self.state, method) {
            (State::New, "initialize") => self.initialize(&params),
            (State::New, _) => refused(ErrorCode::ServerNotInitialized, "expected `initialize` first"),
            (State::ShutDown, _) => refused(ErrorCode::InvalidRequest, "expected `exit` after `shutdown`"),
            (State::Running, "initialize") => refused(ErrorCode::InvalidRequest, "`initialize` came before"),
            (State::Running, "shutdown") => {
                self.state = State::ShutDown;
                Ok(Value::Null)
            }
            (State::Running, _) => {
                let Some((_, answer)) = METHODS.iter().find(|(name, _)| *name == method) else {
                    return refused(ErrorCode::MethodNotFound, &format!("there is no method `{method}`"));
                };
                let uri = params.pointer("/textDocument/uri").and_then(Value::as_str).map(str::to_owned);
                let uri = uri.ok_or_else(|| {
                    (ErrorCode::InvalidParams as i32, "expected `textDocument` with a `uri`".to_owned())
                })?;
                self.asked(&uri, |asked| answer(asked, params)).unwrap_or(Ok(Value::Null))
            }
        }
    }

    /// Runs a query on an open document; `None` if it is not open or not ilo.
    fn asked<T>(&mut self, uri: &str, ask: impl FnOnce(&Asked<'_>) -> T) -> Option<T> {
        let document = self.documents.get(uri)?;
        let notation = document.notation(uri)?;
        let tools = self.catalogues.of(uri);
        Some(ask(&Asked { uri, text: &document.text, notation, tools, units: self.units }))
    }

    fn initialize(&mut self, params: &Value) -> Result<Value, Refusal> {
        let offered = params.pointer("/capabilities/general/positionEncodings").and_then(Value::as_array);
        if offered.is_some_and(|offered| offered.iter().any(|one| one == "utf-8")) {
            self.units = Units::Utf8;
        }
        let folder = params.pointer("/workspaceFolders/0/uri").or_else(|| params.get("rootUri"));
        let root = folder.and_then(Value::as_str).and_then(path);
        let options = params.get("initializationOptions").unwrap_or(&Value::Null);
        if let Err(problem) = self.catalogues.set(options, root.as_deref()) {
            // The editor shows it and continues without a catalogue.
            let shown = json!({"type": 1, "message": format!("ilo: {problem}")});
            let sent = self.notify("window/showMessage", &shown);
            sent.map_err(|error| (ErrorCode::InternalError as i32, error.to_string()))?;
        }
        Ok(json!({
            "capabilities": capabilities(self.units),
            "serverInfo": {"name": "ilo-asm", "version": env!("CARGO_PKG_VERSION")},
        }))
    }

    fn notification(&mut self, one: Notification) -> io::Result<()> {
        let Notification { method, params } = one;
        let problem = match method.as_str() {
            "textDocument/didOpen" => match read::<DidOpen>(params) {
                Ok(params) => {
                    let item = params.text_document;
                    let uri = item.uri.clone();
                    let opened = self.documents.open(item.uri, item.language_id, item.version, item.text);
                    self.publish(&uri)?;
                    (!opened).then(|| format!("{uri}: too much is open"))
                }
                Err((_, problem)) => Some(problem),
            },
            "textDocument/didChange" => match read::<DidChange>(params) {
                Ok(params) => {
                    let of = params.text_document;
                    let uri = of.uri;
                    let taken = self.documents.change(&uri, of.version, params.content_changes, self.units);
                    if !self.queue.changes(&uri) {
                        self.publish(&uri)?;
                    }
                    (!taken).then(|| format!("{uri}: not open, or too much is"))
                }
                Err((_, problem)) => Some(problem),
            },
            "textDocument/didClose" => match read::<DidClose>(params) {
                Ok(params) => {
                    let uri = params.text_document.uri;
                    let shown = self.documents.close(&uri).is_some_and(|document| document.shown);
                    if shown {
                        self.notify(
                            "textDocument/publishDiagnostics",
                            &json!({"uri": uri, "diagnostics": []}),
                        )?;
                    }
                    None
                }
                Err((_, problem)) => Some(problem),
            },
            "textDocument/didSave" => {
                // It may have been the file with the tools.
                let uris = self.documents.uris();
                uris.iter().try_for_each(|uri| self.publish(uri))?;
                None
            }
            _ => None,
        };
        problem.map_or(Ok(()), |problem| self.log(&format!("{method}: {problem}")))
    }

    /// Publishes the diagnostics of a document; none for one that never was ilo.
    fn publish(&mut self, uri: &str) -> io::Result<()> {
        #[expect(
            clippy::redundant_closure_for_method_calls,
            reason = "the path is not general over lifetimes"
        )]
        let found = self.asked(uri, |asked| asked.diagnostics());
        let Some(document) = self.documents.get_mut(uri) else { return Ok(()) };
        let was_shown = std::mem::replace(&mut document.shown, found.is_some());
        if found.is_none() && !was_shown {
            return Ok(());
        }
        let params =
            PublishDiagnostics { uri, version: document.version, diagnostics: found.unwrap_or_default() };
        let params = serde_json::to_value(params).map_err(io::Error::other)?;
        self.notify("textDocument/publishDiagnostics", &params)
    }
}

/// The capabilities of the server.
fn capabilities(units: Units) -> Value {
    const WHOLE_DOCUMENTS: u8 = 1;
    json!({
        "positionEncoding": match units {
            Units::Utf8 => "utf-8",
            Units::Utf16 => "utf-16",
        },
        "textDocumentSync": {"openClose": true, "change": WHOLE_DOCUMENTS, "save": true},
        "completionProvider": {"triggerCharacters": [" ", "$", ".", "\"", "{", "="]},
        "hoverProvider": true,
        "definitionProvider": true,
        "referencesProvider": true,
        "renameProvider": {"prepareProvider": true},
        "documentSymbolProvider": true,
        "inlayHintProvider": true,
        "semanticTokensProvider": {
            "legend": {"tokenTypes": KINDS, "tokenModifiers": MODIFIERS},
            "full": true,
        },
        "codeActionProvider": {"codeActionKinds": ["quickfix", "source.fixAll"]},
        "documentFormattingProvider": true,
    })
}
