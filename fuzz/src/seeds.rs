//! The first inputs of each fuzz target, made from the conformance corpus and the examples, and its
//! dictionary, made from the tables of words, instructions and sections and from the common words of those
//! inputs.
//!
//! Nothing here is written by hand, so it follows the language.

use crate::corpus::{chosen, files, named};
use crate::generate;
use ilo_asm::compile::{Options, compile};
use ilo_asm::dialect;
use ilo_asm::dialect::operator;
use ilo_asm::notation::Notation;
use ilo_spec::encode::{MAGIC, Section, VERSION, encode};
use ilo_spec::{isa, node};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

/// The number of generated programs that a target begins with.
const GENERATED: u64 = 64;
/// The longest input, in bytes. Longer ones are for tests.
const LONGEST: usize = 4 << 10;
/// A word is in the dictionary if this many inputs contain it.
const COMMON: usize = 3;

/// The sections of every case of the conformance corpus whose title begins with `word`.
pub fn sections(word: &str) -> Vec<String> {
    let cases = files("../spec/corpus");
    let texts = cases.iter().filter(|path| path.extension().is_some_and(|e| e == "case"));
    let texts = texts.filter_map(|path| fs::read_to_string(path).ok());
    texts
        .flat_map(|text| {
            let parts = text.split("\n=== ").skip(1).filter_map(|part| part.split_once('\n'));
            let wanted = parts.filter(|(title, _)| *title == word || title.starts_with(&format!("{word} ")));
            wanted.map(|(_, content)| content.to_owned()).collect::<Vec<_>>()
        })
        .collect()
}

/// All programs in a notation, of the conformance corpus and of the examples.
pub fn sources(notation: Notation) -> Vec<String> {
    let mut found = sections(&format!("source {notation}"));
    let ends = match notation {
        Notation::Id => ".ilo".to_owned(),
        Notation::Workflow => ".workflow.yaml".to_owned(),
        other => format!(".{other}.json"),
    };
    let examples = files("../examples");
    let examples = examples.iter().filter(|path| path.to_string_lossy().ends_with(&ends));
    found.extend(examples.filter_map(|path| fs::read_to_string(path).ok()));
    found
}

/// The stripped bytecode of each program of the conformance corpus and the examples, without duplicates.
pub fn bytecodes() -> BTreeSet<Vec<u8>> {
    let options = Options { strip: true, ..Options::default() };
    let programs = sources(Notation::Id).into_iter().filter_map(|source| compile(&source, &options).0);
    programs.map(|program| encode(&program)).collect()
}

/// The programs in a notation, and the committed inputs of its target.
fn texts(notation: Notation) -> Vec<String> {
    let target =
        if notation == Notation::Id { "id_text".to_owned() } else { notation.to_string().replace('-', "_") };
    let found =
        named(&target).into_iter().chain(chosen(&target)).filter_map(|bytes| String::from_utf8(bytes).ok());
    sources(notation).into_iter().chain(found).collect()
}

/// All inputs that a target begins with.
pub fn seeds(target: &str) -> BTreeSet<Vec<u8>> {
    let all = [made(target), named(target), chosen(target)];
    all.into_iter().flatten().filter(|input| input.len() <= LONGEST).collect()
}

/// The inputs that are made for a target from the conformance corpus, the examples and the generator.
pub fn made(target: &str) -> BTreeSet<Vec<u8>> {
    let all = |texts: Vec<String>| texts.into_iter().map(String::into_bytes).collect::<BTreeSet<_>>();
    let mut seeds = match target {
        "tool_calling" => all(sources(Notation::ToolCalling)),
        "constrained" => all(sources(Notation::Constrained)),
        "workflow" => all(sources(Notation::Workflow)),
        "mcp" => all(sources(Notation::Mcp)),
        "id_text" => all(sources(Notation::Id)),
        "expression" => {
            let sources: Vec<String> =
                Notation::ALL.iter().flat_map(|(notation, _)| sources(*notation)).collect();
            let all_of = all(crate::source_targets::expressions(sources.iter().map(|source| &**source)));
            // Each goes through four notations.
            all_of.into_iter().step_by(8).collect()
        }
        "conversion" | "round_trip" => paired(),
        "bytecode" => bytecodes(),
        "snapshot" => crate::snapshots::snapshots().into_iter().collect(),
        "json" => sections("input").into_iter().chain(sections("trace")).map(String::into_bytes).collect(),
        "tools_file" => {
            let tools =
                sections("tools").into_iter().map(|tools| format!("{{\"tools\":{tools}}}").into_bytes());
            tools.collect()
        }
        "mcp_messages" => calls(),
        "mcp_answer" => BTreeSet::new(),
        // The bytes that a program is generated from.
        _ => (0..GENERATED).map(generate::bytes).collect(),
    };
    seeds.retain(|seed| seed.len() <= LONGEST);
    seeds
}

/// Sources, each after a byte that chooses its notation and another one.
fn paired() -> BTreeSet<Vec<u8>> {
    let notations = (0_u8..).zip(Notation::ALL);
    notations
        .flat_map(|(from, (notation, _))| {
            let sources = texts(notation).into_iter();
            // The other notation is any of the five, in turn.
            sources.zip((0..5).cycle()).map(move |(source, to)| {
                let mut seed = vec![from + 5 * to];
                seed.extend_from_slice(source.as_bytes());
                seed
            })
        })
        .collect()
}

/// Requests of an MCP client, some with a program of the examples.
fn calls() -> BTreeSet<Vec<u8>> {
    let mut quoted = String::new();
    crate::data::quote(include_str!("../../examples/notify.ilo"), &mut quoted);
    let bodies = [
        r#""tools/list""#.to_owned(),
        r#""resources/list""#.to_owned(),
        r#""ping""#.to_owned(),
        r#""resources/read","params":{"uri":"ilo://card/id"}"#.to_owned(),
        r#""tools/call","params":{"name":"find_tools","arguments":{"query":"mail","limit":3}}"#.to_owned(),
        format!(r#""tools/call","params":{{"name":"check_program","arguments":{{"source":{quoted}}}}}"#),
        format!(
            r#""tools/call","params":{{"name":"run_program","arguments":{{"source":{quoted},"function":"notify","inputs":{{"user-id":"u1"}}}},"_meta":{{"progressToken":1}}}}"#
        ),
        r#""tools/call","params":{"name":"run_program","arguments":{"source":"; fn f() -> number\nRET LIT 1 1\n","notation":"id"}}"#
            .to_owned(),
    ];
    let mut calls: BTreeSet<Vec<u8>> = (1..)
        .zip(bodies)
        .map(|(id, body)| format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":{body}}}\n").into_bytes())
        .collect();
    calls.insert(
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}\n"
            .to_vec(),
    );
    let all = calls.iter().flatten().copied().collect();
    calls.insert(all);
    // The targets of the notations search what programs do. With these sources this target can concentrate on
    // messages.
    let programs = Notation::ALL.into_iter().flat_map(|(notation, _)| texts(notation));
    calls.extend(programs.map(|source| to_run(&source)));
    calls
}

/// A request to run a source.
fn to_run(source: &str) -> Vec<u8> {
    let mut message = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_program","arguments":{"source":"#
        .to_owned();
    crate::data::quote(source, &mut message);
    message.push_str("}}}\n");
    message.into_bytes()
}

/// The dictionary of a target, in the format of libFuzzer.
pub fn dictionary(target: &str) -> String {
    let mut words: BTreeSet<Vec<u8>> = common(&seeds(target));
    let notation = Notation::ALL.into_iter().find(|(_, name)| name.replace('-', "_") == target);
    match (target, notation) {
        ("id_text", _) => words.extend(node::TABLE.iter().map(|row| row.mnemonic.as_bytes().to_vec())),
        ("conversion" | "round_trip", _) => {
            words.extend(node::TABLE.iter().map(|row| row.mnemonic.as_bytes().to_vec()));
            words.extend(Notation::ALL.into_iter().flat_map(|(notation, _)| spelled(notation)));
        }
        ("bytecode" | "snapshot", _) => {
            words.insert([&MAGIC[..], &[VERSION]].concat());
            words.extend(Section::ALL.map(|section| vec![section as u8]));
            words.extend(isa::TABLE.iter().map(|row| vec![row.number]));
        }
        (_, Some((notation, _))) => words.extend(spelled(notation)),
        _ => {}
    }
    // libFuzzer refuses an empty dictionary.
    words.insert(vec![0]);
    let mut out = String::new();
    for word in words {
        out.push('"');
        for byte in word {
            // Writing to a string cannot fail.
            let _ = match byte {
                b'"' | b'\\' => write!(out, "\\{}", char::from(byte)),
                b' '..=b'~' => write!(out, "{}", char::from(byte)),
                _ => write!(out, "\\x{byte:02x}"),
            };
        }
        out.push_str("\"\n");
    }
    out
}

/// The words and operators of a notation in JSON or YAML.
fn spelled(notation: Notation) -> impl Iterator<Item = Vec<u8>> {
    let words = if notation == Notation::Id { None } else { Some(dialect::words(notation)) };
    let quote = if notation == Notation::Workflow { "" } else { "\"" };
    let operators = operator::TABLE.iter().map(|operator| operator.spelling);
    words
        .into_iter()
        .flatten()
        .chain(operators)
        .map(move |word| format!("{quote}{word}{quote}:").into_bytes())
}

/// Words that several inputs contain.
fn common(seeds: &BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in seeds.iter().filter_map(|seed| core::str::from_utf8(seed).ok()) {
        let words = seed.split(|c: char| !c.is_alphanumeric() && !"-_$@:/".contains(c));
        let words: BTreeSet<&str> = words.filter(|word| (2..=32).contains(&word.len())).collect();
        words.into_iter().for_each(|word| *counts.entry(word).or_default() += 1);
    }
    let common = counts.into_iter().filter(|&(_, count)| count >= COMMON);
    common.map(|(word, _)| word.as_bytes().to_vec()).collect()
}
