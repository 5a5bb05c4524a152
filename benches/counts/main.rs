//! Repeats one operation a given number of times inside [`measured`], in which `benches/counts.sh` counts
//! instructions.
//!
//! It reads no clock and prints nothing, so the count is the same on a busy machine and on an idle one.

use ilo_asm::catalog::Catalog;
use ilo_asm::compile::{Options, compile};
use ilo_benches::{Answers, NOTIFY, P1_ARGUMENTS, Prepared, TOTAL, finish, p1, p2, p3, p4, program, source};
use ilo_guide::{ConstrainedGuide, Guide, Session, Vocab};
use ilo_host::tools::Tools;
use ilo_spec::encode::encode;
use ilo_vm::{Limits, Program, Run};
use std::collections::BTreeSet;
use std::hint::black_box;
use std::path::Path;
use std::process::ExitCode;

/// The function whose instructions are counted. The script knows its name.
#[inline(never)]
fn measured(times: usize, work: &mut dyn FnMut() -> bool) -> bool {
    (0..times).all(|_| work())
}

fn repeat(mut work: impl FnMut() -> bool, times: usize) -> bool {
    // Run once before, so that allocations of a first run are not counted.
    work() && measured(times, &mut work)
}

fn again(mut prepared: Prepared, times: usize) -> bool {
    repeat(|| prepared.again(), times)
}

fn start(fresh: bool, times: usize) -> bool {
    let total = program(TOTAL);
    let Some(entry) = total.function("total") else { return false };
    let mut run = Run::new(&total, Limits::default());
    let answers = Answers::new(&total);
    let work = || {
        if fresh {
            run = Run::new(&total, Limits::default());
        }
        run.start(entry, black_box(&P1_ARGUMENTS)).is_ok() && finish(&mut run, &answers)
    };
    repeat(work, times)
}

fn assemble(text: &str, times: usize) -> bool {
    let reading =
        ilo_asm::source::SourceLimits { source: usize::MAX, ..ilo_asm::source::SourceLimits::default() };
    let options = Options { reading, strip: true, ..Options::default() };
    repeat(|| compile(black_box(text), &options).0.is_some_and(|program| !encode(&program).is_empty()), times)
}

fn load(text: &str, times: usize) -> bool {
    let bytes = encode(program(text).spec());
    repeat(|| Program::load(black_box(&bytes)).is_ok(), times)
}

/// The schemas of the arguments and the answer of a tool.
fn schemas(number: usize) -> (String, &'static str) {
    let input = format!(
        r#"{{"type":"object","properties":{{"query":{{"type":"object","properties":{{"text":{{"type":"string"}},
        "kind":{{"enum":["issue","page","user"]}},"most":{{"type":"integer","minimum":1,"maximum":100}}}},
        "required":["text"]}},"labels":{{"type":"array","items":{{"type":"string"}}}},
        "id-{number}":{{"type":["string","null"]}},"dry":{{"type":"boolean"}}}},"required":["query"]}}"#
    );
    let output = r#"{"type":"object","properties":{"found":{"type":"array","items":{"type":"object",
        "properties":{"title":{"type":"string"},"size":{"type":"integer"}},"required":["title"]}},
        "next":{"type":"string"}},"required":["found"]}"#;
    (input, output)
}

/// The JSON of a catalogue of this many tools.
fn tools(count: usize) -> String {
    let tool = |number: usize| {
        let ((input, output), server) = (schemas(number), number % 40);
        format!(
            r#"{{"name":"server-{server}/tool-{number}","description":"Does number {number}.","inputSchema":{input},
            "outputSchema":{output}}}"#
        )
    };
    format!("{{\"tools\":[{}]}}", (0..count).map(tool).collect::<Vec<_>>().join(","))
}

/// A tools file with this number of mocks with the same schemas.
fn tools_file(count: usize) -> String {
    let tool = |number: usize| {
        let (input, output) = schemas(number);
        format!(
            r#""tool-{number}":{{"mock":{{"returns":{{"found":[{{"title":"a"}}]}}}},"description":"Does number {number}.",
            "input_schema":{input},"output_schema":{output}}}"#
        )
    };
    format!("{{\"tools\":{{{}}}}}", (0..count).map(tool).collect::<Vec<_>>().join(","))
}

/// A program that calls twenty tools of a catalogue. With `wrong`, each call has a misspelt tool or argument.
fn caller(count: usize, wrong: bool) -> String {
    let call = |place: usize| {
        let number = place * count / 20;
        let (tool, text) = match place % 2 {
            0 if wrong => ("tol", "text"),
            _ if wrong => ("tool", "txt"),
            _ => ("tool", "text"),
        };
        format!(
            r#"{{"let":"a{place}","call":"server-{}/{tool}-{number}","args":{{"query":{{"{text}":"x","kind":"page"}},"dry":true}}}}"#,
            number % 40
        )
    };
    let steps: Vec<String> = (0..20).map(call).collect();
    format!(
        r#"{{"fn":"f","in":{{"x":"text"}},"out":"any","body":[{},{{"ret":"a0.found"}}]}}"#,
        steps.join(",")
    )
}

/// Checks a program against a catalogue of 2,000 tools that has been read.
fn check_tools(wrong: bool, times: usize) -> bool {
    let (json, text) = (tools(2_000), caller(2_000, wrong));
    let Ok(catalog) = Catalog::from_json(&json) else { return false };
    let options = Options { catalog: Some(&catalog), strip: true, ..Options::default() };
    repeat(|| compile(black_box(&text), &options).0.is_some() != wrong, times)
}

fn read_tools(times: usize) -> bool {
    let json = tools(2_000);
    repeat(|| Catalog::from_json(black_box(&json)).is_ok(), times)
}

fn read_tools_file(times: usize) -> bool {
    let json = tools_file(2_000);
    repeat(|| Tools::from_text("tools.json", black_box(&json), Path::new(".")).is_ok(), times)
}

/// Tokens for masks: each byte, and each part of some programs of up to eight bytes.
fn tokens() -> Vec<Vec<u8>> {
    let texts = [NOTIFY.to_owned(), source(2_000), tools(4)];
    let parts = texts.iter().flat_map(|text| (2..=8).flat_map(|length| text.as_bytes().windows(length)));
    let parts: BTreeSet<Vec<u8>> = parts.map(<[u8]>::to_vec).collect();
    let end = vec![Vec::new()];
    end.into_iter().chain((0..=u8::MAX).map(|byte| vec![byte])).chain(parts).collect()
}

/// Defines a function that computes the masks of a program of two hundred tokens over a number of tools, each
/// with the token that follows it.
macro_rules! masks {
    ($name:ident, $guide:expr) => {
        fn $name(count: usize, times: usize) -> bool {
            let Ok(catalog) = Catalog::from_json(&tools(count)) else { return false };
            let options = ilo_guide::Options::default();
            let Ok(session) = Session::new(&catalog, "f(x: text, n: number) -> any", &options) else {
                return false;
            };
            let Ok(vocab) = Vocab::new(&tokens(), 0) else { return false };
            let mut bits = vec![0; vocab.mask_len()];
            let (mut guide, mut written) = ($guide(&session), Vec::new());
            for step in 0..200_u64 {
                let _ = guide.fill_mask(&vocab, u32::MAX, &mut bits);
                let is_allowed = |token: &u32| bits[*token as usize / 32] >> (token % 32) & 1 == 1;
                let allowed: Vec<u32> = (1..).take(vocab.len() - 1).filter(is_allowed).collect();
                // Selects tokens in a fixed order that looks random.
                let place = step.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33;
                let Some(&token) = allowed.get(place as usize % allowed.len().max(1)) else { break };
                if guide.accept(&vocab, token).is_err() {
                    return false;
                }
                written.push(token);
            }
            let work = || {
                let mut guide = $guide(&session);
                written.iter().all(|&token| {
                    guide.fill_mask(&vocab, u32::MAX, black_box(&mut bits)).is_ok()
                        && guide.accept(&vocab, token).is_ok()
                })
            };
            repeat(work, times)
        }
    };
}

masks!(masks, Guide::new);
masks!(masks_constrained, ConstrainedGuide::new);

/// The vocabulary of those tokens.
fn vocabulary(times: usize) -> bool {
    let tokens = tokens();
    repeat(|| Vocab::new(black_box(&tokens), 0).is_ok(), times)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let times = arguments.get(1).and_then(|times| times.parse().ok()).unwrap_or(1);
    let well = match arguments.first().map_or("", String::as_str) {
        "p1" => again(p1(), times),
        "p2" => again(p2(), times),
        "p3" => again(p3(), times),
        "p4" => again(p4(), times),
        "start" => start(false, times),
        "fresh" => start(true, times),
        "assemble-notify" => assemble(NOTIFY, times),
        "assemble-large" => assemble(&source(100_000), times),
        "load-notify" => load(NOTIFY, times),
        "read-tools" => read_tools(times),
        "read-tools-file" => read_tools_file(times),
        "check-tools" => check_tools(false, times),
        "check-wrong-tools" => check_tools(true, times),
        "masks-50" => masks(50, times),
        "masks-1000" => masks(1_000, times),
        "constrained-50" => masks_constrained(50, times),
        "constrained-1000" => masks_constrained(1_000, times),
        "vocabulary" => vocabulary(times),
        "load-large" => load(&source(100_000), times),
        _ => false,
    };
    if well { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
