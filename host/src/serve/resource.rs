//! `serve` as a protected resource of OAuth: its metadata (RFC 9728), and who may send requests.
//!
//! A request has an access token that an authorization server signed (RFC 9068). Its signature, issuer,
//! audience, time and scopes are checked for each request. Tokens are never passed on to tools.

use super::http::PATH;
use super::keys::Keys;
use super::sender::Subject;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jsonwebtoken::{Validation, decode};
use reqwest::Url;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The path of the metadata; that of the endpoint follows.
pub(super) const METADATA: &str = "/.well-known/oauth-protected-resource";
/// The maximum size of a token.
const TOKEN: usize = 16 << 10;
/// The claims that name the client, the one of the specification first.
const CLIENT: [&str; 4] = ["client_id", "azp", "cid", "appid"];
/// The maximum size of a subject or client.
const NAME: usize = 1 << 10;
/// Seconds by which the clock of the authorization server may differ.
const LEEWAY: u64 = 30;

/// The settings for accepted tokens.
#[derive(Clone, Debug)]
pub struct Issuer {
    /// The authorization server, as its metadata names it.
    pub url: String,
    /// The URL of this server for clients, which tokens have as their audience; by default that of its
    /// address.
    pub resource: Option<String>,
    /// The scopes that every token must have.
    pub scopes: Vec<String>,
    /// The scope with which a subject may decide on the calls of others.
    pub approver_scope: Option<String>,
}

/// A protected resource.
pub(super) struct Resource {
    issuer: Arc<str>,
    url: String,
    metadata_url: String,
    scopes: Vec<String>,
    approver_scope: Option<String>,
    keys: Keys,
}

/// Why a request is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TokenRefusal {
    /// It has no token.
    None,
    /// Its token is invalid.
    Invalid(&'static str),
    /// Its token lacks a scope.
    Scope,
    /// The keys of the issuer are not available now.
    Unavailable,
}

impl Resource {
    /// Finds the keys of the authorization server; `address` is what this server listens on.
    ///
    /// # Errors
    /// What is wrong with the settings; an authorization server that cannot be reached or used.
    pub(super) async fn new(settings: &Issuer, address: &str) -> Result<Resource, String> {
        let url = settings.resource.clone().unwrap_or_else(|| format!("http://{address}{PATH}"));
        let parsed = Url::parse(&url).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(parsed) = parsed.filter(|url| url.fragment().is_none()) else {
            return Err(format!("`{url}` is not a URL of a resource; write `https://HOST{PATH}`"));
        };
        let is_scope = |scope: &String| {
            !scope.is_empty() && scope.bytes().all(|byte| matches!(byte, b'!' | b'#'..=b'[' | b']'..=b'~'))
        };
        let mut all = settings.scopes.iter().chain(&settings.approver_scope);
        if let Some(scope) = all.find(|scope| !is_scope(scope)) {
            return Err(format!("`{scope}` is not a scope: it has a character that scopes cannot have"));
        }
        let path = parsed.path().trim_end_matches('/');
        let metadata_url = format!("{}{METADATA}{path}", parsed.origin().ascii_serialization());
        let keys = Keys::new(&settings.url).await?;
        Ok(Resource {
            issuer: settings.url.as_str().into(),
            url,
            metadata_url,
            scopes: settings.scopes.clone(),
            approver_scope: settings.approver_scope.clone(),
            keys,
        })
    }

    /// The metadata of the resource.
    pub(super) fn metadata(&self) -> Value {
        json!({
            "resource": self.url,
            "resource_name": "ilo-vm",
            "authorization_servers": [&*self.issuer],
            "scopes_supported": self.scopes,
            "bearer_methods_supported": ["header"],
        })
    }

    /// The subject of the token of a request, and whether it may decide on the calls of others; or the
    /// rejection.
    pub(super) async fn subject(&self, headers: &HeaderMap) -> Result<(Subject, bool), Response> {
        let checked = match bearer(headers) {
            Ok(token) => self.checked(token).await,
            Err(refusal) => Err(refusal),
        };
        checked.map_err(|refusal| self.refused(refusal))
    }

    async fn checked(&self, token: &str) -> Result<(Subject, bool), TokenRefusal> {
        if is_critical(token) {
            return Err(TokenRefusal::Invalid("it has an extension that must be understood (`crit`)"));
        }
        let header =
            jsonwebtoken::decode_header(token).map_err(|_| TokenRefusal::Invalid("it is not a JWT"))?;
        let typed = header.typ.as_deref().map(str::to_ascii_lowercase);
        if !matches!(typed.as_deref(), None | Some("jwt" | "at+jwt" | "application/at+jwt")) {
            return Err(TokenRefusal::Invalid("it is a JWT of another type"));
        }
        let key = self.keys.find(header.kid.as_deref(), header.alg).await;
        let key = key.map_err(|_| TokenRefusal::Unavailable)?;
        let key = key.ok_or(TokenRefusal::Invalid("the issuer has no such key"))?;
        let mut validation = Validation::new(header.alg);
        validation.set_required_spec_claims(&["exp", "iss", "aud"]);
        validation.set_issuer(&[&*self.issuer]);
        validation.set_audience(&[&self.url]);
        validation.validate_nbf = true;
        validation.leeway = LEEWAY;
        let token = decode::<Map<String, Value>>(token, &key, &validation).map_err(|error| {
            use jsonwebtoken::errors::ErrorKind;
            TokenRefusal::Invalid(match error.kind() {
                ErrorKind::ExpiredSignature => "its time is over",
                ErrorKind::ImmatureSignature => "its time has not begun",
                ErrorKind::InvalidAudience => "it is for another audience",
                ErrorKind::InvalidIssuer => "it is from another issuer",
                ErrorKind::MissingRequiredClaim(_) => "a claim is missing",
                _ => "its signature or form is wrong",
            })
        })?;
        let claims = &token.claims;
        if !claims.get("iss").is_some_and(Value::is_string) {
            return Err(TokenRefusal::Invalid("its issuer is no text"));
        }
        let given = scopes(claims);
        if self.scopes.iter().any(|scope| !given.contains(scope.as_str())) {
            return Err(TokenRefusal::Scope);
        }
        let decides = self.approver_scope.as_deref().is_some_and(|scope| given.contains(scope));
        Ok((self.named(claims)?, decides))
    }

    /// Who has a token: its subject and its client, of which one must be there.
    fn named(&self, claims: &Map<String, Value>) -> Result<Subject, TokenRefusal> {
        let text = |name: &str| match claims.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if (1..=NAME).contains(&text.len()) => Ok(Some(text.clone())),
            Some(_) => Err(TokenRefusal::Invalid("its subject or client is no text")),
        };
        let sub = text("sub")?;
        let client = CLIENT.into_iter().find(|name| claims.contains_key(*name));
        let client = client.map(text).transpose()?.flatten();
        if sub.is_none() && client.is_none() {
            return Err(TokenRefusal::Invalid("it names neither a subject nor a client"));
        }
        Ok(Subject { issuer: Arc::clone(&self.issuer), sub, client })
    }

    fn refused(&self, refusal: TokenRefusal) -> Response {
        let at = format!("resource_metadata=\"{}\"", self.metadata_url);
        let scope = if self.scopes.is_empty() {
            String::new()
        } else {
            format!(", scope=\"{}\"", self.scopes.join(" "))
        };
        let (status, challenge, text) = match refusal {
            TokenRefusal::None => (
                StatusCode::UNAUTHORIZED,
                format!("Bearer {at}{scope}"),
                "the request has no access token".to_owned(),
            ),
            TokenRefusal::Invalid(why) => {
                let challenge =
                    format!("Bearer error=\"invalid_token\", error_description=\"{why}\", {at}{scope}");
                (StatusCode::UNAUTHORIZED, challenge, format!("the access token is not accepted: {why}"))
            }
            TokenRefusal::Scope => {
                let challenge = format!("Bearer error=\"insufficient_scope\", {at}{scope}");
                (StatusCode::FORBIDDEN, challenge, format!("the access token lacks a scope{scope}"))
            }
            TokenRefusal::Unavailable => {
                let text = "the keys of the authorization server cannot be had now\n";
                return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
            }
        };
        // URLs and scopes have only characters that a header can carry.
        let challenge = HeaderValue::from_str(&challenge).unwrap_or(HeaderValue::from_static("Bearer"));
        (status, [(header::WWW_AUTHENTICATE, challenge)], text + "\n").into_response()
    }
}

/// Whether the head of a token has extensions that must be understood: none are.
fn is_critical(token: &str) -> bool {
    let head = token.split('.').next().and_then(|head| URL_SAFE_NO_PAD.decode(head).ok());
    let head = head.and_then(|head| serde_json::from_slice::<Map<String, Value>>(&head).ok());
    head.is_some_and(|head| head.contains_key("crit"))
}

/// The token of a request.
fn bearer(headers: &HeaderMap) -> Result<&str, TokenRefusal> {
    let mut given = headers.get_all(header::AUTHORIZATION).iter();
    let (Some(value), None) = (given.next(), given.next()) else { return Err(TokenRefusal::None) };
    let (scheme, token) = value.as_bytes().split_at_checked(7).ok_or(TokenRefusal::None)?;
    if !scheme.eq_ignore_ascii_case(b"bearer ") {
        return Err(TokenRefusal::None);
    }
    if token.len() > TOKEN {
        return Err(TokenRefusal::Invalid("it is too long"));
    }
    std::str::from_utf8(token.trim_ascii()).map_err(|_| TokenRefusal::Invalid("it is not a JWT"))
}

/// The scopes of a token: a text with spaces, or a list.
fn scopes(claims: &Map<String, Value>) -> BTreeSet<&str> {
    match claims.get("scope").or_else(|| claims.get("scp")) {
        Some(Value::String(scopes)) => scopes.split(' ').filter(|scope| !scope.is_empty()).collect(),
        Some(Value::Array(scopes)) => scopes.iter().filter_map(Value::as_str).collect(),
        _ => BTreeSet::new(),
    }
}
