//! The file of a trace: it overwrites nothing that is in use, and is not left from an earlier run.

use super::*;

/// A hard link leads to the same file, and opening a pipe without a reader would wait forever.
#[cfg(unix)]
#[test]
fn a_trace_is_no_link_to_what_is_read_and_no_pipe_without_a_reader() {
    let case = Case::new(&echo());
    case.file("tools.json", r#"{"tools":{}}"#);
    let folder = case.folder.path();
    std::fs::hard_link(folder.join("p.ilob"), folder.join("linked")).unwrap();
    let before = std::fs::read(folder.join("p.ilob")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
    for (trace, expected) in [
        ("linked", "linked is the program, which the trace would overwrite; name another file"),
        ("pipe", "pipe cannot be written: it is a pipe that nobody reads"),
    ] {
        let ended = case.run(&["run", "p.ilob", "--tools", "tools.json", "--trace", trace]);
        assert_eq!(ended.code, Some(2), "{trace}");
        assert!(ended.err.contains(expected), "{}", ended.err);
    }
    assert_eq!(std::fs::read(folder.join("p.ilob")).unwrap(), before);
}

#[test]
fn a_trace_overwrites_nothing_that_is_in_use() {
    let case = Case::new(&echo());
    case.file("tools.json", r#"{"tools":{}}"#);
    case.file("input.json", r#"{"amount":1,"name":"x","extra":1}"#);
    case.file("trace", "of an earlier run, and longer\n");
    let run = |trace: &str| {
        case.run(&[
            "run",
            "p.ilob",
            "--tools",
            "tools.json",
            "--input",
            "@input.json",
            "--lock",
            "lock",
            "--trace",
            trace,
        ])
    };
    case.file("lock", r#"{"version":1,"tools":{}}"#);
    let files =
        [("p.ilob", "program"), ("tools.json", "tools file"), ("input.json", "input"), ("lock", "lock")];
    for (name, what) in files {
        let before = std::fs::read(case.folder.path().join(name)).unwrap();
        let expected = format!(
            "error[bad-usage]: --trace: ./{name} is the {what}, which the trace would overwrite; name another file\n"
        );
        run(&format!("./{name}")).is(2, "", &expected);
        assert_eq!(std::fs::read(case.folder.path().join(name)).unwrap(), before);
    }
    let other = std::fs::File::options().write(true).open(case.folder.path().join("trace")).unwrap();
    other.lock().unwrap();
    let expected =
        "error[bad-usage]: --trace: another run is writing its trace to trace; name another file\n";
    run("trace").is(2, "", expected);
    other.unlock().unwrap();
    assert_eq!(case.read("trace"), "of an earlier run, and longer\n");
    assert_eq!(run("trace").code, Some(0));
    assert_eq!(case.read("trace"), "");
}

#[test]
fn a_trace_is_not_left_from_an_earlier_run() {
    let case = Case::new(&echo());
    for bad in [&["p.ilob"][..], &["p.ilob", "--tools", "none.json"], &["p.ilob", "--fn", "x"], &["none.ilo"]]
    {
        case.file("trace", "of an earlier run\n");
        assert_eq!(case.run(&[&["run", "--trace", "trace"], bad].concat()).code, Some(2));
        assert_eq!(case.read("trace"), "", "{bad:?}");
    }
}
