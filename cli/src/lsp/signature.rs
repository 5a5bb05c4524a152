//! Signature help: the call around a position, what its tool or function takes, and the argument there.

use super::answer::Asked;
use super::protocol as lsp;
use ilo_asm::catalog::Lookup;
use ilo_asm::ide::{Analysis, TokenKind};
use ilo_asm::notation::Notation;
use ilo_asm::span::Span;

/// The signature of the call around an offset; `None` outside of calls, or if nothing is known of the tool.
pub(super) fn signature(of: &Asked<'_>, analysis: &Analysis<'_>, offset: u32) -> Option<lsp::SignatureHelp> {
    let tokens = analysis.tokens();
    let before = tokens.iter().take_while(|token| token.span.start <= offset);
    let callees = before.clone().filter(|token| matches!(token.kind, TokenKind::Tool | TokenKind::Function));
    let callee = callees.last().filter(|callee| goes_on(of, callee.span, offset))?;
    let text = analysis.hover(callee.span.start)?.text;
    let (label, about) = text.strip_prefix("```ilo-type\n")?.split_once("\n```")?;
    // A tool that is not known has a name only.
    if !label.contains('(') {
        return None;
    }
    let names =
        before.filter(|token| token.span.start > callee.span.start && token.kind == TokenKind::Property);
    let argument = names.last().and_then(|token| of.text.get(token.span.range()));
    let tool = of.tools.as_ref().zip(analysis.tool_at(callee.span.start));
    let (mut parameters, mut active_parameter) = (Vec::new(), None);
    if let Some(Lookup::Found(tool)) = tool.map(|(tools, name)| tools.catalog.lookup(name)) {
        let notes = tool.argument_notes();
        for field in tool.input().fields() {
            active_parameter =
                active_parameter.or((argument == Some(field.name)).then_some(parameters.len()));
            let mark = if field.required { "" } else { "?" };
            let note =
                notes.iter().find(|(name, ..)| name == field.name).and_then(|(_, about, _)| about.clone());
            parameters.push(lsp::ParameterInformation {
                label: format!("{}{mark}: {}", field.name, field.shape.written()),
                documentation: note.unwrap_or_default(),
            });
        }
    }
    let documentation = about.trim().to_owned();
    let signatures = [lsp::SignatureInformation { label: label.to_owned(), documentation, parameters }];
    Some(lsp::SignatureHelp { signatures, active_parameter })
}

/// Whether the call of a callee still goes on at an offset: in ID text on its line, in JSON within its
/// record, in YAML as far as lines are not less indented.
fn goes_on(of: &Asked<'_>, callee: Span, offset: u32) -> bool {
    let Some(between) = of.text.get(callee.end as usize..offset.max(callee.end) as usize) else {
        return false;
    };
    match of.notation {
        Notation::Id => !between.contains('\n'),
        Notation::Workflow => {
            let line = of.text.get(..callee.start as usize).unwrap_or("").rsplit('\n').next().unwrap_or("");
            let indent = |line: &str| line.len() - line.trim_start().len();
            let more = between.split('\n').skip(1).filter(|line| !line.trim().is_empty());
            more.map(indent).all(|found| found >= indent(line))
        }
        _ => {
            let mut depth = 0_i64;
            between.bytes().all(|byte| {
                depth += match byte {
                    b'{' | b'[' => 1,
                    b'}' | b']' => -1,
                    _ => 0,
                };
                depth >= 0
            })
        }
    }
}
