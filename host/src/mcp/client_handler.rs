//! The client side of the protocol: how ilo identifies itself, and what a server may send.

use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ErrorCode, Implementation,
    ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The protocol version for servers without `server/discover`.
pub(super) const LEGACY: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// A server may not send requests. It may announce that its tools have changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Watcher {
    pub(super) changed: Arc<AtomicBool>,
}

/// The answer to a request that is not declared. Most servers make it the message of their tool's failure.
fn undeclared<T>(method: &str) -> Result<T, ErrorData> {
    let message = format!("`{method}` is no method of ilo-vm, which asks nobody and nothing during a call");
    Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
}

impl ClientHandler for Watcher {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("ilo-vm", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), name);
        config.protocol_version = LEGACY;
        config
    }

    // What is not declared is not there: the protocol library would decline as if a person had, and list no
    // roots.

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        undeclared("elicitation/create")
    }

    #[allow(deprecated, reason = "servers of versions that have it may ask")]
    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<rmcp::model::ListRootsResult, ErrorData> {
        undeclared("roots/list")
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }
}
