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
//! | `hover`, `outline`, `rename` | one answer each |
//! | `completion` | completion, in ID text and in documents |

pub mod completion;
mod describe;
mod hover;
mod mention;
mod outline;
mod place;
mod rename;
mod whole_source;

pub use completion::{Completion, CompletionKind};
pub use hover::Hover;
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
use mention::{Entity, Mention, Role};

/// Which occurrences of a name are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// Only its uses.
    Uses,
    /// Also where it is bound or declared.
    All,
}

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
        let Entity::Tool(name) = self.mention_at(offset)?.entity else { return None };
        Some(name)
    }

    /// The definitions of the name at an offset: the bindings of a slot, the header of a function, the entry
    /// of a registry. Empty if there is no name, or if the host defines it.
    pub fn definition(&self, offset: u32) -> Vec<Span> {
        let Some(named) = self.mention_at(offset) else { return Vec::new() };
        let binds = |other: &Mention<'_>| matches!(other.role, Role::Declared | Role::Bind);
        let bound = self.places(named.entity, binds);
        let listed =
            |other: &Mention<'_>| matches!(other.role, Role::Entry) && other.function == named.function;
        if bound.is_empty() { self.places(named.entity, listed) } else { bound }
    }

    /// All occurrences of the name at an offset.
    pub fn references(&self, offset: u32, purpose: Purpose) -> Vec<Span> {
        let Some(named) = self.mention_at(offset) else { return Vec::new() };
        self.places(named.entity, |other| purpose == Purpose::All || !other.role.declares())
    }

    /// The spans of some names of an entity.
    fn places(&self, entity: Entity<'a>, which: impl Fn(&Mention<'a>) -> bool) -> Vec<Span> {
        self.mentions_of(entity).filter(|mention| which(mention)).map(|mention| mention.span).collect()
    }

    /// All names of an entity; none of a type.
    fn mentions_of(&self, entity: Entity<'a>) -> impl Iterator<Item = &Mention<'a>> {
        let all = if entity == Entity::Type { &[][..] } else { &self.mentions };
        all.iter().filter(move |mention| mention.entity == entity)
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
        let bound = |mention: &Mention<'_>| match (mention.entity, mention.role) {
            (Entity::Slot(of, slot), Role::Bind | Role::Declared) if of == function => Some(slot),
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
