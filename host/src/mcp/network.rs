//! The variables by which a server reaches the network as its client does: proxies, and the certificates that
//! are trusted. Commands do not get them.

use std::env;
use std::ffi::OsString;

/// Addresses of proxies, each in capital and in small letters.
const PROXIES: [&str; 6] =
    ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];
/// What is no secret: hosts that need no proxy, and paths of certificates.
const PLAIN: &str = "NO_PROXY no_proxy SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE NODE_EXTRA_CA_CERTS \
                     NODE_USE_SYSTEM_CA NODE_USE_ENV_PROXY REQUESTS_CA_BUNDLE CURL_CA_BUNDLE AWS_CA_BUNDLE \
                     GIT_SSL_CAINFO PIP_CERT CARGO_HTTP_CAINFO DENO_CERT DENO_TLS_CA_STORE npm_config_cafile \
                     NPM_CONFIG_CAFILE";

/// These variables with their values. A proxy with user information is left out, since it may be a secret.
pub(super) fn variables() -> impl Iterator<Item = (&'static str, OsString)> {
    let open = |value: &OsString| value.to_str().is_some_and(|value| !value.contains('@'));
    let proxies = PROXIES.into_iter().filter_map(move |name| Some((name, env::var_os(name).filter(open)?)));
    proxies.chain(PLAIN.split(' ').filter_map(|name| Some((name, env::var_os(name)?))))
}
