//! Builds HTTP clients, and says what is missing where one cannot be built.

use reqwest::{Client, ClientBuilder, Response};
use std::error::Error;
use std::io;

/// The innermost cause of an error, without the URL.
#[cfg(any(feature = "serve", feature = "telemetry"))]
pub(crate) fn cause(error: reqwest::Error) -> String {
    said(&error.without_url())
}

/// The innermost source of an error, which says what happened.
pub(crate) fn first_cause<'e>(error: &'e (dyn Error + 'static)) -> &'e (dyn Error + 'static) {
    let mut cause = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause
}

/// What the innermost source of an error says, without the words of Rust. One of the system may hold another.
pub(crate) fn said(error: &(dyn Error + 'static)) -> String {
    let mut cause = first_cause(error);
    while let Some(held) = cause.downcast_ref().and_then(io::Error::get_ref) {
        cause = first_cause(held);
    }
    match (cause.downcast_ref(), cause.downcast_ref()) {
        (Some(error), _) => unsafe_line(error),
        (_, Some(error)) => of_system(error),
        _ => cause.to_string(),
    }
}

/// What the system says, without its number.
pub(crate) fn of_system(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Why there is no TLS with a server.
fn unsafe_line(error: &rustls::Error) -> String {
    use rustls::{CertificateError as Certificate, Error, InvalidMessage};
    let why = match error {
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "it does not speak TLS at this port; if it is meant so, its address begins with `http://`"
        }
        Error::InvalidCertificate(certificate) => match certificate {
            Certificate::UnknownIssuer => {
                "its certificate was issued by nobody whom this machine trusts; `SSL_CERT_FILE` names a file of others"
            }
            Certificate::NotValidForName | Certificate::NotValidForNameContext { .. } => {
                "its certificate is for another name"
            }
            Certificate::Expired | Certificate::ExpiredContext { .. } => "its certificate has expired",
            Certificate::NotValidYet | Certificate::NotValidYetContext { .. } => {
                "its certificate is not valid yet; is the clock of this machine right?"
            }
            Certificate::Revoked => "its certificate was revoked",
            _ => "its certificate cannot be used",
        },
        Error::AlertReceived(_) => "it ended the TLS handshake",
        other => return other.to_string(),
    };
    why.to_owned()
}

/// A URL to which a secret may be sent, and whose answer can be trusted: over TLS, or on this machine.
#[cfg(any(feature = "login", feature = "serve"))]
pub(crate) fn safe(text: &str) -> Option<reqwest::Url> {
    let url = reqwest::Url::parse(text).ok()?;
    let local = match url.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse().is_ok_and(|address: std::net::Ipv4Addr| address.is_loopback()),
        None => false,
    };
    (url.scheme() == "https" || (url.scheme() == "http" && local)).then_some(url)
}

/// The bytes of a body; nothing if there are more than `most`.
#[cfg(any(feature = "mcp", feature = "serve"))]
pub(crate) async fn body(mut response: Response, most: usize) -> Result<Option<Vec<u8>>, reqwest::Error> {
    let mut bytes = Vec::new();
    while let Some(part) = response.chunk().await? {
        if part.len() > most - bytes.len() {
            return Ok(None);
        }
        bytes.extend_from_slice(&part);
    }
    Ok(Some(bytes))
}

/// Lets TLS use `ring`, once per process: a second provider would be rejected, and the first one works too.
pub(crate) fn install() {
    drop(rustls::crypto::ring::default_provider().install_default());
}

/// Builds a client. Without TLS (`plain`) it needs no certificates, and the machine may have none.
///
/// # Errors
/// Why there is no client: mostly that the machine has no certificates.
pub(crate) fn client(builder: ClientBuilder, plain: bool) -> Result<Client, String> {
    install();
    let builder = if plain { builder.tls_certs_only([]) } else { builder };
    builder.build().map_err(|error| {
        let mut why = format!("no HTTP client: {error}");
        let mut cause = error.source();
        while let Some(source) = cause {
            why = format!("{why}: {source}");
            cause = source.source();
        }
        if plain {
            return why;
        }
        format!(
            "{why}; HTTPS needs the certificates of authorities: install them (package `ca-certificates`), or name a file \
             of them in SSL_CERT_FILE"
        )
    })
}
