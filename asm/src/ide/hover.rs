//! Hover: what an editor shows about the word under the pointer, as Markdown.

use super::completion::expression;
use super::mention::{Entity, Mention, Role};
use super::place::{self, At};
use super::{Analysis, Target, describe};
use crate::arena::Arena;
use crate::ast::Slot;
use crate::dialect::operator;
use crate::span::Span;
use crate::syntax::lexer::Kind;
use crate::syntax::types::behind;
use crate::text::shortened;

/// The longest description of a tool that is shown.
const DESCRIPTION: usize = 2_000;

/// A hover text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hover {
    /// The span that it describes.
    pub span: Span,
    /// The text, as Markdown.
    pub text: String,
}

pub(super) fn hover(analysis: &Analysis<'_>, offset: u32) -> Option<Hover> {
    let named = analysis.mention_at(offset).and_then(|mention| {
        let text = match (mention.entity, mention.role) {
            (Entity::Type, _) => return None,
            (Entity::Function(number), _) => of_function(analysis, number),
            (Entity::Tool(_), _) => of_tool(analysis, mention.name),
            (Entity::Slot(function, slot), _) => of_slot(analysis, function, slot, mention),
            (Entity::Field(name), Role::Argument(call)) => of_argument(analysis, call.tool.text, name),
            (Entity::Field(name), Role::Read(record)) => {
                let slots = describe::slots(analysis);
                let known = slots.of(mention.function);
                let found = describe::value(analysis, record, &known)
                    .and_then(|value| value.part.shape()?.field(name));
                match found {
                    Some((shape, required)) => field(name, &shape.written(), required),
                    None => field(name, "any", true),
                }
            }
            (Entity::Field(name), _) => code(&format!("{name} (field)")),
        };
        Some(Hover { span: mention.span, text })
    });
    named.or_else(|| of_word(analysis, offset))
}

fn of_function(analysis: &Analysis<'_>, number: usize) -> String {
    analysis.file.functions.get(number).map_or_else(String::new, |function| code(&describe::header(function)))
}

/// The signature of a tool, and its description.
fn of_tool(analysis: &Analysis<'_>, name: &str) -> String {
    match analysis.target(name) {
        Target::Tool(tool) => {
            let signature = code(&tool.signature());
            match &tool.description {
                Some(text) => format!("{signature}\n\n{}", text.get(..DESCRIPTION).unwrap_or(text)),
                None => signature,
            }
        }
        _ => format!("{}\n\nThe tools are not known here.", code(name)),
    }
}

fn of_argument(analysis: &Analysis<'_>, tool: &str, name: &str) -> String {
    let found = analysis.inputs_of(tool).and_then(|all| all.into_iter().find(|of| of.0 == name));
    let (_, ty, may_be_absent) = found.unwrap_or((name, "any".to_owned(), false));
    field(name, &ty, !may_be_absent)
}

fn of_slot(analysis: &Analysis<'_>, function: usize, slot: Slot, mention: &Mention<'_>) -> String {
    let (name, at) = (mention.name, slot.0 as usize);
    let of = analysis.file.functions.get(function);
    let number = of.and_then(|of| of.slots.get(at)?.number);
    let parameter =
        of.filter(|_| matches!(mention.role, Role::Declared)).and_then(|of| of.parameters.get(at));
    let slots = describe::slots(analysis);
    let ty = match parameter {
        Some(parameter) => {
            let (lists, behind) = ("list ".repeat(parameter.ty.ty.lists.into()), behind(&parameter.need));
            format!("{lists}{}{behind}", parameter.ty.name)
        }
        None => slots.of(function).get(at).map_or_else(|| "any".to_owned(), describe::slot),
    };
    let number = number.map_or(String::new(), |number| format!("\n\n`{name}` (slot {number})"));
    code(&format!("{name}: {ty}")) + &number
}

/// The meaning of a word of the notation.
fn of_word(analysis: &Analysis<'_>, offset: u32) -> Option<Hover> {
    if let Some(text) = &analysis.text {
        let behind = text.lexemes().partition_point(|token| token.start <= offset);
        let token = text.lexemes().get(..behind)?.last().filter(|token| offset <= token.end)?;
        let row = token.word.filter(|_| token.kind == Kind::Word)?.row();
        let text = format!("{}\n\n{}", code(&crate::id::syntax(row)), row.meaning);
        return Some(Hover { span: token.span(), text });
    }
    let arena = Arena::new();
    let place = place::find(analysis.source, analysis.notation, offset, &arena)?;
    if place.at == At::Value {
        return of_operation(analysis, offset, &place);
    }
    let word = analysis.at(place.word);
    let text = describe::of_key(analysis.notation, &place.path, word)?;
    Some(Hover { span: place.word, text: format!("`{word}`: {text}") })
}

/// The meaning of a function or operator in an expression.
fn of_operation(analysis: &Analysis<'_>, offset: u32, place: &place::Place<'_>) -> Option<Hover> {
    let before = analysis.at(Span::new(place.word.start, offset.max(place.word.start)));
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let typed = before.trim_end_matches(is_part);
    let start = place.word.start + u32::try_from(typed.len()).ok()?;
    let rest = analysis.at(Span::new(start, place.word.end.max(start)));
    let word = rest.split(|c| !is_part(c)).next()?;
    let row = operator::find(word)?;
    let called = rest.get(word.len()..)?.starts_with('(') || row.form != operator::Form::Function;
    let whole = expression::is_whole(analysis.notation, &place.path);
    if !called || !expression::is_open(typed, whole) {
        return None;
    }
    let form =
        if row.form == operator::Form::Function { expression::signature(row) } else { word.to_owned() };
    let text = format!("{}\n\n{}", code(&form), row.makes.word().row().meaning);
    Some(Hover { span: Span::new(start, start + u32::try_from(word.len()).ok()?), text })
}

/// A field or argument with its type.
fn field(name: &str, ty: &str, required: bool) -> String {
    code(&format!("{name}{}: {ty}", if required { "" } else { "?" }))
}

/// A line of code in Markdown, whatever is in it.
fn code(text: &str) -> String {
    let text = shortened(text, DESCRIPTION).replace("```", "'''");
    format!("```ilo-type\n{text}\n```")
}
