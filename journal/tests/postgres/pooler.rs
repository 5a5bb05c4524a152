//! Through a pooler in transaction mode, as pgbouncer is used most: a transaction may have another connection
//! than the one before.

use super::runs::open;
use super::server::Server;
use super::support::{mine, record, start};
use ilo_journal::To;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// A pooler, which ends with this.
struct Pooler {
    process: Child,
    port: u16,
}

impl Pooler {
    /// Starts a pooler with a few connections to a server.
    fn start(server: &Server) -> Option<Pooler> {
        let program = Path::new("/usr/sbin/pgbouncer");
        if !program.exists() {
            eprintln!("SKIPPED: no pooler was found: apt-get install pgbouncer");
            return None;
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let settings = format!(
            "[databases]\npostgres = host=127.0.0.1 port={} user=ilo password=p@ss-word\n[pgbouncer]\n\
             listen_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = 3\n",
            server.port
        );
        let file = server.folder().join("pooler.ini");
        std::fs::write(&file, settings).unwrap();
        let process = server
            .command("/usr/sbin/pgbouncer")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(begun.elapsed() < Duration::from_mins(1), "the pooler does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(Pooler { process, port })
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

#[test]
fn a_journal_works_through_a_pooler_in_transaction_mode() {
    let Some(server) = Server::start() else { return };
    let Some(pooler) = Pooler::start(&server) else { return };
    let direct = server.address("&lease=60");
    let text = direct.to_str().unwrap().replace(&format!(":{}/", server.port), &format!(":{}/", pooler.port));
    let (one, other) = (open(&PathBuf::from(&text)), open(&PathBuf::from(&text)));
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let (run, mut lease) = start(&one, None, To::Calling);
                for call in 2..12 {
                    one.record(&mut lease, &record(To::Calling, call)).unwrap().wait().unwrap();
                    if call == 6 {
                        // Each loses its connection to the server.
                        server.sql(
                            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity \
                             WHERE application_name = 'ilo' AND random() < 0.3",
                        );
                    }
                }
                one.release(&lease).wait().unwrap();
                let claimed = mine(&other, run);
                assert_eq!(claimed.call, 11);
                other.end(claimed.lease, b"{}").unwrap().wait().unwrap();
            });
        }
    });
    assert_eq!(one.count().unwrap().get("ended"), Some(&8));
    one.check().unwrap();
}
