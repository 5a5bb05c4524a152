//! The files of the project, and the report of problems with them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// Folders that git ignores, for copies of the project without git.
const IGNORED: [&str; 5] = [".git", "node_modules", "venv", "found", "artifacts"];

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Every file that git tracks or would add, relative to the root, with `/` between folders, sorted.
pub(crate) fn files() -> &'static [String] {
    static FILES: OnceLock<Vec<String>> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut found = listed().unwrap_or_else(walked);
        found.retain(|path| root().join(path).is_file());
        found.sort();
        found.dedup();
        assert!(found.len() > 100, "the project has more files than {}", found.len());
        found
    })
}

fn listed() -> Option<Vec<String>> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let output = Command::new("git").args(arguments).current_dir(root()).output().ok()?;
    let names = String::from_utf8(output.stdout).ok()?;
    let names: Vec<String> = names.split_terminator('\0').map(str::to_owned).collect();
    (output.status.success() && !names.is_empty()).then_some(names)
}

fn walked() -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = vec![root()];
    while let Some(folder) = rest.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if !path.is_dir() {
                let relative = path.strip_prefix(root()).unwrap();
                found.push(relative.to_string_lossy().replace('\\', "/"));
            } else if !name.starts_with("target") && !IGNORED.contains(&name.as_str()) {
                rest.push(path);
            }
        }
    }
    found
}

/// The files below a folder (`""` for all) whose names end in one of these ways.
pub(crate) fn below(folder: &str, endings: &[&str]) -> impl Iterator<Item = &'static str> {
    let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    files().iter().map(String::as_str).filter(move |path| {
        (path.starts_with(&prefix) || *path == folder) && endings.iter().any(|ending| path.ends_with(ending))
    })
}

/// Reads a file of the project.
pub(crate) fn read(path: &str) -> String {
    String::from_utf8_lossy(&fs::read(root().join(path)).unwrap()).into_owned()
}

/// Fails with all problems, one in each line.
pub(crate) fn complain(problems: &[String]) {
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}
