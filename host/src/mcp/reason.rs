//! Short messages about errors of servers.

use ilo_drive::problem::shortened;
use rmcp::service::{ClientInitializeError, ServiceError};
use std::io::{self, ErrorKind};

/// The message for a program that has ended.
const ENDED: &str = "ended before it answered";

/// Why a server could not be opened.
pub(super) fn cannot_open(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => cannot_open(fallback),
        ClientInitializeError::ConnectionClosed(_) => ENDED.to_owned(),
        ClientInitializeError::JsonRpcError(error) => format!("refused to start: {}", short(&error.message)),
        ClientInitializeError::TransportError { error, .. } => {
            let cause = first_cause(&*error.error);
            let broken = cause.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == ErrorKind::BrokenPipe);
            if broken {
                ENDED.to_owned()
            } else {
                format!("could not be reached: {}", short(&cause.to_string()))
            }
        }
        other => format!("could not be opened: {}", short(&other.to_string())),
    }
}

/// The innermost source of an error, which says what happened.
pub(super) fn first_cause<'e>(
    error: &'e (dyn std::error::Error + 'static),
) -> &'e (dyn std::error::Error + 'static) {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}

/// Why a request failed, in the words of the server if it gives a message.
pub(super) fn why(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => short(&error.message),
        ServiceError::TransportClosed => "the server has ended".to_owned(),
        other => short(&other.to_string()),
    }
}

/// The message of a server may be long.
pub(super) fn short(text: &str) -> String {
    shortened(text, 2_000)
}
