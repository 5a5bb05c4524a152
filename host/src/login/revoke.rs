//! Revokes the tokens of a sign-in (RFC 7009).

use crate::https;
use crate::tokens::{discovered, why};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response, Url, redirect};
use rmcp::transport::auth::{AuthorizationManager, StoredCredentials};
use serde_json::Value;

/// The parameters for each token: the token and its kind.
const KINDS: [&str; 2] = ["refresh_token", "access_token"];

/// The maximum size of an error.
const ERROR: usize = 16 << 10;

/// Revokes the tokens of a server. Returns whether the access token stays valid until it expires, because the
/// authorization server does not revoke tokens of its kind, such as tokens that it does not store.
///
/// # Errors
/// Why they are still valid, or may be.
pub(super) async fn revoke(
    url: &str,
    stored: &StoredCredentials,
    client_secret: Option<&str>,
) -> Result<bool, String> {
    let manager = AuthorizationManager::new(url).await.map_err(|error| why(&error))?;
    let metadata = discovered(url, &manager).await?;
    // The tokens are sent only to the authorization server that issued them.
    if stored.issuer.is_none() || stored.issuer != metadata.issuer {
        return Err("the server names another authorization server now".to_owned());
    }
    let endpoint = metadata.additional_fields.get("revocation_endpoint").and_then(Value::as_str);
    let endpoint = endpoint.ok_or("its authorization server revokes no tokens")?;
    if https::safe(endpoint).is_none() {
        return Err("the address for that is neither `https` nor within this machine".to_owned());
    }
    let builder = Client::builder().redirect(redirect::Policy::none());
    let http = https::client(builder, endpoint.starts_with("http://"))?;
    let tokens = serde_json::to_value(&stored.token_response).unwrap_or_default();
    let mut renewal = false;
    for kind in KINDS {
        let Some(token) = tokens.get(kind).and_then(Value::as_str) else { continue };
        let mut request = http.post(endpoint).header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        if let Some(secret) = client_secret {
            request = request.basic_auth(encoded(&stored.client_id), Some(encoded(secret)));
        }
        let form = form(&[("token", token), ("token_type_hint", kind), ("client_id", &stored.client_id)]);
        let sent = request.body(form).send().await.map_err(|error| error.without_url().to_string())?;
        let status = sent.status();
        if status.is_success() {
            renewal |= kind == KINDS[0];
            continue;
        }
        if renewal && error_of(sent).await.as_deref() == Some("unsupported_token_type") {
            return Ok(true);
        }
        return Err(format!("HTTP status {}", status.as_u16()));
    }
    Ok(false)
}

/// The code of an error of OAuth.
async fn error_of(answer: Response) -> Option<String> {
    let body = https::body(answer, ERROR).await.ok()??;
    let error: Value = serde_json::from_slice(&body).ok()?;
    error["error"].as_str().map(str::to_owned)
}

/// Encodes fields as a form.
fn form(fields: &[(&str, &str)]) -> String {
    // The URL is only there for its query.
    let Ok(mut url) = Url::parse("http://form/") else { return String::new() };
    url.query_pairs_mut().extend_pairs(fields);
    url.query().unwrap_or_default().to_owned()
}

/// Encodes a text as in a form, which is also the encoding of client credentials.
fn encoded(text: &str) -> String {
    form(&[("", text)]).trim_start_matches('=').to_owned()
}
