//! Pictures of programs: what each format must contain, whatever the program.
//!
//! Every `.ilo` file in `tests/pictures` is a case. Its three pictures are beside it; `ILO_BLESS=1` rewrites
//! them.

#![allow(clippy::unwrap_used, reason = "what helps a test fails as a test does")]

use ilo_asm::arena::Arena;
use ilo_asm::diagnostic::Diagnostics;
use ilo_asm::id;
use ilo_graph::{Format, graph};
use ilo_spec::limits;
use std::collections::HashSet;
use std::fmt::Write;
use std::path::PathBuf;

fn draw(source: &str, format: Format) -> String {
    let arena = Arena::new();
    let mut diagnostics = Diagnostics::default();
    let options = ilo_asm::source::SourceLimits {
        nesting: limits::NESTING,
        source: 64 << 20,
        ..ilo_asm::source::SourceLimits::default()
    };
    let file = id::parse(source, &arena, &options, &mut diagnostics);
    assert!(!diagnostics.has_errors(), "{diagnostics:?}\n{source}");
    graph(&file, format)
}

fn cases() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/pictures");
    let mut cases: Vec<(PathBuf, String)> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "ilo"))
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    cases.sort();
    assert!(cases.len() >= 5, "the cases are there");
    cases
}

/// The ids and classes of the nodes, as each format writes them.
fn nodes(picture: &str, format: Format) -> Vec<(String, String)> {
    let between = |line: &str, before: &str, after: &str| {
        let start = line.find(before)? + before.len();
        Some(line[start..start + line[start..].find(after)?].to_owned())
    };
    let lines = picture.lines().enumerate();
    lines
        .filter_map(|(number, line)| match format {
            Format::Svg => Some((number.to_string(), between(line, "<g class=\"node ", "\"")?)),
            Format::Dot => Some((between(line, "n", " [")?, between(line, " [class=\"", "\"")?)),
            Format::Mermaid => {
                let (_, class) = line.rsplit_once(":::ilo_")?;
                let line = line.trim_start();
                let id = line.find(|c: char| !c.is_ascii_alphanumeric())?;
                Some((line[..id].to_owned(), class.to_owned()))
            }
        })
        .collect()
}

/// The number of elements of each kind in a program, from its words alone.
fn words(source: &str, wanted: &[&str]) -> usize {
    let lines = source.lines().filter(|line| !line.starts_with(';'));
    lines.flat_map(str::split_whitespace).filter(|word| wanted.contains(word)).count()
}

#[track_caller]
fn everything_is_there_once(source: &str) {
    let tail = words(source, &["RET", "RET_OK"]);
    for (format, _) in Format::ALL {
        let nodes = nodes(&draw(source, format), format);
        let ids: HashSet<&String> = nodes.iter().map(|(id, _)| id).collect();
        assert_eq!(ids.len(), nodes.len(), "{format}: a node is there twice");
        let count =
            |classes: &[&str]| nodes.iter().filter(|(_, class)| classes.contains(&class.as_str())).count();
        assert_eq!(count(&["tool", "own", "undo", "later"]), words(source, &["CALL"]), "{format}: calls");
        assert_eq!(count(&["err"]), words(source, &["RET_ERR", "FAIL"]), "{format}: failures");
        assert_eq!(count(&["if"]), words(source, &["IF"]), "{format}: IF");
        assert_eq!(count(&["match"]), words(source, &["MATCH"]), "{format}: MATCH");
        assert_eq!(count(&["map"]), words(source, &["MATCH_MAP"]), "{format}: MATCH_MAP");
        assert_eq!(count(&["for"]), words(source, &["FOR"]), "{format}: FOR");
        assert!(count(&["undo"]) >= words(source, &["UNDO"]), "{format}: UNDO");
        assert_eq!(count(&["later"]), words(source, &["ROLLBACK"]), "{format}: ROLLBACK");
        assert!(count(&["ok"]) >= tail, "{format}: returns");
    }
}

#[derive(Clone, Copy, Debug)]
struct Shape {
    left: i64,
    top: i64,
    right: i64,
    bottom: i64,
}

/// The outlines of all nodes in an svg, after checking that it is well-formed and only draws.
fn shapes(svg: &str) -> (Shape, Vec<Shape>) {
    let document = roxmltree::Document::parse(svg).unwrap();
    let known = ["svg", "title", "style", "defs", "marker", "path", "rect", "g", "a", "text", "tspan"];
    let mut shapes = Vec::new();
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(known.contains(&node.tag_name().name()), "{:?}", node.tag_name());
        for attribute in node.attributes() {
            assert!(!attribute.name().starts_with("on"), "{attribute:?}");
            assert!(attribute.name() != "href" || attribute.value().starts_with("#ilo-f"), "{attribute:?}");
        }
        let parent = node.parent().and_then(|parent| parent.attribute("class")).unwrap_or_default();
        let number = |name| node.attribute(name).unwrap().parse::<i64>().unwrap();
        if !parent.starts_with("node ") || node.attribute("class") != Some("shape") {
            continue;
        }
        if node.tag_name().name() == "rect" {
            let (left, top) = (number("x"), number("y"));
            shapes.push(Shape { left, top, right: left + number("width"), bottom: top + number("height") });
        } else if let Some(path) = node.attribute("d").filter(|path| path.ends_with('z')) {
            let numbers: Vec<i64> = path
                .split(|c: char| !c.is_ascii_digit())
                .filter(|part| !part.is_empty())
                .map(|part| part.parse().unwrap())
                .collect();
            let [left, _, _, top, _, right, _, _, bottom, _] = numbers[..] else { panic!("{path}") };
            shapes.push(Shape { left, top, right, bottom });
        }
    }
    let side = |name| document.root_element().attribute(name).unwrap().parse().unwrap();
    (Shape { left: 0, top: 0, right: side("width"), bottom: side("height") }, shapes)
}

#[track_caller]
fn nothing_overlaps(source: &str) {
    let svg = draw(source, Format::Svg);
    let (whole, shapes) = shapes(&svg);
    assert_eq!(shapes.len(), nodes(&svg, Format::Svg).len());
    ways_are_free(&svg, &shapes);
    for (at, one) in shapes.iter().enumerate() {
        assert!(one.left >= 0 && one.top >= 0 && one.right <= whole.right && one.bottom <= whole.bottom);
        for two in &shapes[at + 1..] {
            let apart =
                one.right < two.left || two.right < one.left || one.bottom < two.top || two.bottom < one.top;
            assert!(apart, "{one:?} over {two:?}\n{source}");
        }
    }
}

/// Control flow is never drawn through a node.
#[track_caller]
fn ways_are_free(svg: &str, shapes: &[Shape]) {
    let document = roxmltree::Document::parse(svg).unwrap();
    let ways = document.descendants().filter(|node| {
        matches!(node.attribute("class"), Some("flow" | "failure")) && node.attribute("marker-end").is_some()
    });
    for way in ways {
        let path = way.attribute("d").unwrap();
        let numbers: Vec<i64> = path
            .split(|c: char| !c.is_ascii_digit())
            .filter(|part| !part.is_empty())
            .map(|part| part.parse().unwrap())
            .collect();
        let points: Vec<(i64, i64)> = numbers.chunks(2).map(|pair| (pair[0], pair[1])).collect();
        for line in points.windows(2) {
            let ((x1, y1), (x2, y2)) = (line[0], line[1]);
            let through = shapes.iter().find(|shape| {
                x1.max(x2) > shape.left
                    && x1.min(x2) < shape.right
                    && y1.max(y2) > shape.top
                    && y1.min(y2) < shape.bottom
            });
            assert!(through.is_none(), "{path} through {through:?}\n{svg}");
        }
    }
}

#[test]
fn pictures_are_as_they_were() {
    let bless = std::env::var_os("ILO_BLESS").is_some();
    for (path, source) in cases() {
        for (format, name) in Format::ALL {
            let expected = path.with_extension(name);
            let picture = draw(&source, format);
            if bless {
                std::fs::write(expected, picture).unwrap();
            } else {
                let held = std::fs::read_to_string(&expected).unwrap_or_default();
                assert_eq!(picture, held, "{}: ILO_BLESS=1 rewrites it", expected.display());
            }
        }
    }
}

#[test]
fn every_case_is_whole_and_nothing_overlaps() {
    for (_, source) in cases() {
        everything_is_there_once(&source);
        nothing_overlaps(&source);
    }
}

/// A random block, from a small generator of its own: the words are those of the notation, the sense does not
/// matter.
struct Random {
    state: u64,
    out: String,
}

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.state =
            self.state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.state >> 33) % n
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{}{text}", "  ".repeat(depth));
    }

    fn expr(&mut self) -> &'static str {
        let all = [
            "REF 0",
            "FIELD 1 1",
            "CALL 0 1 0 REF 1",
            "AND REF 0 CALL 1 0",
            "CONCAT LIT 0 \"some longer text here: \" FIELD 1 2",
            "MATCH_MAP REF 0 2 \"a\" REF 1 ELSE CALL 2 2 0 REF 0 1 REF 1",
            "OBJ 3 0 REF 0 1 REF 1 2 LIT 1 3",
        ];
        all[usize::try_from(self.below(7)).unwrap()]
    }

    fn block(&mut self, depth: usize) {
        for _ in 0..=self.below(3) {
            let expr = self.expr();
            let slot = self.below(4);
            match self.below(if depth < 6 { 10 } else { 6 }) {
                0..=2 => self.line(depth, &format!("LET {slot} {expr}")),
                3 => self.line(depth, "UNDO CALL 1 0"),
                4 => self.line(depth, &format!("RET_ERR {expr}")),
                5 => self.line(depth, expr),
                6 | 7 => {
                    self.line(depth, &format!("IF {expr} 1"));
                    self.block(depth + 1);
                    if self.below(2) == 0 {
                        self.line(depth, "ELSE 1");
                        self.block(depth + 1);
                    }
                }
                8 => {
                    self.line(depth, &format!("MATCH {slot} 2"));
                    self.line(depth + 1, "ERR 4 1");
                    self.block(depth + 2);
                    self.line(depth + 1, "OK 5 1");
                    self.block(depth + 2);
                }
                _ => {
                    self.line(depth, &format!("FOR 6 {expr} 1"));
                    self.block(depth + 1);
                }
            }
        }
    }
}

const HEADER: &str = "; fn f(a: text, b: list any) -> result any, text\n; Vars: 0=a 1=b 2=c 3=d\n\
                      ; Tools: 0=get 1=put 2=a-tool-of-a-longer-name\n; Fields: 0=one 1=two 2=three\n";

#[test]
fn random_programs_are_whole_and_nothing_overlaps() {
    for seed in 0..100 {
        let mut random = Random { state: seed, out: HEADER.to_owned() };
        random.block(0);
        everything_is_there_once(&random.out);
        nothing_overlaps(&random.out);
    }
}

/// The edges of the DOT format between titles, with their labels.
fn edges(source: &str, with: &str) -> Vec<(String, String, String)> {
    let dot = draw(source, Format::Dot);
    let plain = |text: &str| {
        let mut out = String::new();
        let mut inside = false;
        for c in text.chars() {
            match c {
                '<' => inside = true,
                '>' => inside = false,
                c if !inside => out.push(c),
                _ => {}
            }
        }
        out.replace("&quot;", "\"").replace("&gt;", ">").replace("&lt;", "<")
    };
    let title = |id: &str| {
        let line = dot.lines().find(|line| line.trim_start().starts_with(&format!("{id} ["))).unwrap();
        let label = line.split_once("label=<").unwrap().1.split_once(">, tooltip").unwrap().0;
        plain(label.trim_start_matches("<i>rollback</i><br/>").split("<br").next().unwrap())
    };
    let lines = dot.lines().filter(|line| line.contains(" -> ") && line.contains(with));
    lines
        .map(|line| {
            let (from, rest) = line.trim().split_once(" -> ").unwrap();
            let (to, rest) = rest.split_once(" [").unwrap();
            let label = rest.strip_prefix("label=<").and_then(|rest| rest.split_once(">,"));
            (title(from), title(to), plain(label.map_or("", |(label, _)| label)))
        })
        .collect()
}

const DATA: &str = "penwidth=0.6";
const FAILURE: &str = "style=dashed";

#[track_caller]
fn has(edges: &[(String, String, String)], from: &str, to: &str, label: &str) {
    let wanted = (from.to_owned(), to.to_owned(), label.to_owned());
    assert!(edges.contains(&wanted), "no {wanted:?} in {edges:#?}");
}

fn case(name: &str) -> String {
    cases().into_iter().find(|(path, _)| path.file_stem().is_some_and(|stem| stem == name)).unwrap().1
}

#[test]
fn values_go_from_where_they_are_bound_to_where_they_are_read() {
    let edges = edges(&case("notify"), DATA);
    has(&edges, "notify", "get-user → user", "user-id");
    has(&edges, "get-user → user", "not user.verified", "user.verified");
    has(&edges, "get-user → user", "send-email → sent", "user.email");
    has(&edges, "notify", "send-email → sent", "message");
    has(&edges, "get-user → user", "err \"User lookup failed: ${error}\"", "error");
    has(&edges, "send-email → sent", "err \"Send failed: ${error}\"", "error");
    assert_eq!(edges.len(), 6, "{edges:#?}");
}

#[test]
fn a_value_reaches_the_next_pass_of_its_loop() {
    let source = format!(
        "{HEADER}LET 2 LIT 2 nil\nFOR 6 REF 1 2\n  CALL 1 1 0 REF 2\n  LET 2 CALL 0 0\nRET_OK REF 2\n"
    );
    let edges = edges(&source, DATA);
    has(&edges, "c = nil", "put", "c");
    has(&edges, "get → c", "put", "c");
    has(&edges, "c = nil", "ok c", "c");
    has(&edges, "get → c", "ok c", "c");
}

#[test]
fn a_branch_that_ends_gives_nothing_to_what_follows() {
    let source =
        format!("{HEADER}LET 2 LIT 1 1\nIF REF 0 2\n  LET 2 LIT 1 2\n  RET_ERR REF 2\nRET_OK REF 2\n");
    let edges = edges(&source, DATA);
    has(&edges, "c = 1", "ok c", "c");
    has(&edges, "c = 2", "err c", "c");
    assert_eq!(edges.iter().filter(|(_, to, _)| to == "ok c").count(), 1);
}

#[test]
fn rollbacks_and_failures_have_their_own_look() {
    let order = case("order");
    let failures = edges(&order, FAILURE);
    has(&failures, "charged ok?", "release", "fails");
    has(&failures, "shipped ok?", "refund", "fails");
    let undone = nodes(&draw(&order, Format::Dot), Format::Dot);
    assert_eq!(undone.iter().filter(|(_, class)| class == "undo").count(), 3);
    for (format, mark) in
        [(Format::Svg, "↶ rollback"), (Format::Dot, "rollback</i>"), (Format::Mermaid, "rollback<br/>")]
    {
        assert_eq!(draw(&order, format).matches(mark).count(), 3, "{format}");
    }
}

#[test]
fn a_failure_that_nothing_takes_is_marked() {
    // The called functions and tools, and the number of failures that end the function.
    let table = [
        ("LET 2 CALL 0 0\nRET_OK REF 2\n", 1),
        ("LET 2 CALL 0 0\nMATCH 2 2\n  ERR 4 1\n    RET_ERR REF 4\n  OK 5 1\n    RET_OK REF 5\n", 0),
        ("LET 2 CALL 0 0\nMATCH 2 1\n  OK 5 1\n    RET_OK REF 5\n", 1),
        ("IF REF 0 2\n  CALL 0 0\n  RET_ERR LIT 0 \"x\"\nRET_OK REF 0\n", 0),
        ("IF REF 0 3\n  LET 2 CALL 0 0\n  CALL 1 1 0 REF 2\n  RET_ERR LIT 0 \"x\"\nRET_OK REF 0\n", 1),
        ("CALL 0 0\nUNDO CALL 1 0\nRET_OK REF 0\n", 1),
    ];
    for (body, marks) in table {
        for (format, _) in Format::ALL {
            let picture = draw(&format!("{HEADER}{body}"), format);
            assert_eq!(picture.matches("ends the function").count(), marks, "{format}: {body}");
        }
    }
}

#[test]
fn a_function_that_cannot_fail_is_not_marked() {
    // `classify` calls nothing and has no failure to return.
    for (format, _) in Format::ALL {
        assert!(!draw(&case("summaries"), format).contains("ends the function"), "{format}");
    }
    assert!(draw(&case("summaries"), Format::Svg).contains("<a href=\"#ilo-f0\">"));
}

#[test]
fn expressions_are_readable() {
    let table = [
        ("NOT FIELD 0 1", "not a.two"),
        ("AND NOT REF 0 OR REF 1 REF 2", "not a and (b or c)"),
        ("SUB REF 0 SUB REF 1 REF 2", "a - (b - c)"),
        ("SUB SUB REF 0 REF 1 REF 2", "a - b - c"),
        ("MUL ADD REF 0 LIT 1 1 REF 2", "(a + 1) * c"),
        ("NOT EQ REF 0 LIT 0 \"x\\ny\"", "not a == \"x\\ny\""),
        ("CONCAT LIT 0 \"to \" CONCAT REF 0 LIT 0 \"!\"", "\"to ${a}!\""),
        ("AT FIELD 0 1 LIT 1 0", "a.two[0]"),
        ("APPEND REF 1 LEN REF 0", "append(b, len(a))"),
        ("HAS REF 0 2", "a has three"),
        ("LIST 2 LIT 2 nil LIT 3 true", "[nil, true]"),
        ("MERGE REF 0 1 LIST 0", "c with"),
    ];
    for (expr, text) in table {
        let source = format!("{HEADER}RET_OK EQ LIT 1 1 LIT 1 1\nLET 2 {expr}\n");
        let edges = draw(&source, Format::Mermaid);
        let shown = edges.lines().find(|line| line.contains(":::ilo_value")).unwrap().replace("#92;n", "\\n");
        let mut plain = shown.clone();
        for c in "\"()[]{}<>=+-*$!\\'#;:".chars() {
            plain = plain.replace(&format!("#{};", u32::from(c)), &c.to_string());
        }
        let text = if expr.starts_with("MERGE") {
            "c = a with<br/>two: []".to_owned()
        } else {
            format!("c = {text}")
        };
        assert!(plain.contains(&format!("[\"{text}\"]")), "{expr}: {plain}");
    }
}

#[test]
fn names_from_outside_are_shown_and_never_obeyed() {
    let source = case("hostile");
    for (format, _) in Format::ALL {
        let picture = draw(&source, format);
        let hidden = |c: char| {
            (c.is_control() && c != '\n') || ('\u{2028}'..='\u{206f}').contains(&c) || c == '\u{ffff}'
        };
        assert!(!picture.contains(hidden), "{format}");
        assert!(!picture.contains("<script") && !picture.contains("<img"), "{format}");
        // A line is a statement in two of the formats, and none may come from a name.
        assert!(picture.lines().all(|line| !line.trim_start().starts_with("classDef x")), "{format}");
    }
    let mermaid = draw(&source, Format::Mermaid);
    for line in mermaid.lines().filter(|line| line.contains('"')) {
        assert_eq!(line.matches('"').count(), 2, "{line}");
    }
    let dot = draw(&source, Format::Dot);
    for line in dot.lines() {
        assert_eq!(line.matches('"').count() % 2, 0, "{line}");
        assert_eq!(
            line.replace(" -> ", " ").matches('<').count(),
            line.replace(" -> ", " ").matches('>').count(),
            "{line}"
        );
    }
}

#[test]
fn long_names_are_cut() {
    let source =
        HEADER.replace("get", &"long-".repeat(10_000)).replace("0=one", &format!("0={}", "o".repeat(50_000)));
    let source =
        source + "LET 2 CALL 0 1 0 REF 0\nRET_OK CONCAT REF 2 LIT 0 \"" + &"t".repeat(50_000) + "\"\n";
    for (format, _) in Format::ALL {
        let picture = draw(&source, format);
        assert!(picture.len() < 20_000, "{format}: {}", picture.len());
        assert!(picture.contains('…'), "{format}");
    }
}

fn nested(depth: usize, header: impl Fn(usize) -> String, inner: &str) -> String {
    let mut source = HEADER.to_owned();
    for level in 0..depth {
        let _ = writeln!(source, "{}", header(level));
    }
    source + inner
}

#[test]
fn deep_nesting_is_drawn() {
    let deep = [
        nested(250, |_| "IF REF 0 1".to_owned(), "CALL 0 0\n"),
        nested(250, |_| "FOR 6 REF 1 1".to_owned(), "CALL 0 0\n"),
        nested(120, |_| "LET 2 CALL 0 0\nMATCH 2 1 ERR 4 2".to_owned(), "CALL 0 0\nRET_ERR REF 4\n"),
        nested(1, |_| format!("LET 2 {}REF 0", "NOT ".repeat(250)), ""),
        nested(1, |_| format!("LET 2 {}REF 0{}", "AND ".repeat(250), " CALL 0 0".repeat(250)), ""),
        nested(1, |_| format!("LET 2 {}REF 0", "CALL 0 1 0 ".repeat(250)), ""),
    ];
    for source in deep {
        everything_is_there_once(&source);
        shapes(&draw(&source, Format::Svg));
    }
}

#[test]
fn pictures_grow_with_their_programs_and_no_faster() {
    type Part = fn(usize) -> String;
    let kinds: [(usize, Part); 5] = [
        (1, |_| "LET 2 CALL 0 1 0 REF 2\n".to_owned()),
        (2, |_| "IF REF 0 1\n  LET 2 CALL 0 0\n".to_owned()),
        (4, |_| {
            "LET 2 CALL 0 0\nMATCH 2 1\n  ERR 4 2\n    UNDO CALL 1 1 0 REF 1\n    RET_ERR REF 4\n".to_owned()
        }),
        (2, |n| format!("FOR 6 REF 1 1\n  LET {} REF 6\n", n + 10)),
        (5, |_| {
            "CALL 2 2 0 REF 2 1 REF 3\nIF REF 0 1\n  LET 2 REF 1\nIF REF 1 1\n  LET 3 REF 2\n".to_owned()
        }),
    ];
    for (statements, kind) in kinds {
        let program = |count| (0..count / statements).fold(HEADER.to_owned(), |source, n| source + &kind(n));
        let (small, large) = (program(500), program(2_000));
        for (format, _) in Format::ALL {
            let (small, large) = (draw(&small, format).len(), draw(&large, format).len());
            assert!(large < small * 5, "{format}: {small} bytes for 500 statements, {large} for 2,000");
        }
    }
}

#[test]
fn forms_have_names() {
    for (format, name) in Format::ALL {
        assert_eq!(name.parse(), Ok(format));
        assert_eq!(format.to_string(), name);
    }
    let error = "png".parse::<Format>().unwrap_err();
    assert_eq!(error, "`png` is not a form of picture: expected one of svg, dot, mermaid");
}

#[test]
fn a_file_without_functions_is_an_empty_picture() {
    let file = ilo_asm::ast::File { functions: &[] };
    let (_, shapes) = shapes(&graph(&file, Format::Svg));
    assert!(shapes.is_empty());
    assert!(graph(&file, Format::Dot).ends_with("}\n"));
    assert!(graph(&file, Format::Mermaid).starts_with("flowchart TB\n"));
}
