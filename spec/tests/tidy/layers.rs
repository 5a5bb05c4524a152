//! Reads the tables that say which room of a crate may import which, and checks imports against them. The
//! tables are in `rooms/*.txt`.
//!
//! A line of a table is `FLOOR ROOM... : ALLOWED...`. The floor is a number and may be left out. ALLOWED is a
//! floor (`2`), a range of floors (`0-2`) or a room. `#` begins a comment. A line `today` says that the rows
//! are the imports as they were found and that cycles are not refused yet; without it they are refused.

use crate::imports::Rooms;
use std::collections::{BTreeMap, BTreeSet};

/// A table.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// For each room, the rooms that it may import.
    pub(crate) rows: BTreeMap<String, BTreeSet<String>>,
    /// Whether cycles are accepted.
    pub(crate) today: bool,
}

impl Table {
    /// Reads a table.
    pub(crate) fn parse(text: &str) -> Result<Table, String> {
        let mut table = Table::default();
        let mut floors: BTreeMap<u8, BTreeSet<String>> = BTreeMap::new();
        let mut rows: Vec<(String, Vec<&str>)> = Vec::new();
        for line in text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line == "today" {
                table.today = true;
            }
            if line.is_empty() || line == "today" {
                continue;
            }
            let (rooms, allowed) = line.split_once(':').ok_or_else(|| format!("no colon in `{line}`"))?;
            let mut rooms = rooms.split_whitespace().peekable();
            let floor: Option<u8> = rooms.peek().and_then(|floor| floor.parse().ok());
            if floor.is_some() {
                rooms.next();
            }
            for room in rooms {
                floors.entry(floor.unwrap_or(u8::MAX)).or_default().insert(room.to_owned());
                rows.push((room.to_owned(), allowed.split_whitespace().collect()));
            }
        }
        let all: BTreeSet<String> = rows.iter().map(|(room, _)| room.clone()).collect();
        for (room, allowed) in rows {
            let mut may = BTreeSet::new();
            for word in allowed {
                let (first, last) = word.split_once('-').unwrap_or((word, word));
                match (first.parse::<u8>(), last.parse::<u8>()) {
                    (Ok(first), Ok(last)) => {
                        may.extend(floors.range(first..=last).flat_map(|(_, rooms)| rooms.clone()));
                    }
                    _ if all.contains(word) => {
                        may.insert(word.to_owned());
                    }
                    _ => return Err(format!("`{room}` may import `{word}`, which has no row")),
                }
            }
            if table.rows.insert(room.clone(), may).is_some() {
                return Err(format!("`{room}` has two rows"));
            }
        }
        Ok(table)
    }

    /// A table of the present imports.
    pub(crate) fn of(found: &Rooms) -> String {
        let mut rows: BTreeMap<&str, Vec<&str>> =
            found.rooms.iter().map(|room| (room.as_str(), vec![])).collect();
        for import in &found.imports {
            rows.entry(&import.from).or_default().push(&import.to);
        }
        let row = |(room, imports): (&str, Vec<&str>)| {
            format!("{room}: {}", imports.join(" ")).trim_end().to_owned()
        };
        let rows: Vec<String> = rows.into_iter().map(row).collect();
        format!("today\n{}\n", rows.join("\n"))
    }

    /// The problems of a table, and of the imports compared with it.
    pub(crate) fn problems(&self, found: &Rooms) -> Vec<String> {
        let mut problems = Vec::new();
        for room in found.rooms.iter().filter(|room| !self.rows.contains_key(*room)) {
            problems.push(format!("`{room}` has no row"));
        }
        for room in self.rows.keys().filter(|room| !found.rooms.contains(*room)) {
            problems.push(format!("the row `{room}` has no room"));
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

    /// Rooms that import each other in a cycle, if there are some.
    fn circle(&self) -> Option<Vec<String>> {
        // Repeatedly removes rooms that import only rooms that were removed already.
        let mut left: BTreeMap<&String, &BTreeSet<String>> = self.rows.iter().collect();
        loop {
            let free: Vec<&String> = left
                .iter()
                .filter(|(_, row)| !row.iter().any(|to| left.contains_key(to)))
                .map(|(&room, _)| room)
                .collect();
            if free.is_empty() {
                break;
            }
            left.retain(|room, _| !free.contains(room));
        }
        // Every remaining room imports a remaining one.
        let mut way = vec![*left.keys().next()?];
        loop {
            let row = left.get(way.last()?)?;
            let next = *left.keys().find(|room| row.contains(**room))?;
            if let Some(begin) = way.iter().position(|room| *room == next) {
                way.push(next);
                return Some(way[begin..].iter().map(|room| (*room).clone()).collect());
            }
            way.push(next);
        }
    }
}
