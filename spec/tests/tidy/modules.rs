//! Reads the modules of a crate from its source text: what each declares, imports and refers to.
//!
//! Code that is compiled only for tests (`#[cfg(test)]`, `#[test]`) is left out.

use crate::source::{Kind, Token, tokens};
use std::collections::{BTreeMap, BTreeSet};

/// The files of a crate by their paths below `src`.
pub(crate) type Files = BTreeMap<String, String>;

/// A path as it is written, without its generic arguments: `["crate", "ast", "Slot"]`.
pub(crate) type Path = Vec<String>;

/// A module.
#[derive(Debug, Default)]
pub(crate) struct Module {
    /// The file or folder directly below `src` that it belongs to, without `.rs`.
    pub(crate) part: String,
    /// The file below `src`.
    pub(crate) file: String,
    /// The module that contains it; none for the root of a library or a binary.
    pub(crate) parent: Option<usize>,
    pub(crate) children: BTreeMap<String, usize>,
    /// The names that `use` imports, public or not, with their paths.
    pub(crate) aliases: BTreeMap<String, BTreeSet<Path>>,
    /// The modules in `use …::*`.
    pub(crate) globs: BTreeSet<Path>,
    /// The names of functions, types and other items that are defined here.
    pub(crate) items: BTreeSet<String>,
    /// Every path of two names or more, and every path of a `use`, with the line of its first occurrence.
    pub(crate) paths: BTreeMap<Path, usize>,
    /// Every identifier.
    pub(crate) words: BTreeSet<String>,
}

/// The modules of a package: of its library and its binaries.
#[derive(Debug, Default)]
pub(crate) struct Modules {
    pub(crate) all: Vec<Module>,
    /// The root of the library.
    pub(crate) library: Option<usize>,
    /// The modules whose macros are exported from the root.
    pub(crate) macros: BTreeMap<String, usize>,
}

/// The part of a file below `src`.
pub(crate) fn part(file: &str) -> &str {
    file.split('/').next().unwrap_or(file).trim_end_matches(".rs")
}

impl Modules {
    /// Reads the modules that `lib.rs`, `main.rs` and the files of `bin` declare.
    pub(crate) fn read(files: &Files) -> Modules {
        let mut modules = Modules::default();
        for file in files.keys() {
            let parts: Vec<&str> = file.split('/').collect();
            if matches!(parts[..], ["lib.rs" | "main.rs"] | ["bin", _] | ["bin", _, "main.rs"]) {
                let at = modules.add(files, file, None);
                if file == "lib.rs" {
                    modules.library = at;
                }
            }
        }
        modules
    }

    /// The parts that have a module.
    pub(crate) fn parts(&self) -> BTreeSet<&str> {
        self.all.iter().map(|module| module.part.as_str()).collect()
    }

    /// Adds a file as a module, with the modules that it declares.
    fn add(&mut self, files: &Files, file: &str, parent: Option<usize>) -> Option<usize> {
        let text = files.get(file)?;
        let code: Vec<Token> = tokens(text).into_iter().filter(|token| token.kind != Kind::Comment).collect();
        let code = without_tests(&code)?;
        let at = self.all.len();
        self.all.push(Module { part: part(file).into(), file: file.into(), parent, ..Module::default() });
        let mut reader = Reader {
            modules: self,
            files,
            folder: folder(file, parent.is_none()),
            open: vec![(at, 0)],
            depth: 0,
        };
        reader.read(&code);
        Some(at)
    }
}

/// The folder of a file's child modules.
fn folder(file: &str, is_root: bool) -> String {
    let (folder, name) = file.rsplit_once('/').unwrap_or(("", file));
    if is_root || name == "mod.rs" { folder.to_owned() } else { join(folder, name.trim_end_matches(".rs")) }
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// Removes each item with an attribute for tests; `None` if the whole file is for tests.
fn without_tests(code: &[Token]) -> Option<Vec<Token>> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < code.len() {
        if !code[at].is("#") {
            kept.push(code[at].clone());
            at += 1;
            continue;
        }
        let inner = code.get(at + 1).is_some_and(|token| token.is("!"));
        let end = closing(code, at + 1 + usize::from(inner));
        if !is_for_tests(&code[at..end]) {
            kept.extend_from_slice(&code[at..end]);
            at = end;
        } else if inner {
            return None;
        } else {
            at = item_end(code, end);
        }
    }
    Some(kept)
}

/// Whether an attribute is `test` or a `cfg` that requires tests.
fn is_for_tests(attribute: &[Token]) -> bool {
    let words: Vec<&str> =
        attribute.iter().map(|token| token.text.as_str()).filter(|text| !"#![](),".contains(text)).collect();
    matches!(words[..], ["test", ..] | ["cfg", "test", ..] | ["cfg", "all", "test", ..])
}

/// The position after the bracket that closes the one at `at`, or after `at` if there is none.
fn closing(code: &[Token], at: usize) -> usize {
    let mut depth = 0_usize;
    for (place, token) in code.iter().enumerate().skip(at) {
        match token.symbol() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return place + 1;
        }
    }
    code.len()
}

/// The position after the item at `at` and its further attributes.
fn item_end(code: &[Token], mut at: usize) -> usize {
    const ITEMS: [&str; 15] = [
        "async", "const", "enum", "extern", "fn", "impl", "let", "mod", "pub", "static", "struct", "trait",
        "type", "unsafe", "use",
    ];
    while code.get(at).is_some_and(|token| token.is("#")) {
        at = closing(code, at + 1);
    }
    // A field, a variant or an arm ends with a comma, but can contain commas.
    let is_item = code.get(at).is_some_and(|token| ITEMS.contains(&token.text.as_str()));
    while let Some(token) = code.get(at) {
        match token.symbol() {
            ";" => return at + 1,
            "," if !is_item => return at + 1,
            "}" | ")" | "]" => return at,
            "{" if is_item => {
                let end = closing(code, at);
                // `use a::{b, c};`
                return end + usize::from(code.get(end).is_some_and(|token| token.is(";")));
            }
            _ => at = closing(code, at),
        }
    }
    at
}

/// Reads the tokens of a file, including its inline modules.
struct Reader<'m, 'f> {
    modules: &'m mut Modules,
    files: &'f Files,
    folder: String,
    /// The open modules, each with its depth of braces.
    open: Vec<(usize, usize)>,
    depth: usize,
}

impl Reader<'_, '_> {
    fn here(&mut self) -> (&mut Module, usize) {
        let (at, depth) = self.open.last().copied().unwrap_or_default();
        (&mut self.modules.all[at], depth)
    }

    fn read(&mut self, code: &[Token]) {
        let text = |at: usize| code.get(at).map_or("", |token| token.text.as_str());
        let mut path_attribute = None;
        let mut at = 0;
        while at < code.len() {
            let token = &code[at];
            if token.kind == Kind::Text {
                at += 1;
                continue;
            }
            if token.kind == Kind::Ident {
                self.here().0.words.insert(token.text.clone());
            }
            match text(at) {
                "{" => self.depth += 1,
                "}" => self.close(),
                "path" if text(at + 1) == "=" && at > 0 && text(at - 1) == "[" => {
                    path_attribute = Some(text(at + 2).to_owned());
                }
                "mod" if text(at + 2) == ";" => {
                    self.file_module(text(at + 1), path_attribute.take());
                    at += 2;
                }
                "mod" if text(at + 2) == "{" => {
                    self.inline_module(text(at + 1));
                    at += 2;
                }
                "use" if text(at + 1) != "<" => {
                    let end = (at..code.len()).find(|&end| code[end].is(";")).unwrap_or(code.len());
                    self.import(&code[at + 1..end], &[]);
                    at = end;
                }
                "macro_rules" => self.macro_rules(text(at + 2), code[..at].iter().rev().take(3)),
                "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static" => {
                    self.item(text(at + 1));
                }
                _ if token.kind == Kind::Ident => at = self.path(code, at),
                _ => {}
            }
            at += 1;
        }
    }

    fn close(&mut self) {
        self.depth = self.depth.saturating_sub(1);
        if self.open.len() > 1 && self.open.last().is_some_and(|&(_, depth)| depth > self.depth) {
            self.open.pop();
            self.folder = self.folder.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        }
    }

    fn file_module(&mut self, name: &str, path: Option<String>) {
        let (parent, _) = self.open.last().copied().unwrap_or_default();
        let beside =
            self.modules.all[parent].file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let candidates = match path {
            Some(path) => {
                let mut folder = beside.as_str();
                let mut path = path.as_str();
                while let Some(rest) = path.strip_prefix("../") {
                    folder = folder.rsplit_once('/').map_or("", |(above, _)| above);
                    path = rest;
                }
                vec![join(folder, path)]
            }
            None => {
                vec![join(&self.folder, &format!("{name}.rs")), join(&self.folder, &format!("{name}/mod.rs"))]
            }
        };
        for file in candidates {
            if let Some(child) = self.modules.add(self.files, &file, Some(parent)) {
                self.modules.all[parent].children.insert(name.to_owned(), child);
            }
        }
    }

    fn inline_module(&mut self, name: &str) {
        let (parent, _) = self.open.last().copied().unwrap_or_default();
        let (part, file) = (self.modules.all[parent].part.clone(), self.modules.all[parent].file.clone());
        let child = self.modules.all.len();
        self.modules.all.push(Module { part, file, parent: Some(parent), ..Module::default() });
        self.modules.all[parent].children.insert(name.to_owned(), child);
        self.folder = join(&self.folder, name);
        self.depth += 1;
        self.open.push((child, self.depth));
    }

    fn item(&mut self, name: &str) {
        let depth = self.depth;
        let (module, own) = self.here();
        if depth == own && !matches!(name, "fn" | "unsafe" | "async" | "extern" | "mut" | "_") {
            module.items.insert(name.to_owned());
        }
    }

    fn macro_rules<'t>(&mut self, name: &str, mut before: impl Iterator<Item = &'t Token>) {
        self.here().0.items.insert(name.to_owned());
        if before.any(|token| token.is("macro_export")) {
            let (at, _) = self.open.last().copied().unwrap_or_default();
            self.modules.macros.insert(name.to_owned(), at);
        }
    }

    /// Records the path that begins at `at`. Returns the position of its last token.
    fn path(&mut self, code: &[Token], at: usize) -> usize {
        let is_rest = at > 0 && (code[at - 1].is("::") || code[at - 1].is("."));
        let mut path = vec![code[at].text.clone()];
        let mut end = at;
        while let [separator, name, ..] = &code[end + 1..]
            && separator.is("::")
            && name.kind == Kind::Ident
        {
            path.push(name.text.clone());
            end += 2;
        }
        if path.len() > 1 && !is_rest {
            self.here().0.paths.entry(path).or_insert(code[at].line);
        }
        end
    }

    /// Records the tree of a `use` below the path `prefix`.
    fn import(&mut self, tree: &[Token], prefix: &[String]) {
        let mut path = prefix.to_vec();
        let mut at = usize::from(tree.first().is_some_and(|token| token.is("::")));
        let global = at == 1 && prefix.is_empty();
        while let Some(token) = tree.get(at) {
            match token.text.as_str() {
                "::" => {}
                "*" => return self.bring(None, path, token.line, global),
                "{" => {
                    let inner = &tree[at + 1..closing(tree, at) - 1];
                    let mut begin = 0;
                    let mut place = 0;
                    while place < inner.len() {
                        if inner[place].is(",") {
                            self.import(&inner[begin..place], &path);
                            begin = place + 1;
                        }
                        place = closing(inner, place);
                    }
                    return self.import(&inner[begin..], &path);
                }
                "as" => {
                    let name = tree.get(at + 1).map(|token| token.text.clone()).unwrap_or_default();
                    return self.bring(Some(name), path, token.line, global);
                }
                "self" if !path.is_empty() => {}
                name => path.push(name.to_owned()),
            }
            at += 1;
        }
        let last = path.last().cloned();
        if let (Some(name), Some(first)) = (last, tree.first())
            && !global
        {
            self.bring(Some(name), path, first.line, global);
        }
    }

    /// Imports a path into the module under a name, or everything in it.
    fn bring(&mut self, name: Option<String>, path: Path, line: usize, global: bool) {
        if global || path.is_empty() {
            return;
        }
        let (module, _) = self.here();
        module.paths.entry(path.clone()).or_insert(line);
        match name {
            Some(name) => {
                module.aliases.entry(name).or_default().insert(path);
            }
            None => {
                module.globs.insert(path);
            }
        }
    }
}
