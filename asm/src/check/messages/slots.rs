//! Messages about slots along paths: unset, unchecked, lost; about unreachable statements; about calls that
//! count as rollbacks.

use super::naming::{slot_name, slot_place};
use crate::ast::{Block, Call, Function, Name, Slot};
use crate::check::report::Unset;
use crate::diagnostic::Diagnostic;
use crate::dialect::terms::Terms;
use crate::span::Span;
use crate::text::some_of;
use ilo_spec::error::Code;
use ilo_spec::limits;
use ilo_spec::node::Word;
use std::borrow::Cow;

/// Why a slot is unset, as a clause after "but".
fn clause(reason: Unset, terms: Terms) -> String {
    match reason {
        Unset::Never => "nothing sets it before".to_owned(),
        Unset::Matched(_) => terms.choose("a MATCH has taken its result out", "its call failed").to_owned(),
        Unset::FirstPass(_) => format!("it is not set in the first pass of a {}", terms.word(Word::For)),
        Unset::Path(word, _) => format!("the {} before may leave it unset", construct(word, terms)),
    }
}

/// What a message calls an IF, MATCH, FOR or TRY.
fn construct(word: Word, terms: Terms) -> Cow<'static, str> {
    if word == Word::Match { terms.handler.into() } else { terms.word(word) }
}

/// Points to the code that leaves a slot unset.
fn point(diagnostic: Diagnostic, reason: Unset, terms: Terms) -> Diagnostic {
    let (span, what) = match reason {
        Unset::Never => return diagnostic,
        Unset::Path(_, span) | Unset::FirstPass(span) => (span, "not set on a path here"),
        Unset::Matched(span) => {
            (span, terms.choose("taken apart by this MATCH; its OK arm binds the value", "this is the call"))
        }
    };
    diagnostic.related(span, what)
}

/// A read of a slot that is unset on some path.
pub(crate) fn unset(function: &Function<'_>, slot: Slot, reference: Span, reason: Unset) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let (name, why) = (slot_name(function, slot), clause(reason, terms));
    let span = slot_place(function, slot, reference);
    let diagnostic = Diagnostic::new(Code::UnsetSlot, span, format!("{name} is read, but {why}"));
    let diagnostic = point(diagnostic, reason, terms)
        .expected(format!("a {} that every path here has bound", terms.slot), format!("{name}: {why}"));
    let before = match reason {
        Unset::Path(word, _) => word,
        Unset::FirstPass(_) => Word::For,
        Unset::Never => return diagnostic,
        Unset::Matched(_) => {
            let how = terms.choose(
                "to undo the call if something later fails, write ROLLBACK after the call; to give it another value, \
                 bind it in the ERR arm; to keep what it held before, bind the call to another slot, and this one in \
                 the OK arm",
                "to undo the call if something later fails, write `rollback` beside the call; to give it another \
                 value, use `value` in a handler beside the `call` itself, or `let` on the `match` with `then`; to \
                 keep what it held before, give the call another name, and bind this one in its `then`",
            );
            return diagnostic
                .help(format!("if its call failed, it has no value, and there is nothing to undo; {how}"));
        }
    };
    let before = construct(before, terms);
    diagnostic.help(format!("bind it before the {before} too, to the value that it has then"))
}

/// A read of a slot that holds a result which no MATCH has handled yet.
pub(crate) fn unchecked_read(
    function: &Function<'_>,
    slot: Slot,
    reference: Span,
    call: Option<Span>,
) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let name = slot_name(function, slot);
    let why = "it holds a call's result whose failure is handled only later";
    let span = slot_place(function, slot, reference);
    let diagnostic = Diagnostic::new(Code::UncheckedRead, span, format!("{name} is read, but {why}"));
    point_to_call(diagnostic, call)
        .expected(
            format!("a {} with a plain value", terms.slot),
            format!("{name}, before its {}", terms.handler),
        )
        .help(terms.choose(
            "read the slot that the OK arm binds, inside or after that arm",
            "read it after the step that handles the failure",
        ))
}

fn point_to_call(diagnostic: Diagnostic, call: Option<Span>) -> Diagnostic {
    diagnostic.related_if(call, "bound to the call's result here")
}

/// The result of a call that is lost on a path where nothing handles it.
pub(crate) fn dropped(function: &Function<'_>, slot: Slot, span: Span, call: Option<Span>) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let (name, handler) = (slot_name(function, slot), terms.handler);
    let message = format!("the call's result in {name} is lost here on a path where no {handler} took it");
    point_to_call(Diagnostic::new(Code::DroppedResult, span, message), call)
        .expected(format!("a {handler} on every path"), "a path without it")
        .help(format!("handle the failure on that path too, or bind another {}", terms.slot))
}

/// A MATCH on a slot that holds no result: it is unset, or holds a plain value.
pub(crate) fn match_unchecked(
    function: &Function<'_>,
    slot: Slot,
    span: Span,
    unset: Option<Unset>,
    call: Option<Span>,
) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let (name, bind, with) = (slot_name(function, slot), terms.word(Word::Let), terms.word(Word::Call));
    let what = terms.choose("MATCH on", "a handler for");
    let why = unset.map_or("it may hold a plain value".to_owned(), |reason| clause(reason, terms));
    let found = Diagnostic::new(Code::MatchUnchecked, span, format!("{what} {name}, but {why}"))
        .expected(format!("a {} that a {with} binds on every path", terms.slot), format!("{name}, but {why}"))
        .help(format!("bind the {} with {bind} and {with} right before", terms.slot));
    match unset {
        Some(reason) => point(found, reason, terms),
        None => point_to_call(found, call),
    }
}

/// An unreachable statement.
pub(crate) fn unreachable(span: Span) -> Diagnostic {
    Diagnostic::new(Code::Unreachable, span, "no path reaches this").help("remove it")
}

/// More slots than there are registers.
pub(crate) fn too_many(function: &Function<'_>) -> Diagnostic {
    let slots = Terms::of(function.notation).slots;
    let (given, limit) = (function.slots.len(), limits::REGISTERS);
    let message = format!("`{}` has {given} {slots}, the limit is {limit}", function.name.text);
    Diagnostic::new(Code::TooManyRegisters, function.span, message)
        .expected(format!("at most {limit} {slots}"), format!("{given} {slots}"))
        .help(format!("bind the same {slots} again, or move a part into a function of its own"))
}

/// A call in a branch of IF that earlier versions took as a rollback.
pub(crate) fn implicit_undo(function: &Function<'_>, span: Span) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let undo = terms.word(Word::Undo);
    let message = "if this call fails, the function ends with its failure; earlier versions took it as a rollback, \
                   since its value is not read and a returned failure follows";
    Diagnostic::new(Code::ImplicitUndo, span, message)
        .expected(format!("{undo} with the call"), "a call whose value is not read")
        .help(format!("if it undoes earlier work and may fail, write it with {undo}"))
}

/// A ROLLBACK that names a function of the file, with this body. It shows the rollbacks to write.
pub(crate) fn rollback_function(function: &Function<'_>, name: Name<'_>, body: &Block<'_>) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let (word, condition) = (terms.word(Word::Rollback), terms.word(Word::If));
    let mut tools = Vec::new();
    body.each_call(&mut |call| tools.push(call.tool.text));
    let message = format!("{word} names the function `{}`, but it takes a tool", name.text);
    Diagnostic::new(Code::RollbackFunction, name.span, message)
        .expected("a tool", format!("a function of the file, `{}`", name.text))
        .help(format!(
            "write the calls of the function here, with their arguments: of {}; where it chooses, {word} is alone \
             in the branches of an {condition} after the call",
            some_of(tools.into_iter())
        ))
}

/// A call in an argument of a ROLLBACK.
pub(crate) fn rollback_argument(function: &Function<'_>, call: &Call<'_>) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let word = terms.word(Word::Rollback);
    let message = format!("an argument of {word} calls `{}`", call.tool.text);
    Diagnostic::new(Code::RollbackArgument, call.span, message)
        .expected("a value that no call gives", format!("a call of `{}`", call.tool.text))
        .help(format!(
            "make the call in a {} of its own before, with {}, and read its {} here",
            terms.statement,
            terms.word(Word::Let),
            terms.slot
        ))
}

/// A manual rollback of what a registered entry also rolls back; `entry` is the name in the earlier ROLLBACK.
pub(crate) fn double_rollback(function: &Function<'_>, name: Name<'_>, entry: Name<'_>) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let (undo, rollback) = (terms.word(Word::Undo), terms.word(Word::Rollback));
    let message =
        format!("this calls `{}`, and so does {rollback} if a failure or fault follows: both run", name.text);
    Diagnostic::new(Code::DoubleRollback, name.span, message)
        .expected(format!("{undo} or {rollback}"), "both")
        .related(entry.span, "registered here")
        .help(format!(
            "leave {undo} out: the call that {rollback} registers is made automatically if the function or the run ends \
             without success"
        ))
}

/// A call without a ROLLBACK, of a tool that requires one.
pub(crate) fn rollback_required(function: &Function<'_>, call: &Call<'_>) -> Diagnostic {
    let terms = Terms::of(function.notation);
    let tool = call.tool.text;
    let message = format!("the tool `{tool}` requires a rollback, and this call registers none");
    Diagnostic::new(Code::RollbackRequired, call.tool.span, message)
        .expected(format!("{} with the call", terms.word(Word::Rollback)), "a call without it")
        .help(terms.choose(
            "write `ROLLBACK CALL <tool> <count> …` with the tool that undoes it directly after the call",
            "write `rollback` beside `call`, with the `call` that undoes it",
        ))
}
