//! Our side of the protocol: who we are, and what a server may tell us.

use rmcp::model::{ClientCapabilities, ClientConfig, Implementation, ProtocolVersion};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The protocol that servers speak which know no `server/discover`.
pub(super) const LEGACY: ProtocolVersion = ProtocolVersion::V_2025_11_25;

/// What a server may ask of us: nothing. It may say that its tools have changed.
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
