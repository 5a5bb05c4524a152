//! Tests with other servers than those of MCP: an authorization server, and a collector of traces.
#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

mod issuer;
mod login;
#[cfg(feature = "journal")]
mod owners;
mod resource;
mod telemetry;
