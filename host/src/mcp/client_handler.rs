//! The client side of the protocol: how ilo identifies itself, and what a server may send.

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The protocol version for servers without `server/discover`.
pub(super) const LEGACY: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// A server may not send requests. It may announce that its tools have changed.
#[derive(Clone, Debug, Default)]
pub(super) struct Watcher {
    pub(super) changed: Arc<AtomicBool>,
}

impl ClientHandler for Watcher {
    fn get_info(&self) -> ClientConfig {
        let name = Implementation::new("ilo-vm", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(ClientCapabilities::default(), name);
        config.protocol_version = LEGACY;
        config
    }

    async fn on_tool_list_changed(&self, _context: NotificationContext<RoleClient>) {
        self.changed.store(true, Ordering::Release);
    }
}
