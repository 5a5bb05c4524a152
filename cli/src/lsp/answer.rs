//! Answers requests about documents: one function for each kind of request.

#![allow(clippy::needless_pass_by_value, reason = "all answers have one type")]

use super::catalogues::{self, Tools};
use super::convert::Places;
use super::entry::entry_of;
use super::message::{Refusal, code, read};
use super::protocol as lsp;
use super::signature;
use ilo_asm::arena::Arena;
use ilo_asm::compile::{self, Options};
use ilo_asm::diagnostic::{Diagnostic, Edit};
use ilo_asm::ide::{self, Analysis, Purpose};
use ilo_asm::notation::Notation;
use ilo_asm::span::{Span, Units};
use ilo_spec::error::Code;
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use std::rc::Rc;

/// The document of a request.
pub(super) struct Asked<'s> {
    pub(super) uri: &'s str,
    pub(super) text: &'s str,
    pub(super) notation: Notation,
    pub(super) tools: Option<Rc<Tools>>,
    pub(super) units: Units,
}

/// The requests about a document, each with its answer.
pub(super) const METHODS: [(&str, Answer); 12] = [
    ("textDocument/completion", completion),
    ("textDocument/hover", hover),
    ("textDocument/signatureHelp", signature),
    ("textDocument/definition", definition),
    ("textDocument/references", references),
    ("textDocument/prepareRename", prepare_rename),
    ("textDocument/rename", rename),
    ("textDocument/documentSymbol", symbols),
    ("textDocument/inlayHint", hints),
    ("textDocument/semanticTokens/full", tokens),
    ("textDocument/codeAction", actions),
    ("textDocument/formatting", formatting),
];

/// Answers a request about a document.
pub(super) type Answer = fn(&Asked<'_>, Given<'_>) -> Result<Value, Refusal>;

/// The parameters of a request.
type Given<'p> = Option<&'p RawValue>;

fn json(answer: impl Serialize) -> Result<Value, Refusal> {
    let wrong = |error: serde_json::Error| (code::INTERNAL_ERROR, error.to_string());
    serde_json::to_value(answer).map_err(wrong)
}

impl Asked<'_> {
    fn options(&self) -> Options<'_> {
        let catalog = self.tools.as_ref().map(|tools| &tools.catalog);
        Options { from: Some(self.notation), catalog, ..Options::default() }
    }

    fn places(&self) -> Places<'_> {
        Places::new(self.text, self.units)
    }

    /// Runs a query on the analysis.
    fn analysed<T>(&self, ask: impl FnOnce(&Analysis<'_>) -> T) -> T {
        let arena = Arena::new();
        ask(&Analysis::new(self.text, &arena, &self.options()))
    }

    /// The offset of a request with a position.
    fn offset(&self, params: Given<'_>) -> Result<u32, Refusal> {
        let params: lsp::PositionParams = read(params)?;
        Ok(self.places().offset(params.position))
    }

    /// The diagnostics of the document.
    pub(super) fn found(&self) -> Vec<Diagnostic> {
        let (_, found) = compile::compile(self.text, &self.options());
        let more = self.tools.as_ref().is_some_and(|tools| tools.more);
        // An unlisted tool may belong to a server.
        let all = found.as_slice().iter().filter(|one| !(more && one.code == Code::UnknownTool));
        all.cloned().collect()
    }

    pub(super) fn diagnostics(&self) -> Vec<lsp::Diagnostic> {
        let places = self.places();
        self.found().iter().map(|one| places.diagnostic(self.uri, one)).collect()
    }
}

/// `ilo_guide` could replace `Analysis::complete` here.
fn completion(of: &Asked<'_>, params: Given<'_>) -> Result<Value, Refusal> {
    let offset = of.offset(params)?;
    let places = of.places();
    let found = of.analysed(|analysis| analysis.complete(offset));
    let items: Vec<lsp::CompletionItem> =
        found.iter().enumerate().map(|(rank, one)| places.completion(rank, one)).collect();
    json(items)
}

fn hover(of: &Asked<'_>, params: Given<'_>) -> Result<Value, Refusal> {
    let offset = of.offset(params)?;
    let places = of.places();
    let found = of.analysed(|analysis| analysis.hover(offset));
    json(found.map(|found| lsp::Hover {
        contents: lsp::MarkupContent { kind: "markdown", value: found.text },
        range: places.range(found.span),
    }))
}

fn locations(of: &Asked<'_>, spans: &[Span]) -> Result<Value, Refusal> {
    let places = of.places();
    json(spans.iter().map(|&span| places.location(of.uri, span)).collect::<Vec<_>>())
}

fn signature(of: &Asked<'_>, params: Given<'_>) -> Result<Value, Refusal> {
    let offset = of.offset(params)?;
    json(of.analysed(|analysis| signature::signature(of, analysis, offset)))
}

/// The place of a tool in the file that describes it.
fn tool_entry(of: &Asked<'_>, offset: u32) -> Option<lsp::Location> {
    let (file, text) = of.tools.as_ref()?.file.as_ref()?;
    let span = of.analysed(|analysis| entry_of(text, analysis.tool_at(offset)?))?;
    Some(Places::new(text, of.units).location(&catalogues::uri(file), span))
}

fn definition(of: &Asked<'_>, params: Given<'_>) -> Result<Value, Refusal> {
    let offset = of.offset(params)?;
    if let Some(entry) = tool_entry(of, offset) {
        return json([entry]);
    }
    locations(of, &of.analysed(|analysis| analysis.definition(offset)))
}

fn references(of: &Asked<'_>, params: Given<'_>) -> Result<Value, Refusal> {
    let params: lsp::ReferenceParams = read(params)?;
    let purpose = if params.context.include_declaration { Purpose::All } else { Purpose::Uses };
    let offset = of.places().offset(params.position);
    locations(of, &of.analysed(|analysis| analysis.references(offset, purpose)))
}

fn prepare_rename(of: &Asked<'_>, params: Given<'_>) -> Result<Value, Refusal> {
    let offset = of.offset(params)?;
    let places = of.places();
    let found = of.analysed(|analysis| analysis.renamable(offset));
    json(found.map(|(span, placeholder)| lsp::Renamable { range: places.range(span), placeholder }))
}

fn rename(of: &Asked<'_>, params: Given<'_>) -> Result<Value, Refusal> {
    let params: lsp::RenameParams = read(params)?;
    let places = of.places();
    let offset = places.offset(params.position);
    let edits = of.analysed(|analysis| analysis.rename(offset, &params.new_name, &of.options()));
    let edits = edits.map_err(|problem| (code::REQUEST_FAILED, problem))?;
    json(places.edits(of.uri, &edits))
}

fn symbols(of: &Asked<'_>, _: Given<'_>) -> Result<Value, Refusal> {
    let places = of.places();
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the path is not general over lifetimes")]
    let found = of.analysed(|analysis| analysis.symbols());
    json(found.iter().map(|symbol| places.symbol(symbol)).collect::<Vec<_>>())
}

fn hints(of: &Asked<'_>, params: Given<'_>) -> Result<Value, Refusal> {
    let params: lsp::RangeParams = read(params)?;
    let places = of.places();
    let range = places.span(params.range);
    let found = of.analysed(|analysis| analysis.hints(range));
    let hint = |hint: &ide::Hint| lsp::InlayHint {
        position: places.position(hint.offset),
        label: hint.label.clone(),
        padding_left: true,
    };
    json(found.iter().map(hint).collect::<Vec<_>>())
}

fn tokens(of: &Asked<'_>, _: Given<'_>) -> Result<Value, Refusal> {
    #[expect(clippy::redundant_closure_for_method_calls, reason = "the path is not general over lifetimes")]
    let found = of.analysed(|analysis| analysis.tokens());
    json(lsp::SemanticTokens { data: of.places().tokens(&found) })
}

/// The kind of the action that applies all fixes.
const FIX_ALL: &str = "source.fixAll.ilo";

fn actions(of: &Asked<'_>, params: Given<'_>) -> Result<Value, Refusal> {
    let params: lsp::ActionParams = read(params)?;
    let only = read::<lsp::ActionContext>(params.context.as_deref()).ok().and_then(|context| context.only);
    let wants = |kind: &str| {
        let is = |wanted: &String| kind == wanted || kind.starts_with(&format!("{wanted}."));
        only.as_ref().is_none_or(|only| only.iter().any(is))
    };
    let places = of.places();
    let within = places.span(params.range);
    let mut actions = Vec::new();
    let found = of.found();
    for one in found.iter().filter(|_| wants("quickfix")) {
        let Some(fix) = &one.fix else { continue };
        if one.span.end < within.start || within.end < one.span.start {
            continue;
        }
        actions.push(lsp::CodeAction {
            title: fix.title.clone(),
            kind: "quickfix",
            diagnostics: vec![places.diagnostic(of.uri, one)],
            is_preferred: true,
            edit: places.edits(of.uri, &fix.edits),
        });
    }
    if wants(FIX_ALL) && found.iter().any(|one| one.fix.is_some()) {
        let (text, count) = ide::fix_all(of.text, &of.options());
        if let Some(edit) = ide::change(of.text, &text) {
            actions.push(lsp::CodeAction {
                title: format!("Apply all {count} fixes"),
                kind: FIX_ALL,
                diagnostics: Vec::new(),
                is_preferred: false,
                edit: places.edits(of.uri, &[edit]),
            });
        }
    }
    json(actions)
}

fn formatting(of: &Asked<'_>, _: Given<'_>) -> Result<Value, Refusal> {
    let places = of.places();
    let edit = ide::format(of.text, &of.options()).and_then(|text| ide::change(of.text, &text));
    json(edit.iter().map(|edit: &Edit| places.edit(edit)).collect::<Vec<_>>())
}
