//! Bad and large input of bodies in `constrained`: hostile names and texts, wrong beginnings, many tools. A
//! clear error or a bounded answer, never a panic.

#![allow(clippy::unwrap_used, clippy::panic, clippy::missing_panics_doc, reason = "a test may panic")]

use crate::both::Follow;
use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_guide::{ConstrainedGuide, Guide, Node, Options, Session, Vocab};
use serde_json::{Value, json};

/// Names that are parts of others, of the notation, or of JSON.
const NAMES: [&str; 23] = [
    "get",
    "get-user",
    "get-user-2",
    "a b",
    "\"",
    "\\",
    "\\\"",
    "}]}",
    "{\"ret\":null}",
    "\",\"args\":{",
    "$$",
    "ü",
    "日本語",
    "a\u{301}",
    "\u{202e}abc",
    "a\tb",
    "x\ny",
    "\u{1f}",
    "\u{7f}",
    "null",
    "err",
    "input",
    "_",
];

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A tool for each name, with an argument and a field of the answer of that name.
fn hostile() -> Catalog {
    let mut catalog = Catalog::default();
    for name in NAMES {
        let input = json!({"type": "object", "properties": {name: {"enum": NAMES}}, "required": [name]});
        let output = json!({"type": "object", "properties": {name: {"type": "string"}}, "required": [name]});
        catalog.insert(ToolSignature::new(name, None, Some(&input), Some(&output)));
    }
    catalog
}

fn accepts(session: &Session<'_>, body: &str) -> bool {
    ConstrainedGuide::new(session).accept_bytes(body.as_bytes()).is_ok()
}

#[test]
fn hostile_names_of_tools_arguments_and_texts_are_quoted() {
    let catalog = hostile();
    let session = Session::new(&catalog, "f(id: text) -> any", &Options::default()).unwrap();
    for name in NAMES {
        let begin = format!("{{\"let\":\"x\",\"call\":{},\"args\":{{{}:", quoted(name), quoted(name));
        for text in NAMES {
            let forms = [quoted(text), format!("{{\"text\":{}}}", quoted(text))];
            let fits: Vec<&String> =
                forms.iter().filter(|form| accepts(&session, &format!("{begin}{form}}}}}"))).collect();
            assert!(!fits.is_empty(), "{text:?} as an argument of {name:?}");
            for form in fits {
                let mut guide = ConstrainedGuide::new(&session);
                guide.accept_bytes(format!("{begin}{form}}}}},{{\"ret\":\"x\"}}]}}").as_bytes()).unwrap();
                assert_eq!(guide.check(&catalog), Ok(()));
            }
        }
        // Texts that are not listed, and names that are not quoted.
        assert!(!accepts(&session, &format!("{begin}\"other\"")));
        assert!(!accepts(&session, &format!("{begin}{{\"text\":\"other\"")));
        let unquoted = format!("\"{name}\"");
        if NAMES.iter().all(|name| quoted(name) != unquoted) {
            assert!(
                !accepts(&session, &format!("{{\"let\":\"x\",\"call\":\"{name}\",\"args\":{{")),
                "{name:?}"
            );
        }
    }
    // Each choice of a tool is one of them, whole.
    let mut guide = ConstrainedGuide::new(&session);
    guide.accept_bytes(b"{\"call\":").unwrap();
    let pieces = guide.next();
    assert_eq!(pieces.len(), NAMES.len());
    for name in NAMES {
        let whole = quoted(name);
        let is = |piece: &Node| matches!(piece, Node::Bytes(bytes) if bytes.starts_with(&whole));
        assert!(pieces.iter().any(is), "{whole} is not in {pieces:?}");
    }
}

#[test]
fn tools_whose_names_no_call_may_have_are_not_offered() {
    let mut catalog = Catalog::default();
    for name in ["${id}", "a${", "$", "{id}"] {
        catalog.insert(ToolSignature::new(name, None, None, None));
    }
    let session = Session::new(&catalog, "f(id: text) -> any", &Options::default()).unwrap();
    let mut guide = ConstrainedGuide::new(&session);
    guide.accept_bytes(b"{\"call\":").unwrap();
    let offered: Vec<Node> = ["\"$\"", "\"{id}\""].map(|name| Node::Bytes(name.to_owned())).into();
    assert_eq!(guide.next(), offered);
}

#[test]
fn names_that_are_too_long_for_a_line_are_not_offered() {
    for (tool, field, fits) in [(512, 512, true), (513, 1, false), (1, 513, false), (100_000, 1, false)] {
        let (tool, field) = ("t".repeat(tool), "f".repeat(field));
        let input =
            json!({"type": "object", "properties": {&*field: {"type": "string"}}, "required": [&*field]});
        let mut catalog = Catalog::default();
        catalog.insert(ToolSignature::new(&tool, None, Some(&input), None));
        let session = Session::new(&catalog, "f() -> any", &Options::default()).unwrap();
        let body = format!("{{\"ret\":{{\"call\":\"{tool}\",\"args\":{{\"{field}\":\"a\"}}}}}}]}}");
        let mut guide = ConstrainedGuide::new(&session);
        assert_eq!(guide.accept_bytes(body.as_bytes()).is_ok(), fits);
        assert_eq!(guide.check(&catalog).is_ok(), fits);
        let mut guide = Guide::new(&session);
        assert_eq!(guide.accept_bytes(b"RET CALL 0 1 0 LIT 0 \"a\"").is_ok(), fits);
        assert_eq!(guide.check(&catalog).is_ok(), fits);
    }
}

#[test]
fn fields_with_hostile_names_are_read_only_where_a_path_can_have_them() {
    let catalog = hostile();
    let session = Session::new(&catalog, "f(id: text) -> any", &Options::default()).unwrap();
    let mut read = 0;
    for name in NAMES {
        let call = format!("\"call\":{},\"args\":{{{}:{{\"text\":\"get\"}}}}", quoted(name), quoted(name));
        let call = if accepts(&session, &format!("{{\"let\":\"x\",{call}")) {
            call
        } else {
            call.replace("{\"text\":\"get\"}", "\"get\"")
        };
        let body = format!("{{\"let\":\"x\",{call}}},{{\"ret\":{}}}]}}", quoted(&format!("x.{name}")));
        let mut guide = ConstrainedGuide::new(&session);
        match guide.accept_bytes(body.as_bytes()) {
            Ok(()) => {
                assert_eq!(guide.check(&catalog), Ok(()));
                read += 1;
            }
            Err(error) => {
                assert!(error.at > body.find("\"ret\"").unwrap(), "{body} at {}", error.at);
                assert_eq!(guide.text(), b"");
            }
        }
    }
    assert!(read >= 6, "{read} of the names");
}

#[test]
fn a_wrong_beginning_names_its_place_and_changes_nothing() {
    let catalog = hostile();
    let session = Session::new(&catalog, "f(id: text) -> text", &Options::default()).unwrap();
    let mut guide = ConstrainedGuide::new(&session);
    let wrong: [(&[u8], usize); 13] = [
        (b"", 0),
        (b" {", 0),
        (b"]}", 0),
        (b"ret", 0),
        (b"{ret", 1),
        (b"{\"ret\": ", 7),
        (b"{'ret'", 1),
        (b"{\"ret\":\"a\n", 9),
        (b"{\"ret\":\"\xff", 8),
        (b"{\"ret\":\"\xc3(", 9),
        (b"{\"ret\":\"\\ud800", 11),
        (b"{\"ret\":\"id\"}]}}", 14),
        (b"\xef\xbb\xbf{\"ret\":\"id\"}]}", 0),
    ];
    let first = guide.next_bytes();
    for (text, at) in wrong {
        if text.is_empty() {
            guide.accept_bytes(text).unwrap();
        } else {
            let error = guide.accept_bytes(text).unwrap_err();
            assert_eq!(error.at, at, "{:?}", String::from_utf8_lossy(text));
        }
        assert_eq!(guide.text(), b"");
        assert_eq!(guide.next_bytes(), first);
        assert!(guide.finish().is_err() && guide.check(&catalog).is_err());
    }
    assert_eq!(guide.accept_bytes(&vec![0; 100_000]).unwrap_err().at, 0);
    assert_eq!(guide.accept_bytes(&[b"{\"ret\":", &*vec![b'['; 100_000]].concat()).unwrap_err().at, 7);
    guide.accept_bytes(b"{\"ret\":\"id\"}]}").unwrap();
    assert_eq!(guide.check(&catalog), Ok(()));
}

#[test]
fn a_file_whose_beginning_is_wrong_makes_no_session() {
    let catalog = Catalog::default();
    let deep = "[".repeat(100_000);
    let many = "\"body\":[".repeat(20_000);
    let files: [&str; 9] = [
        "",
        "{",
        "\"body\":[",
        "{\"fn\":1,\"body\":[",
        "{\"fn\":\"f\",\"in\":[],\"out\":\"num\",\"body\":[",
        "{\"fn\":\"f\",\"in\":{},\"out\":\"nothing at all\",\"body\":[",
        "{\"fn\":\"f\",\"in\":{},\"out\":\"num\",\"body\":{",
        &deep,
        &many,
    ];
    for file in files {
        let error = Session::of_constrained(&catalog, file).map(|it| it.1).unwrap_err();
        assert!(!error.to_string().is_empty() && error.to_string().len() < 1000, "{error}");
    }
    // With an error in a function above, the session is that of this function, and refuses the error.
    let own = "{\"fn\":\"f\",\"in\":{},\"out\":\"text\",\"body\":[";
    assert_eq!(Session::of_constrained(&catalog, own).unwrap().1, own.len());
    let file = format!("{own}{{\"ret\":\"x.y\"}}]}}\n{}", own.replace("\"f\"", "\"g\""));
    let (session, start) = Session::of_constrained(&catalog, &file).unwrap();
    assert_eq!(start, own.len());
    let error = ConstrainedGuide::new(&session).accept_bytes(&file.as_bytes()[start..]);
    assert_eq!(error.unwrap_err().at, "{\"ret\":\"x.y".len());
}

#[test]
fn ten_thousand_tools_and_names_that_begin_alike_are_bounded() {
    let input = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
    let mut catalog = Catalog::default();
    // Each name is the beginning of the next one; others differ at their end only.
    for length in 1..=300 {
        catalog.insert(ToolSignature::new(&"a".repeat(length), None, Some(&input), None));
    }
    for number in 0..9_700 {
        catalog.insert(ToolSignature::new(&format!("tool-{number}"), None, Some(&input), None));
    }
    let session = Session::new(&catalog, "f(id: text) -> any", &Options::default()).unwrap();
    for name in ["a", "aa", &"a".repeat(299), &"a".repeat(300), "tool-1", "tool-10", "tool-9699"] {
        let body =
            format!("{{\"let\":\"x\",\"call\":\"{name}\",\"args\":{{\"id\":\"id\"}}}},{{\"ret\":\"x\"}}]}}");
        let mut guide = ConstrainedGuide::new(&session);
        guide.accept_bytes(body.as_bytes()).unwrap();
        assert_eq!(guide.check(&catalog), Ok(()), "{name}");
        assert!(guide.memory() < 512_000, "{}", guide.memory());
    }
    for name in ["", "b", &"a".repeat(301), "tool-", "tool-9700", "tool-01"] {
        assert!(!accepts(&session, &format!("{{\"call\":\"{name}\"")), "{name}");
    }
    let mut tokens: Vec<Vec<u8>> = vec![Vec::new()];
    tokens.extend((0..=u8::MAX).map(|byte| vec![byte]));
    tokens.extend((1..=300).map(|length| vec![b'a'; length]));
    tokens.extend((0..2_000).map(|number| format!("tool-{number}\"").into_bytes()));
    let vocab = Vocab::new(&tokens, 0).unwrap();
    let mut bits = vec![0; vocab.mask_len()];
    let mut guide = ConstrainedGuide::new(&session);
    for (text, left) in [("{\"let\":\"x\",\"call\":", u32::MAX), ("\"", 80), ("a", u32::MAX), ("aaa", 500)] {
        guide.accept_bytes(text.as_bytes()).unwrap();
        guide.fill_mask(&vocab, left, &mut bits).unwrap();
        assert!(bits.iter().any(|&word| word != 0), "{text:?}");
    }
    // After 4 of at most 300 letters: those of up to 296 more.
    guide.fill_mask(&vocab, u32::MAX, &mut bits).unwrap();
    let letters = |length: usize| bits[(256 + length) / 32] >> ((256 + length) % 32) & 1 == 1;
    assert!((1..=296).all(letters) && !(297..=300).any(letters));
    let end = guide.close().unwrap();
    guide.accept_bytes(&end).unwrap();
    assert_eq!(guide.check(&catalog), Ok(()));
}

#[test]
fn tools_with_contradictory_schemas_do_no_harm() {
    let schemas = [
        json!({"enum": []}),
        json!({"type": "integer", "minimum": 5, "maximum": 4}),
        json!({"type": "integer", "minimum": 1.2, "maximum": 1.8}),
        json!({"type": "string", "enum": [1, 2]}),
        json!({"type": "object", "properties": {"in": {"enum": []}}, "required": ["in", "out"]}),
        json!({"$ref": "#/properties/n"}),
        json!({"type": "array", "minItems": 3, "maxItems": 2, "items": {"enum": []}}),
    ];
    /// A beginning is refused and changes nothing, or can be ended so that it builds.
    macro_rules! ends {
        ($guide:ident, $begin:ident, $catalog:ident, $schema:ident) => {
            if $guide.accept_bytes($begin.as_bytes()).is_ok() {
                let end = $guide.close().unwrap();
                $guide.accept_bytes(&end).unwrap();
                assert_eq!($guide.check(&$catalog), Ok(()), "{}", $schema);
            } else {
                assert_eq!($guide.text(), b"");
            }
        };
    }
    for schema in schemas {
        let input = json!({"type": "object", "properties": {"n": schema}, "required": ["n"]});
        let mut catalog = Catalog::default();
        catalog.insert(ToolSignature::new("t", None, Some(&input), None));
        let session = Session::new(&catalog, "f() -> any", &Options::default()).unwrap();
        for begin in ["", "{\"let\":\"x\",\"call\":\"t\"", "{\"let\":\"x\",\"call\":\"t\",\"args\":{\"n\":"] {
            let mut guide = ConstrainedGuide::new(&session);
            ends!(guide, begin, catalog, schema);
        }
        for begin in ["", "LET 0 CALL 0 1 ", "LET 0 CALL 0 1 0 "] {
            let mut guide = Guide::new(&session);
            ends!(guide, begin, catalog, schema);
        }
    }
}

#[test]
fn programs_of_demanding_signatures_can_end() {
    let mut catalog = Catalog::default();
    let nothing = json!({"type": "object", "properties": {"n": {"enum": []}}, "required": ["n"]});
    catalog.insert(ToolSignature::new("t", None, Some(&nothing), None));
    let many: Vec<String> = (0..70).map(|number| format!("p{number}: text")).collect();
    let many = format!("f({}) -> text", many.join(", "));
    let long = format!("f({}: text) -> text", "n".repeat(10_000));
    for signature in [
        "f() -> nil",
        "f() -> bool",
        "f() -> order",
        "f() -> list list number",
        "f() -> result nil, nil",
        "f() -> result list order, bool",
        "f(err: text, input: text, error: any) -> text",
        "f(null: text, true: number) -> result bool, bool",
        "t(t: text) -> text",
        &many,
        &long,
    ] {
        let session = Session::new(&catalog, signature, &Options::default()).unwrap();
        let mut guide = Guide::new(&session);
        let end = guide.close().unwrap();
        guide.accept_bytes(&end).unwrap();
        assert_eq!(guide.check(&catalog), Ok(()), "{signature}");
        let mut guide = ConstrainedGuide::new(&session);
        let end = guide.close().unwrap();
        guide.accept_bytes(&end).unwrap();
        assert_eq!(guide.check(&catalog), Ok(()), "{signature}");
    }
}
