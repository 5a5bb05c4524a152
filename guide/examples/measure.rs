//! Measures masks and tokens with the vocabulary o200k, for catalogues of 50 and 1,000 tools. With a folder
//! as its argument, it also writes the grammars, programs and tokens there, for comparison with other
//! engines.
//!
//! `cargo run --release -p ilo-guide --example measure [FOLDER]`

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a measurement may panic, and prints"
)]

#[path = "../tests/common/mod.rs"]
mod common;

use common::{Random, step, walk};
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_guide::export::{Syntax, grammar};
use ilo_guide::{ConstrainedGuide, Guide, Options, Session, Vocab};
use serde_json::{Value, json};
use std::time::Instant;

/// Programs of each catalogue.
const PROGRAMS: u64 = 60;
/// The levels of blocks in the grammars.
const DEPTH: u8 = 6;
/// Each time is the least of this number of measurements.
const ROUNDS: usize = 5;

const SIGNATURE: &str = "f(id: text, n: number, items: list text) -> result text, text";

fn tools(count: usize) -> Vec<Value> {
    const ARGUMENTS: [&str; 12] = [
        "id", "user_id", "query", "limit", "status", "email", "subject", "body", "amount", "currency",
        "tags", "page",
    ];
    const VERBS: [&str; 8] = ["get", "list", "create", "update", "delete", "search", "send", "approve"];
    const NOUNS: [&str; 10] =
        ["user", "order", "invoice", "ticket", "message", "file", "event", "contact", "report", "payment"];
    let mut random = Random::new(11);
    let tool = |number: usize| {
        let verb = VERBS[number % 8];
        let noun = NOUNS[number / 8 % 10];
        let name =
            if number < 80 { format!("{verb}-{noun}") } else { format!("{verb}-{noun}-{}", number / 80) };
        let (mut properties, mut required) = (serde_json::Map::new(), Vec::new());
        for _ in 0..=random.below(5) {
            let own = random.chance(3);
            let base = *random.pick(&ARGUMENTS);
            let argument = if own { format!("{base}_{}", number % 97) } else { base.to_owned() };
            let schema = match base {
                "limit" | "page" => json!({"type": "integer", "minimum": 1, "maximum": 100}),
                "amount" => json!({"type": "number"}),
                "status" | "currency" => json!({"type": "string", "enum": ["open", "closed", "pending"]}),
                "tags" => json!({"type": "array", "items": {"type": "string"}}),
                _ => json!({"type": "string"}),
            };
            if random.chance(2) {
                required.push(argument.clone());
            }
            properties.insert(argument, schema);
        }
        let item = json!({"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "total": {"type": "number"}}, "required": ["id"]});
        let output = match verb {
            "list" | "search" => json!({"type": "array", "items": item}),
            "delete" | "send" => json!({"type": "boolean"}),
            _ => item,
        };
        json!({
            "name": name,
            "inputSchema": {"type": "object", "properties": properties, "required": required},
            "outputSchema": output,
        })
    };
    (0..count).map(tool).collect()
}

fn catalog(tools: &[Value]) -> Catalog {
    let mut catalog = Catalog::default();
    for tool in tools {
        let name = tool["name"].as_str().unwrap();
        catalog.insert(ToolSignature::new(
            name,
            None,
            Some(&tool["inputSchema"]),
            Some(&tool["outputSchema"]),
        ));
    }
    catalog
}

fn o200k() -> (tiktoken_rs::CoreBPE, Vec<Vec<u8>>) {
    let bpe = tiktoken_rs::o200k_base().unwrap();
    let tokens = (0..200_019).map(|token| bpe.decode_bytes(&[token]).unwrap_or_default());
    let mut tokens: Vec<Vec<u8>> = tokens.collect();
    // Special tokens have no bytes.
    tokens[199_998..].iter_mut().for_each(Vec::clear);
    (bpe, tokens)
}

fn shown(name: &str, times: &mut Times) {
    let times = &mut times.0;
    times.sort_by(f64::total_cmp);
    let at = |percent: usize| times[(times.len() - 1) * percent / 100];
    println!("{name:24} p50 {:8.2} p90 {:8.2} p99 {:8.2} most {:8.2} µs", at(50), at(90), at(99), at(100));
}

fn micros(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}

/// The least time at each position of the programs, of several passes over them.
#[derive(Default)]
struct Times(Vec<f64>);

impl Times {
    fn take(&mut self, at: usize, run: impl FnOnce()) {
        let start = Instant::now();
        run();
        let time = micros(start);
        match self.0.get_mut(at) {
            Some(least) => *least = least.min(time),
            None => self.0.push(time),
        }
    }
}

fn programs(session: &Session<'_>) -> Vec<String> {
    let mut all = Vec::new();
    let mut seed = 0;
    while (all.len() as u64) < PROGRAMS {
        seed += 1;
        let mut random = Random::new(seed);
        let mut guide = Guide::new(session);
        for _ in 0..60 {
            if !step(&mut guide, &mut random) {
                break;
            }
        }
        let end = guide.close().unwrap();
        guide.accept_bytes(&end).unwrap();
        let text = String::from_utf8(guide.text().to_vec()).unwrap();
        if text.len() > 120 {
            // Texts of models are longer than those of walks, except for the names of fields.
            let longer = text.replace("\"id\"", "\"Your order has shipped: track it here\"");
            let fits = Guide::new(session).accept_bytes(longer.as_bytes()).is_ok();
            all.push(if fits { longer } else { text });
        }
    }
    all
}

fn measure(count: usize, bpe: &tiktoken_rs::CoreBPE, vocab: &Vocab, folder: Option<&str>) {
    let tools = tools(count);
    let catalog = catalog(&tools);
    let start = Instant::now();
    Session::new(&catalog, SIGNATURE, &Options::default()).unwrap();
    let first = micros(start) / 1e3;
    let start = Instant::now();
    let session = Session::new(&catalog, SIGNATURE, &Options::default()).unwrap();
    println!("\n{count} tools: first session {first:.2} ms, the next {:.2} ms", micros(start) / 1e3);
    let programs = programs(&session);
    let (mut cold, mut warm) = (Times::default(), Times::default());
    let (mut accept, mut tight) = (Times::default(), Times::default());
    let mut bits = vec![0; vocab.mask_len()];
    let (mut refused, mut most, mut forced, mut all, mut first) = (0, 0, 0, 0, 0);
    for program in &programs {
        let tokens = bpe.encode_ordinary(program);
        // As a host calls it: a guide is used from token to token, and a known end is kept.
        let mut allowed = tokens.len();
        for _ in 0..ROUNDS {
            let mut guide = Guide::new(&session);
            for (at, &token) in tokens.iter().enumerate() {
                let at = first + at;
                cold.take(at, || guide.fill_mask(vocab, u32::MAX, &mut bits).unwrap());
                warm.take(at, || guide.fill_mask(vocab, u32::MAX, &mut bits).unwrap());
                let mut taken = true;
                accept.take(at, || taken = guide.accept(vocab, token).is_ok());
                if !taken {
                    allowed = at - first;
                    break;
                }
                most = most.max(guide.memory());
            }
        }
        for _ in 0..ROUNDS {
            let mut guide = Guide::new(&session);
            let mut budget = u32::try_from(tokens.len()).unwrap() + 20;
            for (at, &token) in tokens.iter().enumerate() {
                tight.take(first + at, || {
                    let _ = guide.fill_mask(vocab, budget, &mut bits);
                });
                guide.accept(vocab, token).unwrap();
                budget -= 1;
            }
        }
        refused += usize::from(allowed < tokens.len());
        first = accept.0.len();
        let mut guide = Guide::new(&session);
        let mut at = 0;
        let bytes = program.as_bytes();
        while at < bytes.len() {
            let skip = guide.forced().len().max(1);
            forced += if skip > 1 { skip } else { 0 };
            all += skip;
            let end = (at + skip).min(bytes.len());
            guide.accept_bytes(&bytes[at..end]).unwrap();
            at = end;
        }
    }
    shown("mask, first touch", &mut cold);
    shown("mask, warm", &mut warm);
    shown("mask, 20 tokens to spare", &mut tight);
    shown("accept a token", &mut accept);
    println!(
        "{} programs, {} tokens, {refused} refused; guide at most {} kB; forced {:.0} % of bytes",
        programs.len(),
        accept.0.len(),
        most / 1000,
        100.0 * forced as f64 / all as f64
    );
    if let Some(folder) = folder {
        let tokens: Vec<_> = programs.iter().map(|program| bpe.encode_ordinary(program)).collect();
        let of = |syntax| grammar(&session, syntax, DEPTH).unwrap();
        let (lark, ebnf) = (of(Syntax::Lark), of(Syntax::Ebnf));
        let all = json!({"tools": count, "programs": tokens, "lark": lark, "ebnf": ebnf});
        std::fs::write(format!("{folder}/programs-{count}.json"), all.to_string()).unwrap();
    }
}

fn constrained(count: usize, bpe: &tiktoken_rs::CoreBPE, vocab: &Vocab) {
    let catalog = catalog(&tools(count));
    let session = Session::new(&catalog, SIGNATURE, &Options::default()).unwrap();
    let (mut masks, mut tight, mut accept) = (Times::default(), Times::default(), Times::default());
    let mut bits = vec![0; vocab.mask_len()];
    let (mut programs, mut seed, mut first) = (0, 0, 0);
    while programs < PROGRAMS {
        seed += 1;
        let mut random = Random::new(seed);
        let mut guide = ConstrainedGuide::new(&session);
        for _ in 0..80 {
            if !walk::step(&mut guide, &mut random) {
                break;
            }
        }
        let end = guide.close().unwrap();
        let text = String::from_utf8([guide.text(), end.as_slice()].concat()).unwrap();
        if text.len() < 250 {
            continue;
        }
        programs += 1;
        let tokens = bpe.encode_ordinary(&text);
        for _ in 0..ROUNDS {
            let mut guide = ConstrainedGuide::new(&session);
            for (at, &token) in (first..).zip(&tokens) {
                masks.take(at, || guide.fill_mask(vocab, u32::MAX, &mut bits).unwrap());
                accept.take(at, || guide.accept(vocab, token).unwrap());
            }
        }
        for _ in 0..ROUNDS {
            let mut guide = ConstrainedGuide::new(&session);
            for (at, &token) in (first..).zip(&tokens) {
                let needed = vocab.cut(&guide.close().unwrap()).unwrap().len();
                let budget = u32::try_from(needed + 20).unwrap();
                tight.take(at, || {
                    let _ = guide.fill_mask(vocab, budget, &mut bits);
                });
                guide.accept(vocab, token).unwrap();
            }
        }
        first += tokens.len();
    }
    println!("\n{count} tools, constrained: {programs} programs, {} tokens", masks.0.len());
    shown("mask", &mut masks);
    shown("mask, 20 tokens to spare", &mut tight);
    shown("accept a token", &mut accept);
}

fn main() {
    let folder = std::env::args().nth(1);
    let (bpe, tokens) = o200k();
    if let Some(folder) = &folder {
        std::fs::write(format!("{folder}/tokens.json"), json!(tokens).to_string()).unwrap();
    }
    let start = Instant::now();
    let vocab = Vocab::new(&tokens, 199_999).unwrap();
    println!(
        "vocabulary {:.1} ms, {:.2} MB with its tables",
        micros(start) / 1e3,
        vocab.memory() as f64 / 1e6
    );
    for count in [50, 1000] {
        measure(count, &bpe, &vocab, folder.as_deref());
        constrained(count, &bpe, &vocab);
    }
    println!("\nvocabulary {:.2} MB with the tables of `constrained`", vocab.memory() as f64 / 1e6);
}
