//! The output in the READMEs and in the pages on MCP and on operating durable runs is the output of their
//! commands.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the binaries of this build.
fn binaries() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_example-users")).parent().unwrap().to_path_buf()
}

/// A folder like a clone of the project after its set-up: the examples, and binaries in `target/release`.
fn clone_to(folder: &Path) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let release = folder.join("target/release");
    fs::create_dir_all(&release).unwrap();
    for name in ["ilo-vm", "ilo-asm", "example-users", "example-mail", "example-shop"] {
        let binary = binaries().join(name);
        assert!(binary.exists(), "{name} is built by `cargo test --workspace`");
        std::os::unix::fs::symlink(binary, release.join(name)).unwrap();
    }
    for part in ["examples", "examples/cases", "examples/data"] {
        fs::create_dir_all(folder.join(part)).unwrap();
        for entry in fs::read_dir(root.join(part)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, folder.join(part).join(path.file_name().unwrap())).unwrap();
            }
        }
    }
}

/// The commands of a `console` block with the output of each.
fn commands(block: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((command.to_owned(), String::new())),
            (None, Some((_, output))) => output.extend([line, "\n"]),
            (None, None) => panic!("output before a command: {line}"),
        }
    }
    found
}

#[test]
fn their_commands_print_what_they_say() {
    let first = include_str!("../../README.md");
    let examples = include_str!("../README.md");
    let mcp = include_str!("../../host/MCP.md");
    for (readme, least) in [(first, 6), (examples, 12), (mcp, 1)] {
        let folder = tempfile::tempdir().unwrap();
        clone_to(folder.path());
        assert!(runs_as_printed(readme, folder.path()) >= least, "it has commands");
    }
}

#[test]
fn the_commands_for_operators_print_what_their_page_says() {
    let page = include_str!("../../journal/OPERATING.md");
    let folder = tempfile::tempdir().unwrap();
    for name in ["order.ilo", "tools.json", "slow.json"] {
        // The block that follows the first mention of the file.
        let (_, rest) = page.split_once(&format!("`{name}`")).unwrap();
        let block = rest.split("```").nth(1).unwrap();
        fs::write(folder.path().join(name), block.split_once('\n').unwrap().1).unwrap();
    }
    assert!(runs_as_printed(page, folder.path()) >= 18, "it has commands");
}

/// Runs the commands of a page in a folder. Returns their number.
fn runs_as_printed(page: &str, folder: &Path) -> usize {
    let path = [binaries(), PathBuf::from(std::env::var_os("PATH").unwrap())];
    let path = std::env::join_paths(path.iter().flat_map(std::env::split_paths)).unwrap();
    let blocks = page.split("```console\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let (mut run, mut exports) = (0, String::new());
    for (command, expected) in blocks.flat_map(commands) {
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{exports}{command}")]).current_dir(folder).env("PATH", &path);
        let output = shell.output().unwrap();
        let stdout = String::from_utf8(output.stdout).unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        // Some programs end with an error, or suspended, on purpose.
        assert!(output.status.code().is_some_and(|code| [0, 1, 4].contains(&code)), "{command}\n{stderr}");
        // Long output is left out of the text.
        if !expected.is_empty() {
            assert_eq!(timeless(&stdout), timeless(&expected), "{command}\n{stderr}");
        }
        if command.starts_with("export ") {
            exports.extend([&command, "\n"]);
        }
        run += 1;
    }
    run
}

/// Removes the times of calls in a trace, the time in a summary of cases, and the times in a list of runs,
/// because they differ in each run.
fn timeless(text: &str) -> String {
    let line = |line: &str| match (line.split_once(r#","start_ms":"#), line.rsplit_once(" in ")) {
        (Some((call, _)), _) => format!("{call}}}\n"),
        (None, Some((cases, _))) if cases.contains(" passed") => format!("{cases}\n"),
        (None, _) => format!("{}\n", line.split(' ').map(undated).collect::<Vec<_>>().join(" ")),
    };
    text.lines().map(line).collect()
}

/// A word, unless it is a time.
fn undated(word: &str) -> &str {
    let is_time = word.len() == 20 && word.ends_with('Z') && word.as_bytes()[10] == b'T';
    if is_time { "TIME" } else { word }
}

#[test]
fn the_program_it_shows_is_the_example() {
    let readme = include_str!("../../README.md");
    assert!(readme.contains(include_str!("../notify.workflow.yaml")));
}
