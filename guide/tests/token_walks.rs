//! Walks token by token, with vocabularies like those of models: tokens of several digits, of digits after a
//! blank, of quotes with what follows. From each state that a mask allows there is an end within the budget.
//!
//! `WALKS` and `SEED` set the number of walks and the first seed. `VOCABS=FOLDER` takes the vocabularies of
//! models, which `guide/real/vocabs.mjs` writes: files with the bytes of a token in hexadecimal in each line,
//! after the number of the token that ends a text.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::common::Random;
use crate::constrained::{tokens, vocabulary};
use crate::unions;
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, Guide, Options, Refused, Session, Short, Vocab};
use serde_json::json;
use std::fmt::Write as _;
use std::fs;

/// A guide of either notation.
#[derive(Clone)]
enum Body<'s> {
    Id(Box<Guide<'s>>),
    Constrained(Box<ConstrainedGuide<'s>>),
}

impl<'s> Body<'s> {
    fn new(session: &'s Session<'_>, notation: Notation) -> Self {
        match notation {
            Notation::Id => Body::Id(Box::new(Guide::new(session))),
            _ => Body::Constrained(Box::new(ConstrainedGuide::new(session))),
        }
    }

    fn fill(&mut self, vocab: &Vocab, left: u32, bits: &mut [u32]) -> Result<(), Short> {
        match self {
            Body::Id(guide) => guide.fill_mask(vocab, left, bits),
            Body::Constrained(guide) => guide.fill_mask(vocab, left, bits),
        }
    }

    fn accept(&mut self, vocab: &Vocab, token: u32) -> bool {
        match self {
            Body::Id(guide) => guide.accept(vocab, token).is_ok(),
            Body::Constrained(guide) => guide.accept(vocab, token).is_ok(),
        }
    }

    fn takes(&mut self, bytes: &[u8]) -> Result<(), Refused> {
        match self {
            Body::Id(guide) => guide.accept_bytes(bytes),
            Body::Constrained(guide) => guide.accept_bytes(bytes),
        }
    }

    fn begin(&mut self, text: &str) {
        self.takes(text.as_bytes()).unwrap_or_else(|error| panic!("{text} at {}", error.at));
    }

    fn close(&mut self) -> Option<Vec<u8>> {
        match self {
            Body::Id(guide) => guide.close(),
            Body::Constrained(guide) => guide.close(),
        }
    }

    fn text(&self) -> &[u8] {
        match self {
            Body::Id(guide) => guide.text(),
            Body::Constrained(guide) => guide.text(),
        }
    }

    /// The first error of the file, which has ended.
    fn error(&self, session: &Session<'_>, catalog: &Catalog) -> Option<String> {
        let (prefix, notation) = match self {
            Body::Id(_) => (session.prefix(), Notation::Id),
            Body::Constrained(_) => (session.constrained_prefix(), Notation::Constrained),
        };
        let whole = prefix + &String::from_utf8_lossy(self.text());
        let options = Build { from: Some(notation), catalog: Some(catalog), ..Build::default() };
        let (_, found) = compile(&whole, &options);
        let error = found.as_slice().iter().find(|found| found.is_error());
        error.map(|error| format!("{}: {}", error.code.as_str(), error.message))
    }
}

/// A union of records that a constant text tells apart.
fn union(of: &serde_json::Value) -> serde_json::Value {
    json!({"anyOf": [
        {"type": "object", "required": ["kind", "of"], "properties": {"kind": {"enum": ["08", "box"]}, "of": of}},
        {"type": "object", "required": ["kind", "n", "s"], "properties": {
            "kind": {"const": "high"}, "n": {"type": "integer"}, "s": {"type": "string"}, "x": {"type": "number"}}},
        {"type": "object", "required": ["kind"], "properties": {"kind": {"const": "none"}}},
    ]})
}

/// A tool with an argument of each type.
fn every_type() -> Catalog {
    let input = json!({"type": "object", "required": ["n", "s"], "properties": {
        "n": {"type": "integer"},
        "x": {"type": "number"},
        "page": {"type": "integer", "minimum": 1, "maximum": 250},
        "low": {"type": "integer", "minimum": -120, "maximum": 1200},
        "share": {"type": "number", "minimum": 0},
        "s": {"type": "string"},
        "day": {"type": "string", "format": "date"},
        "at": {"type": "string", "format": "date-time"},
        "b": {"type": "boolean"},
        "kind": {"enum": ["low", "high", "08"]},
        "code": {"enum": [-3, 20.5, 404, 1234]},
        "maybe": {"type": ["integer", "null"]},
        "both": {"type": ["integer", "string"]},
        "ids": {"type": "array", "items": {"type": "integer"}},
        "to": {"type": "object", "required": ["count"], "properties": {
            "count": {"type": "integer"}, "name": {"type": "string"}}},
        "any": {},
        "shape": union(&json!({"type": "integer"})),
        "steps": {"type": "array", "items": union(&union(&json!({"type": "string"})))},
    }});
    let output = json!({"type": "object", "required": ["n", "s", "ids"], "properties": {
        "n": {"type": "integer"}, "s": {"type": "string"},
        "ids": {"type": "array", "items": {"type": "integer"}}}});
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("t", None, Some(&input), Some(&output)));
    catalog.insert(ToolSignature::new("u", None, None, None));
    catalog
}

/// Pieces of programs as tokenizers of natural text have them, and digits in groups.
fn like_models(random: &mut Random) -> Vec<Vec<u8>> {
    let mut all = vocabulary(random);
    for length in 1..=3 {
        let groups = (0..10_u32.pow(length)).step_by(if length == 3 { 7 } else { 1 });
        for number in groups {
            let digits = format!("{number:0length$}", length = length as usize);
            if length < 3 {
                all.extend([format!(" {digits}").into_bytes(), format!("\"{digits}").into_bytes()]);
            }
            if number % 11 == 0 {
                let ends = ["}", ",", "\"", "\n", " ", "]", ".", "}}", ",\""];
                all.extend(ends.map(|end| format!("{digits}{end}").into_bytes()));
            }
            all.push(digits.into_bytes());
        }
    }
    all
}

/// The vocabularies of the walks, each with its name and the token that ends a text.
fn vocabularies() -> Vec<(String, Vocab)> {
    let Some(folder) = std::env::var_os("VOCABS") else {
        let own = Vocab::new(&like_models(&mut Random::new(5)), 0).unwrap();
        return vec![("own".to_owned(), own)];
    };
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        let byte = |pair: &[u8]| u8::from_str_radix(core::str::from_utf8(pair).unwrap(), 16).unwrap();
        let bytes = |line: &str| line.as_bytes().chunks(2).map(byte).collect();
        let mut lines = text.lines();
        let end = lines.next().unwrap().parse().unwrap();
        let tokens: Vec<Vec<u8>> = lines.map(bytes).collect();
        (path.file_stem().unwrap().to_string_lossy().into_owned(), Vocab::new(&tokens, end).unwrap())
    };
    files.iter().map(read).collect()
}

/// Bytes that end a text, a name or a number.
fn is_structural(token: &[u8]) -> bool {
    token.iter().any(|byte| b"\"\n}],".contains(byte))
}

/// The tokens of a vocabulary that are digits.
fn digits(vocab: &Vocab) -> Vec<u32> {
    let all = 0..u32::try_from(vocab.len()).unwrap();
    let is_digits = |token: &u32| {
        let bytes = vocab.token(*token);
        !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit)
    };
    all.filter(is_digits).collect()
}

/// The words of a mask that are counted together.
const GROUP: usize = 64;

/// A mask, and how many tokens each group of its words allows: counting them once takes as long as a mask,
/// and a step takes up to thirteen of them.
struct Allowed<'b> {
    bits: &'b [u32],
    groups: Vec<u32>,
    count: usize,
}

impl<'b> Allowed<'b> {
    fn of(bits: &'b [u32]) -> Allowed<'b> {
        let counted = |group: &[u32]| group.iter().map(|word| word.count_ones()).sum();
        let groups: Vec<u32> = bits.chunks(GROUP).map(counted).collect();
        Allowed { bits, count: groups.iter().map(|&count| count as usize).sum(), groups }
    }

    fn has(&self, token: u32) -> bool {
        self.bits[token as usize / 32] >> (token % 32) & 1 == 1
    }

    /// One of the tokens, each as likely as the others.
    fn any(&self, random: &mut Random) -> u32 {
        let mut left = u32::try_from(random.below(self.count)).unwrap();
        let mut is_behind = |count: u32| {
            let behind = left >= count;
            left -= if behind { count } else { 0 };
            !behind
        };
        let group = self.groups.iter().position(|&count| is_behind(count)).unwrap();
        let words = &self.bits[group * GROUP..];
        let word = words.iter().position(|word| is_behind(word.count_ones())).unwrap();
        let rest = (0..left).fold(words[word], |rest, _| rest & (rest - 1));
        u32::try_from(group * GROUP + word).unwrap() * 32 + rest.trailing_zeros()
    }
}

/// One of the allowed tokens: any, a frequent one, or one that ends something. `None` if there is none.
fn pick(bits: &[u32], walk: &Walk<'_, '_>, seed: u64, random: &mut Random) -> Option<u32> {
    let allowed = Allowed::of(bits);
    if allowed.count == 0 {
        return None;
    }
    let any = allowed.any(random);
    Some(match random.below(5) {
        0 => any,
        // Numbers grow.
        1 => {
            let digits = walk.digits.iter().copied().filter(|&token| allowed.has(token));
            let digits: Vec<u32> = digits.collect();
            if digits.is_empty() { any } else { *random.pick(&digits) }
        }
        // A few tokens of a walk are likely, as a model prefers some.
        2 => {
            let weight = |token: &u32| Random::new(seed ^ u64::from(*token)).next();
            (0..6).map(|_| allowed.any(random)).min_by_key(weight).unwrap_or(any)
        }
        _ => {
            let mut picks = (0..12).map(|_| allowed.any(random));
            picks.find(|&token| is_structural(walk.vocab.token(token))).unwrap_or(any)
        }
    })
}

/// The arguments of the first tool of [`every_type`].
const ARGUMENTS: [&str; 18] = [
    "n", "x", "page", "low", "share", "s", "day", "at", "b", "kind", "code", "maybe", "both", "ids", "to",
    "any", "shape", "steps",
];

/// What a walk begins with: nothing, or a call up to the value of one of its arguments.
fn beginning(session: &Session<'_>, notation: Notation, random: &mut Random) -> String {
    let begun = match notation {
        Notation::Id => format!("CALL 0 {} {} ", 3 + random.below(3), random.below(ARGUMENTS.len())),
        _ => format!("{{\"call\":\"t\",\"args\":{{\"{}\":", random.pick(&ARGUMENTS)),
    };
    let fits = random.chance(2) && Body::new(session, notation).takes(begun.as_bytes()).is_ok();
    if fits { begun } else { String::new() }
}

/// What a walk does, to be repeated.
struct Walk<'w, 'c> {
    session: &'w Session<'c>,
    catalog: &'w Catalog,
    vocab: &'w Vocab,
    digits: &'w [u32],
    notation: Notation,
    begun: &'w str,
}

impl Walk<'_, '_> {
    fn begin(&self) -> Body<'_> {
        let mut body = Body::new(self.session, self.notation);
        body.begin(self.begun);
        body
    }

    /// Whether a program that has begun with these tokens is stuck, `left` tokens before the end of its
    /// budget.
    fn is_stuck(&self, begun: &[u32], left: u32) -> Option<String> {
        let mut body = self.begin();
        if !begun.iter().all(|&token| body.accept(self.vocab, token)) {
            return Some("a token that was allowed is refused".to_owned());
        }
        if body.clone().close().is_none() {
            return Some("no end".to_owned());
        }
        body.fill(self.vocab, left, &mut vec![0; self.vocab.mask_len()]).err().map(|it| it.to_string())
    }

    /// The shortest beginning of a walk that is stuck, as a text.
    fn shortest(&self, taken: &[u32], left: u32, reason: &str) -> String {
        let ends = u32::try_from(taken.len()).unwrap();
        let rest = |length: usize| left.saturating_add(ends - u32::try_from(length).unwrap());
        let found = (0..=taken.len())
            .find_map(|length| Some((length, self.is_stuck(&taken[..length], rest(length))?)));
        let (length, reason) = found.unwrap_or((taken.len(), format!("{reason}; only after masks before")));
        let mut shown =
            format!("{reason}, {} left, {:?}, behind\n{}|", rest(length), self.notation, self.begun);
        for &token in &taken[..length] {
            write!(shown, "{}|", String::from_utf8_lossy(self.vocab.token(token))).unwrap();
        }
        shown
    }

    /// Walks within a budget, or 80 tokens without one. `Err` says where the guide is stuck or wrong.
    fn run(&self, mut left: u32, seed: u64, random: &mut Random) -> Result<(), String> {
        let mut body = self.begin();
        let (mut bits, mut taken) = (vec![0; self.vocab.mask_len()], Vec::new());
        loop {
            let filled = body.fill(self.vocab, left, &mut bits);
            filled.map_err(|short| self.shortest(&taken, left, &short.to_string()))?;
            if left == u32::MAX && taken.len() >= 80 {
                let end = body.close().ok_or_else(|| self.shortest(&taken, left, "no end"))?;
                // It may begin within a character.
                body.takes(&end).map_err(|_| self.shortest(&taken, left, "a known end is refused"))?;
                break;
            }
            let Some(token) = pick(&bits, self, seed, random) else {
                return Err(self.shortest(&taken, left, "no token is allowed"));
            };
            if !body.accept(self.vocab, token) {
                taken.push(token);
                return Err(self.shortest(&taken, left, "an allowed token is refused"));
            }
            if token == self.vocab.eos() {
                break;
            }
            taken.push(token);
            left = if left == u32::MAX { left } else { left - 1 };
        }
        let wrong = body.error(self.session, self.catalog);
        wrong.map_or(Ok(()), |it| Err(format!("{it}\n{}", String::from_utf8_lossy(body.text()))))
    }
}

#[test]
fn walks_by_tokens_never_get_stuck() {
    let (first, count) = (crate::common::number("SEED", 0), crate::common::number("WALKS", 8));
    let every = every_type();
    let mut wrong = Vec::new();
    for (name, vocab) in vocabularies() {
        let (mut walked, before, digits) = (0, wrong.len(), &digits(&vocab));
        for seed in first..first + count {
            let mut random = Random::new(seed);
            let unions = seed % 4 == 1;
            let other = if unions { unions::catalog } else { crate::common::catalog }(&mut random);
            let signature = crate::common::signature(&mut random);
            let catalog = if seed % 2 == 0 { &every } else { &other };
            let (signature, options) = crate::common::widened(&signature, seed);
            let session = Session::new(catalog, &signature, &options).unwrap();
            for notation in [Notation::Id, Notation::Constrained] {
                let begun = &beginning(&session, notation, &mut random);
                let walk = Walk { session: &session, catalog, vocab: &vocab, digits, notation, begun };
                let short = walk.begin().fill(&vocab, 1, &mut vec![0; vocab.mask_len()]).err();
                let needed = short.map_or(1, |short| short.needed.unwrap());
                let spare = *random.pick(&[0, 1, 2, 4, 8, 15, 30, 60, 120, 300, 700, usize::MAX]);
                let left = u32::try_from(needed.saturating_add(spare)).unwrap_or(u32::MAX);
                walked += 1;
                if let Err(found) = walk.run(left, seed, &mut random) {
                    wrong.push(format!("{name}, seed {seed}: {signature}: {found}"));
                }
            }
        }
        println!("{name}: {walked} walks, {} stuck or wrong", wrong.len() - before);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// Walks that were once stuck, each shrunk to its shortest beginning: the notation, the text, the token that
/// was allowed, and the tokens left before it.
const FOUND: [(Notation, &str, &str, u32); 8] = [
    (Notation::Constrained, r#"{"call":"t","args":{"n":0"#, "8", u32::MAX),
    (Notation::Constrained, r#"{"call":"t","args":{"n":"#, "043", u32::MAX),
    (Notation::Id, "LET 1 CALL 0 2 0 LIT 1 ", "08", u32::MAX),
    (Notation::Id, "RET LEN MATCH_MAP REF 0", " 22", 420),
    (Notation::Id, "RET LEN LIST", " 32", 420),
    (Notation::Id, "RET MATCH_MAP JSON REF 0", " 32", 600),
    (Notation::Constrained, r#"{"raise":"a\"#, "\">${x", u32::MAX),
    (Notation::Constrained, r#"{"raise":"a\"#, "\\>${x", 500),
];

#[test]
fn what_was_once_allowed_leaves_an_end_or_is_refused() {
    let catalog = every_type();
    let session = Session::new(&catalog, "f(id: text) -> any", &Options::default()).unwrap();
    for (notation, text, token, left) in FOUND {
        let mut all: Vec<Vec<u8>> = vec![Vec::new()];
        all.extend((0..=u8::MAX).map(|byte| vec![byte]));
        all.push(token.as_bytes().to_vec());
        let vocab = Vocab::new(&all, 0).unwrap();
        let mut bits = vec![0; vocab.mask_len()];
        let mut body = Body::new(&session, notation);
        body.begin(text);
        body.fill(&vocab, left, &mut bits).unwrap_or_else(|error| panic!("{text}: {error}"));
        let last = u32::try_from(all.len() - 1).unwrap();
        let digit = token.len() == 1;
        let written = if digit { u32::from(token.as_bytes()[0]) + 1 } else { last };
        if tokens(&bits).contains(&written) {
            body.begin(token);
            let rest = left.saturating_sub(u32::from(left != u32::MAX));
            body.fill(&vocab, rest, &mut bits).unwrap_or_else(|error| panic!("{text}{token}: {error}"));
            assert!(body.close().is_some(), "{text}{token}");
        }
    }
}

/// The ends of a list and of what has it are signs that come together. Tokens within them end no text, though
/// they have a quote.
#[test]
fn tokens_between_two_ends_are_not_taken_for_ends_of_a_text() {
    let catalog = Catalog::default();
    let session = Session::new(&catalog, "f(ok: bool) -> result any, bool", &Options::default()).unwrap();
    let mut all: Vec<Vec<u8>> = vec![Vec::new()];
    all.extend((0..=u8::MAX).map(|byte| vec![byte]));
    all.extend(["},\"", "},{\""].map(Vec::from));
    let vocab = Vocab::new(&all, 0).unwrap();
    let mut bits = vec![0; vocab.mask_len()];
    let mut begun = Body::new(&session, Notation::Constrained);
    begun.begin(r#"{"raise":{"or":[{"==":["a","b"]"#);
    for left in 1..80 {
        if begun.clone().fill(&vocab, left, &mut bits).is_err() {
            continue;
        }
        for token in tokens(&bits) {
            let mut body = begun.clone();
            assert!(body.accept(&vocab, token));
            let after = body.fill(&vocab, left - 1, &mut vec![0; vocab.mask_len()]);
            assert!(after.is_ok(), "{left} left, behind {}", String::from_utf8_lossy(body.text()));
        }
    }
}

/// FIND names a field of the items of a list, which an end must take from those that the records may have.
#[test]
fn lists_of_closed_records_need_longer_ends_than_others() {
    let catalog = Catalog::default();
    let signature = "f(q: {a-rather-long-name: text}, r: list any) -> any";
    let session = Session::new(&catalog, signature, &Options::default()).unwrap();
    let vocab = Vocab::new(&crate::both::bytes(), 0).unwrap();
    let (mut bits, mut next) = (vec![0; vocab.mask_len()], vec![0; vocab.mask_len()]);
    for text in [
        "RET FIND APPEND LIST 0 ",
        "RET FIND APPEND ADD LIST 0 LIST 0 RE",
        "RET FIND APPEND REF 1 ",
        "RET SORT LIST 1 ",
        "RET COLUMN APPEND ADD REF 1 LIST 0 ",
    ] {
        let mut body = Body::new(&session, Notation::Id);
        body.begin(text);
        let needed = u32::try_from(body.close().unwrap().len()).unwrap() + 1;
        for left in needed..needed + 60 {
            body.fill(&vocab, left, &mut bits).unwrap();
            for token in tokens(&bits) {
                let mut follows = body.clone();
                assert!(follows.accept(&vocab, token));
                let fits = follows.fill(&vocab, left - 1, &mut next);
                assert!(fits.is_ok(), "{left} left: {:?} behind {text}: {fits:?}", vocab.token(token));
            }
        }
    }
}

/// Each token of these beginnings is allowed only if the fields that it brings fit the budget.
#[test]
fn a_long_record_begins_only_within_the_budget() {
    let mut properties = serde_json::Map::new();
    properties.insert("kind".to_owned(), json!({"const": "long"}));
    properties.extend((0..24).map(|n| (format!("a-rather-long-name-{n}"), json!({"type": "number"}))));
    let required: Vec<&String> = properties.keys().collect();
    let long = json!({"type": "object", "properties": properties, "required": required});
    let short = json!({"type": "object", "properties": {"kind": {"const": "none"}}, "required": ["kind"]});
    let input = json!({"type": "object", "required": ["n", "of"], "properties": {
        "n": {"type": "integer"}, "opt": long, "of": {"oneOf": [long, short]}}});
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("t", None, Some(&input), None));
    let session = Session::new(&catalog, "f() -> any", &Options::default()).unwrap();
    let vocab = Vocab::new(&crate::both::bytes(), 0).unwrap();
    let mut bits = vec![0; vocab.mask_len()];
    let number = |name: &str| (0..99).find(|&it| session.field(it) == Some(name)).unwrap();
    let [n, opt, of, kind] = ["n", "opt", "of", "kind"].map(number);
    for (notation, text) in [
        (Notation::Id, format!("CALL 0 2 {of} OBJ 25 {kind} LIT 0 \"long\" ")),
        (Notation::Id, format!("CALL 0 3 {n} LIT 1 0 {opt} OBJ 25 {kind} ")),
        (Notation::Constrained, r#"{"call":"t","args":{"of":{"obj":{"kind":"long","#.to_owned()),
        (Notation::Constrained, r#"{"call":"t","args":{"opt":{"obj":{"kind":"long","#.to_owned()),
    ] {
        let needed = Body::new(&session, notation).fill(&vocab, 1, &mut bits).unwrap_err().needed.unwrap();
        let mut whole = 0;
        for spare in (0..6000).step_by(239) {
            let mut body = Body::new(&session, notation);
            let mut left = u32::try_from(needed + spare).unwrap();
            let mut taken = 0;
            for byte in text.bytes() {
                let begun = &text[..taken];
                body.fill(&vocab, left, &mut bits).unwrap_or_else(|it| panic!("{left} left, {begun}: {it}"));
                if !tokens(&bits).contains(&(u32::from(byte) + 1)) {
                    break;
                }
                assert!(body.accept(&vocab, u32::from(byte) + 1));
                (taken, left) = (taken + 1, left - 1);
            }
            let filled = body.fill(&vocab, left, &mut bits);
            filled.unwrap_or_else(|it| panic!("{left} left, {}: {it}", &text[..taken]));
            whole += usize::from(taken == text.len());
        }
        println!("{notation:?}: {whole} of 26 are whole");
        assert!(whole > 4 && whole < 26, "{whole} {text}");
    }
}

/// A name begins with a letter, whatever a token of a name has.
#[test]
fn tokens_that_begin_with_a_sign_begin_no_name() {
    let catalog = Catalog::default();
    let session = Session::new(&catalog, "f(p: number) -> any", &Options::default()).unwrap();
    let mut all = crate::both::bytes();
    all.extend(["__", "_\"", "-a", "9a", "for", "_x"].map(Vec::from));
    let vocab = Vocab::new(&all, 0).unwrap();
    let mut bits = vec![0; vocab.mask_len()];
    for text in [
        r#"{"for":""#,
        r#"{"let":""#,
        r#"{"do":[{"let":""#,
        r#"{"try":[],"err":{"as":""#,
        r#"{"let":"a","for":""#,
    ] {
        for left in [u32::MAX, 700] {
            let mut body = Body::new(&session, Notation::Constrained);
            body.begin(text);
            body.fill(&vocab, left, &mut bits).unwrap();
            for token in tokens(&bits) {
                assert!(
                    body.clone().accept(&vocab, token),
                    "{text}: {:?}",
                    String::from_utf8_lossy(vocab.token(token))
                );
            }
        }
    }
}
