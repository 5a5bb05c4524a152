//! A session from `initialize` to `exit`, and the dispatch of messages.

use super::answer::{Asked, METHODS};
use super::catalogues::{Catalogues, path};
use super::convert::{KINDS, MODIFIERS};
use super::documents::{Document, Documents};
use super::frame::{self, Frame, LONGEST};
use super::message::{Id, Message, Params, Refusal, Wrong, code, read, shown};
use super::protocol::{DidChange, DidClose, DidOpen, Initialize, Options, PublishDiagnostics, Workspace};
use super::queue::{Inbox, Read};
use ilo_asm::span::Units;
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
    let queue = Arc::new(Inbox::default());
    let reader = Arc::clone(&queue);
    thread::Builder::new().name("reader".to_owned()).spawn(move || read_all(input, &reader))?;
    let mut session = Session {
        output,
        queue: Arc::clone(&queue),
        state: State::New,
        units: Units::Utf16,
        watches: false,
        documents: Documents::default(),
        catalogues: Catalogues::default(),
    };
    let ended = session.run();
    queue.close();
    ended
}

/// Reads messages until the end of the input, or until the receiver stops.
fn read_all(mut input: impl BufRead, queue: &Inbox) {
    loop {
        let (read, bytes) = match frame::read(&mut input) {
            Ok(Frame::Message(bytes)) => {
                let length = bytes.len();
                (Message::read(bytes).map_or_else(Read::Wrong, Read::Message), length)
            }
            Ok(Frame::TooLong(bytes)) => {
                let text = format!("a message of {bytes} bytes; expected at most {LONGEST}");
                let wrong = Wrong { id: None, refusal: (code::INVALID_REQUEST, text) };
                // It is answered first: it may never arrive.
                if !queue.push(Read::Wrong(wrong), 0) {
                    return;
                }
                match frame::skip(&mut input, bytes) {
                    Ok(()) => continue,
                    Err(error) => (Read::End(Some(error.to_string())), 0),
                }
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

struct Session<W> {
    output: W,
    queue: Arc<Inbox>,
    state: State,
    units: Units,
    /// Whether the client can say that a file has changed.
    watches: bool,
    documents: Documents,
    catalogues: Catalogues,
}

impl<W: Write> Session<W> {
    fn run(&mut self) -> io::Result<bool> {
        loop {
            match self.queue.pop() {
                Read::Message(Message::Request { id, method, params }) => {
                    self.request(&id, &method, &params)?;
                }
                Read::Message(Message::Notification { method, .. }) if method == "exit" => {
                    return Ok(self.state == State::ShutDown);
                }
                Read::Message(Message::Notification { method, params }) => {
                    if self.state == State::Running {
                        self.notification(&method, &params)?;
                    }
                }
                Read::Message(Message::Response) => {}
                Read::Wrong(Wrong { id, refusal }) => self.respond(id.as_ref(), Err(refusal))?,
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

    fn request(&mut self, id: &Id, method: &str, params: &Params) -> io::Result<()> {
        let answer = if self.queue.is_cancelled(id) {
            Err((code::REQUEST_CANCELLED, "cancelled".to_owned()))
        } else {
            self.answer(method, params)
        };
        if method == "initialize" && answer.is_ok() {
            self.state = State::Running;
        }
        self.respond(Some(id), answer)
    }

    fn respond(&mut self, id: Option<&Id>, answer: Result<Value, Refusal>) -> io::Result<()> {
        match answer {
            Ok(result) => self.send(&json!({"id": id, "result": result})),
            Err((code, message)) => {
                self.send(&json!({"id": id, "error": {"code": code, "message": message}}))
            }
        }
    }

    fn answer(&mut self, method: &str, params: &Params) -> Result<Value, Refusal> {
        let refused = |code: i32, message: &str| Err((code, message.to_owned()));
        match (self.state, method) {
            (State::New, "initialize") => self.initialize(params),
            (State::New, _) => refused(code::NOT_INITIALIZED, "expected `initialize` first"),
            (State::ShutDown, _) => refused(code::INVALID_REQUEST, "expected `exit` after `shutdown`"),
            (State::Running, "initialize") => refused(code::INVALID_REQUEST, "`initialize` came before"),
            (State::Running, "shutdown") => {
                self.state = State::ShutDown;
                Ok(Value::Null)
            }
            (State::Running, _) => {
                let Some((_, answer)) = METHODS.iter().find(|(name, _)| *name == method) else {
                    return refused(
                        code::METHOD_NOT_FOUND,
                        &format!("there is no method `{}`", shown(method)),
                    );
                };
                let document: DidClose = read(params.as_deref()).map_err(|(code, _)| {
                    (code, "expected `textDocument` with a `uri` in `params`".to_owned())
                })?;
                let uri = document.text_document.uri;
                self.asked(&uri, |asked| answer(asked, params.as_deref())).unwrap_or(Ok(Value::Null))
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

    fn initialize(&mut self, params: &Params) -> Result<Value, Refusal> {
        let params: Initialize = read(params.as_deref())?;
        let (general, workspace) =
            params.capabilities.map_or((None, None), |offered| (offered.general, offered.workspace));
        let workspace: Option<Workspace> = read(workspace.as_deref()).ok();
        let watching = workspace.and_then(|workspace| workspace.did_change_watched_files);
        self.watches = watching.is_some_and(|watching| watching.dynamic_registration);
        let offered = general.and_then(|general| general.position_encodings);
        if offered.is_some_and(|offered| offered.iter().any(|one| one == "utf-8")) {
            self.units = Units::Utf8;
        }
        let folder = params.workspace_folders.and_then(|folders| folders.into_iter().next());
        let root = folder.map(|folder| folder.uri).or(params.root_uri).as_deref().and_then(path);
        let options: Option<Options> = read(params.initialization_options.as_deref()).ok();
        let catalog = options.and_then(|options| options.catalog);
        if let Some(problem) = catalog.and_then(|it| self.catalogues.set(&it, root.as_deref()).err()) {
            // The editor shows it and continues without a catalogue.
            let shown = json!({"type": 1, "message": format!("ilo: {problem}")});
            let sent = self.notify("window/showMessage", &shown);
            sent.map_err(|error| (code::INTERNAL_ERROR, error.to_string()))?;
        }
        Ok(json!({
            "capabilities": capabilities(self.units),
            "serverInfo": {"name": "ilo-asm", "version": env!("CARGO_PKG_VERSION")},
        }))
    }

    fn notification(&mut self, method: &str, params: &Params) -> io::Result<()> {
        let params = params.as_deref();
        let problem = match method {
            "textDocument/didOpen" => match read(params) {
                Ok(params) => self.opened(params)?,
                Err((_, problem)) => Some(problem),
            },
            "textDocument/didChange" => match read(params) {
                Ok(params) => self.changed(params)?,
                Err((_, problem)) => Some(problem),
            },
            "textDocument/didClose" => match read::<DidClose>(params) {
                Ok(params) => {
                    self.close(&params.text_document.uri)?;
                    None
                }
                Err((_, problem)) => Some(problem),
            },
            "initialized" if self.watches => {
                // Also what other programs write: the editor tells of it.
                let watched = json!({"watchers": [{"globPattern": "**/*.json"}]});
                let registration = json!({"id": "tools", "method": "workspace/didChangeWatchedFiles", "registerOptions": watched});
                let params = json!({"registrations": [registration]});
                self.send(&json!({"id": "watch", "method": "client/registerCapability", "params": params}))?;
                None
            }
            "textDocument/didSave" | "workspace/didChangeWatchedFiles" if !self.queue.saves() => {
                // It may have been the file with the tools.
                let uris = self.documents.uris();
                uris.iter().try_for_each(|uri| self.publish(uri))?;
                None
            }
            _ => None,
        };
        problem.map_or(Ok(()), |problem| self.log(&format!("{method}: {problem}")))
    }

    /// Opens a document, again if it is open. Returns a problem for the log, as does `changed`.
    fn opened(&mut self, params: DidOpen) -> io::Result<Option<String>> {
        let item = params.text_document;
        let was_shown = self.documents.close(&item.uri).is_some_and(|document| document.shown);
        let document =
            Document { text: item.text, version: item.version, language: item.language_id, shown: was_shown };
        let uri = item.uri;
        if let Err(problem) = self.documents.open(uri.clone(), document) {
            if was_shown {
                self.publish_none(&uri)?;
            }
            return Ok(Some(format!("{}: {problem}", shown(&uri))));
        }
        if !self.queue.changes(&uri) {
            self.publish(&uri)?;
        }
        Ok(None)
    }

    fn changed(&mut self, params: DidChange) -> io::Result<Option<String>> {
        let of = params.text_document;
        let uri = of.uri;
        if let Err(problem) = self.documents.change(&uri, of.version, params.content_changes, self.units) {
            // Its text is not known any more.
            self.close(&uri)?;
            return Ok(Some(format!("{}: {problem}", shown(&uri))));
        }
        if !self.queue.changes(&uri) {
            self.publish(&uri)?;
        }
        Ok(None)
    }

    /// Closes a document and withdraws its diagnostics.
    fn close(&mut self, uri: &str) -> io::Result<()> {
        match self.documents.close(uri) {
            Some(document) if document.shown => self.publish_none(uri),
            _ => Ok(()),
        }
    }

    fn publish_none(&mut self, uri: &str) -> io::Result<()> {
        self.notify("textDocument/publishDiagnostics", &json!({"uri": uri, "diagnostics": []}))
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
        "positionEncoding": if units == Units::Utf8 { "utf-8" } else { "utf-16" },
        "textDocumentSync": {"openClose": true, "change": WHOLE_DOCUMENTS, "save": true},
        "completionProvider": {"triggerCharacters": [" ", "$", ".", "\"", "{", "="]},
        "hoverProvider": true,
        "signatureHelpProvider": {"triggerCharacters": ["{", ",", ":", " "]},
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
