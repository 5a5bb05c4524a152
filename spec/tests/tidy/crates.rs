//! The rules for manifests: which crate may depend on which, the shared lints, and what the core must not
//! use.

use crate::tree::{below, complain, files, read};

/// Crates of the workspace and those that they may depend on, beside `spec`, which all may.
const MAY_DEPEND: &[(&str, &[&str])] = &[
    ("spec", &[]),
    ("asm", &[]),
    ("vm", &[]),
    ("graph", &["asm"]),
    ("guide", &["asm"]),
    ("drive", &["vm", "asm"]),
    ("journal", &["vm", "drive"]),
    ("host", &["asm", "vm", "drive"]),
    ("journal/restate", &["asm", "vm", "drive", "host"]),
    ("cli", &["asm", "vm", "graph", "guide", "drive", "journal", "host"]),
    // Packages that are not part of the product.
    ("fuzz", &["asm", "vm", "graph", "guide", "drive", "journal", "host"]),
    ("benches", &["asm", "vm", "graph", "guide", "drive", "journal", "host", "worker"]),
    ("benches/serve", &[]),
    ("benches/worker", &[]),
    ("journal/dbos", &[]),
    ("examples", &["asm", "vm", "host", "journal"]),
];

/// Crates that read arguments or write to terminals, which only `cli` may use.
const TERMINAL: &[&str] = &[
    "anstream",
    "anstyle",
    "annotate-snippets",
    "clap",
    "clap_complete",
    "clap_mangen",
    "console",
    "crossterm",
    "ctrlc",
    "indicatif",
    "owo-colors",
    "termcolor",
    "tracing-subscriber",
];

/// The libraries. None of them may use a terminal.
const LIBRARIES: &[&str] = &["spec", "asm", "vm", "graph", "guide", "drive", "journal", "host"];

fn exists(path: &str) -> bool {
    files().iter().any(|file| file == path)
}

/// The names of the dependencies in a manifest, without those of tests.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut inside = false;
    for line in manifest.lines() {
        if let Some(title) = line.strip_prefix('[').and_then(|line| line.split(']').next()) {
            let name = title.rsplit_once("dependencies.").filter(|(before, _)| !before.ends_with('-'));
            names.extend(name.map(|(_, name)| name.to_owned()));
            inside = title == "dependencies" || title.ends_with(".dependencies");
        } else if inside {
            let name = line.split(['=', '.', ' ']).next().unwrap_or_default();
            let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic());
            names.extend(is_name.then(|| name.to_owned()));
        }
    }
    names
}

/// The dependencies of a crate; none if it does not exist.
fn of(folder: &str) -> Vec<String> {
    let path = format!("{folder}/Cargo.toml");
    if exists(&path) { dependencies(&read(&path)) } else { Vec::new() }
}

#[test]
fn a_crate_depends_only_on_those_that_it_may() {
    let mut problems = Vec::new();
    for (name, allowed) in MAY_DEPEND {
        let ours = of(name).into_iter().filter_map(|name| name.strip_prefix("ilo-").map(str::to_owned));
        let wrong =
            ours.filter(|other| (other != "spec" || *name == "spec") && !allowed.contains(&other.as_str()));
        problems.extend(wrong.map(|other| format!("{name} depends on {other}")));
    }
    for path in
        files().iter().filter(|path| path.ends_with("/Cargo.toml") && read(path).contains("\nname = \"ilo-"))
    {
        let folder = path.trim_end_matches("/Cargo.toml");
        // Bindings are in a workspace of their own and depend on all crates.
        if !folder.starts_with("bindings/") && !MAY_DEPEND.iter().any(|(name, _)| *name == folder) {
            problems.push(format!("{folder} has no row"));
        }
    }
    assert!(of("spec").is_empty(), "spec depends on {:?}", of("spec"));
    complain(&problems);
}

#[test]
fn arguments_terminals_and_colours_are_in_cli_alone() {
    let mut problems = Vec::new();
    for name in LIBRARIES {
        let found = of(name).into_iter().filter(|name| TERMINAL.contains(&name.as_str()));
        problems.extend(found.map(|other| format!("{name} depends on {other}")));
        for path in below(&format!("{name}/src"), &[".rs"]) {
            let words = ["IsTerminal", "is_terminal", "\\x1b[", "\\u{1b}["];
            // Tests contain hostile texts.
            let text = read(path);
            let text = text.split("#[cfg(test)]").next().unwrap_or_default();
            problems.extend(
                words.iter().filter(|word| text.contains(*word)).map(|word| format!("{path}: {word}")),
            );
            problems.extend(path.ends_with("src/main.rs").then(|| format!("{path}: binaries are in cli")));
        }
    }
    complain(&problems);
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let mut problems = Vec::new();
    for path in below("", &["Cargo.toml"]) {
        // Workers for other engines call C and are packages of their own.
        if path.starts_with("benches/peers/") {
            continue;
        }
        let text = read(path);
        if !text.contains("[lints]\nworkspace = true") && !text.contains("[workspace.lints.rust]") {
            problems.push(format!("{path} does not take the lints of the workspace"));
        }
    }
    assert!(
        read("Cargo.toml").contains("unsafe_code = \"forbid\""),
        "unsafe code is forbidden for all crates"
    );
    complain(&problems);
}

#[test]
fn what_the_core_must_not_touch_stays_out_of_it() {
    let mut problems = Vec::new();
    let mut deny = |folder: &str, words: &[&str], except: &[&str]| {
        for path in below(folder, &[".rs"]).filter(|path| !except.iter().any(|except| path.ends_with(except)))
        {
            let text = read(path);
            let found = words.iter().filter(|word| text.contains(**word));
            problems.extend(found.map(|word| format!("{path} mentions {word}")));
        }
    };
    // The VM is a pure function of program, input and answers.
    deny("vm/src", &["std::fs", "std::time", "std::thread", "std::env", "std::net", "std::io"], &[]);
    deny("spec/src", &["std::"], &[]);
    // `drive` runs the same everywhere: the host supplies time, threads and tools.
    let outside = ["std::fs", "std::thread", "std::env", "std::net", "std::process", "Instant", "SystemTime"];
    deny("drive/src", &outside, &[]);
    // An error of the host's is a failure of its call.
    deny("drive/src", &["std::io"], &["drive/src/failure.rs"]);
    // In asm, only the renderer of diagnostics, the catalogue and the command line use JSON values; tests
    // compare readers with serde.
    let json: Vec<&str> = below("asm/src", &[".rs"])
        .filter(|path| {
            let is_test = path.ends_with("/tests.rs") || path.contains("/tests/");
            let may = ["asm/src/catalog", "asm/src/cli", "asm/src/diagnostic/json.rs"];
            is_test || may.iter().any(|may| path.starts_with(may))
        })
        .collect();
    deny("asm/src", &["serde"], &json);
    // Lowering never sees a notation, and readers never see bytes.
    deny("asm/src/lower", &["crate::id", "crate::print"], &[]);
    deny("asm/src/id", &["crate::lower", "ilo_spec::isa", "ilo_spec::encode"], &[]);
    complain(&problems);
}

#[test]
fn dependencies_are_read_from_every_kind_of_section() {
    let manifest = "[package]\nname = \"x\"\n[dependencies]\na.workspace = true\nb = { version = \"1\", features = [\n  \
                    \"client\",\n] }\n[target.'cfg(unix)'.dependencies]\nc = \"1\"\n[dependencies.d]\nversion = \"1\"\n\
                    [dev-dependencies]\ne = \"1\"\n[dev-dependencies.f]\nversion = \"1\"\n";
    assert_eq!(dependencies(manifest), ["a", "b", "c", "d"]);
}
