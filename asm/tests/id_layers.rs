//! The files of the reader of ID text are in the layers that the table in its `mod.rs` shows.

use std::path::Path;

/// A file of the folder: those that it may import, and its text.
struct Row<'t> {
    file: &'t str,
    may: Vec<&'t str>,
    text: String,
}

/// The identifiers after a mark, each with the character that follows it.
fn behind<'s>(text: &'s str, mark: &str) -> Vec<(&'s str, Option<char>)> {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    let word = |rest: &'s str| rest.split_at(rest.find(|c| !in_word(c)).unwrap_or(rest.len()));
    text.split(mark).skip(1).map(word).map(|(word, rest)| (word, rest.chars().next())).collect()
}

/// Whether a file has a function of this name.
fn defines(row: &Row<'_>, name: &str) -> bool {
    behind(&row.text, "fn ").iter().any(|&(found, after)| found == name && matches!(after, Some('(' | '<')))
}

#[test]
fn each_file_imports_and_calls_only_those_above_it() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/id");
    let read = |file: &str| std::fs::read_to_string(folder.join(file).with_extension("rs")).unwrap();
    let table = read("mod");
    let mut rows: Vec<Row<'_>> = Vec::new();
    for line in table.lines().filter_map(|line| line.strip_prefix("//! | `")) {
        let (file, cells) = line.split_once("` |").unwrap();
        let may: Vec<&str> = cells.rsplit('|').nth(1).unwrap().split('`').skip(1).step_by(2).collect();
        let above = |other: &&str| rows.iter().any(|row| row.file == *other);
        assert!(may.iter().all(above), "`{file}` imports a file that is not above it");
        rows.push(Row { file, may, text: read(file) });
    }
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, rows.len() + 1, "each file but `mod.rs` has a row");
    for row in &rows {
        let allowed = |file: &str| file == row.file || row.may.contains(&file);
        for (import, _) in behind(&row.text, "use super::") {
            assert!(allowed(import), "`{}` imports `{import}`", row.file);
        }
        let calls = behind(&row.text, "self.").into_iter().filter(|(_, after)| *after == Some('('));
        for (name, _) in calls.chain(behind(&row.text, "Parser::")) {
            let homes: Vec<&Row<'_>> = rows.iter().filter(|other| defines(other, name)).collect();
            let fits = homes.is_empty() || homes.iter().any(|home| allowed(home.file));
            assert!(fits, "`{}` calls `{name}`", row.file);
        }
    }
}
