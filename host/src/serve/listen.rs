//! Accepts connections: their number, and the time limits of clients, are restricted.

use super::connections::{OpenConnections, YOUNG};
use super::http::App;
use super::{Address, Shared};
use axum::body::Body;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use std::convert::Infallible;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, ReadBuf};
use tokio::net::TcpListener;
use tokio::net::tcp::OwnedReadHalf;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{sleep, timeout};

/// The most connections at a time, fewer than the usual limit on open files; more wait until one ends.
const CONNECTIONS: usize = 512;
/// How long a client may take for the head of a request.
const HEAD: Duration = Duration::from_secs(5);
/// How often a connection is closed to make room for one that waits.
const SHORT: Duration = Duration::from_millis(20);
/// The pause after a connection could not be accepted, for example for lack of files.
const PAUSE: Duration = Duration::from_millis(100);
/// How long active runs may continue after serving has ended, before they are cancelled.
const CLOSING: Duration = Duration::from_secs(5);
/// How long answers may take to be sent after the last run has ended.
const SENDING: Duration = Duration::from_secs(1);

/// Serves connections until `until` completes. Then no more are accepted; active runs are awaited for a
/// moment, and then cancelled.
pub(super) async fn serve(
    listener: TcpListener,
    app: Arc<App>,
    until: impl Future<Output = ()>,
    shared: &Shared,
) {
    let (room, open) = (Arc::new(Semaphore::new(CONNECTIONS)), GracefulShutdown::new());
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let (mut until, connections, mut number) = (pin!(until), OpenConnections::default(), 0);
    loop {
        let next = async {
            let accepted = listener.accept().await;
            (place(&room, &connections, shared).await, accepted)
        };
        let (permit, accepted) = tokio::select! {
            () = &mut until => break,
            next = next => next,
        };
        let Ok((stream, from)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        // An answer is small and sent in parts, none of which may wait for the acknowledgement of the
        // previous one.
        drop(stream.set_nodelay(true));
        number += 1;
        let opened = connections.opened(number, from.ip(), app.is_proxy(from.ip()));
        let (app, address, own) = (Arc::clone(&app), Address(from.ip()), opened.clone());
        let service = service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
            let (app, mut request) = (Arc::clone(&app), request.map(Body::new));
            request.extensions_mut().insert(address);
            request.extensions_mut().insert(own.clone());
            async move { Ok::<_, Infallible>(app.answer(request).await) }
        });
        let (read, write) = stream.into_split();
        let stream = TokioIo::new(tokio::io::join(PromptAck(read), write));
        let connection = open.watch(builder.serve_connection(stream, service));
        let task = tokio::spawn(async move {
            // A client that disconnects is not an error.
            drop(connection.await);
            drop(permit);
        });
        opened.served_by(task.abort_handle());
    }
    drop(listener);
    let closed = async {
        drop(timeout(CLOSING, shared.slots.idle()).await);
        shared.stop().await;
        sleep(SENDING).await;
    };
    tokio::select! {
        () = open.shutdown() => {}
        () = closed => {}
    }
}

/// A place for a connection. While there is none, others are closed.
async fn place(
    room: &Arc<Semaphore>,
    connections: &OpenConnections,
    shared: &Shared,
) -> Option<OwnedSemaphorePermit> {
    let mut taken = Arc::clone(room).try_acquire_owned().ok();
    while taken.is_none() {
        let closed =
            connections.close_unfinished(YOUNG) || shared.slots.shorten() || connections.close_stream();
        tracing::debug!(closed, "connections are short");
        taken = timeout(SHORT, Arc::clone(room).acquire_owned()).await.ok().and_then(Result::ok);
    }
    taken
}

/// The part of a connection that is read. It acknowledges immediately what it has read: clients that write
/// the head and body of a request separately and without `TCP_NODELAY` send the body only after the head is
/// acknowledged, which the system delays by 40 ms.
struct PromptAck(OwnedReadHalf);

impl AsyncRead for PromptAck {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.0).poll_read(context, buffer);
        // The system leaves this mode by itself, so it is set again each time. Other systems have no such
        // mode.
        #[cfg(target_os = "linux")]
        if read.is_ready() {
            drop(self.0.as_ref().set_quickack(true));
        }
        read
    }
}
