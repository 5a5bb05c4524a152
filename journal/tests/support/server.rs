//! A PostgreSQL server in a folder of its own, for a test: with Debian's package, or whatever is in the path.

#![allow(dead_code, reason = "each test uses its part")]

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A server, which is stopped and removed with this.
pub struct Server {
    folder: TempDir,
    bin: PathBuf,
    pub port: u16,
    /// A shell that stops the server once this process has ended, however it ends.
    watchdog: Option<Child>,
}

/// Schemas that were used: each journal has its own.
static SCHEMAS: AtomicU32 = AtomicU32::new(0);

/// The password of the tests' role.
pub const PASSWORD: &str = "p%40ss-word";

/// The folder with `initdb`, if there is a server on this machine.
fn bin() -> Option<PathBuf> {
    let given = std::env::var_os("ILO_POSTGRES_BIN").map(PathBuf::from);
    let mut found: Vec<PathBuf> = given.into_iter().collect();
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    found.extend(debian.map(|entry| entry.path().join("bin")));
    found.extend(std::env::var_os("PATH").iter().flat_map(std::env::split_paths));
    found.into_iter().find(|folder| folder.join("initdb").exists() && folder.join("postgres").exists())
}

/// Whether this process is root, for whom PostgreSQL does not run.
fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

impl Server {
    /// Starts a server; without one, says so aloud and gives nothing.
    pub fn start() -> Option<Server> {
        let Some(bin) = bin() else {
            eprintln!("SKIPPED: no PostgreSQL server was found: apt-get install postgresql");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        Some(Server::of(bin, folder))
    }

    /// Makes a server in a folder, and starts it.
    fn of(bin: PathBuf, folder: TempDir) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Server { folder, bin, port, watchdog: None };
        if is_root() {
            let owned = Command::new("chown").arg("postgres").arg(server.folder.path()).status().unwrap();
            assert!(owned.success());
        }
        let password = server.folder.path().join("password");
        fs::write(&password, PASSWORD.replace("%40", "@")).unwrap();
        let made = server
            .command("initdb")
            .args(["--no-sync", "--data-checksums", "--username=ilo", "--auth=scram-sha-256", "--pwfile"])
            .arg(&password)
            .arg("-D")
            .arg(server.data())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success(), "initdb");
        let settings = format!(
            "port = {port}\nunix_socket_directories = ''\nlisten_addresses = '127.0.0.1'\nmax_connections = 200\n"
        );
        server.append(&settings);
        server.up();
        server.watched()
    }

    /// A standby of this server, which follows it.
    pub fn standby(&self) -> Server {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let standby = Server { folder, bin: self.bin.clone(), port, watchdog: None };
        if is_root() {
            let owned = Command::new("chown").arg("postgres").arg(standby.folder.path()).status().unwrap();
            assert!(owned.success());
        }
        let copied = standby
            .command("pg_basebackup")
            .args(["-R", "-X", "stream", "-c", "fast", "-h", "127.0.0.1", "-U", "ilo", "-p"])
            .arg(self.port.to_string())
            .arg("-D")
            .arg(standby.data())
            .status()
            .unwrap();
        assert!(copied.success(), "pg_basebackup");
        standby.append(&format!("port = {port}\n"));
        standby.up();
        standby.watched()
    }

    /// Makes a standby a server of its own.
    pub fn promote(&self) {
        let promoted = self
            .command("pg_ctl")
            .args(["promote", "-w", "-D"])
            .arg(self.data())
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(promoted.success(), "promote");
    }

    /// Sees to it that the server ends with this process.
    fn watched(self) -> Server {
        let mut server = self;
        let folder = server.folder.path();
        let script = "read -r _; kill -INT $(head -n 1 \"$1/data/postmaster.pid\"); sleep 1; rm -rf \"$1\"";
        let mut watchdog = Command::new("sh");
        watchdog.args(["-c", script, "sh"]).arg(folder).stdin(Stdio::piped());
        server.watchdog = watchdog.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok();
        server
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Adds to the settings of the server, which it reads when it starts.
    pub fn append(&self, settings: &str) {
        let path = self.data().join("postgresql.conf");
        let before = fs::read_to_string(&path).unwrap();
        fs::write(&path, before + settings).unwrap();
    }

    /// A command of PostgreSQL, as a user who is not root.
    pub fn command(&self, name: &str) -> Command {
        let program = self.bin.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.folder.path()).env("PGPASSWORD", PASSWORD.replace("%40", "@"));
        command
    }

    /// Starts the server, and waits until it answers.
    pub fn up(&self) {
        let log = self.folder.path().join("log");
        let start = || {
            self.command("pg_ctl")
                .args(["start", "-w", "-t", "60", "-D"])
                .arg(self.data())
                .arg("-l")
                .arg(&log)
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .unwrap()
        };
        let mut up = start();
        for _ in 0..40 {
            if up.success() {
                break;
            }
            // Processes of a server that was killed keep its memory for a moment.
            std::thread::sleep(Duration::from_millis(250));
            up = start();
        }
        assert!(up.success(), "{}", fs::read_to_string(&log).unwrap_or_default());
    }

    /// Stops the server, in a way: `fast`, or `immediate`, which is like a crash.
    pub fn down(&self, mode: &str) {
        let down = self
            .command("pg_ctl")
            .args(["stop", "-w", "-m", mode, "-D"])
            .arg(self.data())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        assert!(down.success());
    }

    /// Kills the server's first process, and with it all others.
    pub fn kill(&self) {
        let file = fs::read_to_string(self.data().join("postmaster.pid")).unwrap();
        let id = file.lines().next().unwrap().to_owned();
        Command::new("kill").args(["-9", &id]).status().unwrap();
        let begun = Instant::now();
        // The others notice it, and the port is free again.
        while TcpListener::bind(("127.0.0.1", self.port)).is_err()
            && begun.elapsed() < Duration::from_secs(20)
        {
            std::thread::sleep(Duration::from_millis(50));
        }
        std::thread::sleep(Duration::from_millis(200));
    }

    /// The address of a journal with a schema of its own, and more after it.
    pub fn address(&self, more: &str) -> PathBuf {
        let schema = format!("t{}", SCHEMAS.fetch_add(1, Ordering::Relaxed));
        self.address_of(&schema, more)
    }

    pub fn address_of(&self, schema: &str, more: &str) -> PathBuf {
        PathBuf::from(format!(
            "postgres://ilo:{PASSWORD}@127.0.0.1:{}/postgres?schema={schema}{more}",
            self.port
        ))
    }

    /// Runs SQL as the superuser, and gives what it prints.
    pub fn sql(&self, sql: &str) -> String {
        let output = self
            .command("psql")
            .args(["-qAtX", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "ilo", "-d", "postgres", "-p"])
            .arg(self.port.to_string())
            .args(["-c", sql])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(
            self.command("pg_ctl")
                .args(["stop", "-m", "immediate", "-D"])
                .arg(self.data())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status(),
        );
        if let Some(mut watchdog) = self.watchdog.take() {
            drop(watchdog.stdin.take());
            drop(watchdog.wait());
        }
    }
}
