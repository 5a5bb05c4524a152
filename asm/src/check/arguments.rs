//! Compares the names of a call's arguments with the parameters of its target.

use super::fixes::{self, wrong};
use super::report::Report;
use super::value_info::RecordInputs;
use crate::ast::{Call, Field, Function};
use crate::catalog::{SchemaShape, ToolSignature};
use crate::diagnostic::Diagnostic;
use crate::notation::Notation;
use crate::span::Span;
use crate::text::some_of;
use crate::types::Inferred;
use hashbrown::HashMap;
use ilo_spec::error::Code;

/// The expected type of an argument.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expectation<'c> {
    pub(super) ty: Inferred,
    /// Its shape in the schema of the tool.
    pub(super) shape: Option<SchemaShape<'c>>,
    /// Whether it may be nil besides. For a tool: whether it is left out then.
    pub(super) nil: bool,
    /// The span of its declaration, if the source has one.
    pub(super) declared: Option<Span>,
}

/// The arguments of a call by name.
struct Given<'c, 'a> {
    arguments: &'c [Field<'a>],
    /// Empty if they are few enough for a linear search.
    by_name: HashMap<&'a str, usize>,
}

impl<'c, 'a> Given<'c, 'a> {
    fn new(call: &'c Call<'a>) -> Given<'c, 'a> {
        const FEW: usize = 16;
        let arguments = call.arguments;
        let many = arguments.iter().enumerate().filter(|_| arguments.len() > FEW);
        Given { arguments, by_name: many.map(|(index, argument)| (argument.name.text, index)).collect() }
    }

    fn find(&self, name: &str) -> Option<usize> {
        if self.by_name.is_empty() {
            self.arguments.iter().position(|argument| argument.name.text == name)
        } else {
            self.by_name.get(name).copied()
        }
    }
}

/// The required arguments that a call lacks.
#[derive(Default)]
struct Missing<'n> {
    /// Each with its expected type and the span of its declaration.
    names: Vec<(&'n str, Inferred, Option<Span>)>,
    /// Whether there are more.
    more: bool,
}

impl<'n> Missing<'n> {
    fn note(&mut self, name: &'n str, takes: Inferred, declared: Option<Span>, report: &mut Report<'_>) {
        self.more |= report.spend(1).is_none() || report.is_full();
        self.names.push((name, takes, declared));
    }

    /// Reports them, except those that another argument was `meant` to be: a misspelt one.
    fn report(&self, call: &Call<'_>, meant: &[&str], report: &mut Report<'_>) {
        for &(name, takes, declared) in self.names.iter().filter(|(name, ..)| !meant.contains(name)) {
            if report.is_full() {
                return;
            }
            let message = format!("the call of `{}` lacks the argument `{name}`", call.tool.text);
            let missing = Diagnostic::new(Code::MissingArgument, call.span, message)
                .expected(format!("the argument `{name}`"), "a call without it")
                .help(format!("`{name}` takes {takes}"));
            report.push(missing.related_if(declared, "the parameter is declared here"));
        }
    }
}

/// The expected types of the arguments in a call of a function. Reports missing and unknown arguments.
pub(super) fn of_function<'c>(
    call: &Call<'_>,
    (callee, inputs): (&Function<'_>, &'c RecordInputs),
    whole: bool,
    report: &mut Report<'_>,
) -> Vec<Option<Expectation<'c>>> {
    let given = Given::new(call);
    let mut wanted: Vec<Option<Expectation<'c>>> = vec![None; call.arguments.len()];
    let mut missing = Missing::default();
    for parameter in callee.parameters {
        let (name, ty) = (parameter.name, Inferred::from(parameter.ty.ty));
        if let Some(wanted) = given.find(name.text).and_then(|index| wanted.get_mut(index)) {
            let (nil, declared) = (parameter.takes_nil(), Some(parameter.ty.span));
            *wanted = Some(Expectation { ty, shape: inputs.shape_of(parameter), nil, declared });
        } else if !parameter.may_be_absent() {
            missing.note(name.text, ty, Some(name.span), report);
            if missing.more {
                break;
            }
        }
    }
    let names = callee.parameters.iter().map(|parameter| parameter.name.text);
    let meant = if wanted.iter().any(Option::is_none) && !missing.more {
        unknown(call, &given, &wanted, &names, (true, callee.notation), report)
    } else {
        Vec::new()
    };
    if whole {
        missing.report(call, &meant, report);
    }
    wanted
}

/// The expected types of the arguments in a call of a tool. Reports missing and unknown arguments.
pub(super) fn of_tool<'c>(
    call: &Call<'_>,
    tool: &'c ToolSignature,
    notation: Notation,
    whole: bool,
    report: &mut Report<'_>,
) -> Vec<Option<Expectation<'c>>> {
    let given = Given::new(call);
    let input = tool.input().arm(|name| text_of(call.arguments, name));
    let mut missing = Missing::default();
    for argument in input.fields().filter(|argument| argument.required && whole) {
        if given.find(argument.name).is_none() {
            missing.note(argument.name, argument.shape.ty(), None, report);
        }
        if missing.more {
            break;
        }
    }
    let wanted: Vec<Option<Expectation<'c>>> = call
        .arguments
        .iter()
        .map(|argument| {
            let (shape, nil) = input.given(argument.name.text)?;
            Some(Expectation { ty: shape.ty(), shape: Some(shape), nil, declared: None })
        })
        .collect();
    let meant = if input.is_open() || tool.lets_others(input) {
        Vec::new()
    } else {
        let refused = input.refuses_others() || !missing.names.is_empty();
        unknown(call, &given, &wanted, &input.names(), (refused, notation), report)
    };
    missing.report(call, &meant, report);
    wanted
}

/// The text that a field of a record has as a constant.
pub(crate) fn text_of<'a>(fields: &[Field<'a>], name: &str) -> Option<&'a str> {
    fields.iter().find(|field| field.name.text == name)?.value.constant_text()
}

/// Reports each argument that the target does not have, `refused` or not. Returns the names that were meant.
fn unknown<'n>(
    call: &Call<'_>,
    given: &Given<'_, '_>,
    wanted: &[Option<Expectation<'_>>],
    names: &(impl Iterator<Item = &'n str> + Clone),
    (refused, notation): (bool, Notation),
    report: &mut Report<'_>,
) -> Vec<&'n str> {
    let mut meant = Vec::new();
    let unlisted = call.arguments.iter().zip(wanted).filter(|(_, wanted)| wanted.is_none());
    for (argument, _) in unlisted.filter(|(argument, _)| !argument.is_unnamed()) {
        let free = names.clone().filter(|name| given.find(name).is_none());
        let near = report.near(argument.name.text, free);
        meant.extend(near.map(|near| near.name));
        let refused = refused || near.is_some();
        let (takes, name) = (some_of(names.clone()), argument.name);
        let expected = if takes.is_empty() { "no argument".to_owned() } else { takes };
        let message = format!("`{}` does not take an argument `{}`", call.tool.text, name.text);
        let found = wrong(Code::UnknownArgument, name, message, expected);
        report.push(fixes::name(found, name, near, notation).raised_if(refused));
    }
    meant
}
