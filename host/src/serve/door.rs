//! Access control over HTTP: decides by the head of a request, before its body is read.

use super::http::Http;
use super::origin::{Host, Origin, is_allowed, is_asked_for, is_target};
use super::resource::Resource;
use super::sender::{Proxies, Sender};
use axum::http::header::HeaderValue;
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use ilo_drive::problem::Problem;
use ilo_spec::error::Code;
use serde_json::Value;
use std::net::{IpAddr, SocketAddr};

/// The requirements for a request.
pub(super) struct Door {
    hosts: Vec<Host>,
    origins: Vec<Origin>,
    token: Option<String>,
    resource: Option<Resource>,
    proxies: Proxies,
}

impl Door {
    /// `address` is what the server listens on.
    ///
    /// # Errors
    /// A setting that no request could satisfy; an authorization server whose keys cannot be read.
    pub(super) async fn new(settings: &Http, address: SocketAddr) -> Result<Door, Problem> {
        let problem = |place: &str, message: String| Problem::new(Code::BadUsage, place, message);
        if let Some(why) = settings.token.as_deref().and_then(unusable) {
            return Err(problem("--token-env", format!("the token {why}")));
        }
        if settings.token.is_some() && settings.issuer.is_some() {
            let message =
                "either one token or those of an issuer are accepted; leave out `--token-env` or `--issuer`";
            return Err(problem("--issuer", message.to_owned()));
        }
        let proxies = Proxies::new(&settings.proxies, settings.subject_header.as_deref());
        let origins = settings.origins.iter().map(|origin| Origin::allowed(origin));
        let origins: Result<Vec<_>, _> = Origin::local().map(Ok).chain(origins).collect();
        let hosts = settings.hosts.iter().map(|host| Host::allowed(host));
        let hosts: Result<Vec<_>, _> = Host::local().map(Ok).chain(hosts).collect();
        let resource = match &settings.issuer {
            None => None,
            Some(issuer) => {
                let resource = Resource::new(issuer, &address.to_string()).await;
                Some(resource.map_err(|why| problem("--issuer", why))?)
            }
        };
        Ok(Door {
            resource,
            proxies: proxies.map_err(|why| problem("--subject-header", why))?,
            hosts: hosts.map_err(|why| problem("--allow-host", why))?,
            origins: origins.map_err(|why| problem("--allow-origin", why))?,
            token: settings.token.clone(),
        })
    }

    /// Whether pages of this origin may send requests.
    pub(super) fn allows(&self, origin: &HeaderValue) -> bool {
        is_allowed(&self.origins, origin)
    }

    /// The proxies whose headers are believed.
    pub(super) fn proxies(&self) -> &Proxies {
        &self.proxies
    }

    /// Rejects a request for another host, or from a page of another origin.
    pub(super) fn refuses(&self, target: &Uri, headers: &HeaderMap) -> Option<Response> {
        if !is_target(&self.hosts, target) {
            let why = "the target of the request names another host\n";
            return Some((StatusCode::BAD_REQUEST, why).into_response());
        }
        if !is_asked_for(&self.hosts, headers) {
            let why = "the Host header names no host of this server; allow it with `--allow-host`\n";
            return Some((StatusCode::FORBIDDEN, why).into_response());
        }
        if !headers.get_all(header::ORIGIN).iter().all(|origin| self.allows(origin)) {
            let why = "pages of this Origin may not send requests; allow it with `--allow-origin`\n";
            return Some((StatusCode::FORBIDDEN, why).into_response());
        }
        None
    }

    /// The metadata of the protected resource, if tokens of an issuer are accepted.
    pub(super) fn metadata(&self) -> Option<Value> {
        self.resource.as_ref().map(Resource::metadata)
    }

    /// Who sends a request, which comes from an address; or the rejection.
    pub(super) async fn sender(&self, headers: &HeaderMap, peer: IpAddr) -> Result<Sender, Response> {
        let from = self.proxies.sender(headers, peer);
        if let Some(resource) = &self.resource {
            let (subject, decides) = resource.subject(headers).await?;
            return Ok(Sender::of(Some(subject), decides, from));
        }
        if let Some(refused) = self.refuses_token(headers) {
            return Err(refused);
        }
        let subject = self.proxies.subject(headers, peer);
        let subject = subject.map_err(|why| (StatusCode::UNAUTHORIZED, why).into_response())?;
        Ok(Sender::of(subject, false, from))
    }

    /// The rejection of a request without the token.
    fn refuses_token(&self, headers: &HeaderMap) -> Option<Response> {
        let token = self.token.as_ref()?;
        let why = match headers.get(header::AUTHORIZATION) {
            None => "the request has no Authorization header with a bearer token\n",
            Some(given) => match given.as_bytes().split_at_checked(7) {
                Some((scheme, given)) if scheme.eq_ignore_ascii_case(b"bearer ") => {
                    if is_same(given.trim_ascii(), token.as_bytes()) {
                        return None;
                    }
                    "another token\n"
                }
                _ => "the Authorization header has no bearer token\n",
            },
        };
        Some((StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Bearer")], why).into_response())
    }
}

/// Why a token cannot be sent in a header.
fn unusable(token: &str) -> Option<&'static str> {
    if token.contains(['\n', '\r']) {
        return Some(
            "has a line break, which no header can carry; remove it, for example by `printf %s` instead of `echo`",
        );
    }
    if token.trim() != token {
        return Some("begins or ends with a space, which headers lose; remove it");
    }
    let is_plain = token.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    (!is_plain).then_some(
        "has a character that is not printable ASCII, which headers do not carry safely; use another token",
    )
}

/// Compares all bytes, so that the time does not reveal where they differ.
fn is_same(given: &[u8], token: &[u8]) -> bool {
    let differing = given.iter().zip(token).fold(0, |differing, (a, b)| differing | (a ^ b));
    given.len() == token.len() && differing == 0
}
