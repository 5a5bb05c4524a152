//! Reads the tables that say which part of a crate may import which, and checks imports against them. The
//! tables are in `layers/*.txt`.
//!
//! A line of a table is `LAYER PART... : ALLOWED...`. The layer is a number and may be left out. ALLOWED is a
//! layer (`2`), a range of layers (`0-2`) or a part. `#` begins a comment. A line `today` says that the rows
//! are the imports as they were found and that cycles are not refused yet; without it they are refused.

use crate::imports::Parts;
use std::collections::{BTreeMap, BTreeSet};

/// A table.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// For each part, the parts that it may import.
    pub(crate) rows: BTreeMap<String, BTreeSet<String>>,
    /// Whether cycles are accepted.
    pub(crate) today: bool,
}

impl Table {
    /// Reads a table.
    pub(crate) fn parse(text: &str) -> Result<Table, String> {
        let mut table = Table::default();
        let mut layers: BTreeMap<u8, BTreeSet<String>> = BTreeMap::new();
        let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line == "today" {
                table.today = true;
            }
            if line.is_empty() || line == "today" {
                continue;
            }
            let (parts, allowed) = line.split_once(':').ok_or_else(|| format!("no colon in `{line}`"))?;
            let mut parts = parts.split_whitespace().peekable();
            let layer: Option<u8> = parts.peek().and_then(|layer| layer.parse().ok());
            if layer.is_some() {
                parts.next();
            }
            for part in parts {
                layers.entry(layer.unwrap_or(u8::MAX)).or_default().insert(part.to_owned());
                rows.push((part.to_owned(), allowed.split_whitespace().collect()));
            }
        }
        let all: BTreeSet<String> = rows.iter().map(|(part, _)| part.clone()).collect();
        for (part, allowed) in rows {
            let mut may = BTreeSet::new();
            for word in allowed {
                let (first, last) = word.split_once('-').unwrap_or((word, word));
                match (first.parse::<u8>(), last.parse::<u8>()) {
                    (Ok(first), Ok(last)) => {
                        may.extend(layers.range(first..=last).flat_map(|(_, parts)| parts.clone()));
                    }
                    _ if all.contains(word) => {
                        may.insert(word.to_owned());
                    }
                    _ => return Err(format!("`{part}` may import `{word}`, which has no row")),
                }
            }
            if table.rows.insert(part.clone(), may).is_some() {
                return Err(format!("`{part}` has two rows"));
            }
        }
        Ok(table)
    }

    /// A table of the present imports.
    pub(crate) fn of(found: &Parts) -> String {
        let mut rows: BTreeMap<&str, Vec<&str>> =
            found.parts.iter().map(|part| (part.as_str(), vec![])).collect();
        for import in &found.imports {
            rows.entry(&import.from).or_default().push(&import.to);
        }
        let row = |(part, imports): (&str, Vec<&str>)| {
            format!("{part}: {}", imports.join(" ")).trim_end().to_owned()
        };
        let rows: Vec<String> = rows.into_iter().map(row).collect();
        format!("today\n{}\n", rows.join("\n"))
    }

    /// The problems of a table, and of the imports compared with it.
    pub(crate) fn problems(&self, found: &Parts) -> Vec<String> {
        let mut problems = Vec::new();
        for part in found.parts.iter().filter(|part| !self.rows.contains_key(*part)) {
            problems.push(format!("`{part}` has no row"));
        }
        for part in self.rows.keys().filter(|part| !found.parts.contains(*part)) {
            problems.push(format!("the row `{part}` has no part"));
        }
        for import in &found.imports {
            let row = self.rows.get(&import.from);
            if row.is_some_and(|row| !row.contains(&import.to)) {
                let (file, line, path) = &import.place;
                let (from, to) = (&import.from, &import.to);
                problems.push(format!("{file}:{line}: `{from}` may not import `{to}` (`{path}`)"));
            }
        }
        if !self.today
            && let Some(circle) = self.circle()
        {
            problems.push(format!("the table has a circle: {}", circle.join(" -> ")));
        }
        problems
    }

    /// Parts that import each other in a cycle, if there are some.
    fn circle(&self) -> Option<Vec<String>> {
        // Repeatedly removes parts that import only parts that were removed already.
        let mut left: BTreeMap<&String, &BTreeSet<String>> = self.rows.iter().collect();
        loop {
            let free: Vec<&String> = left
                .iter()
                .filter(|(_, row)| !row.iter().any(|to| left.contains_key(to)))
                .map(|(&part, _)| part)
                .collect();
            if free.is_empty() {
                break;
            }
            left.retain(|part, _| !free.contains(part));
        }
        // Every remaining part imports a remaining one.
        let mut way = vec![*left.keys().next()?];
        loop {
            let row = left.get(way.last()?)?;
            let next = *left.keys().find(|part| row.contains(**part))?;
            if let Some(begin) = way.iter().position(|part| *part == next) {
                way.push(next);
                return Some(way[begin..].iter().map(|part| (*part).clone()).collect());
            }
            way.push(next);
        }
    }
}
