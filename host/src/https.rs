//! Builds HTTP clients, and says what is missing where one cannot be built.

use reqwest::{Client, ClientBuilder};
use std::error::Error;

/// The innermost cause of an error, without the URL.
#[cfg(any(feature = "serve", feature = "telemetry"))]
pub(crate) fn cause(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut cause: &dyn Error = &error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    cause.to_string()
}

/// Builds a client. Without TLS (`plain`) it needs no certificates, and the machine may have none.
///
/// # Errors
/// Why there is no client: mostly that the machine has no certificates.
pub(crate) fn client(builder: ClientBuilder, plain: bool) -> Result<Client, String> {
    // Once per process: a second provider would be rejected, and the first one works too.
    drop(rustls::crypto::ring::default_provider().install_default());
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
