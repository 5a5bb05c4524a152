//! Loops with a condition, `push`, `let` with a path and `then` beside a call: programs that are allowed
//! byte by byte and build, and what is refused where it is.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test may panic")]

use ilo_asm::catalog::{Catalog, ToolSignature};
use ilo_asm::compile::{Options as Build, compile};
use ilo_asm::notation::Notation;
use ilo_guide::{ConstrainedGuide, Options, Session};
use serde_json::json;

fn pages() -> Catalog {
    let input = json!({"type": "object", "properties": {"cursor": {"type": ["string", "null"]}}});
    let output = json!({"type": "object", "required": ["items"], "properties": {
        "items": {"type": "array"}, "next": {"type": ["string", "null"]}}});
    let mut catalog = Catalog::default();
    catalog.insert(ToolSignature::new("get-page", None, Some(&input), Some(&output)));
    catalog.insert(ToolSignature::new("log", None, None, None));
    catalog
}

/// The part of a body that is allowed, and whether it is whole.
fn allowed<'b>(signature: &str, body: &'b str) -> (&'b str, bool) {
    let catalog = pages();
    let session = Session::new(&catalog, signature, &Options::default()).unwrap();
    let mut guide = ConstrainedGuide::new(&session);
    match guide.accept_bytes(body.as_bytes()) {
        Ok(()) => (body, guide.may_end()),
        Err(refused) => (&body[..refused.at], false),
    }
}

#[test]
fn what_the_language_has_is_written() {
    let signature = "fn all(first: any, lines: list any) -> any";
    let bodies = [
        r#"{"let":"c","expr":"first"},{"let":"found","expr":[]},{"while":{"!=":["c",null]},"max":5,"do":[{"let":"page","call":"get-page","args":{"cursor":null}},{"let":"found","expr":{"concat":["found","page.items"]}},{"let":"c","expr":"page.next"}]},{"ret":"found"}]}"#,
        r#"{"while":"first","do":[{"if":{"==":["lines",[]]},"skip":true},{"break":true}]},{"ret":null}]}"#,
        r#"{"do":[{"let":"page","call":"get-page"}],"until":{"==":["page.next",null]}},{"ret":"page"}]}"#,
        r#"{"let":"n","expr":0},{"do":[{"let":"n","expr":{"+":["n",1]}},{"if":{">":["n",7]},"break":true}],"until":{">":["n",9]}},{"ret":"n"}]}"#,
        r#"{"let":"seen","expr":[]},{"for":"line","in":"lines","yield":[{"let":"seen","push":"line"}]},{"ret":"seen"}]}"#,
        r#"{"let":"sums","expr":{"obj":{}}},{"let":"sums.all","expr":1},{"let":"sums.by.name","push":"first"},{"let":"sums.by.more.x","expr":{"+":[1,2]}},{"ret":"sums"}]}"#,
        r#"{"let":"page","call":"get-page","then":[{"call":"log"}]},{"ret":"page.items"}]}"#,
        r#"{"let":"page","call":"get-page","then":[{"expr":{"len":["page.items"]}}]}]}"#,
        r#"{"let":"page","call":"get-page","args":{"cursor":null},"then":[{"let":"n","expr":{"len":["page.items"]}},{"if":{">":["n",9]},"ret":"n"}]},{"ret":"page"}]}"#,
    ];
    for body in bodies {
        assert_eq!(allowed(signature, body), (body, true));
        let catalog = pages();
        let session = Session::new(&catalog, signature, &Options::default()).unwrap();
        let whole = session.constrained_prefix() + body;
        let options =
            Build { from: Some(Notation::Constrained), catalog: Some(&catalog), ..Build::default() };
        let (program, found) = compile(&whole, &options);
        let found: Vec<_> =
            found.as_slice().iter().map(|it| format!("{}: {}", it.code.as_str(), it.message)).collect();
        assert!(program.is_some(), "{body}: {found:?}");
    }
}

#[test]
fn what_is_wrong_is_refused_where_it_is() {
    // The bytes before `|` are allowed, and the one after it is not.
    let bodies = [
        // A name of a pass, before it or behind it.
        r#"{"while":{"==":["page.next|",null]},"do":["#,
        r#"{"while":false,"do":[{"let":"page","expr":1}]},{"ret":["page|"]}"#,
        // Nothing is reached behind a loop that no condition ends.
        r#"{"while":|true,"do":["#,
        // A written text beside `+` may be meant as a name.
        r#"{"expr":{"+":["|a: ","b"]}}"#,
        // The passes of `until` must have an end, which none may skip.
        r#"{"do":[{"r|et":1}],"#,
        r#"{"do":[{"if":true,"|skip":true}],"#,
        // Nothing can be appended to a new name or a text, and a text has no parts.
        r#"{"let":"x","|push":1}"#,
        r#"{"let":"x","expr":{"text":"a"}},{"let":"x","|push":1}"#,
        r#"{"let":"x","expr":{"text":"a"}},{"let":"x|.a","expr":1}"#,
        r#"{"let":"y|.a","expr":1}"#,
    ];
    // The last step of `then` is the value of the block, where the call is its last step.
    let texts = [r#"{"let":"x","call":"log","then":[{"expr":|1}]}]}"#];
    let bodies = bodies.map(|body| ("fn f(n: number) -> any", body));
    for (signature, body) in bodies.into_iter().chain(texts.map(|body| ("fn f() -> text", body))) {
        let (before, after) = body.split_once('|').unwrap();
        let whole = before.to_owned() + after;
        assert_eq!(allowed(signature, &whole).0, before);
    }
}
