//! An authorization server for tests, on a port of this machine. It signs tokens with a key of its own, and
//! can misbehave.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use ring::digest::{SHA256, digest};
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// Its misbehaviour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Fault {
    #[default]
    None,
    /// Its metadata names another issuer.
    OtherIssuer,
    /// The browser comes back with another issuer.
    OtherIssuerInAnswer,
    /// The person refuses.
    Refusal,
    /// The token endpoint sends the client elsewhere.
    Redirect,
    /// Its token endpoint is on another machine, without TLS.
    PlainEndpoint,
    /// It offers no PKCE.
    NoPkce,
    /// Tokens are for another audience.
    OtherAudience,
    /// Refresh tokens do not work.
    NoRefresh,
    /// Tokens cannot be revoked.
    NoRevocation,
    /// It revokes no access tokens.
    OnlyRefresh,
}

#[derive(Default)]
struct State {
    fault: Fault,
    /// The lifetime of a token in seconds.
    lasts: u64,
    /// The request for which each code was given.
    codes: HashMap<String, HashMap<String, String>>,
    /// The valid refresh token, with its resource.
    refresh: Option<(String, String)>,
    count: u64,
    /// Every token that was issued.
    given: Vec<String>,
    /// The forms by which tokens were revoked.
    revoked: Vec<HashMap<String, String>>,
    requests: Vec<String>,
}

/// The server; its thread ends with the test's process.
pub(crate) struct Issuer {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    key: Arc<Ed25519KeyPair>,
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

/// The parameters of a query or a form.
fn parameters(text: &str) -> HashMap<String, String> {
    let decoded = |text: &str| {
        let mut bytes = Vec::new();
        let mut rest = text.bytes();
        while let Some(byte) = rest.next() {
            bytes.push(match byte {
                b'+' => b' ',
                b'%' => {
                    let digits = [rest.next().unwrap(), rest.next().unwrap()];
                    u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
                }
                other => other,
            });
        }
        String::from_utf8(bytes).unwrap()
    };
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs.map(|(name, value)| (decoded(name), decoded(value))).collect()
}

/// A request: its method and target, and its body.
pub(crate) fn request(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut line, mut length) = (String::new(), 0);
    reader.read_line(&mut line).ok()?;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let target = line.rsplit_once(' ')?.0.to_owned();
    Some((target, String::from_utf8(body).ok()?))
}

impl Issuer {
    pub(crate) fn start() -> Issuer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let key = Arc::new(Ed25519KeyPair::from_seed_unchecked(&[7; 32]).unwrap());
        let state = Arc::new(Mutex::new(State { lasts: 3600, ..State::default() }));
        let issuer = Issuer { url: url.clone(), state: Arc::clone(&state), key: Arc::clone(&key) };
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let Some((target, body)) = request(&stream) else { continue };
                let own = Issuer { url: url.clone(), state: Arc::clone(&state), key: Arc::clone(&key) };
                let (status, header, body) = own.answer(&target, &body);
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 {status}\r\n{header}content-type: application/json\r\ncontent-length: {length}\r\n\
                     connection: close\r\n\r\n{body}"
                );
                drop((&stream).write_all(answer.as_bytes()));
            }
        });
        issuer
    }

    pub(crate) fn misbehave(&self, fault: Fault) {
        self.state.lock().unwrap().fault = fault;
    }

    pub(crate) fn tokens_last(&self, seconds: u64) {
        self.state.lock().unwrap().lasts = seconds;
    }

    /// Every access and refresh token that it gave, and every code.
    pub(crate) fn given(&self) -> Vec<String> {
        self.state.lock().unwrap().given.clone()
    }

    /// The forms by which tokens were revoked.
    pub(crate) fn revoked(&self) -> Vec<HashMap<String, String>> {
        self.state.lock().unwrap().revoked.clone()
    }

    /// The requests so far, by method and path.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }

    /// A token with these claims, signed.
    pub(crate) fn signed(&self, claims: &Value) -> String {
        self.signed_as(&json!({"alg": "EdDSA", "typ": "at+jwt", "kid": "k1"}), claims)
    }

    pub(crate) fn signed_as(&self, header: &Value, claims: &Value) -> String {
        let part = |value: &Value| BASE64.encode(value.to_string());
        let message = format!("{}.{}", part(header), part(claims));
        format!("{message}.{}", BASE64.encode(self.key.sign(message.as_bytes())))
    }

    /// The claims of a valid token.
    pub(crate) fn claims(&self, resource: &str) -> Value {
        json!({"iss": self.url, "aud": resource, "sub": "ada", "client_id": "c1", "scope": "tools other",
            "iat": now(), "exp": now() + 3600})
    }

    fn answer(&self, target: &str, body: &str) -> (&'static str, String, String) {
        let (method, target) = target.split_once(' ').unwrap();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let mut state = self.state.lock().unwrap();
        state.requests.push(format!("{method} {path}"));
        let ok = |value: Value| ("200 OK", String::new(), value.to_string());
        match path {
            "/.well-known/oauth-authorization-server" => ok(self.metadata(state.fault)),
            "/jwks" => {
                let x = BASE64.encode(self.key.public_key());
                ok(
                    json!({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x, "kid": "k1", "use": "sig", "alg": "EdDSA"}]}),
                )
            }
            "/register" => {
                let asked: Value = serde_json::from_str(body).unwrap();
                assert_eq!(asked["token_endpoint_auth_method"], "none");
                let body = json!({"client_id": "c1", "redirect_uris": asked["redirect_uris"]});
                ("201 Created", String::new(), body.to_string())
            }
            "/authorize" => self.authorized(&mut state, parameters(query)),
            "/revoke" if state.fault == Fault::NoRevocation => {
                ("503 Service Unavailable", String::new(), String::new())
            }
            "/revoke"
                if state.fault == Fault::OnlyRefresh
                    && parameters(body)["token_type_hint"] == "access_token" =>
            {
                ("400 Bad Request", String::new(), json!({"error": "unsupported_token_type"}).to_string())
            }
            "/revoke" => {
                state.revoked.push(parameters(body));
                state.refresh = None;
                ("200 OK", String::new(), String::new())
            }
            "/token" => self.token(&mut state, &parameters(body)),
            _ => ("404 Not Found", String::new(), String::new()),
        }
    }

    fn metadata(&self, fault: Fault) -> Value {
        let url = &self.url;
        let issuer = if fault == Fault::OtherIssuer { "http://127.0.0.1:1" } else { url };
        let token =
            if fault == Fault::PlainEndpoint { "http://evil.example/token" } else { &format!("{url}/token") };
        let methods = if fault == Fault::NoPkce { json!(["plain"]) } else { json!(["S256"]) };
        json!({
            "issuer": issuer, "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": token,
            "registration_endpoint": format!("{url}/register"), "jwks_uri": format!("{url}/jwks"),
            "revocation_endpoint": format!("{url}/revoke"),
            "response_types_supported": ["code"], "code_challenge_methods_supported": methods,
            "token_endpoint_auth_methods_supported": ["none"],
            "authorization_response_iss_parameter_supported": true,
        })
    }

    fn authorized(
        &self,
        state: &mut State,
        asked: HashMap<String, String>,
    ) -> (&'static str, String, String) {
        assert_eq!(asked["code_challenge_method"], "S256");
        assert!(!asked["resource"].is_empty());
        state.count += 1;
        let code = format!("canary-code-{}", state.count);
        state.given.push(code.clone());
        let issuer =
            if state.fault == Fault::OtherIssuerInAnswer { "http://evil.example" } else { &self.url };
        let (back, given) = (&asked["redirect_uri"], &asked["state"]);
        let location = match state.fault {
            Fault::Refusal => {
                format!("{back}?error=access_denied&error_description=not+today&state={given}&iss={issuer}")
            }
            _ => format!("{back}?code={code}&state={given}&iss={issuer}"),
        };
        state.codes.insert(code, asked);
        ("302 Found", format!("location: {location}\r\n"), String::new())
    }

    fn token(&self, state: &mut State, asked: &HashMap<String, String>) -> (&'static str, String, String) {
        let refused = || ("400 Bad Request", String::new(), json!({"error": "invalid_grant"}).to_string());
        if state.fault == Fault::Redirect {
            return (
                "307 Temporary Redirect",
                format!("location: {}/elsewhere\r\n", self.url),
                String::new(),
            );
        }
        let resource = asked["resource"].clone();
        match asked["grant_type"].as_str() {
            "authorization_code" => {
                let Some(given) = state.codes.remove(&asked["code"]) else { return refused() };
                let challenge = BASE64.encode(digest(&SHA256, asked["code_verifier"].as_bytes()));
                if given["code_challenge"] != challenge || given["resource"] != resource {
                    return refused();
                }
            }
            _ => match state.refresh.take() {
                Some((token, of))
                    if token == asked["refresh_token"]
                        && of == resource
                        && state.fault != Fault::NoRefresh => {}
                _ => return refused(),
            },
        }
        state.count += 1;
        let audience =
            if state.fault == Fault::OtherAudience { "http://other.example/mcp" } else { &resource };
        let mut claims = self.claims(audience);
        claims["jti"] = state.count.into();
        let (access, refresh) = (self.signed(&claims), format!("canary-refresh-{}", state.count));
        state.given.extend([access.clone(), refresh.clone()]);
        state.refresh = Some((refresh.clone(), resource));
        let body = json!({"access_token": access, "token_type": "Bearer", "expires_in": state.lasts,
            "refresh_token": refresh, "scope": "tools other"});
        ("200 OK", String::new(), body.to_string())
    }
}
