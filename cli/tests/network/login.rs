//! Signing in to a server by OAuth, and a server that takes access tokens: `ilo-vm login` and
//! `ilo-vm serve --issuer`, against an authorization server of the test.

use crate::issuer::{Fault, Issuer};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Stdio};
use tempfile::TempDir;

pub(crate) const ILO: &str = env!("CARGO_BIN_EXE_ilo-vm");
const PROGRAM: &str =
    "; fn f() -> any\n; Tools: 0=mcp://ilo/find_tools\n; Fields: 0=query\nRET CALL 0 1 0 LIT 0 \"x\"\n";

/// A server that takes the tokens of an issuer, and a folder with a tools file that names it.
pub(crate) struct World {
    pub(crate) issuer: Issuer,
    served: Child,
    pub(crate) address: String,
    folder: TempDir,
}

impl Drop for World {
    fn drop(&mut self) {
        drop(self.served.kill());
        drop(self.served.wait());
    }
}

impl World {
    pub(crate) fn new() -> World {
        let issuer = Issuer::start();
        let (served, address) = serve(&issuer, &["--scope", "tools"]);
        let folder = TempDir::new().unwrap();
        let tools = format!(r#"{{"mcpServers": {{"ilo": {{"url": "http://{address}/mcp"}}}}}}"#);
        std::fs::write(folder.path().join("tools.json"), tools).unwrap();
        std::fs::write(folder.path().join("f.ilo"), PROGRAM).unwrap();
        World { issuer, served, address, folder }
    }

    fn command(&self, line: &[&str]) -> Command {
        let mut command = Command::new(ILO);
        command.args(line).args(["--tools", "tools.json"]).current_dir(self.folder.path());
        command.env("ILO_TOKENS", self.folder.path().join("tokens"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The output of a command on both streams, and its status. It contains no token.
    fn said(&self, line: &[&str]) -> (String, Option<i32>) {
        let output = self.command(line).output().unwrap();
        let said =
            [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        self.assert_silent(&said);
        (said, output.status.code())
    }

    fn assert_silent(&self, said: &str) {
        for token in self.issuer.given() {
            assert!(!said.contains(&token), "a token is shown: {said}");
        }
    }

    /// Begins to sign in. Returns the process, its further output, and the address for the browser.
    fn begin(&self, more: &[&str]) -> (Child, BufReader<ChildStderr>, String) {
        let line = [&["login", "ilo", "--no-browser"], more].concat();
        let mut child = self.command(&line).spawn().unwrap();
        let mut errors = BufReader::new(child.stderr.take().unwrap());
        let (mut said, mut line) = (String::new(), String::new());
        while !line.starts_with("http://") {
            said.push_str(&line);
            line.clear();
            assert_ne!(errors.read_line(&mut line).unwrap(), 0, "no address: {said}");
        }
        (child, errors, line.trim().to_owned())
    }

    /// Signs in, with a browser that accepts everything. Returns the last output and the status.
    fn sign_in(&self) -> (String, Option<i32>) {
        let (child, errors, address) = self.begin(&[]);
        let answer = get(&address);
        if let Some(back) = answer.lines().find_map(|line| line.strip_prefix("location: ")) {
            get(back);
        }
        self.ended(child, errors)
    }

    fn ended(&self, mut child: Child, mut errors: BufReader<ChildStderr>) -> (String, Option<i32>) {
        let mut said = String::new();
        errors.read_to_string(&mut said).unwrap();
        self.assert_silent(&said);
        (said, child.wait().unwrap().code())
    }

    /// Whether a program can call the server.
    fn runs(&self) -> bool {
        let (said, code) = self.said(&["run", "f.ilo"]);
        assert!(code == Some(0) || said.contains("ilo-vm login ilo --tools FILE"), "{code:?} {said}");
        code == Some(0)
    }
}

/// Starts `ilo-vm serve` with the tokens of an issuer.
pub(crate) fn serve(issuer: &Issuer, more: &[&str]) -> (Child, String) {
    let mut command = Command::new(ILO);
    command.args(["serve", "--http", "0", "--issuer", &issuer.url]).args(more);
    let mut served =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(served.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("serving http://").expect(&line).strip_suffix("/mcp").unwrap();
    (served, address.to_owned())
}

/// Sends a request by hand. Returns the whole answer.
pub(crate) fn http(address: &str, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let length = body.len();
    let text = format!("{head}content-length: {length}\r\nconnection: close\r\n\r\n{body}");
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Opens a page, as a browser does.
fn get(address: &str) -> String {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, target) = rest.split_once('/').unwrap();
    http(host, &format!("GET /{target} HTTP/1.1\r\nhost: {host}\r\n"), "")
}

#[test]
fn a_server_can_be_signed_in_to_and_out_of() {
    let world = World::new();
    assert!(!world.runs());
    let (said, code) = world.sign_in();
    assert_eq!((said.trim(), code), ("signed in to `ilo`", Some(0)));
    assert!(world.runs());
    let requests = world.issuer.requests();
    assert_eq!(requests.iter().filter(|it| *it == "POST /token").count(), 1, "{requests:?}");
    let (said, code) = world.said(&["logout", "ilo"]);
    assert_eq!((said.as_str(), code), ("signed out of `ilo`: its tokens are revoked and deleted\n", Some(0)));
    // The tokens are the latest ones: a code, an access and a refresh token.
    let given = world.issuer.given();
    let revoked = world.issuer.revoked();
    let of =
        |kind: &str| revoked.iter().find(|form| form["token_type_hint"] == kind).map(|form| &form["token"]);
    assert_eq!((of("access_token"), of("refresh_token")), (given.get(1), given.get(2)));
    assert!(revoked.iter().all(|form| form["client_id"] == "c1"), "{revoked:?}");
    assert!(!world.runs());
    assert_eq!(world.said(&["logout", "ilo"]).0, "there were no tokens of `ilo`\n");
}

#[test]
fn tokens_that_cannot_be_revoked_are_deleted_and_that_is_said() {
    let world = World::new();
    for (fault, words) in
        [(Fault::NoRevocation, "not revoked: HTTP status 503"), (Fault::OtherIssuer, "not revoked: ")]
    {
        assert_eq!(world.sign_in().1, Some(0));
        world.issuer.misbehave(fault);
        let (said, code) = world.said(&["logout", "ilo"]);
        assert!(code == Some(0) && said.contains(words), "{said}");
        assert!(world.issuer.revoked().is_empty());
        assert!(!world.runs());
        world.issuer.misbehave(Fault::None);
    }
}

#[test]
fn access_tokens_that_cannot_be_revoked_are_named() {
    let world = World::new();
    assert_eq!(world.sign_in().1, Some(0));
    world.issuer.misbehave(Fault::OnlyRefresh);
    let (said, code) = world.said(&["logout", "ilo"]);
    assert!(code == Some(0) && said.contains("deleted here and cannot be renewed"), "{said}");
    assert!(said.contains("the last one is valid until its time is over"), "{said}");
    let kinds: Vec<_> = world.issuer.revoked().iter().map(|form| form["token_type_hint"].clone()).collect();
    assert_eq!(kinds, ["refresh_token"]);
}

#[test]
fn a_token_is_renewed_before_its_time_is_over() {
    let world = World::new();
    world.issuer.tokens_last(20);
    assert_eq!(world.sign_in().1, Some(0));
    world.issuer.tokens_last(3600);
    let tokens = || world.issuer.requests().iter().filter(|it| *it == "POST /token").count();
    assert_eq!(tokens(), 1);
    assert!(world.runs() && world.runs());
    assert_eq!(tokens(), 2, "renewed once, then used");
}

#[test]
fn who_cannot_renew_a_token_signs_in_again() {
    let world = World::new();
    world.issuer.tokens_last(20);
    assert_eq!(world.sign_in().1, Some(0));
    world.issuer.misbehave(Fault::NoRefresh);
    assert!(!world.runs());
    world.issuer.misbehave(Fault::None);
    assert_eq!(world.sign_in().1, Some(0));
    assert!(world.runs());
}

#[test]
fn another_authorization_server_does_not_get_the_refresh_token() {
    let world = World::new();
    world.issuer.tokens_last(20);
    assert_eq!(world.sign_in().1, Some(0));
    world.issuer.misbehave(Fault::OtherIssuer);
    let (said, code) = world.said(&["run", "f.ilo"]);
    assert_eq!(code, Some(2), "{said}");
    let tokens = world.issuer.requests().iter().filter(|it| *it == "POST /token").count();
    assert_eq!(tokens, 1, "nothing was renewed");
}

#[test]
fn a_sign_in_that_is_not_sound_fails() {
    for (fault, words) in [
        (Fault::Refusal, "the authorization server refused: access_denied: not today"),
        (Fault::OtherIssuerInAnswer, "issuer mismatch"),
        (Fault::Redirect, "token exchange failed"),
    ] {
        let world = World::new();
        world.issuer.misbehave(fault);
        let (said, code) = world.sign_in();
        assert!(said.contains("error[bad-usage]: server `ilo`: not signed in: "), "{fault:?}: {said}");
        assert!(said.contains(words), "{fault:?}: {said}");
        assert_eq!(code, Some(2), "{fault:?}");
        assert!(!world.issuer.requests().contains(&"POST /elsewhere".to_owned()));
        assert!(!world.runs());
    }
    for (fault, words) in [
        (Fault::OtherIssuer, "issuer"),
        (Fault::PlainEndpoint, "neither `https` nor within this machine"),
        (Fault::NoPkce, "PKCE"),
    ] {
        let world = World::new();
        world.issuer.misbehave(fault);
        let (said, code) = world.said(&["login", "ilo", "--no-browser"]);
        assert!(said.contains("not signed in: ") && said.contains(words), "{fault:?}: {said}");
        assert_eq!(code, Some(2), "{fault:?}");
    }
}

#[test]
fn a_request_with_another_state_changes_nothing() {
    let world = World::new();
    let (child, errors, address) = world.begin(&[]);
    let answer = get(&address);
    let back = answer.lines().find_map(|line| line.strip_prefix("location: ")).unwrap();
    let (start, _) = back.split_once('?').unwrap();
    for query in
        ["", "?code=evil&state=evil", "?error=access_denied&state=x", "?code=evil", "?state=a&state=b"]
    {
        assert!(get(&format!("{start}{query}")).starts_with("HTTP/1.1 400"), "{query}");
    }
    assert!(get(&start.replace("/callback", "/other")).starts_with("HTTP/1.1 404"));
    assert!(get(back).starts_with("HTTP/1.1 200"));
    assert_eq!(world.ended(child, errors).1, Some(0));
    assert!(world.runs());
}

#[test]
fn a_token_for_another_audience_is_not_let_in() {
    let world = World::new();
    world.issuer.misbehave(Fault::OtherAudience);
    assert_eq!(world.sign_in().1, Some(0));
    assert!(!world.runs());
}

#[test]
fn what_cannot_be_signed_in_to_says_why() {
    let folder = TempDir::new().unwrap();
    let write = |text: &str| std::fs::write(folder.path().join("tools.json"), text).unwrap();
    let said = |server: &str| {
        let line = ["login", server, "--tools", "tools.json", "--timeout", "1"];
        let output =
            Command::new(ILO).args(line).current_dir(folder.path()).env("ILO_TOKENS", "t").output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(!Path::new("t").exists());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    write(
        r#"{"mcpServers": {"web": {"url": "http://a.example/mcp"}, "cmd": {"command": "true"},
        "own": {"url": "https://a.example/mcp", "headers": {"authorization": "Bearer canary"}}}}"#,
    );
    assert!(
        said("wep").contains("the tools file has no such server; did you mean `web`?"),
        "{}",
        said("wep")
    );
    assert!(said("cmd").contains("it is a program, which needs no sign-in"));
    assert!(said("web").contains("a token is sent over `https` or within this machine only"));
    assert!(said("own").contains("remove that to sign in") && !said("own").contains("canary"));
}
