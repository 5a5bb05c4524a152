//! Random catalogues, signatures and walks.

#![allow(dead_code, unreachable_pub, reason = "tests and examples use parts of it")]
#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_guide::{Guide, Node, Options};
use serde_json::{Value, json};

pub mod canonical;
pub mod recognise;
pub mod samples;
pub mod walk;

/// Random numbers from a seed.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1))
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    pub fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next()).unwrap() % limit.max(1)
    }

    pub fn chance(&mut self, of: usize) -> bool {
        self.below(of) == 0
    }

    pub fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.below(all.len())]
    }

    /// The tokens of a text, of which one is left out, repeated at another place, or replaced by another.
    pub fn mutant(&mut self, tokens: &[&str]) -> String {
        let mut mutant = tokens.to_vec();
        let place = self.below(mutant.len());
        let other = *self.pick(tokens);
        match self.below(3) {
            0 => drop(mutant.remove(place)),
            1 => mutant.insert(place, other),
            _ => mutant[place] = other,
        }
        mutant.concat()
    }
}

const NAMES: [&str; 8] = ["id", "name", "first name", "total", "items", "ok", "größe", "a"];

fn schema(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 9 } else { 12 }) {
        0 => json!({"type": "string"}),
        1 => json!({"type": "number"}),
        2 => json!({"type": "integer", "minimum": 3, "maximum": 250}),
        3 => json!({"type": "boolean"}),
        4 => json!({"enum": ["low", "high", "he said \"x\""]}),
        5 => json!({}),
        6 => json!({"type": ["string", "null"]}),
        7 => json!({"enum": [1, 20, 300]}),
        8 => json!({"type": "number", "exclusiveMinimum": 0}),
        9 => json!({"type": "array", "items": schema(random, depth - 1)}),
        _ => record(random, depth - 1),
    }
}

fn record(random: &mut Random, depth: usize) -> Value {
    let mut properties = serde_json::Map::new();
    let mut required = Vec::new();
    for name in NAMES {
        if random.chance(3) {
            properties.insert(name.to_owned(), schema(random, depth));
            if random.chance(2) {
                required.push(name);
            }
        }
    }
    let mut whole = json!({"type": "object", "properties": properties, "required": required});
    if random.chance(4) {
        whole["additionalProperties"] = json!(true);
    }
    whole
}

pub fn catalog(random: &mut Random) -> Catalog {
    let mut catalog = Catalog::default();
    for number in 0..random.below(6) {
        let input = (!random.chance(8)).then(|| record(random, 2));
        let output = (!random.chance(3)).then(|| schema(random, 3));
        let name = if random.chance(3) { format!("mcp://s/t{number}") } else { format!("t{number}") };
        let mut tool = ToolSignature::new(&name, None, input.as_ref(), output.as_ref());
        tool.requires_rollback = random.chance(6);
        catalog.insert(tool);
    }
    catalog
}

pub fn signature(random: &mut Random) -> String {
    const TYPES: [&str; 8] =
        ["text", "number", "bool", "nil", "list text", "any", "list list number", "order"];
    let count = random.below(4);
    let parameters: Vec<String> =
        (0..count).map(|number| format!("p{number}: {}", random.pick(&TYPES))).collect();
    let ok = random.pick(&TYPES);
    let output =
        if random.chance(3) { format!("result {ok}, {}", random.pick(&TYPES)) } else { (*ok).to_owned() };
    format!("f({}) -> {output}", parameters.join(", "))
}

/// Adds parameters whose types list fields, that take nil or may be left out, and functions above with such
/// parameters. Even seeds get none, so that walks that were once wrong stay as they were.
pub fn widened(signature: &str, seed: u64) -> (String, Options) {
    const TYPES: [&str; 6] = [
        "{id: text}",
        "{a: number, total?: text|nil}",
        "list {ok: bool, and: {items: list number}}",
        "{items: list {name: text, id: number}, total?: any}",
        "number",
        "list text",
    ];
    if seed.is_multiple_of(2) {
        return (signature.to_owned(), Options::default());
    }
    let random = &mut Random::new(seed ^ u64::MAX);
    let mut parameters = |from: usize| {
        let parameter = |number| {
            let ty = random.pick(&TYPES);
            match random.below(8) {
                0 => format!("q{number}?: {ty}"),
                1 => format!("q{number}: {ty}|nil"),
                2 => format!("q{number}: number = 3"),
                _ => format!("q{number}: {ty}"),
            }
        };
        (from..from + 2).map(parameter).collect::<Vec<_>>().join(", ")
    };
    let inputs = parameters(0);
    let own = signature.replacen("()", &format!("({inputs})"), 1);
    let own = if own == signature { signature.replacen('(', &format!("({inputs}, "), 1) } else { own };
    let function = |at| format!("; fn g{at}({}) -> any\nRET OBJ 0\n", parameters(at));
    (own, Options { above: (0..2).map(function).collect(), ..Options::default() })
}

/// Continues by one token and its separator; `false` if the program ended.
pub fn step(guide: &mut Guide<'_>, random: &mut Random) -> bool {
    let nodes = guide.next();
    assert!(!nodes.is_empty(), "nothing may follow {:?}", String::from_utf8_lossy(guide.text()));
    let mut node = random.pick(&nodes);
    // Lines mostly continue at their level.
    for _ in 0..2 {
        if matches!(node, Node::End | Node::Word(_, Some(_))) {
            let other = random.pick(&nodes);
            let deeper = match (node, other) {
                (Node::Word(_, Some(a)), Node::Word(_, Some(b))) => b > a,
                (Node::End, _) => true,
                _ => false,
            };
            node = if deeper { other } else { node };
        }
    }
    let written = match node {
        Node::End => return false,
        Node::Word(word, level) => {
            let indent = guide.text().iter().rev().take_while(|&&byte| byte == b' ').count();
            let blanks = level.map_or(0, |level| 2 * usize::from(level) - indent);
            " ".repeat(blanks) + word.mnemonic()
        }
        Node::Slot(number, ..) | Node::Tool(number, _) | Node::Field(number, _) => number.to_string(),
        Node::Number(number) => {
            // Small counts, mostly.
            let small = nodes.iter().filter_map(|node| match node {
                Node::Number(number) if *number < 4 => Some(*number),
                _ => None,
            });
            let small: Vec<u32> = small.collect();
            if small.is_empty() { number.to_string() } else { random.pick(&small).to_string() }
        }
        Node::Text(Some(texts)) => Value::from(random.pick(texts).as_str()).to_string(),
        Node::Text(None) => Value::from(*random.pick(&["", "a", "id", "12", "größe \"x\"\n"])).to_string(),
        Node::AnyNumber => (*random.pick(&["0", "1", "1.0", "-3", "310", "5", "1e2", "2.5"])).to_owned(),
        Node::Name(name) => (*name).to_owned(),
        Node::LineEnd => "\n".to_owned(),
        other => panic!("{other} is of constrained"),
    };
    let before = guide.mark();
    if guide.accept_bytes(written.as_bytes()).is_err() {
        // A few texts and numbers were tried at random.
        let random_text = matches!(node, Node::Text(_) | Node::AnyNumber);
        assert!(random_text, "{node:?} was offered behind {:?}", String::from_utf8_lossy(guide.text()));
        return true;
    }
    let ends: Vec<&[u8]> = [&b"\n"[..], b" "]
        .into_iter()
        .filter(|end| {
            let mark = guide.mark();
            let fits = guide.accept_bytes(end).is_ok();
            guide.rollback(&mark);
            fits
        })
        .collect();
    if ends.is_empty() && matches!(node, Node::Text(_) | Node::AnyNumber) {
        guide.rollback(&before);
        return true;
    }
    if !matches!(node, Node::LineEnd) {
        assert!(!ends.is_empty(), "{:?} cannot continue", String::from_utf8_lossy(guide.text()));
        let end = ends[random.below(ends.len())];
        guide.accept_bytes(end).unwrap();
    }
    true
}

/// A number from an environment variable.
pub fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// A vocabulary with the tokens of usual vocabularies: special tokens without bytes, bytes, words with a
/// blank before them, parts of words and characters, digits in threes, tokens that open and close texts,
/// indents, tokens that hold several tokens of a program, and some twice. The first ends a text.
pub fn synthetic(random: &mut Random) -> Vec<Vec<u8>> {
    const WHOLE: [&str; 44] = [
        "LIT 0 \"",
        "REF 0\n",
        "\" REF",
        "\" LIT 1",
        "\"\n",
        "\"\n  ",
        "\" ",
        "\"\"",
        "\" \"",
        " \"",
        " \"a",
        "\"größe",
        "0 \"id\"",
        "\\u00",
        "\\ud8",
        "\\\"",
        "\\n",
        "ab\\",
        "\n\n",
        "\n  ",
        "\n    ",
        "\n      FAIL",
        "  ",
        "    ",
        " LIT",
        " REF",
        "RET REF 0",
        " 1 ",
        "1.0",
        ".5",
        "e3",
        "-",
        " -1",
        "nil",
        " true",
        "ue\n",
        "CALL 0 0",
        "\",",
        "\"low",
        "low\"",
        "\"high\" ",
        "hi",
        "\t",
        "größe \"x\\\"",
    ];
    let mut tokens: Vec<Vec<u8>> = vec![Vec::new(), Vec::new()];
    tokens.extend((0..=u8::MAX).map(|byte| vec![byte]));
    tokens.extend(WHOLE.iter().map(|text| text.as_bytes().to_vec()));
    for row in ilo_spec::node::TABLE {
        let word = row.mnemonic.as_bytes();
        let cut = random.below(word.len());
        tokens.extend([word.to_vec(), [b" ", word].concat(), word[..cut].to_vec(), word[cut..].to_vec()]);
    }
    for number in 0..120 {
        tokens.push((number * 7).to_string().into_bytes());
    }
    for text in ["größe", "he said", "日本語", "😀"] {
        for _ in 0..3 {
            let from = random.below(text.len());
            let to = from + 1 + random.below(text.len() - from);
            tokens.push(text.as_bytes()[from..to].to_vec());
        }
    }
    for _ in 0..20 {
        tokens.push(random.pick(&tokens).clone());
    }
    tokens
}
