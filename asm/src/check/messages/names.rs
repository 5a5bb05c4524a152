//! Messages about names: tools, functions, arguments and fields that do not exist or are not allowed, and the
//! entry function.

use crate::ast::{Call, File, Function, Name};
use crate::catalog::SchemaShape;
use crate::check::fixes;
use crate::diagnostic::Diagnostic;
use crate::dialect::terms::Terms;
use crate::notation::Notation;
use crate::span::Span;
use crate::text::{Near, SHOWN, some_of};
use crate::types::Inferred;
use ilo_spec::error::Code;
use ilo_spec::node::Word;

/// Something wrong with a name.
fn wrong(code: Code, name: Name<'_>, message: String, expected: impl Into<String>) -> Diagnostic {
    Diagnostic::new(code, name.span, message).expected(expected, format!("`{}`", name.text))
}

/// Two functions with the same name.
pub(crate) fn duplicate_function(name: Name<'_>, first: Span) -> Diagnostic {
    let message = format!("two functions are named `{}`", name.text);
    wrong(Code::DuplicateFunction, name, message, "a name that is free")
        .related(first, "first here")
        .help("rename one of them")
}

/// A call of no tool or function, or by the address of a function of no function. `plain` is the name as the
/// message shows it, `tools` are all tools, if they are few enough to be listed.
pub(crate) fn unknown_callee(
    code: Code,
    (name, plain): (Name<'_>, &str),
    tools: Option<String>,
    near: Option<Near<'_>>,
    notation: Notation,
) -> Diagnostic {
    let (what, all) = match code {
        Code::UnknownFunction => ("function of the file", "a function of the file"),
        _ => ("tool or function", "a tool of the catalogue or a function of the file"),
    };
    let expected = tools.unwrap_or_else(|| all.to_owned());
    let diagnostic = Diagnostic::new(code, name.span, format!("no {what} is named `{plain}`"))
        .expected(expected, format!("`{plain}`"));
    fixes::name(diagnostic, name, near, notation)
}

/// A tool that exists but that programs may not call; `own` is its name.
pub(crate) fn withheld_tool(name: Name<'_>, own: &str) -> Diagnostic {
    let message = format!("programs may not call the tool `{own}`");
    wrong(Code::UnknownTool, name, message, "a tool that the tools file allows")
        .help("its server has it; the `policy` of the server in the tools file leaves it out")
}

/// A tool that cannot be used.
pub(crate) fn unusable_tool(name: Name<'_>, why: &str) -> Diagnostic {
    let message = format!("the tool `{}` cannot be called: {why}", name.text);
    wrong(Code::UnknownTool, name, message, "a tool that can be called")
}

/// A tool with a schema that says less than its author meant.
pub(crate) fn misused_keyword(name: Name<'_>, why: &str) -> Diagnostic {
    let message = format!("in a schema of `{}`, {why}", name.text);
    Diagnostic::new(Code::BadSchema, name.span, message)
        .help("the call is made, and this keyword is passed over; a value that does not fit it is not found")
}

/// A name that several servers have.
pub(crate) fn ambiguous_tool<'n>(name: Name<'_>, tools: impl Iterator<Item = &'n str>) -> Diagnostic {
    let message = format!("several servers have a tool `{}`", name.text);
    wrong(Code::UnknownTool, name, message, some_of(tools)).help("write the name with its server")
}

/// A call of a tool or function that is not in the list of the function.
pub(crate) fn not_allowed(function: &Function<'_>, tool: Name<'_>, near: Option<&str>) -> Diagnostic {
    let message = format!("`{}` is not in the list of what `{}` may call", tool.text, function.name.text);
    wrong(Code::ToolNotAllowed, tool, message, "a name of that list")
        .nearest(near)
        .help("add it to the list, or leave the call out")
}

/// A required argument that a call lacks; `declared` is the parameter, if the file declares it.
pub(crate) fn missing_argument(
    call: &Call<'_>,
    name: &str,
    takes: Inferred,
    declared: Option<Span>,
) -> Diagnostic {
    let message = format!("the call of `{}` lacks the argument `{name}`", call.tool.text);
    Diagnostic::new(Code::MissingArgument, call.span, message)
        .expected(format!("the argument `{name}`"), "a call without it")
        .help(format!("`{name}` takes {takes}"))
        .related_if(declared, "the parameter is declared here")
}

/// An argument that the tool or function does not have; `names` are those that it has.
pub(crate) fn unknown_argument<'n>(
    call: &Call<'_>,
    argument: Name<'_>,
    names: impl Iterator<Item = &'n str>,
    near: Option<Near<'_>>,
    notation: Notation,
) -> Diagnostic {
    let takes = some_of(names);
    let expected = if takes.is_empty() { "no argument".to_owned() } else { takes };
    let message = format!("`{}` does not take an argument `{}`", call.tool.text, argument.text);
    let diagnostic = wrong(Code::UnknownArgument, argument, message, expected);
    fixes::name(diagnostic, argument, near, notation)
}

/// A field that the schema of a tool's answer, or the type of an input, does not list.
pub(crate) fn unknown_field(
    of: SchemaShape<'_>,
    name: Name<'_>,
    near: Option<Near<'_>>,
    notation: Notation,
) -> Diagnostic {
    let (tool, field) = (of.tool(), name.text);
    let message = match (of.is_declared(), of.is_answer()) {
        (true, _) => format!("the type of the input `{tool}` lists no field `{field}` here"),
        (_, true) => format!("the answer of `{tool}` has no field `{field}` by its schema"),
        _ => format!("this part of the answer of `{tool}` has no field `{field}` by its schema"),
    };
    let wrong =
        fixes::name(wrong(Code::UnknownField, name, message, some_of(of.names())), name, near, notation);
    if near.is_some_and(|near| near.sure) {
        return wrong;
    }
    let is_whole = matches!(field, "result" | "output" | "response" | "data" | "value");
    wrong.help(if of.is_declared() {
        "add the field to the type of the input".to_owned()
    } else if of.is_answer() && is_whole {
        format!("what a call gives is the answer itself: leave `{field}` out")
    } else {
        format!("if it may be there nevertheless, test with {} first", Terms::of(notation).word(Word::Has))
    })
}

/// Functions that call each other: `way` has their names from the first to the one whose call closes the
/// cycle.
pub(crate) fn circular_call<'n>(
    way: impl ExactSizeIterator<Item = &'n str>,
    span: Span,
    notation: Notation,
) -> Diagnostic {
    let length = way.len();
    let mut names: Vec<&str> = way.take(SHOWN).collect();
    let first = names.first().copied().unwrap_or_default();
    if length > SHOWN {
        names.push("…");
    }
    names.push(first);
    let names = names.join(" -> ");
    let message = match length {
        1 => format!("`{first}` calls itself"),
        _ => format!("functions call each other in a circle: {names}"),
    };
    let terms = Terms::of(notation);
    let (word, range) = (terms.word(Word::For), terms.word(Word::Range));
    let hidden = match length {
        1 => "; the function hides a tool of that name: to call the tool, rename the function",
        _ => "",
    };
    let help = format!(
        "repeat with {word} over a list, or over {range} of the most passes, or split the function{hidden}"
    );
    Diagnostic::new(Code::CircularCall, span, message).expected("calls that end", names).help(help)
}

/// The requested entry function does not exist.
pub(crate) fn no_function(file: &File<'_>, name: &str, nearest: Option<&str>) -> Diagnostic {
    let names = file.functions.iter().map(|function| function.name.text);
    Diagnostic::new(Code::UnknownFunction, Span::at(0), format!("no function is named `{name}`"))
        .expected(some_of(names), format!("`{name}`"))
        .nearest(nearest)
}

/// There is not exactly one function that no other function calls.
pub(crate) fn no_single_entry(file: &File<'_>, candidates: &[u32]) -> Diagnostic {
    let functions = || candidates.iter().filter_map(|&index| file.functions.get(index as usize));
    let names = some_of(functions().map(|function| function.name.text));
    let message = match candidates {
        [] => "every function is called by another: none of them is where the program begins".to_owned(),
        _ => format!("several functions are called by no other: {names}"),
    };
    let span = functions().next().map_or(Span::at(0), |function| function.span);
    Diagnostic::new(Code::NoSingleEntry, span, message)
        .expected("one function that no other calls", format!("{} such functions", candidates.len()))
        .help("say which one runs")
}

/// A field that an item of GROUP or ENTRIES does not have.
pub(crate) fn no_pair_field(name: Name<'_>, other: &str) -> Diagnostic {
    let message = format!("there is no field `{}`: the record has `key` and `{other}`", name.text);
    wrong(Code::UnknownField, name, message, format!("`key` or `{other}`"))
}
