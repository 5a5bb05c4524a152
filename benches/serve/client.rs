//! Calls `ilo-vm serve` with the client of the Rust SDK (rmcp): `client MODE TARGET`, with the mode `legacy`
//! (the older protocol) or `newer`, and the target a URL or the command line of the server. It calls what the
//! clients of the Python and TypeScript SDKs in `host/real/sdk` call.

use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ErrorData, Implementation, ProtocolVersion, ReadResourceRequestParams,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt, RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{ClientHandler, RoleClient};
use serde_json::{Value, json};
use std::error::Error;
use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::process::Command;

type Failure = Box<dyn Error + Send + Sync>;

const SEND: &str = "; fn f() -> text\n; Tools: 0=send\nRET CALL 0 0\n";
const FAIL: &str = "; fn f() -> number\nRET REF 7\n";

/// A client that accepts everything, and the questions that it was asked.
#[derive(Clone, Default)]
struct Agrees(Arc<Mutex<Vec<String>>>);

impl Agrees {
    fn asked(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ClientHandler for Agrees {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_elicitation().build();
        let mut config = ClientConfig::new(capabilities, Implementation::new("client", "1"));
        config.protocol_version = ProtocolVersion::V_2025_11_25;
        config
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, .. } = request else {
            return Ok(ElicitResult::new(ElicitationAction::Decline));
        };
        self.asked().push(message);
        let mut result = ElicitResult::new(ElicitationAction::Accept);
        result.content = Some(json!({"call_it": true}));
        Ok(result)
    }
}

fn must(holds: bool, found: impl std::fmt::Debug) -> Result<(), Failure> {
    if holds { Ok(()) } else { Err(format!("wrong: {found:?}").into()) }
}

async fn call(
    client: &RunningService<RoleClient, Agrees>,
    tool: &'static str,
    arguments: Value,
) -> Result<CallToolResult, Failure> {
    let Value::Object(arguments) = arguments else { return Err("arguments are a record".into()) };
    Ok(client.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await?)
}

async fn calls(client: &RunningService<RoleClient, Agrees>, agrees: &Agrees) -> Result<(), Failure> {
    let tools = client.list_all_tools().await?;
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    must(names == ["run_program", "check_program", "find_tools", "total"], names)?;
    let resources = client.list_all_resources().await?;
    let uri = &resources.first().ok_or("no resources")?.uri;
    let card = client.read_resource(ReadResourceRequestParams::new(uri)).await?;
    must(format!("{card:?}").contains("price"), card)?;

    let result = call(client, "total", json!({"items": [1, 2, 3]})).await?;
    must(result.structured_content == Some(json!({"result": 12})), result)?;
    let result = call(client, "total", json!({"items": "no list"})).await?;
    must(result.is_error == Some(true) && result.structured_content.is_none(), result)?;
    let result = call(client, "find_tools", json!({"query": "price"})).await?;
    must(at(&result, "/tools/0/name") == "price", result)?;
    let result = call(client, "check_program", json!({"source": FAIL})).await?;
    must(at(&result, "/diagnostics/0/code") == "unset-slot", result)?;
    let result = call(client, "run_program", json!({"source": FAIL})).await?;
    must(result.is_error == Some(true) && at(&result, "/diagnostics/0/code") == "unset-slot", result)?;

    let result = call(client, "run_program", json!({"source": SEND})).await?;
    must(at(&result, "/outcome") == json!({"status": "ok", "value": "sent"}), result)?;
    let asked = agrees.asked();
    must(asked.len() == 1 && asked.iter().all(|text| text.starts_with("May `send` be called?")), asked)
}

/// The value at a place of the structured content.
fn at(result: &CallToolResult, place: &str) -> Value {
    result.structured_content.as_ref().and_then(|content| content.pointer(place)).cloned().unwrap_or_default()
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [mode, target] = arguments.as_slice() else { return Err("client legacy|newer TARGET".into()) };
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match mode.as_str() {
        "legacy" => ClientLifecycleMode::Initialize,
        _ => ClientLifecycleMode::Discover { preferred_versions },
    };
    let agrees = Agrees::default();
    let mut child = None;
    let client = if target.starts_with("http") {
        drop(rustls::crypto::ring::default_provider().install_default());
        let http = reqwest::Client::builder().tls_certs_only([]).build()?;
        let config = StreamableHttpClientTransportConfig::with_uri(target.as_str());
        let transport = StreamableHttpClientTransport::with_client(http, config);
        agrees.clone().serve_with_lifecycle(transport, lifecycle).await?
    } else {
        let mut words = target.split(' ');
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut started = command.spawn()?;
        let streams = started.stdout.take().zip(started.stdin.take()).ok_or("no streams")?;
        child = Some(started);
        agrees.clone().serve_with_lifecycle(streams, lifecycle).await?
    };
    calls(&client, &agrees).await?;
    client.cancel().await?;
    drop(child);
    Ok(())
}
