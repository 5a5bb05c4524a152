//! A plain MCP server of the protocol library, to compare `ilo-vm serve` with: one tool that adds two
//! numbers.
//!
//! `plain stdio`, or `plain http`, which prints `serving http://ADDRESS/mcp` on standard error.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorData, Implementation, JsonObject,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use std::error::Error;
use std::sync::Arc;

#[derive(Clone)]
struct Plain;

fn object(value: &Value) -> Arc<JsonObject> {
    Arc::new(value.as_object().cloned().unwrap_or_default())
}

fn add() -> Tool {
    let number = json!({"type": "number"});
    let input = json!({"type": "object", "properties": {"a": number, "b": number}, "required": ["a", "b"]});
    let mut tool = Tool::new("add", "adds two numbers", object(&input));
    tool.output_schema =
        Some(object(&json!({"type": "object", "properties": {"result": number}, "required": ["result"]})));
    tool
}

impl ServerHandler for Plain {
    fn get_info(&self) -> ServerConfig {
        let mut info = ServerConfig::new(ServerCapabilities::builder().enable_tools().build());
        info.server_info = Implementation::new("plain", "1");
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        (name == "add").then(add)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(vec![add()]))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let number = |name: &str| request.arguments.as_ref()?.get(name)?.as_f64();
        let (Some(a), Some(b)) = (number("a"), number("b")) else {
            return Err(ErrorData::invalid_params("`a` and `b` must be numbers", None));
        };
        Ok(CallToolResponse::Complete(CallToolResult::structured(json!({"result": a + b}))))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("stdio") {
        Plain.serve(rmcp::transport::stdio()).await?.waiting().await?;
        return Ok(());
    }
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(|| Ok(Plain), sessions, StreamableHttpServerConfig::default());
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    eprintln!("serving http://{}/mcp", listener.local_addr()?);
    let listener = axum::serve::ListenerExt::tap_io(listener, |stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, axum::Router::new().route_service("/mcp", service)).await?;
    Ok(())
}
