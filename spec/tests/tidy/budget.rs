//! The sizes of the parts, in lines without tests: a change that adds a thing names what it replaces.

use crate::tree::{below, complain, read};

/// The parts, with the most lines that each may have. The number of a crate is only ever lowered; a part of
/// `asm` may take lines from another.
const PARTS: &[(&[&str], usize)] = &[
    (&["asm/src"], 44_778),
    (&["asm/src/dialect", "asm/src/expr"], 4_740),
    (&["asm/src/foreign.rs", "asm/src/habits"], 3_129),
    (&["asm/src/steps"], 6_112),
    (&["asm/src/document"], 3_091),
    (&["asm/src/check", "asm/src/rules"], 7_560),
    (&["asm/src/id", "asm/src/syntax"], 4_522),
    (&["guide/src"], 14_773),
    (&["host/src"], 20_673),
    (&["journal/src"], 10_712),
    (&["cli/src"], 9_769),
];

/// The lines of a file without its unit tests.
fn lines(path: &str) -> usize {
    let text = read(path);
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("").lines().count()
}

#[test]
fn no_part_grows_beyond_its_budget() {
    let mut problems = Vec::new();
    for (folders, most) in PARTS {
        let files = folders.iter().flat_map(|folder| below(folder, &[".rs"]));
        let found: usize = files.filter(|path| !path.contains("/tests")).map(lines).sum();
        println!("{}: {found} lines, at most {most}", folders.join(" + "));
        if found > *most {
            problems.push(format!("{} has {found} lines, at most {most}", folders.join(" + ")));
        }
    }
    complain(&problems);
}
