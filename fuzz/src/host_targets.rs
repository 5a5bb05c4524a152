//! The bodies for input of the host: files, answers of tools and MCP servers, messages of MCP clients.

use ilo_host::data::read::{Bounds, read};
use ilo_host::run::Options;
use ilo_host::serve::{Service, streams};
use ilo_host::tools::{Tools, read_answer};
use ilo_vm::Limits;
use std::io;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::AsyncWrite;

/// JSON of an input or a tool's result: it is refused, or written and read back as the same value.
///
/// # Panics
/// If the written text reads back as another value.
pub fn json(bytes: &[u8]) {
    let bounds = Bounds::default();
    if let Ok(value) = read(bytes, &bounds) {
        let text = value.to_json();
        let again = read(text.as_bytes(), &Bounds { bytes: usize::MAX, ..bounds });
        assert_eq!(again.as_ref(), Ok(&value), "{text}");
    }
}

/// A tools file: it is refused with problems, or read.
///
/// # Panics
/// If a signature is longer than its bound.
pub fn tools_file(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        for name in ["tools.json", "tools.toml"] {
            let Ok(tools) = Tools::from_text(name, text, Path::new(".")) else { continue };
            // Schemas are read when they are asked for.
            for tool in tools.catalog().tools() {
                assert!(tool.signature().len() < 100_000, "{}", tool.name);
            }
        }
    }
}

/// The answer of an MCP server's tool: it is a failure, or a value within the bounds.
///
/// # Panics
/// If the value exceeds them.
pub fn mcp_answer(bytes: &[u8]) {
    let bounds = Bounds::default();
    if let Ok(value) = read_answer(bytes, &bounds) {
        let text = value.to_json();
        let wide = Bounds { bytes: usize::MAX, ..bounds };
        assert_eq!(read(text.as_bytes(), &wide).as_ref(), Ok(&value), "{text}");
    }
}

/// The first messages of a client.
const HELLO: &[u8] = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

/// Messages of an MCP client, a line each, to a server without tools: it writes only messages, and ends when
/// the client closes the connection.
///
/// # Panics
/// If it writes anything else, or a run in it panics.
pub fn mcp_messages(bytes: &[u8]) {
    let limits = Limits { fuel: 100_000, memory: 1 << 20, ..Limits::default() };
    let service = Service {
        tools: Tools::new(),
        functions: Vec::new(),
        options: Options { limits, ..Options::default() },
        runs: 2,
        runs_of_client: 2,
        journal_of_client: 0,
        source: 1 << 16,
        question: Duration::from_secs(1),
        durable: None,
    };
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
    let output = Output::default();
    let input = io::Cursor::new([HELLO, bytes].concat());
    // The connection to a client that breaks the protocol ends with an error, which is fine.
    let _ = runtime.block_on(streams(service, Box::new(input), Box::new(output.clone())));
    drop(runtime);
    let output = output.0.lock().map(|output| output.clone()).unwrap_or_default();
    for line in String::from_utf8_lossy(&output).lines() {
        let message =
            read(line.as_bytes(), &Bounds::default()).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message.get("jsonrpc"), Some(&"2.0".into()), "{line}");
        let broke = line.contains("-32603") && line.contains("the run broke");
        assert!(!broke, "{line}");
    }
}

/// The output of a server.
#[derive(Clone, Default)]
struct Output(Arc<Mutex<Vec<u8>>>);

impl AsyncWrite for Output {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        if let Ok(mut output) = self.0.lock() {
            output.extend_from_slice(bytes);
        }
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
