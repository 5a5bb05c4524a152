//! Chooses inputs of a fuzz target by coverage, for `fuzz/choose_inputs.sh`: `choose-inputs TARGET CONTROL
//! CANDIDATES`. CONTROL is the control file of a set cover merge by libFuzzer, which lists the features that
//! each input reaches.
//!
//! A greedy set cover chooses inputs in the folder CANDIDATES that reach further edges than all other inputs,
//! and writes them to `fuzz/corpus/TARGET.txt`, unless they add less than 1 % of edges. Prints a row of a
//! table.

use ilo_fuzz::corpus::choose;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs, io};

/// libFuzzer has eight features for an edge, each for a range of execution counts.
const FEATURES: u32 = 8;
/// The chosen inputs are kept if they add at least one edge to this many.
const WORTH: usize = 100;

/// The edges that the first inputs reach, and those of each candidate.
#[derive(Default)]
struct Coverage {
    first: HashSet<u32>,
    candidates: BTreeMap<String, Vec<u32>>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [target, control, candidates] = &arguments[..] else {
        eprintln!("usage: choose-inputs TARGET CONTROL CANDIDATES");
        return ExitCode::from(2);
    };
    match keep(target, control, Path::new(candidates)) {
        Ok(row) => {
            println!("{row}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{target}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn keep(target: &str, control: &str, candidates: &Path) -> io::Result<String> {
    let coverage = read(&fs::read_to_string(control)?, candidates);
    let first = coverage.first.len();
    let all: HashSet<u32> = coverage.candidates.values().flatten().chain(&coverage.first).copied().collect();
    let chosen = cover(&coverage);
    let worth = (all.len() - first) * WORTH >= first;
    let mut inputs = BTreeSet::new();
    for path in chosen.iter().filter(|_| worth) {
        inputs.insert(fs::read(path)?);
    }
    choose(target, &inputs)?;
    let (reached, count) = (if worth { all.len() } else { first }, coverage.candidates.len());
    Ok(format!("| `{target}` | {first} | {} | {reached} | {count} | {} |", all.len(), inputs.len()))
}

/// Reads a control file: the number of files, the number of those in the first folder, the names of all, then
/// for each file a line with `FT`, its number and its features.
fn read(control: &str, candidates: &Path) -> Coverage {
    let mut coverage = Coverage::default();
    let mut lines = control.lines();
    let count = lines.next().and_then(|count| count.parse().ok()).unwrap_or(0);
    let names: Vec<&str> = lines.by_ref().skip(1).take(count).collect();
    for line in lines {
        let mut words = line.split(' ');
        if words.next() != Some("FT") {
            continue;
        }
        let name = words.next().and_then(|file| names.get(file.parse::<usize>().ok()?));
        let mut edges: Vec<u32> =
            words.filter_map(|feature| Some(feature.parse::<u32>().ok()? / FEATURES)).collect();
        edges.dedup();
        match name {
            Some(name) if Path::new(name).starts_with(candidates) => {
                coverage.candidates.insert((*name).to_owned(), edges);
            }
            _ => coverage.first.extend(edges),
        }
    }
    coverage
}

/// Chooses candidates that together reach every edge that any of them does; the next is always the one that
/// adds most.
fn cover(coverage: &Coverage) -> Vec<&str> {
    let mut covered = coverage.first.clone();
    let mut left: Vec<(&str, Vec<u32>)> =
        coverage.candidates.iter().map(|(name, edges)| (name.as_str(), edges.clone())).collect();
    let mut chosen = Vec::new();
    loop {
        for (_, edges) in &mut left {
            edges.retain(|edge| !covered.contains(edge));
        }
        left.retain(|(_, edges)| !edges.is_empty());
        let Some((name, edges)) = left.iter().max_by_key(|(_, edges)| edges.len()) else { return chosen };
        covered.extend(edges);
        chosen.push(*name);
    }
}
