//! The public keys of an authorization server, found by its metadata (RFC 8414, or `OpenID` Connect
//! Discovery).
//!
//! They are read at the start, again after an hour, and when a token names a key that is not among them, but
//! then not more often than every half minute.

use super::signature;
use crate::https;
use ilo_drive::locked::locked;
use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, JwkSet, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use reqwest::{Client, Url};
use serde_json::Value;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long keys are valid.
const FRESH: Duration = Duration::from_hours(1);
/// The shortest interval between reads of the keys.
const PAUSE: Duration = Duration::from_secs(30);
/// How long the authorization server may take for an answer.
const ANSWER: Duration = Duration::from_secs(10);
/// The maximum size of an answer.
const BODY: usize = 1 << 20;
/// The most keys that are used.
const MOST: usize = 100;

/// The keys of one authorization server.
pub(super) struct Keys {
    http: Client,
    url: Url,
    found: Mutex<CachedKeys>,
    /// Held while the keys are read.
    turn: tokio::sync::Mutex<()>,
}

struct CachedKeys {
    keys: Vec<Jwk>,
    /// When they were read, and when that was last tried.
    read: Instant,
    tried: Instant,
}

/// The possible URLs of the metadata of an issuer.
fn places(issuer: &Url) -> Vec<Url> {
    let path = issuer.path().trim_end_matches('/');
    let paths = [
        format!("/.well-known/oauth-authorization-server{path}"),
        format!("/.well-known/openid-configuration{path}"),
        format!("{path}/.well-known/openid-configuration"),
    ];
    let place = |path: &String| {
        let mut place = issuer.clone();
        place.set_path(path);
        place
    };
    paths.iter().map(place).collect()
}

/// Reads a JSON document.
async fn document(http: &Client, url: &Url) -> Result<Vec<u8>, String> {
    let failed = |error| format!("{url}: {}", https::cause(error));
    let response = http.get(url.clone()).send().await.map_err(failed)?;
    if !response.status().is_success() {
        return Err(format!("{url}: HTTP status {}", response.status().as_u16()));
    }
    let body = https::body(response, BODY).await.map_err(failed)?;
    body.ok_or_else(|| format!("{url}: more than {BODY} bytes"))
}

impl Keys {
    /// Finds the keys of an issuer.
    ///
    /// # Errors
    /// An issuer whose metadata or keys cannot be read, or whose metadata names another issuer.
    pub(super) async fn new(issuer: &str) -> Result<Keys, String> {
        signature::install();
        let Some(url) = https::safe(issuer).filter(|url| url.query().is_none() && url.fragment().is_none())
        else {
            return Err(format!("`{issuer}` is not an issuer; write `https://HOST` or `https://HOST/PATH`"));
        };
        let builder = Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(ANSWER);
        let http = https::client(builder, url.scheme() == "http")?;
        let mut why = String::new();
        for place in places(&url) {
            let metadata = match document(&http, &place).await {
                Ok(metadata) => metadata,
                Err(error) => {
                    why = error;
                    continue;
                }
            };
            let metadata: Value =
                serde_json::from_slice(&metadata).map_err(|_| format!("{place}: no JSON"))?;
            if metadata.get("issuer").and_then(Value::as_str) != Some(issuer) {
                return Err(format!("the metadata at {place} does not name the issuer `{issuer}`"));
            }
            let keys = metadata.get("jwks_uri").and_then(Value::as_str).and_then(https::safe);
            let Some(url) = keys.filter(|keys| keys.scheme() == place.scheme()) else {
                return Err(format!("the metadata at {place} has no usable `jwks_uri`"));
            };
            let keys = read(&http, &url).await?;
            let now = Instant::now();
            let found = Mutex::new(CachedKeys { keys, read: now, tried: now });
            return Ok(Keys { http, url, found, turn: tokio::sync::Mutex::default() });
        }
        Err(format!("the metadata of the issuer `{issuer}` cannot be read: {why}"))
    }

    /// The key with this ID for this algorithm.
    ///
    /// # Errors
    /// Keys that are too old and cannot be read again.
    pub(super) async fn find(
        &self,
        id: Option<&str>,
        algorithm: Algorithm,
    ) -> Result<Option<DecodingKey>, String> {
        if !signature::is_known(algorithm) {
            return Ok(None);
        }
        let (key, old, pause) = self.look(id, algorithm);
        if !old && (pause || key.is_some()) {
            return Ok(key);
        }
        let _turn = self.turn.lock().await;
        // Another request may have read them in the meantime.
        let (key, old, pause) = self.look(id, algorithm);
        if (key.is_some() && !old) || pause {
            return if old { Err("the keys are too old".to_owned()) } else { Ok(key) };
        }
        locked(&self.found).tried = Instant::now();
        match read(&self.http, &self.url).await {
            Ok(keys) => {
                let mut found = locked(&self.found);
                (found.keys, found.read) = (keys, Instant::now());
            }
            Err(why) => {
                tracing::warn!("the keys of the authorization server cannot be read: {why}");
                return if old { Err(why) } else { Ok(None) };
            }
        }
        Ok(self.look(id, algorithm).0)
    }

    /// A key, whether the keys are old, and whether it is too early to read them again.
    fn look(&self, id: Option<&str>, algorithm: Algorithm) -> (Option<DecodingKey>, bool, bool) {
        let found = locked(&self.found);
        let key = chosen(&found.keys, id, algorithm);
        (key, found.read.elapsed() > FRESH, found.tried.elapsed() < PAUSE)
    }
}

async fn read(http: &Client, url: &Url) -> Result<Vec<Jwk>, String> {
    let body = document(http, url).await?;
    let mut keys =
        serde_json::from_slice::<JwkSet>(&body).map_err(|_| format!("{url}: no set of keys"))?.keys;
    keys.truncate(MOST);
    Ok(keys)
}

/// The key with an ID; without one, the only key for the algorithm.
fn chosen(keys: &[Jwk], id: Option<&str>, algorithm: Algorithm) -> Option<DecodingKey> {
    let mut fitting = keys
        .iter()
        .filter(|key| (id.is_none() || key.common.key_id.as_deref() == id) && fits(key, algorithm));
    let key = fitting.next()?;
    if fitting.next().is_some() {
        return None;
    }
    DecodingKey::from_jwk(key).ok()
}

/// Whether there is a key for signatures of this algorithm.
fn fits(key: &Jwk, algorithm: Algorithm) -> bool {
    let kind = match (&key.algorithm, algorithm) {
        (
            AlgorithmParameters::RSA(_),
            Algorithm::RS256
            | Algorithm::RS384
            | Algorithm::RS512
            | Algorithm::PS256
            | Algorithm::PS384
            | Algorithm::PS512,
        ) => true,
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES256) => key.curve == EllipticCurve::P256,
        (AlgorithmParameters::EllipticCurve(key), Algorithm::ES384) => key.curve == EllipticCurve::P384,
        (AlgorithmParameters::OctetKeyPair(key), Algorithm::EdDSA) => key.curve == EllipticCurve::Ed25519,
        _ => false,
    };
    let common = &key.common;
    let signs = common.public_key_use.as_ref().is_none_or(|it| *it == PublicKeyUse::Signature);
    let named = common
        .key_algorithm
        .is_none_or(|it| it.to_string().parse::<Algorithm>().is_ok_and(|it| it == algorithm));
    kind && signs && named
}
