//! The cases of `spec/corpus` and `spec/programs`, read from their files.

use ilo_asm::arena::Arena;
use ilo_asm::case::{Case, Source};
use ilo_asm::compile::{self, Options};
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::span::Lines;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};

/// A case with its file.
#[derive(Debug)]
pub(crate) struct File {
    /// Its file.
    pub(crate) path: PathBuf,
    case: Case,
}

impl Deref for File {
    type Target = Case;

    fn deref(&self) -> &Case {
        &self.case
    }
}

/// The folder of the corpus or of the programs.
pub(crate) fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../spec").join(name)
}

/// Every case below a folder, in the order of their paths.
pub(crate) fn all(folder: &Path) -> Vec<File> {
    let mut found = Vec::new();
    let mut rest = vec![folder.to_path_buf()];
    while let Some(folder) = rest.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                rest.push(path);
            } else if path.extension().is_some_and(|ending| ending == "case") {
                found.push(path);
            }
        }
    }
    found.sort();
    found.into_iter().map(read).collect()
}

fn read(path: PathBuf) -> File {
    let text = String::from_utf8(fs::read(&path).unwrap()).unwrap();
    let case = Case::read(&text).unwrap_or_else(|errors| panic!("{}: {errors:?}", path.display()));
    File { path, case }
}

/// The cases of the corpus and the programs whose path contains the variable `CASE`.
#[allow(dead_code, reason = "a test of the programs alone reads their folder")]
pub(crate) fn selected() -> Vec<File> {
    let only = std::env::var("CASE").unwrap_or_default();
    let mut cases = all(&folder("corpus"));
    assert!(cases.len() > 500, "the corpus was found");
    cases.extend(all(&folder("programs")));
    cases.retain(|case| case.path.to_string_lossy().contains(&only));
    cases
}

/// The functions of a program: for each the line where it begins, and its name.
#[allow(dead_code, reason = "a test of the programs alone does not name them")]
pub(crate) fn functions(source: &Source<'_>) -> Vec<(u32, String)> {
    let (arena, lines) = (Arena::new(), Lines::new(source.text));
    let options = Options { from: Some(source.notation), ..Options::default() };
    let file = compile::read(source.text, &arena, &options, &mut Diagnostics::default());
    let place = |span: ilo_asm::span::Span| lines.place(span.start).line;
    file.functions.iter().map(|one| (place(one.span), one.name.text.to_owned())).collect()
}
