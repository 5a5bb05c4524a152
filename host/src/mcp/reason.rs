//! Short messages about errors of servers, in words and without what the libraries print of their own values.

use super::transport::StreamError;
use crate::https::{first_cause, said};
use ilo_drive::problem::shortened;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use rmcp::transport::streamable_http_client::StreamableHttpError;
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
            let broken = first_cause(&*error.error).downcast_ref::<io::Error>();
            if broken.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
                ENDED.to_owned()
            } else {
                format!("could not be reached: {}", short(&transport(error)))
            }
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "answered the first request with something that is no answer to it".to_owned()
        }
        ClientInitializeError::NoCompatibleProtocolVersion { server_supported, .. } => {
            let versions: Vec<String> = server_supported.iter().map(ToString::to_string).collect();
            format!(
                "speaks only versions of the protocol that are not known here: {}",
                short(&versions.join(", "))
            )
        }
        _ => "could not be opened".to_owned(),
    }
}

/// What an error of a transport says.
fn transport(error: &DynamicTransportError) -> String {
    match error.error.downcast_ref::<StreamError>() {
        Some(error) => cause(error),
        None => said(&*error.error),
    }
}

/// What happened to a message.
pub(super) fn cause(error: &StreamError) -> String {
    let StreamError::Http(http) = error else { return said(error) };
    match http {
        StreamableHttpError::UnexpectedServerResponse(text) => text.to_string(),
        StreamableHttpError::UnexpectedContentType(kind) => {
            let found =
                kind.as_ref().map_or_else(|| "nothing that says so".to_owned(), |kind| format!("`{kind}`"));
            format!("expected JSON or a stream of events, found {found}")
        }
        StreamableHttpError::UnexpectedEndOfStream => "its answer broke off".to_owned(),
        StreamableHttpError::ResponseBodyTooLarge { max_size } => {
            format!("its answer has more than {max_size} bytes")
        }
        StreamableHttpError::ServerDoesNotSupportSse => "it does not send streams of events".to_owned(),
        StreamableHttpError::Deserialize(error) => {
            format!("its answer is no message of the protocol: {error}")
        }
        StreamableHttpError::TransportChannelClosed | StreamableHttpError::TokioJoinError(_) => {
            "the connection was closed".to_owned()
        }
        StreamableHttpError::MissingSessionIdInResponse => "it gave no number of a session".to_owned(),
        StreamableHttpError::ReservedHeaderConflict(name) => {
            format!("the header `{name}` belongs to the protocol; leave it out of `headers`")
        }
        StreamableHttpError::SessionExpired => "it no longer knows the session (HTTP 404)".to_owned(),
        _ => said(error),
    }
}

/// Why a request failed, in the words of the server if it gives a message.
pub(super) fn why(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => short(&error.message),
        ServiceError::TransportClosed => "the server has ended".to_owned(),
        ServiceError::TransportSend(error) => short(&transport(error)),
        ServiceError::UnexpectedResponse => "the server gave an answer of another kind".to_owned(),
        ServiceError::Cancelled { .. } => "the request was given up".to_owned(),
        ServiceError::Timeout { .. } => "the server gave no answer in time".to_owned(),
        _ => "the request failed".to_owned(),
    }
}

/// The message of a server may be long.
pub(super) fn short(text: &str) -> String {
    shortened(text, 2_000)
}
