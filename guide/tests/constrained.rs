//! Bodies in `constrained`: random walks that build, ends from random states, masks against each token tried
//! alone, and the corpus.
//!
//! `WALKS` and `SEED` set the number of walks and the first seed.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::both::Follow;
use crate::common::Random;
use crate::common::walk::{step, step_with};
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, Node, Options, Session, Vocab};
use serde_json::json;
use std::collections::BTreeMap;

fn builds(
    session: &Session<'_>,
    catalog: &Catalog,
    body: &[u8],
    seed: u64,
    codes: &mut BTreeMap<&'static str, u64>,
) {
    let whole = session.constrained_prefix() + core::str::from_utf8(body).unwrap();
    let options = Build { from: Some(Notation::Constrained), catalog: Some(catalog), ..Build::default() };
    let (program, found) = compile(&whole, &options);
    for found in found.as_slice() {
        let code = found.code.as_str();
        assert!(
            !found.is_error(),
            "seed {seed}: {code}: {}\n{whole}\nat {:?}",
            found.message,
            whole.get(found.span.range())
        );
        if std::env::var_os("SHOW").is_some_and(|show| show == code) {
            println!("seed {seed}: {code} {} {:?}\n{whole}", found.message, whole.get(found.span.range()));
        }
        *codes.entry(code).or_default() += 1;
    }
    assert!(program.is_some());
}

/// Seeds, each with a catalogue and a signature. There are so many times fewer than walks.
fn seeds(fewer: u64) -> impl Iterator<Item = (u64, Random, Catalog, String)> {
    let (start, count) = (crate::common::number("SEED", 1), crate::common::number("WALKS", 200) / fewer);
    (start..start + count).map(|seed| {
        let mut random = Random::new(seed);
        let catalog = crate::common::catalog(&mut random);
        let signature = crate::common::signature(&mut random);
        (seed, random, catalog, signature)
    })
}

#[test]
fn random_programs_build() {
    random_programs(false);
}

#[test]
fn random_programs_whose_texts_equal_names_build() {
    random_programs(true);
}

/// Random programs; if they are `shared`, names and texts are the same few words.
fn random_programs(shared: bool) {
    let mut codes = BTreeMap::new();
    let (mut count, mut ended) = (0, 0);
    for (seed, mut random, catalog, signature) in seeds(1) {
        count += 1;
        let (signature, options) = crate::common::widened(&signature, seed);
        let session = Session::new(&catalog, &signature, &options).unwrap();
        let mut guide = ConstrainedGuide::new(&session);
        let steps = 1 + random.below(150);
        for at in 0..=steps {
            if at == steps || random.chance(25) {
                let text = guide.text().to_vec();
                let close = guide.close();
                assert_eq!(guide.text(), text, "seed {seed}: close changes nothing");
                let shown = String::from_utf8_lossy(&text);
                let close = close.unwrap_or_else(|| panic!("seed {seed}: no end of\n{signature}\n{shown}"));
                builds(&session, &catalog, &[&text[..], &close].concat(), seed, &mut codes);
            }
            if !step_with(&mut guide, &mut random, shared) {
                guide.check(&catalog).unwrap();
                ended += 1;
                break;
            }
        }
    }
    println!("{count} walks, {ended} of them to their end; warnings: {codes:?}");
}

/// The tokens of a synthetic vocabulary, and pieces of JSON.
pub(crate) fn vocabulary(random: &mut Random) -> Vec<Vec<u8>> {
    const JSON: [&str; 54] = [
        "\",\"push\":",
        "while\":{\"",
        ",\"max\":1",
        "0,\"do\":[",
        "],\"until\":",
        "\"then\":[{\"",
        "p0.a",
        ".a.",
        "a.b\",\"",
        "let\":\"p0.",
        "{\"",
        "\":\"",
        "\":{\"",
        "\"}",
        "\"},",
        "},{\"",
        "]}",
        "}]}",
        "[{\"",
        "\",\"",
        "let",
        "\"let\":\"",
        "ret\":",
        "\"ret\":{\"",
        "text\":\"",
        "\"}]}",
        ",\"args\":{",
        "expr\":",
        "raise\":",
        ":[",
        "\":[",
        "if\":{\"",
        "==\":[\"",
        "null}",
        "${",
        "a ${p0",
        "p0}",
        "{p1}\"",
        "$",
        "$$",
        "{",
        "\\u",
        "u0024",
        "u007B",
        "24",
        "b",
        "\\u0024",
        ".\"",
        "p0\"",
        "p0.",
        "5,",
        "12",
        "[[4",
        "],[",
    ];
    let mut tokens = crate::common::synthetic(random);
    tokens.extend(JSON.iter().map(|text| text.as_bytes().to_vec()));
    tokens
}

#[test]
fn a_mask_has_the_tokens_that_are_accepted_alone() {
    for (seed, mut random, catalog, signature) in seeds(10) {
        let session = Session::new(&catalog, &signature, &Options::default()).unwrap();
        let vocab = Vocab::new(&vocabulary(&mut random), 0).unwrap();
        // A guide may be used with several vocabularies in turn.
        let other = Vocab::new(&vocabulary(&mut random), 0).unwrap();
        let mut guide = ConstrainedGuide::new(&session);
        let mut bits = vec![0; vocab.mask_len()];
        for _ in 0..12 {
            let text = guide.text().to_vec();
            let mut others = vec![0; other.mask_len()];
            guide.fill_mask(&other, u32::MAX, &mut others).unwrap();
            guide.fill_mask(&vocab, u32::MAX, &mut bits).unwrap();
            assert_eq!(guide.text(), text);
            // What a guide keeps of earlier masks has no effect.
            let mut fresh = ConstrainedGuide::new(&session);
            fresh.accept_bytes(&text).unwrap();
            let mut again = vec![0; vocab.mask_len()];
            fresh.fill_mask(&vocab, u32::MAX, &mut again).unwrap();
            assert_eq!(bits, again, "seed {seed}, behind {}", String::from_utf8_lossy(&text));
            let mut allowed = Vec::new();
            for token in 0..u32::try_from(vocab.len()).unwrap() {
                let mark = guide.mark();
                let fits = guide.accept(&vocab, token).is_ok();
                guide.rollback(&mark);
                let is_set = bits[token as usize / 32] >> (token % 32) & 1 == 1;
                let shown = String::from_utf8_lossy(vocab.token(token)).into_owned();
                assert_eq!(fits, is_set, "seed {seed}: {shown:?} behind {}", String::from_utf8_lossy(&text));
                if fits {
                    allowed.push(token);
                }
            }
            guide.fill_mask(&vocab, u32::MAX, &mut again).unwrap();
            assert_eq!(bits, again, "seed {seed}, behind {}", String::from_utf8_lossy(&text));
            let token = *random.pick(&allowed);
            guide.accept(&vocab, token).unwrap();
            if token == vocab.eos() {
                break;
            }
            for _ in 0..random.below(12) {
                step(&mut guide, &mut random);
            }
        }
    }
}

#[test]
fn masks_of_several_vocabularies_do_not_mix() {
    let catalog = crate::common::catalog(&mut Random::new(3));
    let session = Session::new(&catalog, "f(id: text) -> text", &Options::default()).unwrap();
    let vocab = |tokens: &[&str]| Vocab::new(tokens, 0).unwrap();
    let one = vocab(&["", "\"]", "\"}", "\",", "a", "12", "5]", "5}"]);
    let other = vocab(&["", "7", "\"}", "a", "}", "]", "\"]", "\",\""]);
    for text in [
        r#"{"raise":"a text"#,
        r#"{"raise":{"text":"a text"#,
        r#"{"raise":{"concat":["a text"#,
        r#"{"raise":[5"#,
        r#"{"let":"name"#,
    ] {
        let filled = |guide: &mut ConstrainedGuide<'_>, vocab: &Vocab| {
            let mut bits = vec![0; vocab.mask_len()];
            guide.fill_mask(vocab, u32::MAX, &mut bits).unwrap();
            bits
        };
        let begun = || {
            let mut guide = ConstrainedGuide::new(&session);
            guide.accept_bytes(text.as_bytes()).unwrap();
            guide
        };
        let mut guide = begun();
        for vocab in [&one, &other, &one] {
            assert_eq!(filled(&mut guide, vocab), filled(&mut begun(), vocab), "{text}");
        }
    }
}

/// The tokens of a mask.
pub(crate) fn tokens(bits: &[u32]) -> Vec<u32> {
    (0..)
        .zip(bits)
        .flat_map(|(at, word)| (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| 32 * at + bit))
        .collect()
}

#[test]
fn programs_end_within_their_budget() {
    let mut codes = BTreeMap::new();
    for (seed, mut random, catalog, signature) in seeds(2) {
        let session = Session::new(&catalog, &signature, &Options::default()).unwrap();
        let vocab = Vocab::new(&vocabulary(&mut random), 0).unwrap();
        let mut guide = ConstrainedGuide::new(&session);
        let mut bits = vec![0; vocab.mask_len()];
        let short = guide.fill_mask(&vocab, 1, &mut bits).unwrap_err();
        let needed = short.needed.unwrap();
        let mut left = u32::try_from(needed).unwrap() + *random.pick(&[0, 10, 60, 150, 600]);
        loop {
            let shown = String::from_utf8_lossy(guide.text()).into_owned();
            guide
                .fill_mask(&vocab, left, &mut bits)
                .unwrap_or_else(|it| panic!("seed {seed}: {left} left, {it}: {shown}"));
            let allowed = tokens(&bits);
            // Long tokens open more than short ones.
            let mut token = *random.pick(&allowed);
            for _ in 0..2 {
                let other = *random.pick(&allowed);
                if vocab.token(other).len() > vocab.token(token).len() {
                    token = other;
                }
            }
            let taken = guide.accept(&vocab, token);
            assert!(
                taken.is_ok(),
                "seed {seed}: {:?} behind {shown}",
                String::from_utf8_lossy(vocab.token(token))
            );
            left -= 1;
            if token == vocab.eos() {
                break;
            }
            assert!(left > 0, "seed {seed}: no end within the budget: {shown}");
        }
        let text = guide.text().to_vec();
        builds(&session, &catalog, &text, seed, &mut codes);
    }
}

#[test]
fn each_token_of_a_tight_mask_leaves_an_end() {
    for (seed, mut random, catalog, signature) in seeds(10) {
        let session = Session::new(&catalog, &signature, &Options::default()).unwrap();
        let vocab = Vocab::new(&vocabulary(&mut random), 0).unwrap();
        let mut guide = ConstrainedGuide::new(&session);
        let (mut bits, mut next) = (vec![0; vocab.mask_len()], vec![0; vocab.mask_len()]);
        for _ in 0..40 {
            if guide.may_end() {
                break;
            }
            let end = guide.close().unwrap();
            let needed = u32::try_from(vocab.cut(&end).unwrap().len()).unwrap() + 1;
            let left = needed + *random.pick(&[0, 1, 2, 5, 9, 20, 40]);
            // A guide that has kept ends of earlier positions, and one that has not.
            let mut kept = guide.clone();
            if random.chance(2) {
                kept = ConstrainedGuide::new(&session);
                kept.accept_bytes(guide.text()).unwrap();
            }
            kept.fill_mask(&vocab, left, &mut bits).unwrap();
            for token in tokens(&bits) {
                let mut follows = kept.clone();
                follows.accept(&vocab, token).unwrap();
                let fits = follows.fill_mask(&vocab, left - 1, &mut next);
                let shown = String::from_utf8_lossy(vocab.token(token)).into_owned();
                let text = String::from_utf8_lossy(guide.text());
                assert!(fits.is_ok(), "seed {seed}, {left} left: {shown:?} behind {text}: {fits:?}");
            }
            guide.fill_mask(&vocab, left, &mut bits).unwrap();
            step(&mut guide, &mut random);
        }
    }
}

#[test]
fn the_comma_before_a_further_case_leaves_an_end() {
    let catalog = tools();
    let session = Session::new(&catalog, "f(id: text) -> any", &Options::default()).unwrap();
    // Digits before the comma: what follows them was taken for what follows it.
    let mut all: Vec<Vec<u8>> = vec![Vec::new()];
    all.extend((0..=u8::MAX).rev().map(|byte| vec![byte]));
    let vocab = Vocab::new(&all, 0).unwrap();
    let mut guide = ConstrainedGuide::new(&session);
    guide.accept_bytes(br#"{"ret":{"match":"id","cases":{"a":8"#).unwrap();
    let needed = u32::try_from(guide.close().unwrap().len()).unwrap() + 1;
    let mut bits = vec![0; vocab.mask_len()];
    for left in needed + 1..needed + 20 {
        guide.fill_mask(&vocab, left, &mut bits).unwrap();
        let allowed = tokens(&bits);
        assert!(allowed.iter().any(|&token| vocab.token(token) == b"5"), "a digit needs one token");
        for token in allowed {
            let mut follows = guide.clone();
            follows.accept(&vocab, token).unwrap();
            let fits = follows.fill_mask(&vocab, left - 1, &mut vec![0; vocab.mask_len()]);
            assert!(fits.is_ok(), "{left} left: {:?}: {fits:?}", vocab.token(token));
        }
    }
}

fn tools() -> Catalog {
    let input = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let output = json!({"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "number"}}, "required": ["name", "age"]});
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("get-user", None, Some(&input), Some(&output)));
    catalog
}

#[test]
fn what_is_wrong_is_refused_where_it_is() {
    let catalog = tools();
    let options = Options {
        above: "; fn twice(n: number) -> number\nRET MUL REF 0 LIT 1 2\n".to_owned(),
        ..Options::default()
    };
    let session =
        Session::new(&catalog, "f(id: text, n: number, input: text) -> result text, text", &options).unwrap();
    let prefix = session.constrained_prefix();
    assert!(prefix.starts_with("{\"fn\":\"twice\"") && prefix.ends_with("\"body\":["), "{prefix}");
    let whole = |body: &str| {
        let mut guide = ConstrainedGuide::new(&session);
        guide.accept_bytes(body.as_bytes()).unwrap_or_else(|error| panic!("{body} at {}", error.at));
        guide.check(&catalog).unwrap();
    };
    // The text after `!` is refused at its first byte.
    let wrong = |text: &str| {
        let (before, after) = text.split_once('!').unwrap();
        let mut guide = ConstrainedGuide::new(&session);
        guide.accept_bytes(before.as_bytes()).unwrap_or_else(|error| panic!("{text} at {}", error.at));
        assert_eq!(guide.accept_bytes(after.as_bytes()).map_err(|error| error.at), Err(0), "{text}");
        let close = guide.close().unwrap();
        guide.accept_bytes(&close).unwrap();
        guide.check(&catalog).unwrap();
    };
    whole(
        r#"{"let":"u","call":"get-user","args":{"id":"id"},"err":{"as":"e","ret":{"err":"e"}}},{"ret":{"ok":"u.name"}}]}"#,
    );
    whole(
        r#"{"let":"u","call":"get-user","args":{"id":"id"}},{"match":"u","err":{"as":"e","then":[{"raise":"e"}]},"then":[{"ret":{"ok":"u.name"}}]}]}"#,
    );
    whole(r#"{"let":"d","call":"twice","args":{"n":"n"}},{"ret":{"ok":{"json":["d"]}}}]}"#);
    // Texts: plain ones, a name that is not bound, punctuation, references in them.
    whole(r#"{"ret":{"ok":"Hello there"}}]}"#);
    whole(r#"{"let":"s","expr":"open"},{"ret":{"ok":{"concat":["s","id."]}}}]}"#);
    whole(r#"{"ret":{"ok":"${id}: ${n} of 3.5, $5 or $${n}"}}]}"#);
    whole(
        r#"{"let":"u","call":"get-user","args":{"id":"A-${n}"},"err":{"as":"e","ret":{"err":"no user: ${e}"}}},{"ret":{"ok":"Dear ${u.name}"}}]}"#,
    );
    whole(r#"{"ret":{"ok":"${id}"}}]}"#);
    // Ways out beside `if`, handlers without a name, messages, cases as pairs.
    whole(r#"{"if":{">":["n",2]},"ret":{"err":"too many"}},{"ret":{"ok":"id"}}]}"#);
    whole(r#"{"if":{">":["n",2]},"ret":{"ok":"id"},"else":[{"let":"m","expr":1}]},{"ret":{"ok":"id"}}]}"#);
    whole(r#"{"for":"x","in":["id"],"yield":[{"if":{"==":["x","a"]},"break":true}]},{"ret":{"ok":"id"}}]}"#);
    // Beside loops and calls, and TRY.
    whole(
        r#"{"let":"l","for":"x","in":["id"],"index":"i","where":{">":["i",0]},"yield":[{"yield":"i"},{"if":{"==":["x","a"]},"skip":true},{"yield":"x"}]},{"ret":{"ok":{"json":["l"]}}}]}"#,
    );
    whole(
        r#"{"let":"t","try":[{"call":"get-user","args":{"id":"id"}}],"err":{"as":"e","then":[{"raise":"no ${e}"}]}},{"ret":{"ok":{"json":["t"]}}}]}"#,
    );
    // A name that TRY may leave unset, a value beside YIELD.
    wrong(
        r#"{"try":[{"let":"a","call":"get-user","args":{"id":"id"}}],"err":{"as":"e","then":[]}},{"ret":{"ok":"a.name!"}}"#,
    );
    wrong(r#"{"let":"l","for":"x","in":["id"],"yield":[{"yield":"x"},{"!expr":1}]}"#);
    let call = |handler: &str| {
        let call = r#"{"let":"u","call":"get-user","args":{"id":"id"},"err":"#;
        format!("{call}{handler}}},{{\"ret\":{{\"ok\":{{\"json\":[\"u\"]}}}}}}]}}")
    };
    whole(&call(r#""no user ${id}: ${err}""#));
    whole(&call(r#"{"ret":{"err":"err"}}"#));
    whole(&call(r#"{"value":{"obj":{}}}"#));
    whole(&call(r#"{"ignore":true}"#));
    whole(
        r#"{"let":"z","match":"n","cases":[[404,"none"],[-1.5,"x y"]],"default":"id"},{"ret":{"ok":"z"}}]}"#,
    );
    wrong(r#"{"let":"z","match":"n","cases":[[404,"none"],[404!,"#);
    wrong(r#"{"let":"z","match":"id","cases":[["_!""#);
    wrong(r#"{"if":{">":["n",2]},"!break"#);
    wrong(r#"{"let":"z","if":{">":["n",2]},"ret":{"ok":"id"}!}"#);
    wrong(r#"{"ret":{"ok":"err!""#);
    // Words that are texts where they stand, and that the passes of the loop bind as names further down.
    for binds in [
        r#"{"try":[],"err":{"as":"open","then":[{"break":true}]}}"#,
        r#"{"let":"u","call":"get-user","args":{"id":"open"}},{"match":"u","err":{"as":"open","then":[{"break":true}]}}"#,
        r#"{"let":"u","call":"get-user","args":{"id":"open"},"err":{"as":"open","value":{"obj":{}}}}"#,
        r#"{"let":"open","expr":1}"#,
        r#"{"for":"open","in":["x"],"yield":[]}"#,
        r#"{"for":"x","in":["open"],"index":"open","yield":[]}"#,
    ] {
        let before = r#"{"let":"w","expr":"open"},{"let":"w","expr":"${id} open"}"#;
        let pass = format!(r#"{before},{binds},{{"if":{{"==":["n",2]}},"break":true}}"#);
        let loops = [
            format!(r#"{{"while":{{"==":["id","open"]}},"do":[{pass}]}}"#),
            format!(r#"{{"while":{{"has":[["open","${{id}} open"],"open"]}},"max":3,"do":[{pass}]}}"#),
            format!(r#"{{"do":[{pass}],"until":true}}"#),
            format!(r#"{{"for":"y","in":["open"],"where":{{"==":["y","open"]}},"yield":[{pass}]}}"#),
        ];
        for looped in loops {
            whole(&format!(r#"{looped},{{"ret":{{"ok":"id"}}}}]}}"#));
            // Behind the loop it is no text any more.
            wrong(&format!(r#"{looped},{{"ret":{{"ok":"open!""#));
        }
    }
    // Nearly names, and paths of unbound names.
    wrong(r#"{"ret":{"ok":"ID!""#);
    wrong(r#"{"ret":{"ok":"input!""#);
    wrong(r#"{"ret":{"ok":"x.name!""#);
    wrong(r#"{"ret":{"ok":"id.name!""#);
    wrong(r#"{"let":"customer","expr":1},{"let":"z","expr":"custommer!""#);
    wrong(r#"{"let":"customer","expr":1},{"let":"z","expr":"\u0063ustome!""#);
    wrong(r#"{"ret":{"ok":"a \u002!4{id}"#);
    // References in texts that are not bound, that do not end, or that are not texts.
    wrong(r#"{"ret":{"ok":"a ${!x"#);
    wrong(r#"{"ret":{"ok":"a ${i!nput"#);
    wrong(r#"{"ret":{"ok":"a ${id! "#);
    wrong(r#"{"let":"l","expr":["id"]},{"ret":{"ok":"a ${!l"#);
    wrong(r#"{"ret":{"ok":"${n}!""#);
    // A reserved name.
    wrong(r#"{"let":"err!""#);
    wrong(r#"{"for":"x","in":["id"],"yield":[{"let":"y","expr":"x"}]},{"ret":{"ok":"y!""#);
    wrong(r#"{"for":"x","in":["id"],"yield":[{"let":"y","expr":"x"}]},{"let":"y!""#);
    // Bound on one path alone.
    wrong(r#"{"if":{">":["n",2]},"then":[{"let":"y","expr":1}]},{"let":"z","expr":"y!""#);
    // Bound on only one path.
    wrong(r#"{"ret":{"ok":"n!""#);
    wrong(r#"{"let":"z","expr":{"+":["n",{"t!ext"#);
    wrong(r#"{"let":"u","call":"get-user","args":{"id":"id"}},{"ret":{"ok":"u.age!""#);
    // Arguments: a number, one too few, one twice.
    wrong(r#"{"call":"get-user","args":{"id":!1"#);
    wrong(r#"{"call":"get-user","args":{!}"#);
    wrong(r#"{"call":"get-user","args":{"id":"id"!,"id""#);
    // A case twice, and a body without an end.
    wrong(r#"{"let":"z","match":"id","cases":{"a":1,"a!""#);
    wrong(r#"{"let":"z","expr":1}!]"#);
    wrong(r#"{"ret":{"ok":"id"}}]!,"#);
}

#[test]
fn forced_bytes_are_those_without_a_choice() {
    let catalog = tools();
    let session = Session::new(&catalog, "f(id: text) -> text", &Options::default()).unwrap();
    let mut guide = ConstrainedGuide::new(&session);
    assert_eq!(guide.forced(), b"{\"");
    guide.accept_bytes(b"{\"ret\":\"${i").unwrap();
    assert_eq!(guide.forced(), b"d}");
    assert_eq!(guide.next_bytes(), b"d");
    guide.accept_bytes(b"d}\"").unwrap();
    assert_eq!(guide.forced(), b"}]}");
    guide.accept_bytes(b"}]}").unwrap();
    assert!(guide.may_end() && guide.next_bytes().is_empty() && guide.forced().is_empty());
    assert_eq!(guide.next(), [Node::End]);
}

#[test]
fn the_beginning_of_a_file_gives_its_session() {
    let catalog = tools();
    let above = r#"{"fn":"twice","in":{"n":"num"},"out":"num","body":[{"ret":{"*":["n",2]}}]}"#;
    let header = r#"{"fn":"f","in":{"n":"num"},"out":"num","body":["#;
    let body =
        r#"{"let":"r","expr":{"obj":{"name":{"obj":{"id":"n"}}}}},{"let":"d","call":"twice","args":{"n":"#;
    let text = format!("{above}\n{header}{body}");
    let (session, start) = Session::of_constrained(&catalog, &text).unwrap();
    assert_eq!(&text[start..], body);
    let mut guide = ConstrainedGuide::new(&session);
    guide.accept_bytes(body.as_bytes()).unwrap();
    let close = guide.close().unwrap();
    guide.accept_bytes(&close).unwrap();
    guide.check(&catalog).unwrap();
    // The key of a record is not the body.
    let inside = format!("{header}{{\"raise\":{{\"obj\":{{\"body\":[");
    assert_eq!(Session::of_constrained(&catalog, &inside).unwrap().1, header.len());
    for wrong in ["", "{\"fn\":\"f\"", "{\"fn\":\"f\",\"out\":\"\",\"body\":["] {
        assert!(Session::of_constrained(&catalog, wrong).is_err(), "{wrong}");
    }
}

/// The condition of `until` is an IF in the passes, for which the deepest block has no room.
#[test]
fn a_loop_with_until_begins_only_where_its_condition_has_room() {
    let catalog = Catalog::default();
    let session = Session::new(&catalog, "f(ok: bool) -> result any, text", &Options::default()).unwrap();
    let mut guide = ConstrainedGuide::new(&session);
    let mut begun = 0;
    for depth in 0.. {
        let mut inside = guide.clone();
        if inside.accept_bytes(br#"{"do":["#).is_ok() {
            let end = inside.close().unwrap_or_else(|| panic!("no end within {depth} blocks"));
            inside.accept_bytes(&end).unwrap();
            inside.check(&catalog).unwrap();
            begun = depth;
        }
        if guide.accept_bytes(br#"{"if":"ok","then":["#).is_err() {
            break;
        }
    }
    assert!(begun > 4, "{begun}");
}
