#![allow(warnings)]
#[path = "../../host/tests/support/case.rs"]
mod case;
use ilo_asm::span::Lines;
fn main() {
    let mut bad = 0; let mut n = 0;
    for case in case::all(std::path::Path::new("spec/corpus")) {
        let Some(source) = case.section("source id") else { println!("{}: no source", case.path.display()); continue };
        let catalog = case.section("catalog").map(|t| ilo_asm::catalog::Catalog::from_json(t).unwrap());
        let (p, d) = ilo_asm::build::build(source, &ilo_asm::build::Options { catalog: catalog.as_ref(), ..Default::default() });
        let lines = Lines::new(source);
        let strict = case.options().contains(&"--strict");
        let mut found: Vec<String> = d.as_slice().iter().map(|d| { let p = lines.place(d.span.start); format!("{} {} {}:{}", if d.is_error() || strict {"error"} else {"warning"}, d.code, p.line, p.column) }).collect();
        let mut expected: Vec<String> = case.section("diagnostics").unwrap_or("").lines().filter(|l| !l.trim().is_empty()).map(|l| l.trim().to_owned()).collect();
        found.sort(); expected.sort();
        n += 1;
        let runtime = ["bad-input","input-type","missing-input","unknown-input","no-single-entry","unknown-function"];
        expected.retain(|e| !runtime.iter().any(|r| e.contains(r)));
        let same = found.len() == expected.len() && found.iter().zip(&expected).all(|(f, e)| f == e || f.strip_prefix(e.as_str()).is_some_and(|r| r.starts_with([' ', ':'])));
        if !same { bad += 1; println!("{}: {}\n   expected {:?}\n   found    {:?} {:?}", case.path.display(), case.headers.get("about").map_or("", |s| s), expected, found, d.as_slice().iter().map(|d| &d.message).collect::<Vec<_>>()); }
    }
    println!("{bad} of {n} bad");
}
