//! The programs that search in earnest, for a moment each. With this file `cargo test` builds them, so that
//! .ci/run has them without another build.

use std::process::Command;

/// What a program prints, which must end well.
fn printed(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().expect("the program starts");
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    out.into_owned()
}

#[test]
fn random_programs_agree_with_the_oracle() {
    let printed = printed(env!("CARGO_BIN_EXE_oracle"), &["100", "7"]);
    assert!(printed.contains("100 programs agree") && printed.contains(" 0 disagree"), "{printed}");
}

#[test]
fn a_sweep_of_every_byte_counts_what_it_tried() {
    // Part 1,000 of 1,001: there are fewer programs.
    let printed = printed(env!("CARGO_BIN_EXE_every-byte"), &["1000", "1001"]);
    assert!(printed.starts_with("0 changes"), "{printed}");
}
