//! Values that the host reads, keeps and drops at their greatest depth, on a small stack.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use ilo_host::data::read::{Bounds, read};
use ilo_host::tools::Tools;
use ilo_spec::limits;

/// Runs a closure on a thread with a stack of 128 KiB.
fn on_a_small_stack(does: impl FnOnce() + Send + 'static) {
    on_a_stack(128 << 10, does);
}

fn on_a_stack(bytes: usize, does: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(bytes).spawn(does).unwrap().join().unwrap();
}

/// Alternately nested lists and records.
fn nested(depth: usize) -> String {
    let open = |level: usize| if level.is_multiple_of(2) { "[" } else { "{\"a\":" };
    let close = |level: usize| if level.is_multiple_of(2) { "]" } else { "}" };
    let begins: String = (0..depth).map(open).collect();
    let ends: String = (0..depth).rev().map(close).collect();
    format!("{begins}1{ends}")
}

#[test]
fn data_of_the_greatest_depth_is_read_written_and_dropped() {
    // One level more than a value may have: an outcome, a line of a trace, an answer of a server wrap one.
    for depth in [limits::DEFAULT_VALUE_DEPTH, limits::VALUE_DEPTH + 1] {
        on_a_small_stack(move || {
            let text = nested(depth);
            let bounds = Bounds { depth, ..Bounds::default() };
            let data = read(text.as_bytes(), &bounds).unwrap();
            assert_eq!(data.to_json(), text);
            assert!(data.to_json_indented().len() > text.len());
            assert!(data.fits(&data));
            drop(data);
            assert!(read(nested(depth + 1).as_bytes(), &bounds).is_err());
            assert!(read(nested(1_000_000).as_bytes(), &bounds).is_err());
        });
    }
}

/// Copying and comparing recurse level by level, to the depth that a tools file may have, which is where they
/// are used.
#[test]
fn data_of_a_tools_file_is_copied_and_compared() {
    on_a_small_stack(|| {
        let depth = limits::DEFAULT_VALUE_DEPTH;
        let data = read(nested(depth).as_bytes(), &Bounds::default()).unwrap();
        let copy = data.clone();
        assert!(copy == data);
    });
}

/// A mock that returns a value of the greatest depth is loaded; one level more is an error with its place.
#[test]
fn a_tools_file_of_the_greatest_depth_is_loaded() {
    on_a_small_stack(|| {
        let folder = tempfile::tempdir().unwrap();
        let load = |depth: usize| {
            let path = folder.path().join("tools.json");
            let value = nested(depth);
            let text = format!(
                r#"{{"tools": {{"t": {{"mock": [{{"when": {{"x": {value}}}, "returns": {value}}}]}}}}}}"#
            );
            std::fs::write(&path, text).unwrap();
            Tools::from_file(&path).map(|tools| tools.iter().count())
        };
        assert_eq!(load(limits::DEFAULT_VALUE_DEPTH - 1).unwrap(), 1);
        let problems = load(100_000).unwrap_err();
        assert!(problems[0].to_string().contains("deeper than"), "{}", problems[0]);
    });
}

/// The parser of TOML bounds the depth itself, and recurses as far as that, which takes more stack without
/// optimization.
#[test]
fn a_tools_file_in_toml_is_no_deeper_than_its_parser_allows() {
    on_a_stack(1 << 20, || {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tools.toml");
        let text = format!("tools.t.mock = [{{ returns = {}{} }}]", "[".repeat(100_000), "]".repeat(100_000));
        std::fs::write(&path, text).unwrap();
        assert!(Tools::from_file(&path).is_err());
    });
}
