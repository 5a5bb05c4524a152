//! Bad and large input: a clear error or a bounded answer, never a panic.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::both::Follow;
use crate::common::{Random, number};
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_guide::{ConstrainedGuide, Guide, Header, Node, Options, Session, Vocab};
use serde_json::json;

fn tool(name: &str) -> ToolSignature {
    let input = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    ToolSignature::new(name, None, Some(&input), None)
}

#[test]
fn a_session_that_cannot_be_is_refused_with_its_reason() {
    let catalog = Catalog::default();
    let refused = |signature: &str| {
        Session::new(&catalog, signature, &Options::default()).map(|_| ()).unwrap_err().to_string()
    };
    assert!(refused("").contains("signature") || !refused("").is_empty());
    assert!(refused("f(id: text -> text").len() > 10);
    assert!(refused("f() -> nil\nRET LIT 2 nil").contains("one line"));
    let above = "; fn f() -> nil\nRET LIT 2 nil\n".to_owned();
    let options = Options { above, ..Options::default() };
    let error = Session::new(&catalog, "f() -> nil", &options).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("`f`"), "{error}");
    let broken = Options { above: "; fn g(\nRET".to_owned(), ..Options::default() };
    assert!(Session::new(&catalog, "f() -> nil", &broken).is_err());
}

/// A choice without a case is nil, but joins other values as if it were none of them.
#[test]
fn what_a_choice_without_cases_joins_is_known_as_the_check_knows_it() {
    let catalog = Catalog::default();
    let session = Session::new(&catalog, "f(a: any) -> any", &Options::default()).unwrap();
    for begun in [
        "RET UNIQUE LIST 2 MATCH_MAP OBJ 0 0 LIST 0 LIT ",
        "RET UNIQUE LIST 2 LIST 0 MATCH_MAP OBJ 0 0 LIT ",
        "IF EQ REF 0 LIT 1 1 1\n  LET 1 MATCH_MAP OBJ 0 0\nELSE 1\n  LET 1 LIST 1 LIST 0\nRET UNIQUE REF 1 LIT ",
        "LET 1 IF EQ REF 0 LIT 1 1 1\n  MATCH_MAP OBJ 0 0\nELSE 1\n  LIST 1 LIST 0\nRET UNIQUE REF 1 LIT ",
    ] {
        let mut guide = Guide::new(&session);
        guide.accept_bytes(begun.as_bytes()).unwrap_or_else(|error| panic!("{begun} at {}", error.at));
        assert_eq!(guide.next_bytes(), b"2", "{begun}: only nil, since items that are lists have no fields");
    }
}

#[test]
fn items_and_fields_are_those_that_a_function_takes() {
    let catalog = Catalog::default();
    let options = Options { fields: Some(vec!["n".to_owned()]), ..Options::default() };
    let session = Session::new(&catalog, "f(ns: list number) -> any", &options).unwrap();
    let allowed = [
        "RET MIN LIST 2 LIT 1 1 LIT 1 2\n",
        "RET MAX SORT LIST 1 LIT 0 \"a\" LIT 2 nil\n",
        "RET SORT LIST 1 OBJ 0 0\n",
        "RET SORT LIST 1 OBJ 0 LIT 0 \"n\"\n",
        "RET SORT REF 0 LIT 2 nil\n",
        "RET GET REF 0 LIT 1 1 LIT 2 nil\n",
    ];
    for body in allowed {
        Guide::new(&session).accept_bytes(body.as_bytes()).unwrap();
    }
    // Up to the last character, which no program has there.
    for body in [
        "RET MIN LIST 1 LIT 3",
        "RET MAX LIST 1 O",
        "RET MAX SORT LIST 1 O",
        "RET SORT LIST 1 LIT 2",
        "RET SORT LIST 1 LIS",
        "RET SORT LIST 1 OBJ 0 LIT 2",
        "RET SORT REF 0 LIT 0",
        "RET SORT REF 0 0",
        "RET GET REF 0 LIT 0",
        "RET GET OBJ 0 LIT 1",
    ] {
        let error = Guide::new(&session).accept_bytes(body.as_bytes()).unwrap_err();
        assert_eq!(error.at, body.len() - 1, "{body}");
    }
}

#[test]
fn a_beginning_that_is_wrong_names_its_place_and_changes_nothing() {
    let catalog = Catalog::default();
    let session = Session::new(&catalog, "f(n: number) -> number", &Options::default()).unwrap();
    let mut guide = Guide::new(&session);
    let refused = |guide: &mut Guide<'_>, text: &[u8]| guide.accept_bytes(text).unwrap_err().at;
    assert_eq!(refused(&mut guide, b"RET REF 1\n"), 8);
    assert_eq!(refused(&mut guide, b"ret"), 0);
    assert_eq!(refused(&mut guide, b"RET LIT 0 \"\xff"), 8);
    assert_eq!(refused(&mut guide, &vec![0; 100_000]), 0);
    assert_eq!(guide.text(), b"");
    assert!(guide.finish().is_err());
    guide.accept_bytes(b"RET REF 0").unwrap();
    assert!(guide.finish().unwrap().ends_with("RET REF 0\n"));
}

#[test]
fn names_that_are_hostile_or_begin_alike_are_numbers_in_the_text() {
    let names =
        ["get", "get-user", "get-user-2", "a b", "\"", "\\", "0=x", "ü", "a\tb", "; fn g() -> nil", "x\ny"];
    let mut catalog = Catalog::default();
    names.iter().for_each(|name| {
        catalog.insert(tool(name));
    });
    let session = Session::new(&catalog, "f() -> any", &Options::default()).unwrap();
    let prefix = session.prefix();
    let (again, body) = Session::of_file(&catalog, None, &prefix).unwrap();
    assert_eq!((body, again.prefix()), (prefix.len(), prefix.clone()));
    let mut guide = Guide::new(&session);
    guide.accept_bytes(b"CALL ").unwrap();
    let offered = guide.next();
    assert_eq!(offered.len(), catalog.tools().len(), "{prefix}");
    for node in offered {
        let Node::Tool(number, _) = node else { panic!("{node}") };
        let mut guide = Guide::new(&session);
        guide.accept_bytes(format!("RET CALL {number} 1 0 LIT 0 \"\"\n").as_bytes()).unwrap();
        guide.check(&catalog).unwrap();
    }
    // A tool that is not in the catalogue cannot be called.
    let only = Options { tools: Some(vec!["none".to_owned()]), ..Options::default() };
    let session = Session::new(&catalog, "f() -> any", &only).unwrap();
    assert!(Guide::new(&session).accept_bytes(b"CALL").is_err());
}

#[test]
fn constants_are_listed_from_their_first_letter_on() {
    let catalog = Catalog::default();
    let session = Session::new(&catalog, "f() -> bool", &Options::default()).unwrap();
    let mut guide = Guide::new(&session);
    guide.accept_bytes(b"RET LIT 3 ").unwrap();
    assert_eq!(guide.next(), [Node::Name("true"), Node::Name("false")]);
    guide.accept_bytes(b"f").unwrap();
    assert_eq!(guide.next(), [Node::Name("false")]);
}

#[test]
fn ten_thousand_tools_and_many_tokens_are_bounded() {
    let mut catalog = Catalog::default();
    (0..10_000).for_each(|number| {
        catalog.insert(tool(&format!("tool-{number}")));
    });
    let session = Session::new(&catalog, "f() -> any", &Options::default()).unwrap();
    let tokens: Vec<Vec<u8>> = (0..100_000_u32)
        .map(|number| match number {
            0 => Vec::new(),
            1..=256 => vec![u8::try_from(number - 1).unwrap()],
            // Long tokens of words, texts and digits.
            _ if number % 1000 == 0 => b"REF ".repeat(300),
            _ => number.to_string().into_bytes(),
        })
        .collect();
    let vocab = Vocab::new(&tokens, 0).unwrap();
    assert!(vocab.memory() < 20_000_000, "{}", vocab.memory());
    let mut guide = Guide::new(&session);
    let mut bits = vec![0; vocab.mask_len()];
    for (text, left) in [(&b"RET"[..], 40), (b" CALL ", u32::MAX), (b"99", 40), (b"99 1 0 LIT 0 \"a", 40)] {
        guide.accept_bytes(text).unwrap();
        guide.fill_mask(&vocab, left, &mut bits).unwrap();
        assert!(bits.iter().any(|&word| word != 0), "{text:?}");
    }
    let end = guide.close().unwrap();
    guide.accept_bytes(&end).unwrap();
    // The registries of all tools would be longer than a line may be.
    let whole = guide.finish().unwrap();
    assert!(whole.len() < 200, "{} bytes", whole.len());
    assert!(whole.contains("; Tools: 9999=tool-9999\n"), "{whole}");
    assert!(guide.check(&catalog).is_ok());
    assert!(guide.memory() < 512_000, "{}", guide.memory());
}

#[test]
fn tools_that_require_any_number_can_be_called() {
    for schema in
        [json!({"type": "number"}), json!({"type": "integer"}), json!({"minimum": 3, "type": "number"})]
    {
        let input = json!({"type": "object", "properties": {"n": schema}, "required": ["n"]});
        let mut catalog = Catalog::default();
        catalog.insert(ToolSignature::new("t", None, Some(&input), None));
        let session = Session::new(&catalog, "f() -> any", &Options::default()).unwrap();
        let mut guide = Guide::new(&session);
        guide.accept_bytes(b"RET CALL 0 1 0 LIT 1 7\n").unwrap();
        assert_eq!(guide.check(&catalog), Ok(()));
    }
}

#[test]
fn a_call_that_needs_a_rollback_is_offered_only_where_one_can_follow() {
    let mut catalog = Catalog::default();
    let mut only = ToolSignature::new("t", None, Some(&json!({"type": "object"})), None);
    only.requires_rollback = true;
    catalog.insert(only);
    let session = Session::new(&catalog, "f() -> any", &Options::default()).unwrap();
    let mut guide = Guide::new(&session);
    guide.accept_bytes(b"FOR 0 LIST 0 3\n  UNDO CALL 0 0\n").unwrap();
    assert!(guide.accept_bytes(b"  RET CALL 0 0\n").is_err());
    guide.accept_bytes(b"  CALL 0 0\n").unwrap();
    assert!(guide.accept_bytes(b"  LET 1 CALL 0 0\n").is_err());
    guide.accept_bytes(b"  ROLLBACK CALL 0 0\n").unwrap();
    // UNDO cannot name what a ROLLBACK has registered.
    assert!(guide.accept_bytes(b"  UNDO CALL 0 0\n").is_err());
    let end = guide.close().unwrap();
    guide.accept_bytes(&end).unwrap();
    guide.check(&catalog).unwrap();
}

#[test]
fn a_bound_loop_can_end_where_a_result_is_owed() {
    let catalog = Catalog::default();
    let session = Session::new(&catalog, "f() -> number", &Options::default()).unwrap();
    let mut guide = Guide::new(&session);
    let before = "LET 0 PARSE LIT 0 \"1\"\nIF LIT 3 true 1\n  MATCH 0 1\n    OK 0 0\n  FAIL LIT 2 nil\nELSE 1\n  LET 1 ";
    guide.accept_bytes(before.as_bytes()).unwrap();
    // A value in the passes would lose the result.
    let _ = guide.accept_bytes(b"FOR 2 LIST 0 1");
    let end = guide.close().expect("an end is known");
    guide.accept_bytes(&end).unwrap();
    guide.check(&catalog).unwrap();
}

#[test]
fn a_header_refuses_random_bytes_and_tokens_without_effect() {
    let catalog = Catalog::default();
    let session = Session::new(&catalog, "main(id: text) -> any", &Options::default()).unwrap();
    let tokens: Vec<Vec<u8>> =
        [Vec::new(), Vec::new()].into_iter().chain((0..=u8::MAX).map(|byte| vec![byte])).collect();
    let vocab = Vocab::new(&tokens, 0).unwrap();
    let mut bits = vec![0; vocab.mask_len()];
    for seed in 0..number("WALKS", 300) {
        let mut random = Random::new(seed);
        let mut header = Header::new(&session);
        let mut marks = Vec::new();
        while !header.ended() && marks.len() < 120 {
            let (before, next) = (header.text().to_vec(), header.next_bytes());
            assert!(!next.is_empty());
            let byte = u8::try_from(random.below(256)).unwrap();
            for text in [&[byte][..], &[byte, 0], b"\xff", b"; fn \xc3"] {
                if header.clone().accept_bytes(text).is_err() {
                    assert!(header.accept_bytes(text).is_err());
                    assert_eq!(header.text(), before);
                }
            }
            assert_eq!(header.next_bytes(), next);
            for token in [1, 258, u32::MAX] {
                assert!(header.accept(&vocab, token).is_err());
            }
            for left in [0, 1] {
                let needed = header.close().len();
                match header.fill_mask(&vocab, left, &mut bits) {
                    Ok(()) => assert!(needed <= left as usize),
                    Err(short) => assert_eq!(short.needed, Some(needed)),
                }
                assert_eq!(bits.iter().map(|word| word.count_ones()).sum::<u32>(), 1);
            }
            let size = random.below(12);
            header.fill_mask(&vocab, u32::MAX, &mut vec![u32::MAX; size]).unwrap();
            marks.push(header.mark());
            header.accept_bytes(&[*random.pick(&next)]).unwrap();
        }
        // A mark of a longer text changes nothing.
        for (at, mark) in marks.iter().enumerate().rev() {
            let mut other = Header::new(&session);
            other.rollback(mark);
            assert_eq!(other.text(), b"");
            header.rollback(mark);
            assert_eq!(header.text().len(), at);
        }
        let end = header.close();
        header.accept_bytes(end.as_bytes()).unwrap();
        assert!(header.ended());
    }
}

#[test]
fn a_listed_text_can_follow_a_text_that_fills_the_line() {
    let input = json!({"type": "object", "properties": {"body": {"type": "string"}, "level": {"enum": ["low", "high"]}},
        "required": ["body", "level"]});
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("t", None, Some(&input), None));
    let session = Session::new(&catalog, "f() -> any", &Options::default()).unwrap();
    let mut guide = Guide::new(&session);
    guide.accept_bytes(b"RET CALL 0 2 0 LIT 0 \"").unwrap();
    while guide.accept_bytes(b"a").is_ok() {}
    assert_eq!(guide.next_bytes(), b"\"");
    let end = guide.close().unwrap();
    guide.accept_bytes(&end).unwrap();
    assert!(end.starts_with(b"\" 1 LIT 0 \""));
    assert_eq!(guide.check(&catalog), Ok(()));
}

#[test]
fn tools_that_require_a_very_long_text_are_not_offered() {
    let begin = |length: usize| {
        let text = "x".repeat(length);
        let input =
            json!({"type": "object", "properties": {"long": {"enum": [text, "y"]}}, "required": ["long"]});
        let mut catalog = Catalog::default();
        catalog.insert(ToolSignature::new("t", None, Some(&input), None));
        let session = Session::new(&catalog, "f() -> any", &Options::default()).unwrap();
        let mut guide = Guide::new(&session);
        let taken = guide.accept_bytes(b"RET CALL 0 1 0 LIT 0 \"x").is_ok();
        let end = guide.close().unwrap();
        guide.accept_bytes(&end).unwrap();
        assert_eq!(guide.check(&catalog), Ok(()));
        let mut guide = ConstrainedGuide::new(&session);
        let same = guide.accept_bytes(b"{\"ret\":{\"call\":\"t\",\"args\":{\"long\":\"x").is_ok();
        let end = guide.close().unwrap();
        guide.accept_bytes(&end).unwrap();
        assert_eq!(guide.check(&catalog), Ok(()));
        assert_eq!(taken, same);
        taken
    };
    assert!(begin(1000));
    assert!(!begin(40_000) && !begin(1_000_000));
}

#[test]
fn hostile_registries_of_a_host_cannot_end_their_line() {
    let mut catalog = Catalog::default();
    catalog.insert(tool("get"));
    let hostile = ["a b", "x\ny", "; fn g() -> nil", "\"", "\\", "", "0=1", "ü\u{2028}", "get", "\r"];
    let names = || hostile.iter().map(|name| (*name).to_owned());
    let vars = (0..).zip(names()).chain([(u32::MAX, "last".to_owned()), (0, "again".to_owned())]);
    let options = Options {
        tools: Some(names().collect()),
        fields: Some(names().chain(["id".to_owned()]).collect()),
        vars: vars.collect(),
        ..Options::default()
    };
    let session = Session::new(&catalog, "f() -> any", &options).unwrap();
    let prefix = session.prefix();
    let (again, body) = Session::of_file(&catalog, None, &prefix).unwrap();
    assert_eq!((body, again.prefix()), (prefix.len(), prefix.clone()));
    let mut guide = Guide::new(&session);
    guide.accept_bytes(b"RET CALL 8 1 10 LIT 0 \"\"\n").unwrap();
    assert_eq!(guide.check(&catalog), Ok(()), "{prefix}");
    // More names than a session numbers.
    let tools = Some(vec!["get".to_owned(); 60_001]);
    let error = Session::new(&catalog, "f() -> any", &Options { tools, ..Options::default() }).map(|_| ());
    assert!(error.unwrap_err().to_string().contains("at most 60000"));
}
