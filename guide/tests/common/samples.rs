//! The functions of the corpus, the recipes and the examples.

use ilo_asm::arena::Arena;
use ilo_asm::case::Case;
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, read_and_check};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::notation::Notation;
use ilo_asm::print;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "case" || ending == "ilo") {
            found.push(path);
        }
    }
}

/// All cases of the corpus, with their paths.
pub fn cases() -> Vec<(String, Case)> {
    let mut paths = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec/corpus"), &mut paths);
    paths.sort();
    let read = |path: &PathBuf| Case::read(&fs::read_to_string(path).unwrap()).ok();
    paths.iter().filter_map(|path| Some((path.display().to_string(), read(path)?))).collect()
}

/// A function as text that ends with its body, and the catalogue that it was checked with.
pub struct Sample {
    pub name: String,
    pub text: String,
    /// The last function in the notation `constrained`; empty if it cannot be written in it.
    pub constrained: String,
    pub catalog: Catalog,
}

/// All functions of the corpus that check without a diagnostic, in canonical layout.
pub fn samples() -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut paths = Vec::new();
    for folder in ["spec/corpus", "spec/programs", "examples"] {
        files(&root.join(folder), &mut paths);
    }
    paths.sort();
    let mut samples = Vec::new();
    for path in paths {
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().replace("guide/../", "");
        let text = fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|ending| ending == "ilo") {
            functions(&name, &text, None, &mut samples);
            continue;
        }
        let Ok(case) = Case::read(&text) else { continue };
        let catalog = case.section("catalog").and_then(|text| Catalog::from_json(text).ok());
        if let Some(source) = case.section("source id") {
            functions(&name, source, catalog.as_ref(), &mut samples);
        }
    }
    samples
}

fn functions(name: &str, source: &str, catalog: Option<&Catalog>, samples: &mut Vec<Sample>) {
    let arena = Arena::new();
    let mut found = Diagnostics::default();
    let options = Build { from: Some(Notation::Id), catalog, ..Build::default() };
    let (file, checked) = read_and_check(source, &arena, &options, &mut found);
    if !found.as_slice().is_empty() {
        return;
    }
    // Callees first.
    let mut ordered = Vec::new();
    for index in &checked.order {
        ordered.push(file.functions[*index as usize]);
    }
    let mut whole = catalog.cloned().unwrap_or_default();
    if catalog.is_none() {
        for function in &ordered {
            function.body.each_call(&mut |call| {
                whole.insert(ToolSignature::new(call.tool.text, None, None, None));
            });
        }
    }
    for last in 1..=ordered.len() {
        let file = ilo_asm::ast::File { functions: &ordered[..last] };
        let only = ilo_asm::ast::File { functions: &ordered[last - 1..last] };
        let mut found = Diagnostics::default();
        let constrained = print::print(&only, Notation::Constrained, &mut found);
        samples.push(Sample {
            constrained: if found.as_slice().is_empty() { constrained } else { String::new() },
            name: format!("{name} {}", ordered[last - 1].name.text),
            text: print::id(&file),
            catalog: whole.clone(),
        });
    }
}

/// The functions that a guide refuses, each with the place, are those of a list: in each line a name and the
/// reason, in words of the README.
pub fn are_the_listed(refused: &BTreeMap<String, String>, listed: &str) {
    let readme = include_str!("../../README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let mut rest = refused.clone();
    for line in listed.lines() {
        let (name, reason) = line.split_once(": ").unwrap();
        assert!(rest.remove(name).is_some(), "{name} is allowed, but listed: {reason}");
        assert!(readme.contains(reason), "the README does not say: {reason}");
    }
    assert!(rest.is_empty(), "refused, but not listed: {rest:#?}");
}
