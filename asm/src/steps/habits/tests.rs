//! Runs the example of each habit: what is read must be the program that it means.

use super::context::Spot;
use super::table::HABITS;
use crate::arena::Arena;
use crate::diagnostic::Diagnostics;
use crate::document::json;
use crate::notation::Notation;
use crate::source::SourceLimits;
use crate::{print, steps};

/// A program in JSON with an example in it: as a step, or as a value that a step binds.
fn program(notation: Notation, at: Spot, fragment: &str) -> String {
    let step = match at {
        Spot::Step | Spot::NoStep => fragment.to_owned(),
        Spot::Value => format!("{{\"let\": \"v\", \"call\": \"t\", \"ARGS\": {{\"v\": {fragment}}}}}"),
        Spot::Condition => format!("{{\"if\": {fragment}, \"then\": []}}"),
        Spot::Formula => format!("{{\"let\": \"v\", \"expr\": {fragment}}}"),
    };
    let (input, args) = (r#"{"n": "number", "xs": "list any"}"#, r#""args""#);
    match notation {
        Notation::Constrained => {
            format!(r#"{{"fn": "f", "in": {input}, "out": "any", "body": [{step}]}}"#)
        }
        Notation::Mcp => format!(r#"{{"meta": {{"input": {input}, "output": "any"}}, "steps": [{step}]}}"#)
            .replace("\"ARGS\"", r#""with""#),
        Notation::Workflow => {
            format!(r#"{{"name": "f", "input": {input}, "output": "any", "steps": [{step}]}}"#)
        }
        _ => format!(r#"{{"function": "f", "input": {input}, "output": "any", "steps": [{step}]}}"#),
    }
    .replace("\"ARGS\"", args)
}

/// The program that is read, in instruction text, and the errors and warnings.
fn read(source: &str, notation: Notation) -> (String, Diagnostics) {
    let (arena, mut diagnostics, limits) = (Arena::new(), Diagnostics::default(), SourceLimits::default());
    let documents = json::read(source, &arena, &limits, &mut diagnostics);
    let file = steps::read(documents, None, source, notation, &arena, &limits, &mut diagnostics);
    (print::id(&file), diagnostics)
}

#[test]
fn every_habit_is_read_as_its_example_says() {
    for habit in HABITS {
        let (notation, [written, read_as]) = habit.example;
        let expected = read_as.trim();
        let expected =
            expected.strip_prefix('[').and_then(|steps| steps.strip_suffix(']')).unwrap_or(expected);
        let (found, reported) = read(&program(notation, habit.at, written), notation);
        let (meant, _) = read(&program(notation, habit.at, expected), notation);
        assert_eq!(found, meant, "{}: {reported:?}", habit.name);
    }
}
