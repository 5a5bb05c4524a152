//! Servers that start while this one already answers: what is there now, and who waits for the rest.
//!
//! When a server arrives, the set of servers is replaced as a whole; a request under way keeps the old set. A
//! request waits only for servers that it needs, and a listing at most a second.

use super::{Offered, Service, Session, Shared, offer};
use crate::tools::{Starting, Tools};
use ilo_asm::compile::Options;
use ilo_asm::compile::named_tools::called;
use ilo_drive::problem::Problem;
use rmcp::RoleServer;
use rmcp::model::Tool;
use rmcp::service::{Peer, SubscriptionContext};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::watch::Receiver;
use tokio::time::timeout_at;

/// How long after the start of the server lists wait for servers that have not arrived.
const PATIENCE: Duration = Duration::from_secs(1);

/// The servers that arrive after serving has begun.
pub struct Arriving {
    /// They.
    pub starting: Starting,
    /// Whether nothing is called before all have arrived, because the tools are compared with a lock.
    pub together: bool,
    /// Whether functions may be offered later.
    pub functions: bool,
    /// Decides what is offered as each arrives.
    pub host: Box<dyn Arrivals>,
}

/// The host's part as servers arrive.
pub trait Arrivals: Send {
    /// The tools as they are now that a server has arrived, the names of those that have not, and what is
    /// wrong. Returns functions to offer from now on; `None` if the tools must not be used.
    fn arrived(
        &mut self,
        tools: &Tools,
        starting: &BTreeSet<String>,
        problems: Vec<Problem>,
    ) -> Option<Vec<Offered>>;
}

/// What is there now.
pub(super) struct Stand {
    pub(super) service: Service,
    pub(super) offered: Vec<Tool>,
    /// The servers that have not arrived.
    pub(super) starting: BTreeSet<String>,
    /// Whether functions may be offered later.
    pub(super) functions: bool,
    together: bool,
}

impl Stand {
    /// What is offered at the start.
    pub(super) fn new(service: Service, arriving: Option<&Arriving>) -> Stand {
        let offered = offer::tools(&service);
        let starting = arriving.into_iter().flat_map(|it| it.starting.servers()).map(str::to_owned).collect();
        let (functions, together) = arriving.map_or((false, false), |it| (it.functions, it.together));
        Stand { service, offered, starting, functions, together }
    }

    /// Whether every server has arrived that programs need for tools of these names.
    fn has(&self, names: &BTreeSet<String>) -> bool {
        let needed = || self.service.tools.servers_for(names.iter().map(String::as_str));
        self.starting.is_empty() || !self.together && needed().is_disjoint(&self.starting)
    }

    /// Whether a tool of this server is offered, or never will be.
    pub(super) fn knows(&self, tool: &str) -> bool {
        !self.functions || self.offered.iter().any(|offered| offered.name == tool)
    }
}

impl Shared {
    /// What is there now.
    pub(super) fn now(&self) -> Arc<Stand> {
        Arc::clone(&self.stand.borrow())
    }

    /// Waits until this is true of the stand.
    pub(super) async fn until(&self, is: impl FnMut(&Arc<Stand>) -> bool) {
        // The sender is kept as long as this.
        drop(self.stand.subscribe().wait_for(is).await);
    }

    /// Waits until this is true, but no longer than a second after the start of the server.
    pub(super) async fn soon(&self, is: impl FnMut(&Arc<Stand>) -> bool) {
        drop(timeout_at(self.begun + PATIENCE, self.until(is)).await);
    }

    /// Waits for the servers whose tools a source calls.
    pub(super) async fn until_callable(&self, source: &[u8], options: &Options<'_>) {
        if !self.now().starting.is_empty() {
            let names = called(source, options);
            self.until(|stand| stand.has(&names)).await;
        }
    }
}

impl Session {
    /// Tells a client that subscribes to it whenever more functions are offered, until no more will be.
    pub(super) async fn tell_a_subscriber(&self, client: &SubscriptionContext) {
        let (mut stand, mut told) = (self.shared.stand.subscribe(), self.shared.now().offered.len());
        let telling = async {
            while more(&mut stand, &mut told).await && client.sink().notify_tool_list_changed().await.is_ok()
            {
            }
        };
        tokio::select! {
            () = client.cancelled() => {}
            () = telling => {}
        }
    }

    /// Tells a client of the older protocol whenever more functions are offered.
    pub(super) fn tell_of_more(&self, peer: Peer<RoleServer>) {
        let (mut stand, mut told) = (self.shared.stand.subscribe(), self.shared.now().offered.len());
        tokio::spawn(async move {
            while more(&mut stand, &mut told).await {
                if peer.notify_tool_list_changed().await.is_err() {
                    return;
                }
            }
        });
    }
}

/// Waits until more than this many tools are offered; false if there will be none.
async fn more(stand: &mut Receiver<Arc<Stand>>, told: &mut usize) -> bool {
    let is_more = |stand: &Arc<Stand>| !stand.functions || stand.offered.len() > *told;
    let Ok(now) = stand.wait_for(is_more).await.map(|now| now.offered.len()) else { return false };
    now > std::mem::replace(told, now)
}

/// Receives the servers on a thread, which ends after the last or with the server.
pub(super) fn receive(shared: &Arc<Shared>, mut arriving: Arriving) {
    let (shared, mut service) = (Arc::downgrade(shared), shared.now().service.clone());
    let receiving = move || {
        while let Some(arrived) = arriving.starting.wait() {
            let Some(shared) = shared.upgrade() else { return };
            let problems = service.tools.add_arrived(arrived);
            let starting: BTreeSet<String> = arriving.starting.servers().map(str::to_owned).collect();
            let Some(more) = arriving.host.arrived(&service.tools, &starting, problems) else { continue };
            service.functions.extend(more);
            let functions = arriving.functions && !starting.is_empty();
            let (service, offered) = (service.clone(), offer::tools(&service));
            let stand = Stand { service, offered, starting, functions, together: arriving.together };
            shared.stand.send_replace(Arc::new(stand));
        }
    };
    drop(thread::Builder::new().name("servers".to_owned()).spawn(receiving));
}
