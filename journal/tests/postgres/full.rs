//! A server whose disk is full: writes wait, and nothing is lost once there is room.

use super::runs::open;
use super::server::Server;
use super::support::{record, start};
use ilo_journal::{Record, To};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// A file system of 2 MiB in memory.
struct Small(PathBuf);

impl Small {
    fn mount(server: &Server) -> Option<Small> {
        let folder = server.folder().join("small");
        fs::create_dir(&folder).unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=2m,mode=777", "tmpfs"]).arg(&folder).stderr(Stdio::null());
        if !mount.status().is_ok_and(|mounted| mounted.success()) {
            eprintln!("SKIPPED: no file system may be mounted here");
            return None;
        }
        Some(Small(folder))
    }

    /// Leaves no room.
    fn fill(&self) {
        let mut file = File::create(self.0.join("filler")).unwrap();
        while file.write_all(&[1; 4096]).is_ok() {}
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        // The server still uses it.
        drop(Command::new("umount").arg("-l").arg(&self.0).status());
    }
}

#[test]
fn writes_wait_for_room_on_the_disk_of_the_server() {
    let Some(server) = Server::start() else { return };
    let Some(small) = Small::mount(&server) else { return };
    let store = open(&server.address_of("room", ""));
    let place = small.0.join("space");
    let made = server.command("/usr/bin/mkdir").arg("-m").arg("700").arg(&place).status().unwrap();
    assert!(made.success());
    server.sql(&format!("CREATE TABLESPACE small LOCATION '{}'", place.display()));
    server.sql("ALTER TABLE room.live SET TABLESPACE small");
    let (run, mut lease) = start(&store, None, To::Calling);
    small.fill();
    // What cannot be compressed.
    let mut word = 1_u64;
    let mut next = || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        word.to_le_bytes()
    };
    let snapshot: Vec<u8> = std::iter::repeat_with(&mut next).take(20_000).flatten().collect();
    let large = Record { snapshot: &snapshot, ..record(To::Calling, 2) };
    let ticket = store.record(&mut lease, &large).unwrap();
    let (done, written) = channel();
    std::thread::scope(|scope| {
        scope.spawn(move || drop(done.send(ticket.wait().map(drop))));
        assert!(written.recv_timeout(Duration::from_millis(500)).is_err(), "there is no room");
        fs::remove_file(small.0.join("filler")).unwrap();
        written.recv().unwrap().unwrap();
    });
    let ilo_journal::At::Live(live) = store.show(run).unwrap().at else { panic!("it has not ended") };
    assert_eq!((live.call, live.snapshot), (2, snapshot));
}
