//! Unions of records that a constant text tells apart: the record of an argument is held to the arm that its
//! text selects. The check of the written program says which records are right.
//!
//! `WALKS` and `SEED` set the number of walks and the first seed.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::both::Follow;
use crate::common::{Random, number};
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, Guide, Options, Session};
use serde_json::{Map, Value, json};

/// The tools of the table: a union as an argument, as the arguments, in a list, and in a record of an arm.
fn tools() -> Catalog {
    let arm = |kind: Value, others: Value, required: Value| {
        let mut properties = others;
        properties["kind"] = kind;
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    };
    let union = json!({"anyOf": [
        arm(json!({"const": "a"}), json!({"x": {"type": "number"}}), json!(["kind", "x"])),
        arm(json!({"enum": ["b", "c"]}), json!({"x": {"type": "string"}, "y": {"type": "string"}}), json!(["y", "kind"])),
        arm(json!({"const": "d"}), json!({"y": {"type": "number"}, "x": {}}), json!(["kind"])),
    ]});
    let mut inner = union.clone();
    inner["anyOf"][2]["properties"]["y"] = union.clone();
    let with = |schema: &Value| json!({"type": "object", "properties": {"of": schema}, "required": ["of"]});
    let mut catalog = Catalog::default();
    let lists = json!({"type": "array", "items": union});
    for (name, input) in
        [("arg", with(&union)), ("all", union.clone()), ("list", with(&lists)), ("inner", with(&inner))]
    {
        catalog.insert(ToolSignature::new(name, None, Some(&input), None));
    }
    catalog
}

/// The values of a field, in ID text and in `constrained`. Slot 0 has a text, slot 1 anything.
type Values = &'static [(&'static str, &'static str)];

const KINDS: Values = &[
    ("LIT 0 \"a\"", "\"a\""),
    ("LIT 0 \"b\"", "\"b\""),
    ("LIT 0 \"c\"", "{\"text\":\"c\"}"),
    ("LIT 0 \"d\"", "\"d\""),
    ("LIT 0 \"e\"", "\"e\""),
    ("LIT 1 1", "1"),
    ("REF 0", "\"p\""),
    ("REF 1", "\"q\""),
    ("MATCH_MAP REF 0 1 ELSE LIT 0 \"a\"", ""),
    ("TRIM REF 0", "{\"trim\":[\"p\"]}"),
];
const VALUES: Values = &[
    ("LIT 1 1", "1"),
    ("LIT 0 \"t\"", "{\"text\":\"t\"}"),
    ("REF 0", "\"p\""),
    ("REF 1", "\"q\""),
    ("LIT 2 nil", "null"),
    ("OBJ 0", "{\"obj\":{}}"),
];

/// Fields with their values, each in both notations.
type Pairs = Vec<(&'static str, (String, String))>;

fn owned(value: (&str, &str)) -> (String, String) {
    (value.0.to_owned(), value.1.to_owned())
}

/// All records of some of the fields, in every order.
fn records(kinds: &[(&'static str, &'static str)]) -> Vec<Pairs> {
    let mut all: Vec<Pairs> = vec![Vec::new()];
    for (name, values) in [("kind", kinds), ("x", VALUES), ("y", VALUES)] {
        for record in all.clone() {
            for &value in values {
                for place in 0..=record.len() {
                    let mut longer = record.clone();
                    longer.insert(place, (name, owned(value)));
                    all.push(longer);
                }
            }
        }
    }
    all
}

/// A record in both notations, and its fields without what is around them.
fn written(session: &Session<'_>, pairs: &Pairs) -> ((String, String), (String, String)) {
    let number = |name: &str| (0..99).find(|&it| session.field(it) == Some(name)).unwrap();
    let id = pairs.iter().flat_map(|it| [number(it.0).to_string(), it.1.0.clone()]);
    let id = [pairs.len().to_string()].into_iter().chain(id).collect::<Vec<_>>().join(" ");
    let json: Vec<String> = pairs.iter().map(|it| format!("\"{}\":{}", it.0, it.1.1)).collect();
    let json = format!("{{{}}}", json.join(","));
    ((format!("OBJ {id}"), format!("{{\"obj\":{json}}}")), (id, json))
}

/// What the guides allow and what builds, for every record of a tool.
#[derive(Debug, Default)]
struct Counts {
    allowed: usize,
    wrong: usize,
    /// Right, but the text that selects the arm is not the first field, or in MERGE.
    unordered: usize,
}

impl Counts {
    /// Looks at a program in one notation, which is refused if it is wrong; if it is right, it is allowed.
    fn look(&mut self, session: &Session<'_>, catalog: &Catalog, body: &str, is_first: bool) {
        let notation = if body.ends_with('}') { Notation::Constrained } else { Notation::Id };
        let (prefix, allowed) = if notation == Notation::Id {
            let mut guide = Guide::new(session);
            (session.prefix(), guide.accept_bytes(body.as_bytes()).is_ok() && guide.ends())
        } else {
            let mut guide = ConstrainedGuide::new(session);
            (session.constrained_prefix(), guide.accept_bytes(body.as_bytes()).is_ok() && guide.ends())
        };
        let options = Build { from: Some(notation), catalog: Some(catalog), ..Build::default() };
        let (_, found) = compile(&(prefix + body), &options);
        // Fields that a schema does not list are never written.
        let wrong = found.as_slice().iter().find(|it| it.is_error() || it.code.as_str() == "unknown-field");
        match wrong {
            Some(wrong) => {
                assert!(!allowed, "{}: {}\n{body}", wrong.code.as_str(), wrong.message);
                self.wrong += 1;
            }
            None if is_first => {
                assert!(allowed, "this is right\n{body}");
                self.allowed += 1;
            }
            None => self.unordered += usize::from(!allowed),
        }
    }
}

#[test]
fn a_record_is_held_to_the_arm_that_its_text_selects() {
    let catalog = tools();
    let session = Session::new(&catalog, "f(p: text, q: any) -> any", &Options::default()).unwrap();
    let number = |name: &str| (0..99).find(|&it| session.field(it) == Some(name)).unwrap();
    let of = number("of");
    let calls = |(tool, name): (u32, &str), (id, json): (String, String)| {
        [
            format!("RET CALL {tool} 1 {of} {id}"),
            format!("{{\"ret\":{{\"call\":\"{name}\",\"args\":{{\"of\":{json}}}}}}}]}}"),
        ]
    };
    let mut counts = [Counts::default(), Counts::default(), Counts::default(), Counts::default()];
    for pairs in records(KINDS) {
        let is_first = pairs.first().is_none_or(|it| it.0 == "kind") || pairs.iter().all(|it| it.0 != "kind");
        let ((id, json), (given, args)) = written(&session, &pairs);
        let [arg, all, list, inner] = &mut counts;
        let two = (format!("LIST 2 {id} {id}"), format!("[{json},{json}]"));
        let around = vec![("kind", owned(KINDS[3])), ("y", (id.clone(), json.clone()))];
        let nested = written(&session, &around).0;
        for (counts, bodies) in [
            (arg, calls((0, "arg"), (id, json))),
            (
                all,
                [
                    format!("RET CALL 1 {given}"),
                    format!("{{\"ret\":{{\"call\":\"all\",\"args\":{args}}}}}]}}"),
                ],
            ),
            (list, calls((2, "list"), two)),
            (inner, calls((3, "inner"), nested)),
        ] {
            for body in bodies.iter().filter(|body| !body.contains(":,") && !body.contains(":}")) {
                counts.look(&session, &catalog, body, is_first);
            }
        }
    }
    println!("{counts:?}");
    assert!(counts.iter().all(|it| it.allowed > 40 && it.wrong > 400 && it.unordered > 40), "{counts:?}");
}

#[test]
fn a_merge_selects_no_arm() {
    let catalog = tools();
    let session = Session::new(&catalog, "f(p: text, q: any) -> any", &Options::default()).unwrap();
    let of = (0..99).find(|&it| session.field(it) == Some("of")).unwrap();
    let mut counts = Counts::default();
    for pairs in records(&KINDS[..1]) {
        let (_, (given, args)) = written(&session, &pairs);
        let (count, fields) = given.split_at(1);
        let merged = format!("{{\"merge\":\"q\",\"set\":{args}}}");
        for body in [
            format!("RET CALL 0 1 {of} MERGE {count} REF 1{fields}"),
            format!("{{\"ret\":{{\"call\":\"arg\",\"args\":{{\"of\":{merged}}}}}}}]}}"),
        ] {
            counts.look(&session, &catalog, &body, false);
        }
    }
    println!("{counts:?}");
    assert!(counts.wrong > 40 && counts.unordered > 10, "{counts:?}");
}

const NAMES: [&str; 5] = ["kind", "x", "first name", "größe", "of"];

/// A schema of a value, which is often a union.
fn schema(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 6 } else { 11 }) {
        0 => json!({"type": "string"}),
        1 => json!({"type": "integer", "minimum": 3}),
        2 => json!({"enum": ["low", "high"]}),
        3 => json!({}),
        4 => json!({"type": ["number", "null"]}),
        5 => json!({"type": "boolean"}),
        6 => json!({"type": "array", "items": schema(random, depth - 1)}),
        7 => record(random, depth - 1, None),
        _ => union(random, depth - 1),
    }
}

/// A record, whose first field may have the text that selects it.
fn record(random: &mut Random, depth: usize, selects: Option<(&str, Value)>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    let names: Vec<&str> = NAMES.into_iter().filter(|_| random.chance(2)).collect();
    for name in names {
        properties.insert(name.to_owned(), schema(random, depth));
        if random.chance(2) {
            required.push(name.to_owned());
        }
    }
    if let Some((name, texts)) = selects {
        properties.insert(name.to_owned(), texts);
        required.retain(|it| it != name);
        required.push(name.to_owned());
    }
    let mut whole = json!({"type": "object", "properties": properties, "required": required});
    match random.below(4) {
        0 => whole["additionalProperties"] = json!(true),
        1 => whole["additionalProperties"] = json!(false),
        _ => {}
    }
    whole
}

fn union(random: &mut Random, depth: usize) -> Value {
    let name = *random.pick(&NAMES[..3]);
    let mut texts = ["a", "b", "he said \"x\"", "größe", "low"].into_iter();
    let mut arms = Vec::new();
    for _ in 0..2 + random.below(2) {
        let text = texts.next().unwrap();
        let selects = match random.below(3) {
            0 => json!({"enum": [text, format!("{text}2")]}),
            _ => json!({"const": text}),
        };
        arms.push(record(random, depth, Some((name, selects))));
    }
    let several = if random.chance(2) { "anyOf" } else { "oneOf" };
    let whole = json!({several: arms});
    if random.chance(5) { json!({"anyOf": [whole, {"type": "null"}]}) } else { whole }
}

pub(crate) fn catalog(random: &mut Random) -> Catalog {
    let mut catalog = Catalog::default();
    for number in 0..=random.below(3) {
        let input = if random.chance(3) { union(random, 3) } else { record(random, 3, None) };
        let output = (!random.chance(3)).then(|| schema(random, 2));
        catalog.insert(ToolSignature::new(&format!("t{number}"), None, Some(&input), output.as_ref()));
    }
    catalog
}

fn walk<G: Follow>(
    mut guide: G,
    begun: &str,
    catalog: &Catalog,
    random: &mut Random,
    step: impl Fn(&mut G, &mut Random) -> bool,
) -> Result<bool, String> {
    let begins = guide.accept_bytes(begun.as_bytes()).is_ok();
    for at in 0..=60 {
        if at == 60 || random.chance(12) {
            let shown = String::from_utf8_lossy(guide.text()).into_owned();
            let mark = guide.mark();
            let end = guide.close().ok_or_else(|| format!("no end of {shown}"))?;
            guide.accept_bytes(&end).map_err(|error| format!("{error} in the end of {shown}"))?;
            guide.check(catalog)?;
            guide.rollback(&mark);
        }
        if !step(&mut guide, random) {
            guide.check(catalog)?;
            break;
        }
    }
    Ok(begins)
}

#[test]
fn random_unions_have_no_record_that_the_check_refuses() {
    let (first, count) = (number("SEED", 0), number("WALKS", 150));
    let mut called = 0;
    for seed in first..first + count {
        let mut random = Random::new(seed);
        let catalog = catalog(&mut random);
        let session = Session::new(&catalog, "f(p: text, q: any) -> any", &Options::default()).unwrap();
        let tool = random.below(catalog.tools().len());
        let id = format!("LET 2 CALL {tool} ");
        let json = format!("{{\"let\":\"r\",\"call\":\"t{tool}\",\"args\":{{");
        for walked in [
            walk(Guide::new(&session), &id, &catalog, &mut random, crate::common::step),
            walk(ConstrainedGuide::new(&session), &json, &catalog, &mut random, crate::common::walk::step),
        ] {
            called += u64::from(walked.unwrap_or_else(|wrong| panic!("seed {seed}: {wrong}")));
        }
    }
    println!("{called} of {} walks called a tool", 2 * count);
    assert!(called > count, "{called}");
}

#[test]
fn a_recursive_union_ends_with_its_least_nested_arm() {
    let arm = |op: &str, of: Value| json!({"type": "object", "required": ["op", "of"], "properties": {"op": {"const": op}, "of": of}});
    let expression = json!({"$ref": "#/$defs/expression"});
    let input = json!({"type": "object", "required": ["of"], "properties": {"of": expression}, "$defs": {
        "expression": {"oneOf": [arm("abs", expression.clone()), arm("num", json!({"type": "number"}))]}}});
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("t", None, Some(&input), None));
    let session = Session::new(&catalog, "f() -> any", &Options::default()).unwrap();
    let [of, op] = ["of", "op"].map(|name| (0..9).find(|&it| session.field(it) == Some(name)).unwrap());
    // In the deepest records nothing but that arm is allowed.
    let (id, json) = (format!("OBJ 2 {op} LIT 0 \"abs\" {of} "), r#"{"obj":{"op":"abs","of":"#);
    for depth in 0..16 {
        let id = format!("RET CALL 0 1 {of} {}OBJ ", id.repeat(depth));
        let json = format!("{{\"ret\":{{\"call\":\"t\",\"args\":{{\"of\":{}{{\"obj\":{{", json.repeat(depth));
        let (mut guide, mut other) = (Guide::new(&session), ConstrainedGuide::new(&session));
        let fits = guide.accept_bytes(id.as_bytes()).is_ok();
        assert_eq!(fits, other.accept_bytes(json.as_bytes()).is_ok(), "{id}");
        assert_eq!(fits, depth <= 11, "{depth}");
        if !fits {
            continue;
        }
        let (end, other_end) = (guide.close().unwrap(), other.close().unwrap());
        assert_eq!(String::from_utf8_lossy(&end).matches("num").count(), 1);
        assert_eq!(String::from_utf8_lossy(&other_end).matches("num").count(), 1);
        assert!(![end.clone(), other_end.clone()].concat().windows(3).any(|it| it == b"abs"), "{depth}");
        guide.accept_bytes(&end).unwrap();
        other.accept_bytes(&other_end).unwrap();
        guide.check(&catalog).and(other.check(&catalog)).unwrap();
    }
}
