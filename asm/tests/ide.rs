//! Answers for editors, by cases: a `|` in a source is the requested position.

#![allow(clippy::unwrap_used, reason = "a test fails by a panic")]

use ilo_asm::arena::Arena;
use ilo_asm::catalog::Catalog;
use ilo_asm::compile::Options;
use ilo_asm::diagnostic::{Diagnostic, Edit, Fix, fix};
use ilo_asm::ide::{self, Analysis, Completion, Purpose, TokenKind};
use ilo_asm::span::Span;
use ilo_spec::error::Code;

const NOTIFY: &str = include_str!("../../examples/notify.ilo");
const CALLS: &str = include_str!("../../examples/notify.tool-calling.json");
const MINIFIED: &str = include_str!("../../examples/notify.constrained.json");
const WORKFLOW: &str = include_str!("../../examples/notify.workflow.yaml");
const MCP: &str = include_str!("../../examples/notify.mcp.json");
const TOOLS: &str = include_str!("../../examples/tools.json");

/// The source and the offset of a text with a `|`.
fn marked(text: &str) -> (String, u32) {
    let at = text.find('|').expect("the text has a mark");
    (text.replacen('|', "", 1), u32::try_from(at).unwrap())
}

/// Puts a mark after the first `before` in a source.
fn at(source: &str, before: &str) -> String {
    let found = source.find(before).unwrap_or_else(|| panic!("{before} is not in\n{source}"));
    let end = found + before.len();
    format!("{}|{}", &source[..end], &source[end..])
}

fn ask<T>(text: &str, with: impl FnOnce(&Analysis<'_>, u32, &Options<'_>, &str) -> T) -> T {
    let (source, offset) = marked(text);
    let (catalog, _) = Catalog::from_tools_file(TOOLS).unwrap();
    let options = Options { catalog: Some(&catalog), ..Options::default() };
    let arena = Arena::new();
    with(&Analysis::new(&source, &arena, &options), offset, &options, &source)
}

/// The places as line and text, with both counted from 1.
fn shown(source: &str, spans: &[Span]) -> Vec<String> {
    let lines = ilo_asm::span::Lines::new(source);
    let one = |span: &Span| {
        let place = lines.place(span.start);
        format!("{}:{} {}", place.line, place.column, &source[span.range()])
    };
    spans.iter().map(one).collect()
}

fn definition(text: &str) -> Vec<String> {
    ask(text, |analysis, offset, _, source| shown(source, &analysis.definition(offset)))
}

fn references(text: &str, purpose: Purpose) -> Vec<String> {
    ask(text, |analysis, offset, _, source| shown(source, &analysis.references(offset, purpose)))
}

fn hover(text: &str) -> String {
    let found = ask(text, |analysis, offset, _, _| analysis.hover(offset));
    found.map(|found| found.text.replace("```ilo-type\n", "").replace("\n```", "")).unwrap_or_default()
}

fn complete(text: &str) -> Vec<Completion> {
    ask(text, |analysis, offset, _, _| analysis.complete(offset))
}

fn labels(text: &str) -> Vec<String> {
    complete(text).into_iter().map(|one| one.label).collect()
}

/// A source after some edits.
fn applied(source: &str, edits: Vec<Edit>) -> String {
    let fix = Fix { title: String::new(), edits };
    let (text, count) = fix::apply(source, &[Diagnostic::new(Code::BadStep, Span::at(0), "").fix(fix)]);
    assert_eq!(count, 1);
    text
}

fn rename(text: &str, new: &str) -> Result<String, String> {
    ask(text, |analysis, offset, options, source| {
        analysis.rename(offset, new, options).map(|edits| applied(source, edits))
    })
}

#[test]
fn a_slot_is_defined_where_it_is_bound() {
    // A slot of ID text is a number (2.1); the parameters fill the first ones (2.2).
    assert_eq!(
        definition(&at(
            NOTIFY,
            "FIELD 5 2 1\n      RET_ERR LIT 0 \"Email not verified\"\n    LET 3 CALL 1 3 1 FIELD 5"
        )),
        ["9:6 5"]
    );
    assert_eq!(definition(&at(NOTIFY, "CALL 0 1 0 REF 0")), ["1:13 user-id"]);
    assert_eq!(definition(&at(NOTIFY, "MATCH 2")), ["5:5 2"]);
    assert_eq!(definition(&at(NOTIFY, "LET 2 CALL 0")), ["3:12 get-user"]);
    assert_eq!(definition(&at(NOTIFY, "FIELD 5 2")), ["4:31 verified"]);
    assert_eq!(definition(&at(NOTIFY, "CONC")), [""; 0]);
    assert_eq!(definition(&at(CALLS, "\"$user")), ["7:15 user"]);
    assert_eq!(definition(&at(CALLS, "$input.mes")), ["3:33 message"]);
    assert_eq!(definition(&at(WORKFLOW, "${user")), ["8:3 user"]);
    assert_eq!(definition(&at(WORKFLOW, "$.user")), ["3:3 user-id"]);
    assert_eq!(definition(&at(MINIFIED, "\"user.ver")), [""; 0]);
    assert_eq!(definition(&at(MINIFIED, "{\"not\":\"use")), ["1:97 user"]);
    assert_eq!(definition(&at(MCP, "${us")), ["9:14 user"]);
}

const TWO: &str = "; fn half(n: number) -> number\nRET DIV REF 0 LIT 1 2\n\n; fn main(a: number) -> number\n\
                   ; Vars: 0=a 1=half\n; Tools: 0=half\n; Fields: 0=n\nLET 1 CALL 0 1 0 REF 0\nRET ADD REF 1 REF 0\n";

#[test]
fn a_function_is_defined_in_its_header() {
    assert_eq!(definition(&at(TWO, "LET 1 CALL 0")), ["1:6 half"]);
    assert_eq!(references(&at(TWO, "fn half"), Purpose::All), ["1:6 half", "6:12 half", "8:12 0"]);
    assert_eq!(references(&at(TWO, "fn half"), Purpose::Uses), ["8:12 0"]);
}

#[test]
fn references_are_all_places_of_one_slot() {
    assert_eq!(references(&at(TWO, "RET ADD REF 1 REF 0"), Purpose::Uses), ["8:22 0", "9:19 0"]);
    assert_eq!(
        references(&at(TWO, "RET ADD REF 1 REF 0"), Purpose::All),
        ["4:11 a", "5:11 a", "8:22 0", "9:19 0"]
    );
    assert_eq!(references(&at(CALLS, "\"let\": \"user"), Purpose::Uses), ["12:22 user", "15:27 user"]);
    assert_eq!(
        references(&at(WORKFLOW, "steps:\n  user"), Purpose::All),
        ["8:3 user", "18:14 user", "26:16 user"]
    );
}

#[test]
fn a_slot_is_renamed_where_its_name_is() {
    // In ID text names are in the header and the registry alone (2.3).
    let renamed = rename(&at(NOTIFY, "MATCH 2"), "account").unwrap();
    assert_eq!(renamed, NOTIFY.replace("2=user", "2=account"));
    let renamed = rename(&at(NOTIFY, "CALL 0 1 0 REF 0"), "id").unwrap();
    assert_eq!(
        renamed,
        NOTIFY.replace("(user-id: text", "(id: text").replace("0=user-id 1=message 2", "0=id 1=message 2")
    );
    // A slot without a name gets one.
    let renamed = rename(&at(NOTIFY, "OK 5"), "found user").unwrap();
    assert_eq!(renamed, NOTIFY.replace("3=sent", "3=sent 5=\"found user\""));
    assert!(rename(&at(NOTIFY, "MATCH 2"), "message").is_err(), "another slot has that name");
    assert!(rename(&at(NOTIFY, "LET 2 CALL 0"), "x").is_err(), "a tool");
    assert!(rename(&at(NOTIFY, "FIELD 5 2"), "x").is_err(), "a field");
    assert!(rename(&at(NOTIFY, "MATCH 2"), "  ").is_err());
    let to =
        |text: &str| text.replace("$user", "$account").replace("\"let\": \"user\"", "\"let\": \"account\"");
    assert_eq!(rename(&at(CALLS, "\"$user"), "account").unwrap(), to(CALLS));
    let to = WORKFLOW.replace("  user:", "  account:").replace("${user.", "${account.");
    assert_eq!(rename(&at(WORKFLOW, "${user"), "account").unwrap(), to);
    let to = MINIFIED.replace("\"let\":\"user\"", "\"let\":\"account\"").replace("\"user.", "\"account.");
    assert_eq!(rename(&at(MINIFIED, "\"let\":\"us"), "account").unwrap(), to);
    for taken in ["message", "error", "input", "a b", "1x", ""] {
        assert!(rename(&at(CALLS, "\"$user"), taken).is_err(), "{taken}");
    }
    // `user` is a text in the constrained notation wherever no name is `user`.
    let like = MINIFIED.replace("\"Notification\"", "\"account\"");
    assert!(rename(&at(&like, "\"let\":\"us"), "account").is_err(), "the text would become a reference");
}

#[test]
fn a_function_is_renamed_with_its_calls() {
    let renamed = rename(&at(TWO, "LET 1 CALL 0"), "halve").unwrap();
    assert_eq!(renamed, TWO.replace("fn half", "fn halve").replace("0=half", "0=halve"));
    assert!(rename(&at(TWO, "fn half"), "main").is_err());
    assert!(rename(&at(TWO, "fn half(n"), "m").unwrap_err().contains("callers"));
    let broken = TWO.replace("RET ADD", "RET ADDD");
    assert!(rename(&at(&broken, "fn half"), "halve").unwrap_err().contains("errors"));
}

#[test]
fn hover_says_what_is_known() {
    assert_eq!(
        hover(&at(NOTIFY, "LET 2 CALL 0")),
        "get-user(user-id: text) -> {email?: text, verified?: bool, level?: text}"
    );
    assert_eq!(
        hover(&at(NOTIFY, "OK 5")),
        "5: {email?: text, verified?: bool, level?: text}\n\n`5` (slot 5)"
    );
    assert_eq!(hover(&at(NOTIFY, "FIELD 5 2")), "verified?: bool");
    assert_eq!(hover(&at(NOTIFY, "(user-id")), "user-id: text\n\n`user-id` (slot 0)");
    assert!(
        hover(&at(NOTIFY, "CONC"))
            .ends_with("both values rendered and joined to one text; of two lists, the items of both")
    );
    assert_eq!(hover(&at(TWO, "LET 1 CALL 0")), "fn half(n: number) -> number");
    assert_eq!(
        hover(&at(CALLS, "\"call\": \"get-u")),
        "get-user(user-id: text) -> {email?: text, verified?: bool, level?: text}"
    );
    assert_eq!(hover(&at(CALLS, "$user.ver")), "verified?: bool");
    assert_eq!(hover(&at(CALLS, "\"on-er")), "`on-error`: what runs when the call fails");
    assert_eq!(hover(&at(WORKFLOW, "cat")), "`catch`: what runs when the call fails");
    assert_eq!(hover(&at(WORKFLOW, "subj")), "subject: text");
    assert_eq!(hover(&at(NOTIFY, "\"Send fa")), "");
}

#[test]
fn completion_of_id_text_follows_the_operands() {
    let source = |body: &str| NOTIFY.replace("MATCH 2 2\n", &format!("{body}\nMATCH 2 2\n"));
    // The slots that are bound before: the parameters and 2.
    assert_eq!(
        labels(&source("LET 4 REF |"))[..3],
        [
            "0 user-id: text",
            "1 message: text",
            "2 user: result {email?: text, verified?: bool, level?: text}"
        ]
    );
    // The tools of the registry, then the catalogue's.
    assert_eq!(
        labels(&source("LET 4 CALL |")),
        ["0 get-user", "1 send-email", "2 reserve", "2 charge", "2 release"]
    );
    let more = complete(&source("LET 4 CALL |"));
    assert_eq!(more[2].also.as_ref().unwrap().text, " 2=reserve");
    assert_eq!((more[2].text.as_str(), more[2].detail.as_str()), ("2", "reserve(…) -> any"));
    // The arguments of the tool, by their numbers.
    assert_eq!(labels(&source("LET 4 CALL 1 3 |")), ["1 email", "3 subject", "4 body"]);
    assert_eq!(labels(&source("LET 4 CALL 1 3 1 REF 0 |")), ["1 email", "3 subject", "4 body"]);
    assert_eq!(
        labels(&NOTIFY.replace("FIELD 5 2 1", "FIELD 5 | 1"))[..3],
        ["1 email", "2 verified", "5 level"]
    );
    assert_eq!(labels(&source("LET 4 LIT |")), ["0", "1", "2", "3"]);
    assert_eq!(labels(&source("LET 4 LIT 3 |")), ["true", "false"]);
    assert_eq!(labels(&source("ROLLBACK |")), ["CALL"]);
    assert_eq!(labels(&source("LET 4 MATCH_MAP REF 0 1 |")), ["ELSE"]);
    assert_eq!(labels(&source("LET 4 LIST |")), [""; 0]);
    for record in ["LET 4 OBJ 1 |", "LET 4 MERGE REF 2 |"] {
        assert_eq!(labels(&source(record))[..2], ["0 user-id", "1 email"], "{record}");
    }
    let path = labels(&source("LET 4 FIELD |"));
    assert!(path.contains(&"1 message: text".to_owned()) && path.contains(&"REF".to_owned()), "{path:?}");
    assert!(!labels(&source("RET |")).contains(&"IF".to_owned()));
    let words = labels(&source("LET 4 |  "));
    assert!(words.contains(&"8 a new slot".to_owned()) || words.contains(&"CALL".to_owned()), "{words:?}");
    assert!(labels(&source("LE|")).contains(&"LET".to_owned()));
    assert!(labels(&source("LET | "))[0].contains(' '));
    assert_eq!(
        labels("; fn f(a: |) -> nil\nRET LIT 2 nil\n"),
        ["text", "number", "bool", "list", "any", "nil"]
    );
    assert!(labels("; fn f() -> re|\nRET LIT 2 nil\n").contains(&"result".to_owned()));
    assert!(labels("; fn f() -> nil\n; Tools: 0=g|\nRET LIT 2 nil\n").contains(&"get-user".to_owned()));
    // Without a registry the entry is a new line.
    let new = complete("; fn f() -> any\nRET CALL |\n");
    assert_eq!(
        new[0].also.as_ref().unwrap(),
        &Edit { span: Span::at(15), text: "\n; Tools: 0=get-user".to_owned() }
    );
    assert_eq!(labels("; fn f() -> any\nRET LIT 0 \"a |b\"\n"), [""; 0]);
}

#[test]
fn completion_of_documents_follows_their_places() {
    let of = |source: &str, from: &str, to: &str| {
        assert!(source.contains(from), "{from}");
        labels(&source.replacen(from, to, 1))
    };
    assert_eq!(
        of(CALLS, "\"get-user\"", "\"|\""),
        ["get-user", "send-email", "reserve", "charge", "release"]
    );
    assert_eq!(of(CALLS, "\"subject\": \"Notification\"", "|"), ["subject"]);
    assert_eq!(of(CALLS, "\"$user.verified\"", "\"$user.|\""), ["email", "verified", "level"]);
    assert_eq!(of(CALLS, "\"$user.verified\"", "\"$|\""), ["$input.user-id", "$input.message", "$user"]);
    assert_eq!(
        of(CALLS, "\"text\", \"message\"", "\"|\", \"message\""),
        ["text", "number", "bool", "list", "any", "nil"]
    );
    assert_eq!(
        of(WORKFLOW, "call: get-user", "call: |"),
        ["get-user", "send-email", "reserve", "charge", "release"]
    );
    assert_eq!(of(WORKFLOW, "subject: Notification", "|"), ["subject"]);
    assert_eq!(of(WORKFLOW, "${user.verified}", "${user.|}"), ["email", "verified", "level"]);
    assert_eq!(of(MCP, "\"subject\": \"Notification\",", "|"), ["subject"]);
    assert_eq!(of(MINIFIED, "\"user.verified\"", "\"user.|\""), ["email", "verified", "level"]);
    assert!(of(CALLS, "\"function\": \"notify\",", "|").contains(&"function".to_owned()));
    // Where JSON has no quotes yet, they are written.
    let quoted = complete(&CALLS.replacen("\"subject\": \"Notification\"", "|", 1));
    assert_eq!(quoted[0].text, "\"subject\"");
}

/// A program in each of the four notations whose last step has the expression.
fn with_expression(expression: &str) -> [String; 4] {
    [
        format!(
            r#"{{"function": "f", "input": {{"user-id": "text"}}, "output": "any", "steps": [
  {{"let": "user", "call": "get-user", "args": {{"user-id": "$input.user-id"}}}},
  {{"return": "so: ${{{expression}}}"}}]}}"#
        ),
        format!(
            r#"{{"fn": "f", "in": {{"user-id": "text"}}, "out": "any", "body": [
  {{"let": "user", "call": "get-user", "args": {{"user-id": "user-id"}}}},
  {{"ret": "so: ${{{expression}}}"}}]}}"#
        ),
        format!(
            "name: f\ninput:\n  user-id: text\noutput: any\nsteps:\n  user:\n    call: get-user\n    args:\n      \
             user-id: $.user-id\n  done:\n    return: 'so: ${{{expression}}}'\n"
        ),
        format!(
            r#"{{"meta": {{"name": "f", "input": {{"user-id": "text"}}, "output": "any"}}, "steps": [
  {{"let": "user", "call": "get-user", "with": {{"user-id": "$.user-id"}}}},
  {{"ok": "so: ${{{expression}}}"}}]}}"#
        ),
    ]
}

#[test]
fn completion_in_expressions_has_names_fields_and_functions() {
    let inputs = ["$input.user-id", "user-id", "$.user-id", "$.user-id"];
    for (source, input) in with_expression("1 + |").iter().zip(inputs) {
        let labels = labels(source);
        assert_eq!(labels[..2], [input, "user"], "{source}");
        assert!(labels.contains(&"len".to_owned()) && labels.contains(&"and".to_owned()), "{source}");
    }
    for source in with_expression("upper(user.|) + 1") {
        assert_eq!(labels(&source), ["email", "verified", "level"], "{source}");
        assert_eq!(complete(&source)[0].span.start, complete(&source)[0].span.end, "{source}");
    }
    for source in with_expression("len(.u|)") {
        assert_eq!(labels(&source), ["user-id"], "{source}");
    }
    // A text in an expression is no place for names, but an expression in that text is one.
    for source in with_expression("join(x, '|')").iter().filter(|source| source.starts_with('{')) {
        assert_eq!(labels(source), [""; 0], "{source}");
    }
    let condition = "name: f\ninput:\n  a: number\noutput: any\nsteps:\n  - if: len(x) > |\n    then:\n      - return: 1\n";
    assert_eq!(labels(condition)[0], "$.a");
}

#[test]
fn hover_in_expressions_describes_names_fields_and_functions() {
    for source in with_expression("upper(user.em|ail) + 1") {
        assert_eq!(hover(&source), "email?: text", "{source}");
    }
    for source in with_expression("1 + us|er.level") {
        assert!(hover(&source).starts_with("user: {email?: text"), "{source}");
    }
    for source in with_expression("up|per(user.email)") {
        assert!(hover(&source).starts_with("upper(text)\n\nthe text in upper case"), "{source}");
    }
    for source in with_expression("'up|per(x)'").iter().filter(|source| source.starts_with('{')) {
        assert_eq!(hover(source), "", "{source}");
    }
}

#[test]
fn hints_name_the_numbers() {
    let found = ask(&at(NOTIFY, "LET 2"), |analysis, _, _, source| {
        let all = analysis.hints(Span::new(0, u32::try_from(source.len()).unwrap()));
        let line = source.find("LET 2").unwrap()..source.find("\nMATCH 2").unwrap();
        let within = all.into_iter().filter(|hint| line.contains(&(hint.offset as usize - 1)));
        within
            .map(|hint| format!("{}{}", &source[line.start..hint.offset as usize], hint.label))
            .collect::<Vec<_>>()
    });
    assert_eq!(
        found,
        ["LET 2user", "LET 2 CALL 0get-user", "LET 2 CALL 0 1 0user-id", "LET 2 CALL 0 1 0 REF 0user-id"]
    );
}

#[test]
fn tokens_are_in_order_and_apart() {
    for source in [NOTIFY, CALLS, MINIFIED, WORKFLOW, MCP, TWO] {
        let tokens = ask(&format!("|{source}"), |analysis, _, _, _| analysis.tokens());
        assert!(tokens.len() > 5);
        assert!(tokens.windows(2).all(|two| two[0].span.end <= two[1].span.start));
    }
    let first = ask(&format!("|{TWO}"), |analysis, _, _, source| {
        let tokens = analysis.tokens();
        tokens
            .iter()
            .take(6)
            .map(|token| (source[token.span.range()].to_owned(), token.kind))
            .collect::<Vec<_>>()
    });
    let expected = [
        ("half", TokenKind::Function),
        ("n", TokenKind::Parameter),
        ("number", TokenKind::Type),
        ("number", TokenKind::Type),
        ("RET", TokenKind::Keyword),
        ("DIV", TokenKind::Keyword),
    ];
    assert_eq!(first, expected.map(|(text, kind)| (text.to_owned(), kind)));
}

#[test]
fn the_outline_has_functions_and_their_slots() {
    let symbols = ask(&format!("|{TWO}"), |analysis, _, _, _| analysis.symbols());
    let names: Vec<(&str, Vec<&str>)> = symbols
        .iter()
        .map(|of| (of.name.as_str(), of.children.iter().map(|child| child.name.as_str()).collect()))
        .collect();
    assert_eq!(names, [("half", vec!["n"]), ("main", vec!["a", "half"])]);
    let symbols = ask(&format!("|{WORKFLOW}"), |analysis, _, _, _| analysis.symbols());
    let names: Vec<&str> = symbols[0].children.iter().map(|child| child.name.as_str()).collect();
    assert_eq!(names, ["user-id", "message", "user"]);
}

#[test]
fn fixes_and_layout_are_edits() {
    let options = Options::default();
    let (fixed, count) = ide::fix_all("; fn f() -> String\nRET LIT 0 'a'\n", &options);
    assert_eq!((fixed.as_str(), count), ("; fn f() -> text\nRET LIT 0 \"a\"\n", 2));
    let layout = ide::format("; fn f() -> text\n\n   RET   LIT 0 \"a\"\n", &options);
    assert_eq!(layout.as_deref(), Some("; fn f() -> text\nRET LIT 0 \"a\"\n"));
    assert_eq!(ide::format("; fn f() -> text\nRET\n", &options), None);
}

/// Every request at every place of a source that is cut off anywhere: an answer, whatever it is.
#[test]
fn sources_that_are_typed_are_answered() {
    for source in [NOTIFY, CALLS, MINIFIED, WORKFLOW, MCP] {
        for end in (0..source.len()).step_by(17).filter(|&end| source.is_char_boundary(end)) {
            ask(&format!("{}|", &source[..end]), |analysis, offset, options, source| {
                for offset in [offset, offset / 2, offset + 9, u32::MAX] {
                    analysis.complete(offset);
                    analysis.hover(offset);
                    analysis.definition(offset);
                    analysis.references(offset, Purpose::All);
                    analysis.renamable(offset);
                    drop(analysis.rename(offset, "other", options));
                }
                analysis.symbols();
                analysis.tokens();
                analysis.hints(Span::new(0, u32::MAX));
                let fixed = ide::fix_all(source, options).0;
                if let Some(edit) = ide::change(source, &fixed) {
                    assert_eq!(applied(source, vec![edit]), fixed);
                }
            });
        }
    }
}
