//! The sizes of the parts, in lines without tests: a change that adds a thing names what it replaces.

use crate::tree::{below, complain, read};

/// The parts, with the most lines that each may have. The number of a crate is only ever lowered; a part of
/// `asm` may take lines from another.
const PARTS: &[(&[&str], usize)] = &[
    (&["asm/src"], 42_578),
    (&["asm/src/dialect", "asm/src/expr"], 4_416),
    (&["asm/src/foreign.rs", "asm/src/steps"], 9_070),
    (&["asm/src/document"], 3_379),
    (&["asm/src/check", "asm/src/rules"], 6_680),
    (&["asm/src/id", "asm/src/syntax"], 4_391),
    (&["asm/src/ast.rs", "asm/src/ast"], 1_024),
    (&["asm/src/catalog.rs", "asm/src/catalog"], 2_589),
    (&["asm/src/compile"], 712),
    (&["asm/src/diagnostic"], 548),
    (&["asm/src/format"], 509),
    (&["asm/src/ide"], 1_912),
    (&["asm/src/lower"], 2_550),
    (&["asm/src/print"], 2_740),
    (&["asm/src/prompt", "asm/src/explain.rs", "asm/src/case"], 692),
    (
        &[
            "asm/src/arena.rs",
            "asm/src/span.rs",
            "asm/src/text",
            "asm/src/notation.rs",
            "asm/src/source.rs",
            "asm/src/types.rs",
            "asm/src/sorting.rs",
            "asm/src/matched.rs",
            "asm/src/disasm.rs",
            "asm/src/lib.rs",
        ],
        1_366,
    ),
    (&["spec/src"], 3_337),
    (&["vm/src"], 15_114),
    (&["graph/src"], 2_943),
    (&["guide/src"], 13_727),
    (&["drive/src"], 6_635),
    (&["host/src"], 20_085),
    (&["journal/src"], 9_779),
    (&["cli/src"], 9_704),
    (&["bindings/shared"], 1_291),
    (&["bindings/python"], 8_779),
    (&["bindings/js"], 7_110),
];

/// The languages of the parts. Those of `bindings` are in three.
const ENDINGS: [&str; 6] = [".rs", ".py", ".pyi", ".ts", ".js", ".mjs"];

/// What a part has besides what it ships.
const BESIDES: [&str; 4] = ["/tests", "/examples/", "/real/", "/bench"];

/// The lines of a file without its unit tests.
fn lines(path: &str) -> usize {
    let text = read(path);
    text.split("#[cfg(test)]\nmod tests {").next().unwrap_or("").lines().count()
}

#[test]
fn no_part_grows_beyond_its_budget() {
    let mut problems = Vec::new();
    for (folders, most) in PARTS {
        let files = folders.iter().flat_map(|folder| below(folder, &ENDINGS));
        let found: usize =
            files.filter(|path| BESIDES.iter().all(|word| !path.contains(word))).map(lines).sum();
        println!("{}: {found} lines, at most {most}", folders.join(" + "));
        if found > *most {
            problems.push(format!("{} has {found} lines, at most {most}", folders.join(" + ")));
        }
    }
    complain(&problems);
}

#[test]
fn every_crate_and_every_part_of_asm_has_a_budget() {
    let rows: Vec<&str> = PARTS.iter().flat_map(|(folders, _)| folders.iter().copied()).collect();
    let mut problems = Vec::new();
    for path in below("", &[".rs"]).filter(|path| path.contains("/src/")) {
        let names: Vec<&str> = path.split('/').collect();
        let part = match names[..] {
            // What is not part of what ships.
            ["benches" | "examples" | "fuzz", ..] | ["journal", "dbos" | "restate", ..] | [] => continue,
            ["bindings", package, ..] => format!("bindings/{package}"),
            ["asm", "src", part, ..] => format!("asm/src/{part}"),
            [name, ..] => format!("{name}/src"),
        };
        if !rows.contains(&part.as_str()) && !problems.contains(&part) {
            problems.push(part);
        }
    }
    complain(&problems);
}
