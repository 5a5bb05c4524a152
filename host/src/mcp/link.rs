//! The connection to a server that calls share; it is opened again after it has ended.
//!
//! A server that has ended is started again by the next call: at once the first time, and then after growing
//! pauses while it ends without having answered a call. A call is sent once; if it was never sent, its
//! failure says so.

use super::Health;
use super::client_handler::Watcher;
use super::listing::{Listed, Listing, list};
use super::reason::short;
use super::server_config::Server;
use super::stderr::Tail;
use super::transport::{self, ClientService, Connection};
use crate::tool::{Failure, Grace, Request};
use ilo_drive::locked::locked;
use rmcp::RoleClient;
use rmcp::service::Peer;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::runtime::Handle;

/// The longest interval between checks for an interrupt.
const PAUSE: Duration = Duration::from_millis(20);
/// The pause before a server is started for the second time without having answered, and the longest one.
const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(30);
/// The longest pause for which a call waits.
const PATIENCE: Duration = Duration::from_secs(1);
/// The most notes about one server: one for each tool is enough.
const NOTES: usize = 20;
/// How long a server may take to end.
const CLOSING: Duration = Duration::from_secs(8);

/// An open connection.
pub(super) struct Live {
    pub(super) peer: Peer<RoleClient>,
    pub(super) connection: Connection,
    /// Whether the server announces changes of its tools.
    pub(super) announces: bool,
    /// Whether it has announced a change since the tools were listed.
    pub(super) changed: Arc<AtomicBool>,
    pub(super) listed: Mutex<(Arc<[Listed]>, Instant)>,
    service: Mutex<Option<ClientService>>,
}

/// Why a server could not be opened, and the end of its standard error.
pub(super) struct Refusal {
    pub(super) why: String,
    pub(super) errors: Tail,
}

/// A server with its current connection.
pub(super) struct Link {
    pub(super) server: Server,
    runtime: Handle,
    live: Mutex<Option<Arc<Live>>>,
    /// Held while the server is started.
    turn: tokio::sync::Mutex<()>,
    /// How often it has ended or failed to start since it answered a call, and when this last happened.
    ends: AtomicU32,
    ended: Mutex<Option<Instant>>,
    closed: AtomicBool,
    /// Notes about its answers that did not make them fail.
    notes: Mutex<BTreeSet<String>>,
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Link").field("server", &self.server.name).finish_non_exhaustive()
    }
}

/// Opens a server and lists its tools.
async fn open(server: &Server) -> Result<(Live, Vec<(String, String)>), Refusal> {
    let mut connection = Connection::default();
    let opening = async {
        let watcher = Watcher::default();
        let changed = Arc::clone(&watcher.changed);
        let service = transport::open(server, watcher, &mut connection).await?;
        let peer = service.peer().clone();
        let Listing { tools, bad } = list(&peer, &connection.pending).await?;
        Ok::<_, String>((service, peer, changed, tools, bad))
    };
    let opened = tokio::time::timeout(server.timeout, opening).await;
    let (service, peer, changed, tools, bad) = match opened {
        Err(_) => {
            let limit = server.timeout.as_millis();
            let why =
                format!("did not start and list its tools within {limit} ms (`timeout`, in milliseconds)");
            let why = format!("{why}{}", printed(&connection));
            return Err(Refusal { why, errors: connection.errors });
        }
        Ok(Err(why)) => {
            let why = connection.pending.dropped().map_or(why, |dropped| format!("was dropped: {dropped}"));
            let why = format!("{why}{}", printed(&connection));
            return Err(Refusal { why, errors: connection.errors });
        }
        Ok(Ok(opened)) => opened,
    };
    let capabilities = peer.peer_info().and_then(|info| info.capabilities.tools.clone());
    // With the newer protocol a client must subscribe to this, which ilo does not.
    let old = peer.peer_info().is_some_and(|info| info.protocol_version.has_initialize());
    let announces = old && capabilities.is_some_and(|tools| tools.list_changed == Some(true));
    let listed = Mutex::new((Arc::from(tools), Instant::now()));
    let service = Mutex::new(Some(service));
    Ok((Live { peer, connection, announces, changed, listed, service }, bad))
}

/// What a server that did not start has printed instead of messages.
fn printed(connection: &Connection) -> String {
    let Some(noise) = connection.pending.noise() else { return String::new() };
    format!("; its standard output is no MCP, a message a line, but begins with `{}`", short(&noise))
}

impl Live {
    pub(super) fn listed(&self) -> (Arc<[Listed]>, Instant) {
        let listed = locked(&self.listed);
        (Arc::clone(&listed.0), listed.1)
    }

    /// Lists the tools again.
    pub(super) async fn list_again(&self) -> Result<Arc<[Listed]>, Failure> {
        // A change that is announced from now on causes another listing.
        self.changed.store(false, Ordering::Release);
        let listing = list(&self.peer, &self.connection.pending).await;
        let tools: Arc<[Listed]> = match listing {
            Ok(listing) => Arc::from(listing.tools),
            Err(why) => {
                self.changed.store(true, Ordering::Release);
                return Err(Failure::text(format!("the call was not made: the server {why}")));
            }
        };
        *locked(&self.listed) = (Arc::clone(&tools), Instant::now());
        Ok(tools)
    }

    fn has_ended(&self) -> bool {
        let pending = &self.connection.pending;
        pending.has_ended() || pending.has_expired() || self.peer.is_transport_closed()
    }
}

impl Link {
    /// Starts a server for the first time. Also returns the listed tools that cannot be used.
    pub(super) async fn start(
        server: Server,
        runtime: Handle,
    ) -> Result<(Arc<Link>, Vec<(String, String)>), Refusal> {
        let (live, bad) = open(&server).await?;
        let link = Link {
            server,
            runtime,
            live: Mutex::new(Some(Arc::new(live))),
            turn: tokio::sync::Mutex::new(()),
            ends: AtomicU32::new(0),
            ended: Mutex::new(None),
            closed: AtomicBool::new(false),
            notes: Mutex::default(),
        };
        Ok((Arc::new(link), bad))
    }

    /// Its state.
    pub(super) fn health(&self) -> Health {
        let live = locked(&self.live).clone();
        Health {
            running: live.as_ref().is_some_and(|live| !live.has_ended()),
            tools: live.map_or(0, |live| live.listed().0.len()),
            ended: self.ends.load(Ordering::Relaxed),
        }
    }

    /// The connection, if it is open.
    pub(super) fn open_now(&self) -> Option<Arc<Live>> {
        locked(&self.live).clone().filter(|live| !live.has_ended())
    }

    /// Notes that an answer of a tool was changed while it was read.
    pub(super) fn note_replaced(&self, tool: &str) {
        let mut notes = locked(&self.notes);
        if notes.len() < NOTES {
            let (server, tool) = (&self.server.name, short(tool));
            notes.insert(format!(
                "server `{server}`: an answer of `{tool}` had half of a surrogate pair, which was read as U+FFFD"
            ));
        }
    }

    /// Takes the notes.
    pub(super) fn notes(&self) -> BTreeSet<String> {
        std::mem::take(&mut locked(&self.notes))
    }

    /// The server has answered a call.
    pub(super) fn works(&self) {
        self.ends.store(0, Ordering::Relaxed);
    }

    /// The connection, which is opened again if it has ended.
    pub(super) async fn live(self: &Arc<Link>) -> Result<Arc<Live>, Failure> {
        if let Some(live) = self.open_now() {
            return Ok(live);
        }
        let link = Arc::clone(self);
        // A separate task, which continues if the call is abandoned.
        let opened = self.runtime.spawn(async move { link.open_again().await }).await;
        opened.unwrap_or_else(|_| Err(self.not_made("it is closed", "")))
    }

    fn not_made(&self, why: &str, said: &str) -> Failure {
        let server = &self.server.name;
        Failure::text(format!("server `{server}`: {why}; this call was not made{said}"))
    }

    async fn open_again(self: &Arc<Link>) -> Result<Arc<Live>, Failure> {
        let _turn = self.turn.lock().await;
        if let Some(live) = self.open_now() {
            return Ok(live);
        }
        let gone = locked(&self.live).take();
        if gone.is_some() {
            self.has_ended();
        }
        let pause = self.pause();
        if pause > PATIENCE {
            let why = format!("it has ended, and is not started again for {} ms", pause.as_millis());
            return Err(self.not_made(&why, ""));
        }
        tokio::time::sleep(pause).await;
        if self.closed.load(Ordering::Acquire) {
            return Err(self.not_made("it is closed", ""));
        }
        match open(&self.server).await {
            Ok((live, _)) => {
                let live = Arc::new(live);
                *locked(&self.live) = Some(Arc::clone(&live));
                Ok(live)
            }
            Err(refusal) => {
                self.has_ended();
                let why = format!("it has ended, and could not be started again: it {}", refusal.why);
                let said = refusal.errors.said_here(&self.server.secrets).await;
                Err(self.not_made(&why, &said))
            }
        }
    }

    fn has_ended(&self) {
        self.ends.fetch_add(1, Ordering::Relaxed);
        *locked(&self.ended) = Some(Instant::now());
    }

    /// The remaining pause before it is started again.
    fn pause(&self) -> Duration {
        let ends = self.ends.load(Ordering::Relaxed);
        let Some(ended) = *locked(&self.ended) else { return Duration::ZERO };
        if ends < 2 {
            return Duration::ZERO;
        }
        let whole = FIRST.saturating_mul(1 << (ends - 2).min(16)).min(LONGEST);
        whole.saturating_sub(ended.elapsed())
    }

    /// Waits for a future on the runtime, until the deadline.
    pub(super) fn wait<T: Send + 'static>(
        &self,
        work: impl Future<Output = T> + Send + 'static,
        request: &Request<'_>,
    ) -> Result<T, Failure> {
        let mut grace = Grace::default();
        let (sender, receiver) = mpsc::sync_channel(1);
        let task = self.runtime.spawn(async move { drop(sender.send(work.await)) });
        loop {
            let left = request.deadline.saturating_duration_since(Instant::now());
            match receiver.recv_timeout(left.min(PAUSE)) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) if grace.is_over(request) => {
                    // As below.
                    task.abort();
                    return Err(Failure::InDoubt(request.cancelled_message()));
                }
                Err(RecvTimeoutError::Timeout) if request.interrupt.is_set() => {
                    task.abort();
                    return Err(Failure::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    // Dropping the future tells the server that its answer is no longer wanted.
                    task.abort();
                    return Err(Failure::TimedOut);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::InDoubt(format!("server `{}` is closed", self.server.name)));
                }
            }
        }
    }

    /// Spawns a future, such as telling the server that an answer is no longer wanted.
    pub(super) fn later(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime.spawn(work);
    }

    /// Ends the server.
    pub(super) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        let live = locked(&self.live).take();
        let service = live.and_then(|live| locked(&live.service).take());
        if let Some(mut service) = service {
            drop(service.close_with_timeout(CLOSING).await);
        }
    }
}
