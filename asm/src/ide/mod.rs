//! Editor support: hover, completion, definitions, references, renaming, symbols, hints, semantic tokens,
//! fixes and layout.
//!
//! These are pure functions over an [`Analysis`] of one source, with offsets in bytes. Protocols, JSON, files
//! and state are left to `ilo-asm lsp` and the playground. A source with errors can be analysed too; the
//! answers use what could be read of it.
//!
//! A file imports only files above it:
//!
//! | files | contents |
//! |---|---|
//! | `place` | places in JSON and YAML |
//! | `whole_source` | which documents are programs, fixes, layout |
//! | this file, `mention`, `describe` | the analysis: all names and places; words and values in one line |
//! | `hover`, `navigate`, `outline` | one answer each |
//! | `rename` | on top of `navigate` |
//! | `completion` | completion, in ID text and in documents |

pub mod completion;
mod describe;
mod hover;
mod mention;
mod navigate;
mod outline;
mod place;
mod rename;
mod whole_source;

pub use completion::{Completion, CompletionKind};
pub use hover::Hover;
pub use navigate::Purpose;
pub use outline::Hint;
pub use outline::{Symbol, SymbolKind};
pub use outline::{Token, TokenKind};
pub use whole_source::program_notation;
pub use whole_source::{change, fix_all, format};

use crate::arena::Arena;
use crate::ast::{File, Slot};
use crate::catalog::{Catalog, ToolSignature};
use crate::check::{self, Target, by_name};
use crate::compile::{self, Options};
use crate::diagnostic::Diagnostics;
use crate::id::Source;
use crate::id::state::{FunctionLayout, Layout};
use crate::notation::Notation;
use crate::span::Span;
use crate::syntax::lexer::{Comment, Lexed, Token as Lexeme};
use hashbrown::{HashMap, HashSet};
use mention::{Mention, Role, What};

/// A source with its tree and all its names.
pub struct Analysis<'a> {
    source: &'a str,
    notation: Notation,
    file: File<'a>,
    /// The index of the first function of each name.
    functions: HashMap<&'a str, u32>,
    catalog: Option<&'a Catalog>,
    /// In source order, with distinct spans.
    mentions: Vec<Mention<'a>>,
    /// For ID text only.
    text: Option<IdText<'a>>,
}

/// The tokens and registries of ID text.
struct IdText<'a> {
    lexed: Lexed,
    sections: Vec<FunctionLayout<'a>>,
}

impl<'a> Analysis<'a> {
    /// Analyses a source. The cost is about that of checking it. A source that exceeds the limits counts as
    /// empty.
    pub fn new(source: &'a str, arena: &'a Arena, options: &Options<'a>) -> Analysis<'a> {
        let notation = options.from.or_else(|| Notation::detect(source)).unwrap_or(Notation::Id);
        let mut unused = Diagnostics::default();
        let (file, text) = if notation == Notation::Id {
            let mut layout = Layout::default();
            let read = Source::new(source, arena, &options.reading, &mut unused);
            let file = read
                .as_ref()
                .map_or(File { functions: &[] }, |read| read.file(arena, &mut unused, Some(&mut layout)));
            let text = read.map(|read| IdText { lexed: read.lexed, sections: layout.functions });
            (file, text)
        } else {
            let options = Options { from: Some(notation), ..options.clone() };
            (compile::read(source, arena, &options, &mut unused), None)
        };
        let functions = by_name(&file);
        let catalog = options.catalog;
        let mut analysis =
            Analysis { source, notation, file, functions, catalog, mentions: Vec::new(), text };
        analysis.mentions = mention::all(&analysis);
        analysis
    }

    /// The notation of the source.
    pub fn notation(&self) -> Notation {
        self.notation
    }

    /// The hover text at an offset.
    pub fn hover(&self, offset: u32) -> Option<Hover> {
        hover::hover(self, offset)
    }

    /// The completions at an offset, the most likely first.
    pub fn complete(&self, offset: u32) -> Vec<Completion> {
        completion::complete(self, offset)
    }

    /// The name of the tool at an offset, as the catalogue has it.
    pub fn tool_at(&self, offset: u32) -> Option<&'a str> {
        navigate::tool_at(self, offset)
    }

    /// The definitions of the name at an offset: the bindings of a slot, the header of a function, the entry
    /// of a registry. Empty if there is no name, or if the host defines it.
    pub fn definition(&self, offset: u32) -> Vec<Span> {
        navigate::definition(self, offset)
    }

    /// All occurrences of the name at an offset.
    pub fn references(&self, offset: u32, purpose: Purpose) -> Vec<Span> {
        navigate::references(self, offset, purpose)
    }

    /// The source text of a span.
    fn at(&self, span: Span) -> &'a str {
        self.source.get(span.range()).unwrap_or("")
    }

    /// The name that contains an offset or ends at it.
    fn mention_at(&self, offset: u32) -> Option<&Mention<'a>> {
        let behind = self.mentions.partition_point(|mention| mention.span.start <= offset);
        let before = self.mentions.get(..behind)?.last()?;
        (offset <= before.span.end).then_some(before)
    }

    /// The target of a call of this name.
    fn target(&self, name: &str) -> Target<'a> {
        check::target(name, &self.functions, self.catalog)
    }

    /// What the function with this index may call, each with its signature and a description: the other
    /// functions of the file, then the tools.
    fn callables(&self, from: usize) -> impl Iterator<Item = (&'a str, String, &'a str)> {
        let own = self.file.functions.iter().enumerate().filter(move |&(number, _)| number != from);
        let own = own.map(|(_, own)| (own.name.text, describe::header(own), ""));
        let tools = self.catalog.map_or(&[][..], Catalog::tools).iter();
        let about = |tool: &'a ToolSignature| tool.description.as_deref().unwrap_or("");
        let tools = tools.map(move |tool| (tool.name.as_str(), tool.signature(), about(tool)));
        own.filter(|(name, ..)| !name.is_empty()).chain(tools)
    }

    /// The arguments of a call of this name, each with its type, and whether it may be left out; `None` if
    /// they are not known.
    fn inputs_of(&self, name: &str) -> Option<Vec<(&'a str, String, bool)>> {
        match self.target(name) {
            Target::Function(number) => {
                let inputs = self.file.functions.get(number as usize)?.parameters.iter();
                Some(inputs.map(|of| (of.name.text, of.ty.ty.to_string(), of.may_be_absent())).collect())
            }
            Target::Tool(tool) => {
                let fields = tool.input().fields();
                Some(fields.map(|of| (of.name, of.shape.written(), !of.required)).collect())
            }
            Target::Unknown => None,
        }
    }

    /// The slots of a function that are bound before an offset.
    fn bound_before(&self, function: usize, offset: u32) -> HashSet<Slot> {
        let before = self.mentions.iter().take_while(|mention| mention.span.start < offset);
        let bound = |mention: &Mention<'_>| match mention.what {
            What::Slot(slot, Role::Bind | Role::Parameter) if mention.function == function => Some(slot),
            _ => None,
        };
        before.filter_map(bound).collect()
    }

    /// The index of the function whose header or body contains an offset.
    fn function_at(&self, offset: u32) -> Option<usize> {
        self.file.functions.partition_point(|function| function.span.start <= offset).checked_sub(1)
    }
}

impl IdText<'_> {
    fn comments(&self) -> &[Comment] {
        &self.lexed.comments
    }

    fn lexemes(&self) -> &[Lexeme] {
        &self.lexed.tokens
    }
}
