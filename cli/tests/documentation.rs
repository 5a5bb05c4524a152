//! Facts of pages: the errors and listings in the specification are those that `ilo-asm check` and `dis`
//! print (`UPDATE=1` rewrites them), and tests that a page names exist.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;

const NOTATIONS: [&str; 4] = ["tool-calling", "constrained", "workflow", "mcp"];

/// The first fenced program of a text.
fn program(text: &str) -> &str {
    let (_, after) = text.split_once("```").unwrap();
    let (_, program) = after.split_once('\n').unwrap();
    program.split_once("\n```").unwrap().0
}

/// Compares a page with its new text, or writes it.
fn hold(path: &Path, page: &str, current: &str) {
    if page != current {
        let path = path.display();
        assert!(std::env::var_os("UPDATE").is_some(), "{path} is not current: run with UPDATE=1");
        fs::write(path.to_string(), current).unwrap();
    }
}

/// The first block of text after each program is its listing.
#[test]
fn listings_on_the_page_of_bytecode_are_those_that_dis_prints() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/doc/bytecode.md");
    let page = fs::read_to_string(&path).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (head, rest) = page.split_once("```ilo\n").unwrap();
    let mut current = head.to_owned();
    for example in rest.split("```ilo\n") {
        let (source, after) = example.split_once("```").unwrap();
        let (between, listing) = after.split_once("```text\n").unwrap();
        let (_, after) = listing.split_once("```").unwrap();
        fs::write(folder.path().join("f.ilo"), source).unwrap();
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_ilo-asm"));
            let output = command.args(arguments).current_dir(folder.path()).output().unwrap();
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        run(&["build", "f.ilo", "--strip", "-o", "f.ilob"]);
        let printed = run(&["dis", "f.ilob"]);
        write!(current, "```ilo\n{source}```{between}```text\n{}\n```{after}", printed.trim_end()).unwrap();
    }
    hold(&path, &page, &current);
}

#[test]
fn errors_on_the_pages_are_those_that_check_prints() {
    for notation in NOTATIONS {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../spec/doc/notation-{notation}.md"));
        let page = fs::read_to_string(&path).unwrap();
        let (before, errors) = page.split_once("## Errors\n").unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("program"), format!("{}\n", program(errors))).unwrap();
        let mut check = Command::new(env!("CARGO_BIN_EXE_ilo-asm"));
        let output = check.args(["check", "program"]).current_dir(folder.path()).output().unwrap();
        let printed = String::from_utf8(output.stderr).unwrap();
        let (example, rest) = errors.split_once("```text\n").unwrap();
        let (_, after) = rest.split_once("```").unwrap();
        let current = format!("{before}## Errors\n{example}```text\n{}\n```{after}", printed.trim_end());
        hold(&path, &page, &current);
    }
}

#[test]
fn tests_that_the_page_on_promises_names_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let page = fs::read_to_string(root.join("host/tests/README.md")).unwrap();
    // How a test is written in each language.
    let forms = [("rs", "fn ", "("), ("py", "def ", "("), ("js", "", "")];
    let mut count = 0;
    for named in page.split('`').skip(1).step_by(2) {
        let Some((file, test)) = named.split_once("::") else { continue };
        let (_, before, after) = forms.iter().find(|(end, ..)| file.ends_with(end)).unwrap();
        let text = fs::read_to_string(root.join(file)).unwrap_or_default();
        assert!(text.contains(&format!("{before}{test}{after}")), "{file} has no test `{test}`");
        count += 1;
    }
    assert!(count > 150, "{count}");
}
