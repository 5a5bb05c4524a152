//! Taking connections: how many there may be, and how long a client may take to say what it wants.

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

/// Connections at a time, fewer than a process usually may have files open; more wait until one ends.
const CONNECTIONS: usize = 512;
/// How long a client may take for the head of a request, its first or the next.
const HEAD: Duration = Duration::from_secs(20);
/// The pause after a connection could not be taken, since files are short then.
const PAUSE: Duration = Duration::from_millis(100);
/// How long answers that are under way may take once serving is over.
const CLOSING: Duration = Duration::from_secs(5);

/// Serves connections until `until` is over.
pub(super) async fn serve(listener: TcpListener, app: Router, until: impl Future<Output = ()>) {
    let (room, open) = (Arc::new(Semaphore::new(CONNECTIONS)), GracefulShutdown::new());
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(HEAD);
    let mut until = pin!(until);
    loop {
        let next = async {
            let permit = Arc::clone(&room).acquire_owned().await;
            (permit, listener.accept().await)
        };
        let (permit, accepted) = tokio::select! {
            () = &mut until => break,
            next = next => next,
        };
        let Ok((stream, _)) = accepted else {
            sleep(PAUSE).await;
            continue;
        };
        // An answer is small and sent in parts: none may wait for the client's acknowledgement of the one
        // before.
        drop(stream.set_nodelay(true));
        let service = TowerToHyperService::new(app.clone());
        let connection = open.watch(builder.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            // A client that breaks off is no error of ours.
            drop(connection.await);
            drop(permit);
        });
    }
    drop(listener);
    drop(timeout(CLOSING, open.shutdown()).await);
}
