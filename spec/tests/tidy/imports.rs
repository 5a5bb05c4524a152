//! Finds which part of a crate imports which. Re-exports are followed to the part that defines the item.
//!
//! A part is a file or folder directly below `src`. Methods and fields, which need types, and names that
//! macros build are not seen.

use crate::modules::{Files, Modules, Path};
use std::collections::{BTreeMap, BTreeSet};

/// An import: the importing and the imported part, and the first place of such an import.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Import {
    pub(crate) from: String,
    pub(crate) to: String,
    /// File below `src`, line, and the path as it is written.
    pub(crate) place: (String, usize, String),
}

/// The parts of a crate and the imports between them.
pub(crate) struct Parts {
    pub(crate) parts: BTreeSet<String>,
    pub(crate) imports: Vec<Import>,
}

impl Parts {
    /// Reads the parts of a package whose library other files name `library`.
    pub(crate) fn read(files: &Files, library: &str) -> Parts {
        let modules = Modules::read(files);
        let names = Names { modules: &modules, library };
        let mut found: BTreeMap<(String, String), (String, usize, String)> = BTreeMap::new();
        for (at, module) in modules.all.iter().enumerate() {
            let mut add = |parts: BTreeSet<String>, path: &Path, line: usize| {
                for part in parts.into_iter().filter(|part| *part != module.part) {
                    let place = (module.file.clone(), line, path.join("::"));
                    found.entry((module.part.clone(), part)).or_insert(place);
                }
            };
            for (path, &line) in &module.paths {
                add(names.parts(at, path), path, line);
            }
            for glob in &module.globs {
                let line = module.paths.get(glob).copied().unwrap_or(1);
                for word in &module.words {
                    add(
                        names.through_glob(at, glob, word),
                        &[&glob[..], std::slice::from_ref(word)].concat(),
                        line,
                    );
                }
            }
        }
        let imports = found.into_iter().map(|((from, to), place)| Import { from, to, place });
        Parts { parts: modules.parts().into_iter().map(str::to_owned).collect(), imports: imports.collect() }
    }
}

/// Finds what paths refer to.
struct Names<'m> {
    modules: &'m Modules,
    library: &'m str,
}

/// Lookups in progress, so that names that are defined by each other end.
type Seen = BTreeSet<(usize, Path)>;

/// The longest path that is followed. Only paths that are defined by each other become so long.
const LONGEST_PATH: usize = 16;

impl Names<'_> {
    /// The parts that a path in a module leads to or through. The root of the crate counts only for what it
    /// defines.
    fn parts(&self, from: usize, path: &[String]) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        self.follow(from, path, &mut found, &mut Seen::new());
        found
    }

    /// The parts that a word leads to if a glob import brings it in through another import.
    fn through_glob(&self, from: usize, glob: &[String], word: &str) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        if let Some(target) = self.module(from, glob, &mut Seen::new())
            && !self.modules.all[target].children.contains_key(word)
            && self.provides(target, word, &mut Seen::new())
        {
            self.enter(target, &[word.to_owned()], &mut found, &mut Seen::new());
        }
        found
    }

    /// The module at which a path begins, and the number of names that it took to say so.
    fn start(&self, from: usize, path: &[String]) -> Option<(usize, usize)> {
        let all = &self.modules.all;
        let root = |mut at: usize| {
            while let Some(parent) = all[at].parent {
                at = parent;
            }
            at
        };
        let (mut at, mut taken) = match path.first()?.as_str() {
            "crate" => (root(from), 1),
            "self" => (from, 1),
            "super" => (all[from].parent?, 1),
            name if name == self.library && !all[from].children.contains_key(name) => {
                (self.modules.library?, 1)
            }
            name => return self.provides(from, name, &mut Seen::new()).then_some((from, 0)),
        };
        while path.get(taken).is_some_and(|name| name == "super") {
            at = all[at].parent?;
            taken += 1;
        }
        Some((at, taken))
    }

    /// Whether a module has an item with a name.
    fn provides(&self, at: usize, name: &str, seen: &mut Seen) -> bool {
        let module = &self.modules.all[at];
        module.children.contains_key(name)
            || module.aliases.contains_key(name)
            || module.items.contains(name)
            || self.glob_with(at, name, seen).is_some()
    }

    /// The glob import of a module that provides a name.
    fn glob_with(&self, at: usize, name: &str, seen: &mut Seen) -> Option<&Path> {
        if !seen.insert((at, vec![name.to_owned()])) {
            return None;
        }
        let module = &self.modules.all[at];
        module.globs.iter().find(|glob| {
            self.module(at, glob, seen)
                .is_some_and(|target| target != at && self.provides(target, name, seen))
        })
    }

    /// The module that a path refers to, if it refers to one.
    fn module(&self, from: usize, path: &[String], seen: &mut Seen) -> Option<usize> {
        if path.len() > LONGEST_PATH || !seen.insert((from, path.to_vec())) {
            return None;
        }
        // A glob cannot be resolved through the module that it names itself.
        let begins = |name: &str| {
            let module = &self.modules.all[from];
            module.children.contains_key(name) || module.aliases.contains_key(name)
        };
        let own = path.first().is_some_and(|name| begins(name));
        let (mut at, taken) = if own { (from, 0) } else { self.start_of_module(from, path)? };
        for (place, name) in path.iter().enumerate().skip(taken) {
            let module = &self.modules.all[at];
            match module.children.get(name) {
                Some(&child) => at = child,
                None => {
                    let targets = module.aliases.get(name)?;
                    let rest = &path[place + 1..];
                    return targets
                        .iter()
                        .filter(|target| target[0] != *name)
                        .find_map(|target| self.module(at, &[target, rest].concat(), seen));
                }
            }
        }
        Some(at)
    }

    fn start_of_module(&self, from: usize, path: &[String]) -> Option<(usize, usize)> {
        let first = path.first()?.as_str();
        let says = ["crate", "self", "super"].contains(&first) || first == self.library;
        says.then(|| self.start(from, path)).flatten()
    }

    fn follow(&self, from: usize, path: &[String], found: &mut BTreeSet<String>, seen: &mut Seen) {
        if path.len() <= LONGEST_PATH
            && let Some((at, taken)) = self.start(from, path)
            && seen.insert((from, path.to_vec()))
        {
            self.enter(at, &path[taken..], found, seen);
        }
    }

    /// Follows names, beginning in a module.
    fn enter(&self, mut at: usize, path: &[String], found: &mut BTreeSet<String>, seen: &mut Seen) {
        for (place, name) in path.iter().enumerate() {
            let module = &self.modules.all[at];
            let is_root = module.parent.is_none();
            if !is_root {
                found.insert(module.part.clone());
            }
            if let Some(&child) = module.children.get(name) {
                at = child;
                continue;
            }
            let rest = &path[place + 1..];
            if let Some(targets) = module.aliases.get(name) {
                // `use memchr::memchr` refers to the other crate's, not to itself.
                for target in targets.iter().filter(|target| target[0] != *name) {
                    self.follow(at, &[target, rest].concat(), found, seen);
                }
            } else if let Some(&defined) = self.modules.macros.get(name).filter(|_| is_root) {
                found.insert(self.modules.all[defined].part.clone());
            } else if module.items.contains(name) {
                found.insert(module.part.clone());
            } else if let Some(glob) = self.glob_with(at, name, &mut Seen::new()) {
                self.follow(at, &[glob, &path[place..]].concat(), found, seen);
            } else {
                found.insert(module.part.clone());
            }
            return;
        }
        if self.modules.all[at].parent.is_some() {
            found.insert(self.modules.all[at].part.clone());
        }
    }
}
