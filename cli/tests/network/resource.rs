//! `ilo-vm serve --issuer`: which access tokens are accepted.

use crate::issuer::{Fault, Issuer, now};
use crate::login::{ILO, World, http, serve};
use serde_json::{Value, json};
use std::process::Command;

const HELLO: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;

impl World {
    fn resource(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// The answer to a request with these header lines.
    fn post(&self, headers: &str) -> String {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\n{headers}content-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n",
            self.address
        );
        http(&self.address, &head, HELLO)
    }

    /// The status of a request with a token, and the challenge of the answer.
    fn with(&self, token: &str) -> (String, String) {
        let answer = self.post(&format!("authorization: Bearer {token}\r\n"));
        let status = answer.split(' ').nth(1).unwrap().to_owned();
        let challenge = answer.lines().find_map(|line| line.strip_prefix("www-authenticate: "));
        assert!(token.len() < 10 || !answer.contains(token));
        (status, challenge.unwrap_or_default().to_owned())
    }
}

#[test]
fn the_metadata_of_the_resource_is_there_for_everybody() {
    let world = World::new();
    for path in ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"] {
        let answer = http(&world.address, &format!("GET {path} HTTP/1.1\r\nhost: {}\r\n", world.address), "");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{answer}");
        let metadata: Value = serde_json::from_str(body).unwrap();
        assert_eq!(metadata["resource"], world.resource());
        assert_eq!(metadata["authorization_servers"], json!([world.issuer.url]));
        assert_eq!(metadata["scopes_supported"], json!(["tools"]));
    }
    let answer = world.post("");
    let at =
        format!("resource_metadata=\"http://{}/.well-known/oauth-protected-resource/mcp\"", world.address);
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(answer.contains(&format!("www-authenticate: Bearer {at}, scope=\"tools\"")), "{answer}");
    let evil =
        format!("GET /.well-known/oauth-protected-resource HTTP/1.1\r\nhost: user@{}\r\n", world.address);
    assert!(http(&world.address, &evil, "").starts_with("HTTP/1.1 403"));
}

#[test]
fn a_token_is_let_in_only_if_all_of_it_holds() {
    let world = World::new();
    let good = world.issuer.claims(&world.resource());
    let with = |name: &str, value: Value| {
        let mut claims = good.clone();
        claims[name] = value;
        world.with(&world.issuer.signed(&claims))
    };
    assert_eq!(world.with(&world.issuer.signed(&good)).0, "200");
    assert_eq!(with("aud", json!(["http://other.example", world.resource()])).0, "200");
    assert_eq!(with("exp", json!(now() - 10)).0, "200", "clocks may differ a little");
    for (name, value, why) in [
        ("aud", json!("http://other.example/mcp"), "it is for another audience"),
        ("aud", json!([]), "it is for another audience"),
        ("aud", Value::Null, ""),
        ("iss", json!("http://evil.example"), "it is from another issuer"),
        ("iss", json!(format!("{}/", world.issuer.url)), "it is from another issuer"),
        ("exp", json!(now() - 100), "its time is over"),
        ("exp", json!("tomorrow"), ""),
        ("nbf", json!(now() + 100), "its time has not begun"),
        ("nbf", json!("tomorrow"), ""),
    ] {
        let (status, challenge) = with(name, value.clone());
        assert_eq!(status, "401", "{name} {value}");
        assert!(challenge.contains("error=\"invalid_token\"") && challenge.contains(why), "{challenge}");
    }
    assert_eq!(with("iss", json!([world.issuer.url])).0, "401", "a list of issuers");
    for (name, value, status) in [
        ("sub", Value::Null, "401"),
        ("sub", json!(7), "401"),
        ("sub", json!(""), "401"),
        ("sub", json!(["ada"]), "401"),
        ("sub", json!("x".repeat(1025)), "401"),
        ("client_id", json!({"a": 1}), "401"),
        ("azp", json!(7), "200"),
    ] {
        assert_eq!(
            with(name, value.clone()).0,
            status,
            "{name} {value}: the first claim of the client counts"
        );
    }
    let without = |names: &[&str], more: Value| {
        let mut claims = good.clone();
        names.iter().for_each(|name| drop(claims.as_object_mut().unwrap().remove(*name)));
        for (name, value) in more.as_object().unwrap() {
            claims[name] = value.clone();
        }
        world.with(&world.issuer.signed(&claims))
    };
    assert_eq!(without(&["sub"], json!({})).0, "200", "a client without a subject");
    assert_eq!(without(&["client_id"], json!({})).0, "200", "a subject without a client");
    let (status, challenge) = without(&["sub", "client_id"], json!({}));
    assert_eq!(status, "401");
    assert!(challenge.contains("it names neither a subject nor a client"), "{challenge}");
    for name in ["azp", "cid", "appid"] {
        assert_eq!(without(&["sub", "client_id"], json!({name: "c"})).0, "200", "{name}");
        assert_eq!(without(&["sub", "client_id"], json!({name: 1})).0, "401", "{name}");
    }
    for name in ["aud", "iss", "exp"] {
        let mut claims = good.clone();
        claims.as_object_mut().unwrap().remove(name);
        assert_eq!(world.with(&world.issuer.signed(&claims)).0, "401", "without {name}");
    }
    for scope in [json!("other"), json!("toolsx"), json!(""), json!(["x"]), Value::Null, json!(1)] {
        let (status, challenge) = with("scope", scope.clone());
        assert_eq!(status, "403", "{scope}");
        assert!(challenge.contains("error=\"insufficient_scope\"") && challenge.contains("scope=\"tools\""));
    }
}

#[test]
fn a_token_with_another_form_or_signature_is_not_let_in() {
    let world = World::new();
    let claims = world.issuer.claims(&world.resource());
    let token = world.issuer.signed(&claims);
    let (message, signature) = token.rsplit_once('.').unwrap();
    let header = |header: Value| world.issuer.signed_as(&header, &claims);
    let mut other = claims.clone();
    other["sub"] = json!("eve");
    let forged = world.issuer.signed(&other);
    let (forged, _) = forged.rsplit_once('.').unwrap();
    for bad in [
        String::new(),
        "x".to_owned(),
        "..".to_owned(),
        message.to_owned(),
        format!("{message}."),
        format!("{message}.{}", signature.chars().rev().collect::<String>()),
        format!("{forged}.{signature}"),
        format!("{token}.x"),
        "a".repeat(20_000),
        header(json!({"alg": "none", "kid": "k1"})),
        header(json!({"alg": "HS256", "kid": "k1"})),
        header(json!({"alg": "RS256", "kid": "k1"})),
        header(json!({"alg": "EdDSA", "kid": "k2"})),
        header(json!({"alg": "EdDSA", "kid": "k1", "typ": "dpop+jwt"})),
        header(json!({"alg": "EdDSA", "kid": "k1", "crit": ["exp"]})),
        header(json!({"alg": "EdDSA", "kid": "k1", "crit": []})),
        header(json!({"alg": "EdDSA", "kid": "k1", "crit": null})),
    ] {
        assert_eq!(world.with(&bad).0, "401", "{bad}");
    }
    assert_eq!(world.with(&header(json!({"alg": "EdDSA"}))).0, "200", "the only key needs no name");
    let twice = format!("authorization: Bearer {token}\r\nauthorization: Bearer {token}\r\n");
    assert!(world.post(&twice).starts_with("HTTP/1.1 401"));
    assert!(world.post(&format!("authorization: Basic {token}\r\n")).starts_with("HTTP/1.1 401"));
    // Unknown keys are not requested again and again.
    let keys = world.issuer.requests().iter().filter(|it| *it == "GET /jwks").count();
    assert_eq!(keys, 1);
}

#[test]
fn a_session_is_there_for_the_one_who_began_it() {
    let world = World::new();
    let mut claims = world.issuer.claims(&world.resource());
    let ada = format!("authorization: Bearer {}\r\n", world.issuer.signed(&claims));
    claims["sub"] = json!("eve");
    let eve = format!("authorization: Bearer {}\r\n", world.issuer.signed(&claims));
    let answer = world.post(&ada);
    let name = answer.lines().find_map(|line| line.strip_prefix("mcp-session-id: ")).expect("a session");
    let ping = |who: &str| {
        let head = format!(
            "POST /mcp HTTP/1.1\r\nhost: {}\r\n{who}mcp-session-id: {name}\r\ncontent-type: application/json\r\n\
             accept: application/json, text/event-stream\r\n",
            world.address
        );
        let answer = http(&world.address, &head, r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
        answer.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!((ping(&eve), ping(&ada)), ("404".to_owned(), "200".to_owned()));
    // Another client of the same subject, too; and neither its stream nor its end.
    let mut claims = world.issuer.claims(&world.resource());
    claims["client_id"] = json!("c2");
    let other = format!("authorization: Bearer {}\r\n", world.issuer.signed(&claims));
    assert_eq!(ping(&other), "404");
    for who in [&eve, &other] {
        for method in ["GET", "DELETE"] {
            let head = format!(
                "{method} /mcp HTTP/1.1\r\nhost: {}\r\n{who}mcp-session-id: {name}\r\naccept: text/event-stream\r\n\
                 last-event-id: 0\r\n",
                world.address
            );
            assert!(http(&world.address, &head, "").starts_with("HTTP/1.1 404"), "{method}");
        }
    }
    assert_eq!(ping(&ada), "200");
}

#[test]
fn an_issuer_that_cannot_be_used_is_an_error_at_the_start() {
    let told = |url: &str, more: &[&str]| {
        let line = [&["serve", "--http", "0", "--issuer", url], more].concat();
        let output = Command::new(ILO).args(line).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(told("http://a.example", &[]).contains("`http://a.example` is not an issuer"));
    assert!(told("http://127.0.0.1:1", &[]).contains("cannot be read"));
    let issuer = Issuer::start();
    assert!(told(&issuer.url, &["--scope", "a b"]).contains("`a b` is not a scope"));
    assert!(told(&issuer.url, &["--resource", "x"]).contains("`x` is not a URL of a resource"));
    issuer.misbehave(Fault::OtherIssuer);
    assert!(told(&issuer.url, &[]).contains("does not name the issuer"));
    issuer.misbehave(Fault::None);
    let (mut served, _) = serve(&issuer, &["--resource", "https://mcp.example/mcp"]);
    drop(served.kill());
    drop(served.wait());
}
