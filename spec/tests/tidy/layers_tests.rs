//! The mechanism of the layering, on small made-up crates.

use crate::imports::Parts;
use crate::layers::Table;
use crate::modules::Files;

fn parts(files: &[(&str, &str)]) -> Parts {
    let files: Files = files.iter().map(|&(path, text)| (path.to_owned(), text.to_owned())).collect();
    Parts::read(&files, "ilo_made")
}

/// The imports between parts, as `from>to`.
fn imports(files: &[(&str, &str)]) -> Vec<String> {
    parts(files).imports.iter().map(|import| format!("{}>{}", import.from, import.to)).collect()
}

/// The imports of a part `a` beside parts `b` (with the module `inner`, type `B`) and `c` (type `C`).
fn of_a(text: &str) -> Vec<String> {
    let lib = "mod a; mod b; mod c; mod face;\npub use c::C; pub struct Own;";
    let b = "pub mod inner; pub struct B; use crate::c::C;";
    let files = [
        ("lib.rs", lib),
        ("a/mod.rs", text),
        ("a/low.rs", "pub struct Low; #[cfg(test)] mod tests;"),
        ("a/tests.rs", "use crate::b::B;"),
        ("b.rs", b),
        ("b/inner.rs", "pub fn call() {} pub enum E { X }"),
        ("c.rs", "pub struct C;"),
        ("face.rs", "pub use crate::b::B as Shown; pub use crate::b::*;"),
    ];
    imports(&files).into_iter().filter_map(|import| import.strip_prefix("a>").map(str::to_owned)).collect()
}

#[test]
fn imports_are_found_wherever_a_path_is_written() {
    assert_eq!(of_a("use crate::b::B;"), ["b"]);
    assert_eq!(of_a("use crate::{b::{self, inner::call}, c::C as D};"), ["b", "c"]);
    assert_eq!(of_a("use super::b::B;"), ["b"]);
    assert_eq!(of_a("fn f() { crate::b::inner::call() }"), ["b"]);
    assert_eq!(of_a("fn f(x: &super::c::C) -> crate::b::inner::E { self::crate_like() }"), ["b", "c"]);
    assert_eq!(of_a("mod deep { fn f() { super::super::b::inner::call(); super::low(); } }"), ["b"]);
    assert_eq!(of_a("macro_rules! m { () => { $crate::b::inner::call() } }"), ["b"]);
    assert_eq!(of_a("fn f() { use crate::b::inner; inner::call(); }"), ["b"]);
    assert_eq!(of_a("impl crate::c::C {}"), ["c"]);
    assert_eq!(of_a("use ilo_made::b::B;"), ["b"]);
}

#[test]
fn what_is_no_import_is_not_found() {
    assert_eq!(of_a(""), [""; 0]);
    assert_eq!(of_a("mod low; use low::Low; use self::low as l; fn f() { l::Low; low::Low }"), [""; 0]);
    assert_eq!(of_a("/// [`crate::b::B`]\nfn f() { \"crate::b::B\"; } // crate::c::C"), [""; 0]);
    assert_eq!(of_a("use std::b::B; fn f() { b::B; ::b::inner::call(); other.b::<u8>() }"), [""; 0]);
    let tests =
        "#[cfg(test)] mod tests { use crate::b::B; }\n#[cfg(test)]\n#[allow(x)]\nuse crate::{b::B, c::C};";
    assert_eq!(of_a(tests), [""; 0]);
    assert_eq!(
        of_a("#[test] fn t() { crate::b::inner::call() } struct S { #[cfg(test)] b: crate::b::B }"),
        [""; 0]
    );
    assert_eq!(of_a("#[cfg(all(test, unix))] fn t() { crate::b::B; }"), [""; 0]);
    assert_eq!(of_a("#![cfg(test)] use crate::b::B;"), [""; 0]);
    assert_eq!(of_a("mod low; use low::Low;"), [""; 0]);
    assert_eq!(of_a("#[cfg(not(test))] use crate::b::B;"), ["b"]);
    assert_eq!(of_a("#[cfg(test)] const T: [u8; 2] = [1, 2]; use crate::c::C;"), ["c"]);
}

#[test]
fn a_re_export_leads_to_the_part_that_defines_it() {
    assert_eq!(of_a("use crate::face::Shown;"), ["b", "face"], "under another name");
    assert_eq!(of_a("use crate::face::B;"), ["b", "face"], "through a glob");
    assert_eq!(of_a("use crate::face::inner::call;"), ["b", "face"], "a module through a glob");
    assert_eq!(of_a("use crate::face::*; fn f(_: Shown) {}"), ["b", "face"], "a glob of the re-exports");
    assert_eq!(of_a("use crate::face::*; fn f() {}"), ["face"], "a glob of which nothing is used");
    assert_eq!(of_a("use crate::face as f; fn g(_: f::Shown) {}"), ["b", "face"], "a renamed part");
    assert_eq!(of_a("use crate::C;"), ["c"], "from the root");
    assert_eq!(of_a("use super::C;"), ["c"], "from the root, by its place");
    assert_eq!(of_a("fn f(_: crate::Own) {}"), ["lib"], "what the root defines is the root's");
    assert_eq!(of_a("use crate::b::C;"), ["b", "c"], "an import that its module's children see");
}

#[test]
fn a_child_uses_what_its_parent_imports() {
    let files = [
        ("lib.rs", "mod a; mod b;"),
        ("a/mod.rs", "mod low; use crate::b::B;"),
        ("a/low.rs", "use super::B; use super::*;"),
        ("b.rs", "pub struct B;"),
    ];
    assert_eq!(imports(&files), ["a>b"]);
    let import = &parts(&files).imports[0];
    assert_eq!(import.place, ("a/mod.rs".to_owned(), 1, "crate::b::B".to_owned()));
}

#[test]
fn macros_and_binaries_are_read() {
    let files = [
        ("lib.rs", "#[macro_use] mod macros; pub mod a;"),
        ("macros.rs", "#[macro_export]\nmacro_rules! row { () => {} }"),
        ("a.rs", "fn f() { crate::row!(); crate::row::x() }"),
        ("main.rs", "mod verbs; use ilo_made::a; fn main() { a::f(); verbs::run() }"),
        ("verbs/mod.rs", "pub mod build; use crate::shared; pub fn run() {}"),
        ("verbs/build.rs", "#[path = \"../odd/name.rs\"] mod odd;"),
        ("odd/name.rs", "use ilo_made::a::f;"),
        ("bin/tool.rs", "use ilo_made::a;"),
    ];
    let expected = ["a>macros", "bin>a", "lib>a", "lib>macros", "main>a", "main>verbs", "odd>a"];
    let found = imports(&files);
    for import in expected.iter().filter(|import| !import.starts_with("lib>")) {
        assert!(found.iter().any(|found| found == import), "{import} in {found:?}");
    }
}

#[test]
fn names_that_stand_for_each_other_end() {
    let files = [
        ("lib.rs", "mod a; mod b; pub use a::*; pub use b::*;"),
        ("a.rs", "pub use crate::b::*; pub use crate::x; pub use crate::y as x;"),
        ("b.rs", "pub use crate::a::*; pub use crate::x as y; use crate::nowhere; fn f() { nowhere::g() }"),
    ];
    assert!(imports(&files).contains(&"a>b".to_owned()));
}

const MADE: [(&str, &str); 4] = [
    ("lib.rs", "mod low; mod middle; mod high; pub use high::run;"),
    ("low.rs", "pub struct Low;"),
    ("middle.rs", "use crate::low::Low; use crate::run;"),
    ("high.rs", "use crate::middle; pub fn run() {}"),
];

fn problems(table: &str) -> Vec<String> {
    Table::parse(table).map_or_else(|error| vec![error], |table| table.problems(&parts(&MADE)))
}

#[test]
fn a_table_of_layers_refuses_an_upward_import_that_a_re_export_hides() {
    let layers = "0 low:\n1 middle: 0\n2 high: 0-1\n3 lib: 0-2\n";
    assert_eq!(problems(layers), ["middle.rs:1: `middle` may not import `high` (`crate::run`)"]);
}

#[test]
fn a_table_has_a_row_for_each_part_a_part_for_each_row_and_no_circle() {
    let rows = "lib: high\nlow: # nothing\nmiddle: low high\nhigh: middle\n";
    assert_eq!(problems(rows), ["the table has a circle: high -> middle -> high"]);
    assert_eq!(problems(&format!("today\n{rows}")), [""; 0]);
    assert_eq!(
        problems("today\nlib: high\nlow:\nhigh: middle\nmiddle: low high\nodd:\n"),
        ["the row `odd` has no part"]
    );
    assert_eq!(problems("today\nlib: high\nlow:\nhigh:\n")[0], "`middle` has no row");
    assert_eq!(problems("lib: hihg"), ["`lib` may import `hihg`, which has no row"]);
    assert_eq!(problems("low:\nlow:"), ["`low` has two rows"]);
    assert_eq!(problems("low"), ["no colon in `low`"]);
    assert_eq!(problems(&Table::of(&parts(&MADE))), [""; 0], "what is written is read");
}

#[test]
fn parts_of_one_layer_do_not_import_each_other() {
    let table = "0 low:\n1 middle high: 0\n2 lib: 0-1";
    assert_eq!(problems(table).len(), 2, "{:?}", problems(table));
}
