//! Schemas as shapes: what each keyword says, what is passed over, and hostile schemas.

use super::shape::SchemaShape;
use super::{Catalog, Lookup, ToolSignature};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;

fn tool(schema: &Value) -> ToolSignature {
    ToolSignature::new("t", None, Some(schema), Some(schema))
}

/// The answers of a schema as a model reads them.
fn answers(schema: &Value) -> String {
    tool(schema).signature().split(" -> ").nth(1).unwrap().to_owned()
}

/// Fields as `{a b{c} …}` and `[…]`; what is unknown is left out.
fn fields(shape: SchemaShape<'_>, depth: usize) -> String {
    let mut out = String::new();
    if depth > 0 && shape.has_fields() {
        out.push('{');
        for (at, name) in shape.names().enumerate() {
            let below = fields(shape.field(name).unwrap().0, depth - 1);
            write!(out, "{}{name}{below}", if at == 0 { "" } else { " " }).unwrap();
        }
        out.push_str(if shape.is_open() { " …}" } else { "}" });
    }
    if depth > 0 && shape.item().has_fields() {
        write!(out, "[{}]", fields(shape.item(), depth - 1)).unwrap();
    }
    out
}

#[test]
fn schemas_become_types() {
    for (schema, expected) in [
        (json!({"type": "string"}), "text"),
        (json!({"type": "integer"}), "number"),
        (json!({"type": "number"}), "number"),
        (json!({"type": "boolean"}), "bool"),
        (json!({"type": "null"}), "nil"),
        (json!({"type": "object", "properties": {}}), "record"),
        (json!({"type": "array"}), "list any"),
        (json!({"type": "array", "items": {"type": "array", "items": {"type": "string"}}}), "list list text"),
        (json!({"type": "array", "items": {"$ref": "#/x"}}), "list any"),
        (json!({"type": ["string", "null"]}), "any"),
        (json!({"type": ["string"]}), "text"),
        (json!({"anyOf": [{"type": "string"}]}), "text"),
        (json!({"anyOf": [{"type": "string"}, {"const": "x"}]}), "text"),
        (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "any"),
        (json!({"allOf": [{"type": ["string", "number"]}, {"type": ["string", "null"]}]}), "text"),
        (json!({"enum": ["a", "b"]}), "text"),
        (json!({"const": 3}), "number"),
        (json!({"type": "string", "nullable": true}), "any"),
        (json!({"type": "unheard"}), "any"),
        (json!({"type": []}), "any"),
        (json!(true), "any"),
        (json!(3), "any"),
    ] {
        assert_eq!(tool(&schema).output().ty().to_string(), expected, "{schema}");
    }
    let wrapped = json!({"type": "object", "properties": {"result": {"type": "string"}}, "x-fastmcp-wrap-result": true});
    assert_eq!(answers(&wrapped), "text");
    let circle = json!({"type": "array", "items": {"$ref": "#"}});
    assert!(tool(&circle).output().ty().to_string().starts_with("list list list "));
}

#[test]
fn arguments_are_closed_where_the_schema_lists_them() {
    for (schema, open) in [
        (json!({"properties": {"a": {}}}), false),
        (json!({"properties": {"a": {}}, "additionalProperties": false}), false),
        (json!({"properties": {"a": {}}, "additionalProperties": true}), true),
        (json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}), true),
        (json!({"properties": {"a": {}}, "anyOf": []}), true),
        (json!({"properties": {"a": {}}, "$ref": "https://example.org/x"}), true),
        (json!({"properties": {"a": {}}, "patternProperties": {"^x": {}}}), true),
        (json!({"properties": {}}), false),
        (json!({"additionalProperties": false}), false),
        (json!({"type": "object"}), true),
    ] {
        assert_eq!(tool(&schema).input().is_open(), open, "{schema}");
    }
    assert!(ToolSignature::new("t", None, None, None).input().is_open());
    let schema = json!({"properties": {"b": {"type": "string"}, "a": {}}, "required": ["c", "b"]});
    assert_eq!(tool(&schema).arguments(), "b: text, a?: any, c: any");
    let found = tool(&schema);
    assert_eq!(found.input().field("b").map(|(_, required)| required), Some(true));
    assert!(found.input().field("d").is_none());
    assert_eq!(found.input().names().collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[test]
fn what_is_listed_is_known_and_what_may_be_more_is_not() {
    let a = json!({"a": {"type": "string"}});
    for (schema, expected) in [
        (json!({"type": "object", "properties": {"b": {}, "a": {"type": "string"}}}), "{a b}"),
        (json!({"properties": a}), "{a}"),
        (json!({"type": ["object", "null"], "properties": a}), "{a}"),
        (json!({"type": "object", "properties": a, "additionalProperties": true}), "{a …}"),
        (json!({"type": "object", "properties": a, "additionalProperties": {"type": "string"}}), "{a …}"),
        (json!({"type": "array", "items": {"type": "object", "properties": a}}), "[{a}]"),
        (json!({"properties": {"n": {"properties": a}, "x": true}}), "{n{a} x}"),
        (json!({"properties": {"n": {"$ref": "#/x", "properties": a}}}), "{n{a …}}"),
        (json!({"type": "object"}), ""),
        (json!({"type": "array", "prefixItems": [{}], "items": {"properties": a}}), ""),
        (json!({"type": "array", "items": [{"properties": a}]}), ""),
        (json!({"type": "string", "properties": a}), ""),
        (json!({"anyOf": [{"properties": a}, {"type": "null"}], "default": null}), "{a}"),
        (json!({"oneOf": [{"properties": a}, {"properties": {"b": {}}}]}), "{a b}"),
        (json!({"oneOf": [{"properties": a}, {"type": "object"}]}), "{a …}"),
        (json!({"allOf": [{"properties": a}, {"properties": {"b": {}}}]}), "{a b}"),
        (
            json!({"allOf": [{"$ref": "#/$defs/A"}], "properties": {"b": {}}, "$defs": {"A": {"properties": a}}}),
            "{a b}",
        ),
        (json!({"properties": a, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}), "{a b}"),
        (json!({"properties": a, "if": {}, "then": {"properties": {"b": {}}}}), "{a …}"),
    ] {
        // Answers, since arguments take none where an empty list is given.
        assert_eq!(fields(tool(&schema).output(), 8), expected, "{schema}");
    }
}

#[test]
fn constants_ranges_and_alternatives_are_shown_and_joined() {
    for (schema, expected) in [
        (json!({"enum": ["b", "a"]}), r#""b"|"a""#),
        (json!({"enum": ["a", 1, 2.5, null, true]}), r#""a"|1|2.5|true|nil"#),
        (json!({"enum": [true, false]}), "bool"),
        (json!({"anyOf": [{"enum": ["a"]}, {"const": "b"}, {"type": "null"}]}), r#""a"|"b"|nil"#),
        (json!({"anyOf": [{"enum": ["a"]}, {"type": "string"}]}), "text"),
        (json!({"allOf": [{"enum": ["a", "b"]}, {"enum": ["b", "c"]}]}), r#""b""#),
        (json!({"type": "array", "items": {"type": ["string", "null"]}}), "list (text|nil)"),
        (json!({"type": "array", "items": {"enum": ["a|b"]}}), r#"list "a|b""#),
        (json!({"allOf": [{"type": "string"}, {"type": "number"}]}), "any"),
        (json!({"type": "integer", "enum": ["1"]}), "any"),
        (json!({"type": "number", "minimum": 5, "maximum": 1}), "any"),
        (
            json!({"properties": {"z": {"type": "string"}, "a": {"enum": [1]}}, "required": ["a"]}),
            "{z?: text, a: 1}",
        ),
        (
            json!({"oneOf": [
                {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
                {"properties": {"kind": {"const": "b"}, "x": {"type": "number"}}, "required": ["kind"]}]}),
            r#"{kind: "a"|"b", x?: text|number}"#,
        ),
        (json!({"enum": (0..100).map(|n| format!("v{n}")).collect::<Vec<_>>()}), ""),
    ] {
        let shown = answers(&schema);
        if expected.is_empty() {
            assert!(shown.ends_with(r#""v11"|…"#), "{shown}");
        } else {
            assert_eq!(shown, expected, "{schema}");
        }
    }
}

#[test]
fn numbers_are_held_against_their_range() {
    use ilo_spec::program::Number::{Double, Int};
    let refuses = |schema: Value, number| tool(&schema).output().refuses_number(number).is_some();
    for (schema, fits, misfits) in [
        (json!({"type": "integer"}), Double(1.0), Double(1.5)),
        (json!({"minimum": 1}), Int(1), Int(0)),
        (json!({"maximum": 1.5}), Double(1.5), Int(2)),
        (json!({"exclusiveMinimum": 1}), Double(1.1), Int(1)),
        (json!({"minimum": 1, "exclusiveMinimum": true}), Int(2), Int(1)),
        (json!({"maximum": 9, "exclusiveMaximum": 5}), Int(4), Int(5)),
        (json!({"enum": [1, 2]}), Double(2.0), Int(3)),
        (json!({"anyOf": [{"maximum": 1}, {"maximum": 3}]}), Int(3), Int(4)),
        (json!({"allOf": [{"maximum": 1}, {"maximum": 3}]}), Int(1), Int(2)),
        (
            json!({"maximum": 9_007_199_254_740_993_i64}),
            Int(9_007_199_254_740_993),
            Int(9_007_199_254_740_994),
        ),
    ] {
        assert!(!refuses(schema.clone(), fits), "{schema} {fits:?}");
        assert!(refuses(schema.clone(), misfits), "{schema} {misfits:?}");
    }
}

#[test]
fn a_circle_of_references_has_all_of_its_fields_at_any_depth() {
    let tree = json!({"$ref": "#/$defs/T", "$defs": {"T": {"properties": {
        "name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/T"}}}, "required": ["name"]}}});
    let tool = tool(&tree);
    let mut shape = tool.output();
    for _ in 0..1000 {
        assert_eq!(shape.field("name").map(|(name, _)| name.ty().to_string()).as_deref(), Some("text"));
        shape = shape.field("children").unwrap().0.item();
    }
    assert!(answers(&tree).len() < 200, "{}", answers(&tree));
}

#[test]
fn hostile_schemas_end_soon_and_stay_small() {
    let names = |count: usize, schema: &Value| -> Value {
        (0..count).map(|n| (format!("f{n}"), schema.clone())).collect::<Map<_, _>>().into()
    };
    let itself = json!({"$ref": "#"});
    let mut deep = json!({"$ref": "#/$defs/A"});
    let mut alternatives = json!({"type": "string"});
    for _ in 0..120 {
        deep = json!({"items": deep});
        alternatives = json!({"anyOf": [alternatives, {"allOf": [alternatives.clone()]}], "type": "string"});
        if alternatives.to_string().len() > 100_000 {
            alternatives = json!({"anyOf": [{"$ref": "#"}, {"$ref": "#"}]});
        }
    }
    for schema in [
        itself.clone(),
        json!({"$ref": "#/$defs/A", "$defs": {"A": {"$ref": "#/$defs/B"}, "B": {"$ref": "#/$defs/A"}}}),
        json!({"allOf": [itself, itself, itself], "anyOf": [itself, itself], "oneOf": [itself, itself]}),
        json!({"type": "object", "properties": names(10_000, &itself)}),
        json!({"anyOf": [{"properties": names(500, &itself)}, {"properties": names(500, &json!({"allOf": [itself, itself]}))}]}),
        json!({"anyOf": (0..10_000).map(|n| json!({"properties": {format!("f{n}"): {}}})).collect::<Vec<_>>()}),
        json!({"anyOf": (0..10_000).map(|n| json!({"properties": {"f": {"const": n}}})).collect::<Vec<_>>()}),
        json!({"enum": (0..100_000).map(|n| format!("value-{n}")).collect::<Vec<_>>()}),
        json!({"enum": ["x".repeat(1_000_000)], "required": vec!["a"; 100_000]}),
        json!({"type": vec!["string"; 100_000]}),
        json!({"properties": {"a": {"properties": {"b": {"anyOf": [itself, {"properties": {"a": itself}}]}}}}, "anyOf": [itself, {"$ref": "#/properties/a"}]}),
        alternatives,
        deep,
    ] {
        let tool = tool(&schema);
        assert!(tool.signature().len() < 10_000, "{}", tool.signature().len());
        let size = tool.shapes().nodes.len();
        assert!(size <= 4096, "{size}");
    }
}

#[test]
fn a_tool_that_is_not_validated_is_marked_in_the_catalogue() {
    let tools = Catalog::from_json(r#"[{"name": "a", "validate": false}, {"name": "b"}]"#).unwrap();
    let marks: Vec<bool> = tools.tools().iter().map(ToolSignature::is_validated).collect();
    assert_eq!(marks, [false, true]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_catalogue() {
    let names = |catalog: &Catalog| catalog.tools().iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
    for list in [r#"[{"name": "a"}]"#, r#"{"tools": [{"name": "a"}]}"#] {
        assert_eq!(names(&Catalog::from_json(&format!("\u{feff}{list}")).unwrap()), ["a"]);
        assert!(Catalog::from_json(&format!("\u{feff}\u{feff}{list}")).is_err());
    }
    let (catalog, _) = Catalog::from_tools_file("\u{feff}{\"tools\": {\"a\": {}}}").unwrap();
    assert_eq!(names(&catalog), ["a"]);
}

#[test]
fn other_fields_are_allowed_where_a_schema_says_so() {
    let part = json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}]});
    let with = |key: &str, value: Value| {
        let mut schema = part.clone();
        schema[key] = value;
        let tool = tool(&schema);
        (tool.output().is_open(), tool.output().refuses_others())
    };
    assert_eq!(with("title", json!("x")), (false, false));
    assert_eq!(with("unevaluatedProperties", json!(false)), (false, true));
    assert_eq!(with("unevaluatedProperties", json!(true)), (true, false));
    assert_eq!(with("unevaluatedProperties", json!({"type": "string"})), (true, false));
    assert_eq!(with("additionalProperties", json!(true)), (true, false));
    let patterns =
        json!({"properties": {"a": {}}, "patternProperties": {"^x": {}}, "unevaluatedProperties": false});
    assert!(tool(&patterns).output().is_open(), "fields by a pattern are not known");
}

#[test]
fn a_constant_text_selects_the_arm_of_a_union() {
    let arm = |kind: Value, field: &str| json!({"type": "object", "properties": {"kind": kind, field: {}}, "required": ["kind", field]});
    let (a, b) = (arm(json!({"const": "a"}), "x"), arm(json!({"enum": ["b"]}), "y"));
    let names = |schema: &Value, kind: &str| -> Vec<String> {
        let tool = tool(schema);
        let shape = tool.output().arm(|name| (name == "kind").then_some(kind));
        shape.names().map(str::to_owned).collect()
    };
    for union in [
        json!({"oneOf": [a, b]}),
        json!({"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "$defs": {"a": a, "b": b}}),
        json!({"anyOf": [{"oneOf": [a, b]}, {"type": "null"}]}),
        json!({"anyOf": [{"type": "null"}, {"oneOf": [a, b]}]}),
        json!({"description": "x", "type": "object", "oneOf": [a, b]}),
        json!({"oneOf": [arm(json!({"enum": ["a", "d"]}), "x"), arm(json!({"enum": ["e", "b"]}), "y")]}),
        json!({"oneOf": [arm(json!({"$ref": "#/$defs/a"}), "x"), b], "$defs": {"a": {"enum": ["d", "a"]}}}),
    ] {
        assert_eq!(names(&union, "a"), ["kind", "x"], "{union}");
        assert_eq!(names(&union, "b"), ["kind", "y"], "{union}");
        assert_eq!(names(&union, "c"), ["kind", "x", "y"], "{union}");
    }
    // What does not tell the arms apart selects none.
    for union in [
        json!({"oneOf": [a, a]}),
        json!({"oneOf": [a, {"type": "object", "properties": {"y": {}}}]}),
        json!({"oneOf": [a, b], "properties": {"z": {}}}),
        json!({"oneOf": [a]}),
        json!({"oneOf": [a, 7]}),
        json!({"oneOf": [a, arm(json!({"const": 3}), "y")]}),
        json!({"oneOf": [a, arm(json!({"enum": ["b", 3]}), "y")]}),
        json!({"oneOf": [a, arm(json!({"enum": ["b", "a"]}), "y")]}),
        json!({"oneOf": [a, arm(json!({"enum": []}), "y")]}),
    ] {
        assert_eq!(names(&union, "a"), names(&union, "?"), "{union}");
    }
}

#[test]
fn an_answer_on_the_wire_is_a_catalogue() {
    let answer = r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}}"#;
    for text in
        [answer.to_owned(), format!("event: message\ndata: {answer}\n\n"), format!("\u{feff}{answer}")]
    {
        assert_eq!(Catalog::from_json(&text).unwrap().tools().len(), 1, "{text}");
    }
    assert!(
        Catalog::from_json(r#"{"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "no"}}"#).is_err()
    );
}

#[test]
fn the_tools_of_a_model_api_are_a_catalogue_with_their_schemas() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    for tools in [
        json!([{"name": "t", "inputSchema": schema}]),
        json!([{"name": "t", "input_schema": schema}]),
        json!([{"type": "function", "name": "t", "parameters": schema, "strict": true}]),
        json!([{"type": "function", "function": {"name": "t", "parameters": schema}}]),
        json!({"tools": [{"type": "function", "function": {"name": "t", "parameters": schema}}]}),
        json!({"result": {"tools": [{"name": "t", "inputSchema": schema}]}}),
    ] {
        let catalog = Catalog::from_json(&tools.to_string()).unwrap();
        let signatures: Vec<String> = catalog.tools().iter().map(ToolSignature::signature).collect();
        assert_eq!(signatures, ["t(a: text) -> any"], "{tools}");
    }
}

#[test]
fn the_examples_of_other_apis_are_catalogues() {
    // https://ai.google.dev/gemini-api/docs/function-calling
    let gemini = json!({"name": "schedule_meeting",
        "description": "Schedules a meeting with specified attendees at a given time and date.",
        "parameters": {"type": "OBJECT", "properties": {
            "attendees": {"type": "ARRAY", "items": {"type": "STRING"}, "description": "List of people attending the meeting."},
            "date": {"type": "STRING", "description": "Date of the meeting (e.g., '2024-07-29')"},
            "time": {"type": "STRING"}, "topic": {"type": "STRING"}},
            "required": ["attendees", "date", "time", "topic"]}});
    // https://docs.aws.amazon.com/bedrock/latest/userguide/tool-use-inference-call.html
    let bedrock = json!({"toolSpec": {"name": "top_song",
        "description": "Get the most popular song played on a radio station.",
        "inputSchema": {"json": {"type": "object", "properties": {
            "sign": {"type": "string", "description": "The call sign for the radio station."}},
            "required": ["sign"]}}}});
    let more = json!({"name": "count", "parametersJsonSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "response": {"type": "OBJECT", "properties": {"left": {"type": "INTEGER"}}}});
    let (meeting, song, count) = (
        "schedule_meeting(attendees: list text, date: text, time: text, topic: text) -> any",
        "top_song(sign: text) -> any",
        "count(n?: number) -> {left?: number}",
    );
    for (request, expected) in [
        (
            json!({"contents": [], "tools": [{"functionDeclarations": [gemini, more]}],
                "toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}),
            &[meeting, count][..],
        ),
        (json!([{"function_declarations": [gemini]}]), &[meeting]),
        (json!({"functionDeclarations": [gemini]}), &[meeting]),
        (json!({"modelId": "m", "toolConfig": {"tools": [bedrock], "toolChoice": {"auto": {}}}}), &[song]),
        (json!({"tools": [bedrock, {"cachePoint": {"type": "default"}}]}), &[song]),
    ] {
        let catalog = Catalog::from_json(&request.to_string()).unwrap();
        let signatures: Vec<String> = catalog.tools().iter().map(ToolSignature::signature).collect();
        assert_eq!(signatures, expected, "{request}");
    }
    assert!(Catalog::from_json(r#"[{"toolSpec": {"description": "no name"}}]"#).is_err());
    assert!(Catalog::from_json(r#"[{"googleSearch": {}}]"#).is_err());
}

#[test]
fn the_reason_why_a_tool_cannot_be_used_is_found() {
    let mut catalog = Catalog::default();
    catalog.insert(tool(&json!({})));
    catalog.insert_unusable("mcp://s/odd", "it is odd");
    catalog.insert_off("off", "it is off");
    for name in ["odd", "mcp://s/odd"] {
        assert_eq!(catalog.lookup(name), Lookup::Unusable("it is odd"), "{name}");
    }
    // No other tool answers for a server that is off.
    assert_eq!(catalog.lookup("mcp://off/t"), Lookup::Unusable("it is off"));
}

mod names {
    use super::super::{Catalog, Lookup, ToolSignature};

    fn catalog(names: &[&str]) -> Catalog {
        let mut catalog = Catalog::default();
        for name in names {
            assert!(catalog.insert(ToolSignature::new(name, None, None, None)));
        }
        catalog
    }

    #[track_caller]
    fn found(catalog: &Catalog, name: &str, expected: &[&str]) {
        let names: Vec<&str> = match catalog.lookup(name) {
            Lookup::Found(tool) => vec![&tool.name],
            Lookup::Ambiguous(tools) => tools.iter().map(|tool| tool.name.as_str()).collect(),
            Lookup::Unlisted => vec!["?"],
            Lookup::Withheld(name) => vec!["!", name],
            Lookup::Unusable(why) => vec!["-", why],
            Lookup::Unknown => vec![],
        };
        assert_eq!(names, expected, "{name}");
    }

    #[test]
    fn a_name_finds_its_tool_in_every_form() {
        let tools = catalog(&[
            "get-user",
            "mcp://mail/send",
            "mcp://mail/list",
            "mcp://files/list",
            "mcp://files/get-user",
        ]);
        found(&tools, "get-user", &["get-user"]);
        found(&tools, "mcp://mail/send", &["mcp://mail/send"]);
        found(&tools, "send", &["mcp://mail/send"]);
        found(&tools, "list", &["mcp://mail/list", "mcp://files/list"]);
        found(&tools, "mcp://users/get-user", &["get-user"]);
        found(&tools, "mcp://mail/get-user", &[]);
        found(&tools, "mcp://users/send", &[]);
        found(&tools, "delete", &[]);
        found(&tools, "mcp://mail", &[]);
    }

    #[test]
    fn a_tool_that_is_withheld_is_found_as_such() {
        let mut tools = catalog(&["mcp://files/read", "mcp://notes/delete"]);
        tools.withhold("mcp://files/delete");
        tools.withhold("mcp://files/move");
        found(&tools, "mcp://files/delete", &["!", "mcp://files/delete"]);
        found(&tools, "delete", &["mcp://notes/delete"]);
        found(&tools, "move", &["!", "mcp://files/move"]);
        found(&tools, "mcp://files/mov", &[]);
    }

    #[test]
    fn no_other_tool_answers_for_a_server_that_exists() {
        let mut tools = catalog(&["get-user"]);
        found(&tools, "mcp://users/get-user", &["get-user"]);
        tools.insert_server("users", false);
        found(&tools, "mcp://users/get-user", &["?"]);
        found(&tools, "mcp://users/other", &["?"]);
        found(&tools, "other", &[]);
    }

    #[test]
    fn catalogues_are_read_in_both_forms_and_refused_with_the_place() {
        const TOOLS_FILE: &str = "this is a tools file; `ilo-vm tools --tools FILE --json` prints the list of its tools, which is \
                                  wanted here";
        for json in [r#"{"tools":[{"name":"a"}],"nextCursor":"x"}"#, r#"[{"name":"a","annotations":{}}]"#] {
            found(&Catalog::from_json(json).unwrap(), "a", &["a"]);
        }
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        for (json, expected) in [
            ("nonsense", "expected JSON: expected ident at line 1 column 2"),
            (deep.as_str(), "expected JSON: recursion limit exceeded at line 1 column 128"),
            ("{}", "expected `{\"tools\": […]}` or a list of tools"),
            (r#"{"tools":3}"#, "expected `{\"tools\": […]}` or a list of tools"),
            (r#"{"tools":{"a":{"mock":{"returns":1}}}}"#, TOOLS_FILE),
            (r#"{"mcpServers":{}}"#, TOOLS_FILE),
            (r#"[{"name":"a"},{}]"#, "tools[1] is not a tool: missing field `name`"),
            (r#"[{"name":"a"},{"name":"a"}]"#, "tools[1]: an earlier tool is named `a` as well"),
            (
                r#"[{"name":"a","inputSchema":3}]"#,
                "tools[0] is not a tool: expected a record as `inputSchema`, found `3`",
            ),
            (
                r#"[{"name":"a"},{"name":"b","outputSchema":{"const":1e999}}]"#,
                "tools[1] is not a tool: `outputSchema`: number out of range",
            ),
            (
                r#"[{"name":"a","inputSchema":{"const":"\ud800"}}]"#,
                "tools[0] is not a tool: `inputSchema`: unexpected end of hex escape",
            ),
        ] {
            assert_eq!(Catalog::from_json(json).unwrap_err().to_string(), expected);
        }
    }
}
