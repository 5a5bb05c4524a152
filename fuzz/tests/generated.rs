//! What the generator makes: nearly all of it passes the checks.

use ilo_asm::build::{Options, build};
use ilo_fuzz::generate::{bytes, case};

#[test]
fn nearly_every_program_passes_the_checks() {
    let made = 1_000;
    let passed =
        (0..made).filter(|&seed| build(&case(&bytes(seed)).source, &Options::default()).0.is_some()).count();
    assert!(passed * 100 >= 95 * 1_000, "{passed} of {made}");
}

#[test]
fn the_empty_string_is_a_program() {
    let case = case(b"");
    assert!(build(&case.source, &Options::default()).0.is_some(), "{}", case.source);
}
