//! Streamable HTTP: the endpoint, and the handling of requests before the protocol library.
//!
//! The server listens on loopback unless an address is given. `door` decides by the head of a request whether
//! it is accepted; then the body is read, within limits of size and time.

use super::connections::OpenConnection;
use super::door::Door;
use super::message::{Kind, Refused, kind, split};
use super::resource::{Issuer, METADATA};
use super::sender::Counted;
use super::sessions::{Connected, Sessions, is_named};
use super::slots::{Client, REQUESTS_OF_CLIENT, Slots, Unread};
use super::{Address, Arriving, Service, Serving, Session, Shared, listen};
use axum::Router;
use axum::body::{Body, Bytes, HttpBody, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::body::{Frame, SizeHint};
use hyper::service::Service as _;
use hyper_util::service::TowerToHyperService;
use ilo_drive::problem::Problem;
use ilo_spec::error::Code;
use rmcp::model::{JsonRpcError, RequestId};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};
use tower_http::cors::{AllowHeaders, AllowOrigin, AllowPrivateNetwork, CorsLayer};

/// The path of the endpoint.
pub(super) const PATH: &str = "/mcp";
/// The size up to which a body is always read, since the number of connections is limited.
const SMALL: usize = 64 << 10;
/// The total size in kilobytes of all larger bodies whose requests are in progress.
pub(super) const TOGETHER: usize = 64 << 10;
/// How long a client may take for the body of a request.
const BODY: Duration = Duration::from_secs(30);
/// How long a browser may cache which requests are allowed.
const ALLOWED: Duration = Duration::from_mins(10);
/// The header that names a session, which pages have to read.
const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");

/// The address of the server, and its access control.
#[derive(Clone, Debug)]
pub struct Http {
    /// The address.
    pub address: SocketAddr,
    /// The token that each request must have.
    pub token: Option<String>,
    /// The authorization server whose access tokens requests must have.
    pub issuer: Option<Issuer>,
    /// Origins of pages that may send requests.
    pub origins: Vec<String>,
    /// Names of this machine, in addition to those of loopback, that requests may use as host.
    pub hosts: Vec<String>,
    /// The addresses of proxies, whose headers about the sender of a request are believed.
    pub proxies: Vec<IpAddr>,
    /// The header in which these proxies name the subject of a request.
    pub subject_header: Option<String>,
}

/// Serves clients until `until` is over; `ready` gets the address once it listens.
///
/// # Errors
/// If the server cannot listen on the address, or not without a token.
pub fn http(
    service: Service,
    arriving: Option<Arriving>,
    settings: Http,
    ready: Box<dyn FnOnce(SocketAddr) + Send>,
    until: Serving<()>,
) -> Serving<Result<(), Problem>> {
    Box::pin(listening((service, arriving), settings, ready, until))
}

async fn listening(
    (service, arriving): (Service, Option<Arriving>),
    settings: Http,
    ready: Box<dyn FnOnce(SocketAddr) + Send>,
    until: Serving<()>,
) -> Result<(), Problem> {
    let refused = |message: String| Problem::new(Code::BadUsage, "--http", message);
    if !settings.address.ip().is_loopback() && settings.token.is_none() && settings.issuer.is_none() {
        let message = "only loopback is served without a token; give one with `--token-env`, or `--issuer`";
        return Err(refused(message.to_owned()));
    }
    let unusable = |error: io::Error| refused(format!("{} cannot be served: {error}", settings.address));
    let listener = TcpListener::bind(settings.address).await.map_err(unusable)?;
    let address = listener.local_addr().map_err(unusable)?;
    let door = Door::new(&settings, address).await?;
    ready(address);
    let shared = Shared::new(service, arriving);
    listen::serve(listener, App::new(&shared, door), until, &shared).await;
    shared.stop().await;
    Ok(())
}

/// The handler of requests.
pub(super) struct App {
    visitor: Visitor,
    /// The same for requests of pages in browsers.
    pages: TowerToHyperService<Router>,
}

impl App {
    fn new(shared: &Arc<Shared>, door: Door) -> Arc<App> {
        let most = shared.now().service.message();
        // The door has checked the host and the origin already.
        let config =
            StreamableHttpServerConfig::default().with_max_request_body_bytes(most).disable_allowed_hosts();
        let (shared, sessions, door) = (Arc::clone(shared), Arc::new(Sessions::new()), Arc::new(door));
        let (own, slots) = (Arc::clone(&sessions), Arc::clone(&shared.slots));
        let mcp = StreamableHttpService::new(
            move || Ok(shared.session(Some(Arc::clone(&own)))),
            sessions.manager(),
            config,
        );
        let bodies = Arc::new(Semaphore::new(TOGETHER.max(most.div_ceil(1024))));
        let allows = Arc::clone(&door);
        let cors = CorsLayer::new()
            .allow_origin(AllowOrigin::predicate(move |origin, _| allows.allows(origin)))
            .allow_methods([Method::GET, Method::POST, Method::DELETE])
            .allow_headers(AllowHeaders::mirror_request())
            .allow_private_network(AllowPrivateNetwork::yes())
            .expose_headers([SESSION, header::WWW_AUTHENTICATE])
            .max_age(ALLOWED);
        Arc::new_cyclic(|app: &Weak<App>| {
            let app = app.clone();
            let answer = move |request: Request| {
                let app = app.upgrade();
                async move {
                    match app {
                        Some(app) => app.visitor.answer(request).await,
                        None => StatusCode::SERVICE_UNAVAILABLE.into_response(),
                    }
                }
            };
            let pages = TowerToHyperService::new(Router::new().fallback(answer).layer(cors));
            App { visitor: Visitor { door, sessions, slots, mcp, most, bodies }, pages }
        })
    }

    /// Whether an address is that of a trusted proxy.
    pub(super) fn is_proxy(&self, address: IpAddr) -> bool {
        self.visitor.door.proxies().trusts(address)
    }

    /// The answer to a request.
    pub(super) async fn answer(&self, request: Request) -> Response {
        if let Some(refused) = self.visitor.door.refuses(request.uri(), request.headers()) {
            return refused;
        }
        if !request.headers().contains_key(header::ORIGIN) {
            return self.visitor.answer(request).await;
        }
        let Ok(answer) = self.pages.call(request).await;
        answer
    }
}

/// Passes requests to the protocol library.
struct Visitor {
    door: Arc<Door>,
    sessions: Arc<Sessions>,
    slots: Arc<Slots>,
    mcp: StreamableHttpService<Session, LocalSessionManager>,
    most: usize,
    /// The budget for bodies that are not small.
    bodies: Arc<Semaphore>,
}

impl Visitor {
    async fn answer(&self, request: Request) -> Response {
        let path = request.uri().path();
        if path == PATH {
            return self.pass(request).await.unwrap_or_else(|refused| refused);
        }
        let rest = path.strip_prefix(METADATA).filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (rest.and_then(|_| self.door.metadata()), request.method()) {
            (None, _) => (StatusCode::NOT_FOUND, format!("there is nothing here; the endpoint is {PATH}\n"))
                .into_response(),
            (Some(metadata), &Method::GET | &Method::HEAD) => {
                ([(header::CONTENT_TYPE, "application/json")], metadata.to_string()).into_response()
            }
            (Some(_), _) => StatusCode::METHOD_NOT_ALLOWED.into_response(),
        }
    }

    async fn pass(&self, request: Request) -> Result<Response, Response> {
        let (mut head, body) = request.into_parts();
        let peer = head.extensions.get::<Address>().map_or(Ipv4Addr::UNSPECIFIED.into(), |address| address.0);
        // The library keeps heads, and a connection is forgotten with the last that has it.
        let connection = head.extensions.remove::<OpenConnection>();
        let sender = self.door.sender(&head.headers, peer).await?;
        let (subject, counted) = (sender.subject.clone(), sender.counted.clone());
        let client = self.slots.client_at(&counted);
        let open = Arc::clone(&client.requests).try_acquire_owned().map_err(|_| {
            let why =
                format!("{REQUESTS_OF_CLIENT} requests of this client are under way; try again later\n");
            (StatusCode::TOO_MANY_REQUESTS, why).into_response()
        })?;
        let unread = Unread::of(client);
        head.extensions.insert(sender);
        // The library keeps heads.
        head.extensions.insert(Arc::downgrade(&unread));
        let named = is_named(&head.headers);
        let mut connected = self.sessions.connected(&head.headers, Some(counted.clone())).await;
        let ends = head.method == Method::DELETE && named;
        // Only the subject that began a session may use it.
        if named && !self.sessions.belongs(&head.headers, subject.as_ref()) {
            return Err((StatusCode::NOT_FOUND, "there is no such session\n").into_response());
        }
        if ends && connected.is_none() {
            return Err((StatusCode::NOT_FOUND, "there is no such session\n").into_response());
        }
        if !named && !self.sessions.has_room(&counted).await {
            return Err(
                (StatusCode::SERVICE_UNAVAILABLE, "all sessions have runs under way\n").into_response()
            );
        }
        let headers = head.headers.clone();
        let (whole, room) = self.whole(body, &headers, &unread.client).await?;
        let is_post = head.method == Method::POST;
        let listens = (head.method == Method::GET).then(|| counted.clone());
        let answering = connection.map(|connection| Engaged::new(connection, listens));
        let mut request = Request::from_parts(head, Body::empty());
        if is_post || !whole.is_empty() {
            let (rest, arguments, id) = split(whole).map_err(|refused| bad_request(&refused))?;
            if is_post {
                let kind = kind(&rest, id.as_ref()).map_err(|refused| bad_request(&refused))?;
                if let (Kind::Request, Some(id), Some(connected)) = (kind, id, &mut connected) {
                    alone(connected, &id).await.map_err(|refused| bad_request(&refused))?;
                }
            }
            *request.body_mut() = Body::from(rest);
            if let Some(arguments) = arguments {
                request.extensions_mut().insert(arguments);
            }
        }
        // Boxed: the library's future is large, and hyper moves the one around it several times.
        let mut answer = Box::pin(self.mcp.handle(request)).await.map(Body::new);
        if ends && answer.status().is_success() {
            self.sessions.ended(&headers);
            *answer.status_mut() = StatusCode::NO_CONTENT;
        }
        if connected.is_none() {
            connected = self.sessions.connected(answer.headers(), Some(counted)).await;
            self.sessions.begun(answer.headers(), subject);
        }
        let held = UntilSent {
            _connected: connected,
            _room: room,
            _open: open,
            _unread: unread,
            _answering: answering,
        };
        Ok(answer.map(|body| Body::new(Tracked { body, _held: held })))
    }
}

impl Visitor {
    /// Reads a whole body of a client within its time limit. Also returns its part of the budgets.
    async fn whole(
        &self,
        body: Body,
        headers: &HeaderMap,
        client: &Client,
    ) -> Result<(Bytes, Option<Room>), Response> {
        let most = self.most;
        let too_large = || {
            let why = format!("the body of a request may have {most} bytes\n");
            (StatusCode::PAYLOAD_TOO_LARGE, why).into_response()
        };
        let length =
            headers.get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
        if length.is_some_and(|length: usize| length > most) {
            return Err(too_large());
        }
        // A body without a length may have the maximum length.
        let chunked = headers.contains_key(header::TRANSFER_ENCODING);
        let length = length.unwrap_or(if chunked { most } else { 0 });
        let room = if length <= SMALL {
            None
        } else {
            let kilobytes = u32::try_from(length.div_ceil(1024)).unwrap_or(u32::MAX);
            let room = async {
                // A client waits for its own part first, and others do not wait for it.
                let own = Arc::clone(&client.bodies).acquire_many_owned(kilobytes).await.ok()?;
                Some((own, Arc::clone(&self.bodies).acquire_many_owned(kilobytes).await.ok()?))
            };
            match timeout(BODY, room).await {
                Ok(Some(room)) => Some(room),
                _ => {
                    let why = "other large requests are under way; try again\n";
                    return Err((StatusCode::SERVICE_UNAVAILABLE, why).into_response());
                }
            }
        };
        match timeout(BODY, to_bytes(body, length)).await {
            Ok(Ok(body)) => Ok((body, room)),
            Ok(Err(_)) => Err(too_large()),
            Err(_) => {
                let why = format!("the body of a request must arrive within {} s\n", BODY.as_secs());
                Err((StatusCode::REQUEST_TIMEOUT, why).into_response())
            }
        }
    }
}

/// Waits a moment until no other request of the session has this ID: a client may use an ID again as soon as
/// it has read the answer, just before the answer ends here.
async fn alone(connected: &mut Connected, id: &RequestId) -> Result<(), Refused> {
    const TRIES: usize = 10;
    for _ in 0..TRIES {
        if connected.asks(id) {
            return Ok(());
        }
        sleep(Duration::from_millis(10)).await;
    }
    Err(Refused::same_id(id))
}

fn bad_request(refused: &Refused) -> Response {
    let error = JsonRpcError::new(refused.id.clone(), (*refused.error).clone());
    let body = serde_json::to_string(&error).unwrap_or_default();
    (StatusCode::BAD_REQUEST, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

/// The body of an answer, with the connection, which ends when the body was sent or the client has left.
struct Tracked {
    body: Body,
    _held: UntilSent,
}

/// What a request holds until its answer was sent.
struct UntilSent {
    _connected: Option<Connected>,
    /// The budget of the body of the request, whose arguments may be read until the answer ends.
    _room: Option<Room>,
    /// Its place among the requests of its client.
    _open: OwnedSemaphorePermit,
    _unread: Arc<Unread>,
    _answering: Option<Engaged>,
}

/// The parts of a body in the budget of its client, and in that of all.
type Room = (OwnedSemaphorePermit, OwnedSemaphorePermit);

/// A connection whose request is answered. When this is dropped, it waits for the next one.
struct Engaged(OpenConnection);

impl Engaged {
    fn new(connection: OpenConnection, listens: Option<Counted>) -> Engaged {
        connection.has_request(listens);
        Engaged(connection)
    }
}

impl Drop for Engaged {
    fn drop(&mut self) {
        self.0.waits();
    }
}

impl HttpBody for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
