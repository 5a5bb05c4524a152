//! The names of types: how many mean several things, and over how many files the methods of one are spread.
//! Both only go down.

use crate::source::{Token, tokens};
use crate::tree::{below, complain, read};
use std::collections::{BTreeMap, BTreeSet};

/// The crates, with the number of type names that are defined more than once in each. It is only ever
/// lowered.
const SHARED: [(&str, usize); 9] = [
    ("spec", 3),
    ("asm", 13),
    ("vm", 0),
    ("graph", 0),
    ("guide", 0),
    ("drive", 1),
    ("journal", 0),
    ("host", 2),
    ("cli", 1),
];

/// The most files that may have methods of one type. With more, it is several things.
const MOST_FILES: usize = 3;

/// The types of a crate: for each name the files that define it, and those with methods of it.
#[derive(Default)]
struct Types {
    defined: BTreeMap<String, Vec<String>>,
    methods: BTreeMap<String, BTreeSet<String>>,
}

/// The tokens of a source without its unit tests.
fn program(source: &str) -> Vec<Token> {
    tokens(source.split("#[cfg(test)]\nmod tests {").next().unwrap_or(""))
}

/// The place behind generic parameters that begin here.
fn behind_generics(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(token) = tokens.get(at) {
        match token.symbol() {
            "<" => depth += 1,
            // The end of an arrow is no bracket.
            ">" if !tokens[at - 1].is("-") => depth -= 1,
            _ if depth == 0 => return at,
            _ => {}
        }
        at += 1;
    }
    at
}

impl Types {
    fn add(&mut self, path: &str, source: &str) {
        let tokens = program(source);
        // An associated type is in the braces of an `impl` or a trait.
        let mut inside: Option<usize> = None;
        let mut depth = 0_usize;
        for (at, token) in tokens.iter().enumerate() {
            let next = || tokens.get(at + 1).map_or("", Token::symbol);
            match token.symbol() {
                "{" => depth += 1,
                "}" => {
                    depth = depth.saturating_sub(1);
                    inside = inside.filter(|&open| depth > open);
                }
                "struct" | "enum" | "union" | "type" | "trait"
                    if inside.is_none() && next().starts_with(char::is_uppercase) =>
                {
                    self.defined.entry(next().to_owned()).or_default().push(path.to_owned());
                    inside = inside.or((token.is("trait")).then_some(depth));
                }
                // Not `impl Trait` as a type.
                "impl"
                    if inside.is_none()
                        && (at == 0
                            || tokens[at - 1].is("}")
                            || tokens[at - 1].is(";")
                            || tokens[at - 1].is("]")) =>
                {
                    inside = Some(depth);
                    let mut here = behind_generics(&tokens, at + 1);
                    while tokens.get(here + 1).is_some_and(|token| token.is("::")) {
                        here += 2;
                    }
                    let behind = behind_generics(&tokens, here + 1);
                    if tokens.get(behind).is_some_and(|token| token.is("{") || token.is("where")) {
                        let name = tokens[here].symbol().to_owned();
                        self.methods.entry(name).or_default().insert(path.to_owned());
                    }
                }
                _ => {}
            }
        }
    }

    fn read(name: &str) -> Types {
        let mut types = Types::default();
        for path in below(&format!("{name}/src"), &[".rs"]).filter(|path| !path.contains("/tests")) {
            types.add(path, &read(path));
        }
        types
    }

    /// The names with more than one definition.
    fn shared(&self) -> Vec<&str> {
        let several = self.defined.iter().filter(|(_, files)| files.len() > 1);
        several.map(|(name, _)| name.as_str()).collect()
    }

    /// The types whose methods are in more than one file: the file that defines each, its name, and how many.
    /// Where a name has several definitions, methods belong to the nearest.
    fn spread(&self) -> Vec<(String, &str, usize)> {
        let mut found: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (name, files) in &self.methods {
            for file in files {
                let near = |home: &&String| (common(home, file), std::cmp::Reverse(home.len()));
                if let Some(home) = self.defined.get(name).and_then(|homes| homes.iter().max_by_key(near)) {
                    *found.entry((home, name)).or_default() += 1;
                }
            }
        }
        found.into_iter().map(|((home, name), files)| (home.to_owned(), name, files)).collect()
    }
}

/// The number of modules that two files share.
fn common(one: &str, other: &str) -> usize {
    let modules = |path: &str| -> Vec<String> {
        path.trim_end_matches(".rs").trim_end_matches("/mod").split('/').map(str::to_owned).collect()
    };
    modules(one).iter().zip(modules(other).iter()).take_while(|(one, other)| one == other).count()
}

#[test]
fn no_more_type_names_mean_several_things() {
    let mut problems = Vec::new();
    for (name, most) in SHARED {
        let types = Types::read(name);
        let shared = types.shared();
        println!("{name}: {} of {} names, at most {most}", shared.len(), types.defined.len());
        if shared.len() > most {
            problems.push(format!("{name}: {} names, at most {most}: {}", shared.len(), shared.join(" ")));
        }
    }
    complain(&problems);
}

#[test]
fn methods_of_a_type_are_in_few_files() {
    let mut problems = Vec::new();
    for (crate_name, _) in SHARED {
        for (home, name, files) in Types::read(crate_name).spread() {
            if files > MOST_FILES {
                problems
                    .push(format!("{home}: methods of {name} are in {files} files, at most {MOST_FILES}"));
            }
        }
    }
    complain(&problems);
}

#[test]
fn definitions_and_methods_are_found() {
    let mut types = Types::default();
    let a = "struct Core<T: Fn() -> u8>(T);\nimpl<T: Fn() -> u8> Core<T> { fn x() -> impl Iterator {} }\n";
    let b =
        "enum Core {}\nimpl Core {}\nimpl Iterator for Core { type Item = u8; }\ntrait A { type Item; }\n";
    let c = "impl super::Core where u8: Copy {}\n#[cfg(test)]\nmod tests {\nstruct A;\n}\n";
    for (path, source) in [("x/src/a.rs", a), ("x/src/b.rs", b), ("x/src/b/c.rs", c)] {
        types.add(path, source);
    }
    assert_eq!(types.shared(), ["Core"]);
    let spread = types.spread();
    assert_eq!(spread, [("x/src/a.rs".to_owned(), "Core", 1), ("x/src/b.rs".to_owned(), "Core", 2)]);
}
