//! The journal in PostgreSQL, with a real server. Where there is none, the tests say so and pass.
#![allow(clippy::unwrap_used, missing_docs, unreachable_pub, reason = "a test")]

#[path = "../support/either.rs"]
mod either;
#[path = "../support/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;

mod failures;
mod full;
mod owners;
mod pooler;
mod runs;

use server::Server;
use std::sync::OnceLock;

/// The server that most tests share.
fn shared() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(Server::start).as_ref()
}

/// Stops the shared server: a static is not dropped.
#[test]
fn zz_the_server_answers() {
    let Some(server) = shared() else { return };
    assert_eq!(server.sql("SELECT 1"), "1");
}
