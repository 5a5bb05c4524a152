//! The other engines: where their workers are, and how they are built.
//!
//! Their packages are not part of the workspace, so a build without them needs none of their compilers.

use crate::engine::Engine;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

struct Peer {
    /// Its name on the command line.
    key: &'static str,
    kind: Kind,
    /// How its worker is started.
    arguments: &'static [&'static str],
}

enum Kind {
    /// A package below `benches/peers`, and its feature.
    Package(&'static str, Option<&'static str>),
    /// A script below `benches/peers`, and its interpreter.
    Script(&'static str, &'static str),
}

const fn package(key: &'static str, folder: &'static str) -> Peer {
    Peer { key, kind: Kind::Package(folder, None), arguments: &[] }
}

const fn lua(key: &'static str, feature: &'static str, arguments: &'static [&'static str]) -> Peer {
    Peer { key, kind: Kind::Package("lua", Some(feature)), arguments }
}

const PEERS: [Peer; 11] = [
    package("plain", "plain"),
    lua("luajit", "luajit", &["interpreter"]),
    lua("luajit-compiling", "luajit", &[]),
    lua("lua54", "lua54", &[]),
    lua("luau", "luau", &[]),
    package("wasm", "wasm"),
    package("logos", "logos"),
    package("documents", "documents"),
    Peer { key: "cpython", kind: Kind::Script("python3", "python/worker.py"), arguments: &[] },
    package("quickjs", "quickjs"),
    package("rhai", "rhai"),
];

/// An absent engine, and the reason.
pub(crate) type Absent = (&'static str, String);

/// Starts ilo and the requested peers. Those that cannot be started are listed as absent with the reason.
pub(crate) fn start(asked: &[String]) -> Result<(Vec<Engine>, Vec<Absent>), String> {
    let all = asked.iter().any(|key| key == "all");
    if let Some(unknown) =
        asked.iter().find(|key| *key != "all" && !PEERS.iter().any(|peer| peer.key == **key))
    {
        let known: Vec<&str> = PEERS.iter().map(|peer| peer.key).collect();
        return Err(format!("no peer is called `{unknown}`; there are all, {}", known.join(", ")));
    }
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut ours = Command::new(&program);
    ours.arg("--worker");
    let mut engines = vec![Engine::start("ilo", ours)?];
    let mut absent = Vec::new();
    for peer in PEERS.iter().filter(|peer| all || asked.iter().any(|key| key == peer.key)) {
        let started = command(peer, &program).and_then(|mut command| {
            command.args(peer.arguments);
            Engine::start(peer.key, command)
        });
        match started {
            Ok(engine) => engines.push(engine),
            Err(reason) => absent.push((peer.key, reason)),
        }
    }
    Ok((engines, absent))
}

/// The command of a peer's worker, which is built first if necessary.
fn command(peer: &Peer, program: &Path) -> Result<Command, String> {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers");
    match peer.kind {
        Kind::Script(interpreter, script) => {
            let mut command = Command::new(interpreter);
            command.arg(peers.join(script));
            Ok(command)
        }
        Kind::Package(folder, feature) => {
            let target = target(program, feature.unwrap_or(folder));
            eprintln!("building {}", peer.key);
            let mut build = Command::new("cargo");
            build.args(["build", "--release", "--quiet", "--target-dir"]).arg(&target);
            build.args(feature.iter().flat_map(|feature| ["--features", feature]));
            // The package selects its toolchain, so the environment of this build is removed.
            build
                .current_dir(peers.join(folder))
                .env_remove("RUSTUP_TOOLCHAIN")
                .env_remove("CARGO_TARGET_DIR");
            let output = build.output().map_err(|error| format!("cargo cannot be started: {error}"))?;
            if !output.status.success() {
                return Err(format!("does not build: {}", reason(&output.stderr)));
            }
            Ok(Command::new(target.join("release").join(format!("peer-{folder}"))))
        }
    }
}

/// A target folder beside the one in which this program was built.
fn target(program: &Path, name: &str) -> PathBuf {
    program.ancestors().nth(2).unwrap_or(Path::new("target")).join("peers").join(name)
}

/// The first error that a build reported.
fn reason(output: &[u8]) -> String {
    let output = String::from_utf8_lossy(output);
    let first = output.lines().find(|line| line.starts_with("error")).or(output.lines().next());
    first.unwrap_or("no reason given").to_owned()
}
