//! Starts a Restate server and an `ilo-restate` for tests, and sends requests to them.
#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "each example uses its part"
)]
#![allow(clippy::missing_panics_doc, reason = "an example's own helpers")]

use base64::Engine as _;
use serde_json::{Value, json};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a process may take to be ready.
const PATIENCE: Duration = Duration::from_mins(2);

/// A server, an endpoint, their ports and a folder.
pub struct Place {
    pub folder: PathBuf,
    node: u16,
    ingress: u16,
    admin: u16,
    endpoint: u16,
    pub client: reqwest::Client,
    pub server: Option<Child>,
    pub served: Option<Child>,
}

fn port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// SIGKILL.
fn kill(child: &mut Option<Child>) {
    if let Some(mut child) = child.take() {
        drop(child.kill());
        drop(child.wait());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.kill_endpoint();
        self.kill_server();
    }
}

impl Place {
    pub fn new(folder: &Path) -> Place {
        drop(rustls::crypto::ring::default_provider().install_default());
        Place {
            folder: folder.to_owned(),
            node: port(),
            ingress: port(),
            admin: port(),
            endpoint: port(),
            client: reqwest::Client::new(),
            server: None,
            served: None,
        }
    }

    /// Starts the server whose program `RESTATE_SERVER` names, and waits until it answers.
    pub async fn start_server(&mut self) {
        let program = std::env::var("RESTATE_SERVER").expect("RESTATE_SERVER names the server's program");
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.folder.join("server.log"));
        let child = Command::new(program)
            .args(["--no-logo", "--listen-mode", "tcp", "--bind-ip", "127.0.0.1", "--node-name", "ilo"])
            .args(["--bind-port", &self.node.to_string(), "--base-dir"])
            .arg(self.folder.join("restate"))
            .env("RESTATE_INGRESS__BIND_PORT", self.ingress.to_string())
            .env("RESTATE_ADMIN__BIND_PORT", self.admin.to_string())
            .env("RESTATE_DEFAULT_NUM_PARTITIONS", "4")
            .env("RESTATE_DISABLE_TELEMETRY", "true")
            // A killed process is back at once here, so waiting longer is useless.
            .env("RESTATE_DEFAULT_RETRY_POLICY__INITIAL_INTERVAL", "50ms")
            .env("RESTATE_DEFAULT_RETRY_POLICY__MAX_INTERVAL", "500ms")
            .stdin(Stdio::null())
            .stdout(log.unwrap())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        self.server = Some(child);
        let begun = Instant::now();
        for url in [self.admin("/health"), self.ingress("/restate/health")] {
            while !self.client.get(&url).send().await.is_ok_and(|answer| answer.status().is_success()) {
                assert!(begun.elapsed() < PATIENCE, "the server does not start: server.log");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }

    /// Starts an endpoint. `register` is for the first one at a server.
    pub async fn start_endpoint(&mut self, mut command: Command, register: bool) {
        let address = format!("127.0.0.1:{}", self.endpoint);
        let child = command.args(["--listen", &address]).stderr(Stdio::null()).spawn().unwrap();
        self.served = Some(child);
        let begun = Instant::now();
        while tokio::net::TcpStream::connect(&address).await.is_err() {
            assert!(begun.elapsed() < PATIENCE, "the endpoint does not start");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        if register {
            let body = json!({ "uri": format!("http://{address}") });
            let answer = self.post(&self.admin("/deployments"), &body).await.unwrap();
            assert!(answer.0 < 300, "{answer:?}");
        }
    }

    /// Uses another port for the next endpoint.
    pub fn other_port(&mut self) {
        self.endpoint = port();
    }

    pub fn kill_endpoint(&mut self) {
        kill(&mut self.served);
    }

    pub fn kill_server(&mut self) {
        kill(&mut self.server);
    }

    pub fn ingress(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.ingress)
    }

    pub fn admin(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.admin)
    }

    /// Status and body; nothing if no answer came.
    pub async fn post(&self, url: &str, body: &Value) -> Option<(u16, String)> {
        let request = self.client.post(url).header("content-type", "application/json");
        let answer = request.body(body.to_string()).send().await.ok()?;
        Some((answer.status().as_u16(), answer.text().await.ok()?))
    }

    /// Status and body; nothing if no answer came.
    pub async fn get(&self, url: &str) -> Option<(u16, String)> {
        let answer = self.client.get(url).send().await.ok()?;
        Some((answer.status().as_u16(), answer.text().await.ok()?))
    }

    /// A program that was built with this one.
    pub fn built(name: &str) -> PathBuf {
        let own = std::env::current_exe().unwrap();
        own.parent().unwrap().parent().unwrap().join(name)
    }
}

/// The input of a run.
pub fn order(program: &ilo_vm::Program, input: &Value) -> Value {
    let bytes = base64::engine::general_purpose::STANDARD.encode(program.to_bytes());
    json!({ "program": bytes, "input": input })
}

/// A program from its source.
pub fn program(source: &str) -> ilo_vm::Program {
    let (program, found) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
    ilo_vm::Program::new(program.unwrap_or_else(|| panic!("{found:?}"))).unwrap()
}
