//! Signature help: the tool or function of the call that contains a position, and the argument there.

use super::mention::{Role, What};
use super::place::{self, At};
use super::{Analysis, Target};

/// What a call takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// `get-user(user-id: text) -> {email: text}`.
    pub label: String,
    /// The description of the tool; empty if it has none.
    pub about: String,
    /// Each argument as it is in the label, with its description.
    pub parameters: Vec<(String, String)>,
    /// The argument at the position.
    pub active: Option<usize>,
}

impl Analysis<'_> {
    /// The signature of the innermost call around an offset; `None` outside of calls, or if the tool is not
    /// known.
    pub fn signature(&self, offset: u32) -> Option<Signature> {
        let (callee, argument) =
            if self.text.is_some() { self.call_in_line(offset) } else { self.call_around(offset) }?;
        let (label, about, all) = match self.target(&callee) {
            Target::Tool(tool) => {
                let notes = tool.argument_notes();
                let note = |name: &str| {
                    notes.iter().find(|(of, ..)| of == name).and_then(|(_, about, _)| about.clone())
                };
                let field = |field: crate::catalog::Field<'_>| {
                    let mark = if field.required { "" } else { "?" };
                    let text = format!("{}{mark}: {}", field.name, field.shape.written());
                    (field.name.to_owned(), text, note(field.name).unwrap_or_default())
                };
                let all: Vec<_> = tool.input().fields().map(field).collect();
                (tool.signature(), tool.description.clone().unwrap_or_default(), all)
            }
            Target::Function(number) => {
                let function = self.file.functions.get(number)?;
                let parameter = |of: &crate::ast::Parameter<'_>| {
                    let mark = if of.may_be_absent() { "?" } else { "" };
                    (of.name.text.to_owned(), format!("{}{mark}: {}", of.name.text, of.ty.ty), String::new())
                };
                let all = function.parameters.iter().map(parameter).collect();
                (Analysis::header(function), String::new(), all)
            }
            Target::Unknown => return None,
        };
        let active = argument.and_then(|name| all.iter().position(|(of, ..)| *of == name));
        let parameters = all.into_iter().map(|(_, text, about)| (text, about)).collect();
        Some(Signature { label, about, parameters, active })
    }

    /// The callee and the argument around an offset of JSON or YAML.
    fn call_around(&self, offset: u32) -> Option<(String, Option<String>)> {
        let place = place::find(self.source, self.notation, offset)?;
        let level = place.path.iter().rposition(|level| level.value("call").is_some())?;
        let callee = place.path.get(level)?.value("call")?.to_owned();
        // Below the record of the call is that of its arguments.
        let inside = place.path.get(level + 1).and_then(|arguments| arguments.key.clone());
        let typed =
            (place.at == At::Key && level + 1 == place.path.len()).then(|| self.at(place.word).to_owned());
        Some((callee, inside.or(typed)))
    }

    /// The callee and the argument before an offset in its line of ID text.
    fn call_in_line(&self, offset: u32) -> Option<(String, Option<String>)> {
        let before = self.mentions.iter().take_while(|mention| mention.span.start <= offset);
        let mut call = None;
        for mention in before {
            match mention.what {
                What::Tool(name, Role::Use) => call = Some((mention.span, name, None)),
                What::Argument(_, name) => {
                    if let Some((_, _, argument)) = &mut call {
                        *argument = Some(name.to_owned());
                    }
                }
                _ => {}
            }
        }
        let (at, name, argument) = call?;
        let between = self.source.get(at.end as usize..(offset as usize).max(at.end as usize))?;
        (!between.contains('\n')).then(|| (name.to_owned(), argument))
    }
}
