//! Sources: checking, building, fixing, converting, laying out, drawing.

use crate::Words;
use crate::known::Known;
use ilo_asm::arena::Arena;
use ilo_asm::compile::{Options, OutputSchema, Signature, compile as build_source, read_and_check};
use ilo_asm::diagnostic::{Diagnostics, fix as fixes};
use ilo_asm::format::{self, Formatted};
use ilo_asm::notation::Notation;
use ilo_asm::{explain as pages, print, prompt};
use ilo_spec::error::Code;

/// The number of times that a source is checked again: one fix can reveal the next error.
const ROUNDS: usize = 8;

/// What a host expects of a program.
#[derive(Clone, Debug, Default)]
pub struct Expected {
    /// Its signature.
    pub signature: Option<Signature>,
    /// Its value.
    pub output: Option<OutputSchema>,
    /// Whether warnings that foretell a fault or another result are errors.
    pub strict: bool,
}

impl Expected {
    /// Reads a signature, such as `email(id: text) -> result answer, text`, and the JSON Schema of a value.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub fn read(signature: Option<&str>, output: Option<&str>, strict: bool) -> Result<Expected, String> {
        let signature = signature.map(str::parse).transpose()?;
        let output = output.map(str::parse).transpose()?;
        Ok(Expected { signature, output, strict })
    }
}

/// A source and the options with which it is read.
#[derive(Clone, Copy, Debug)]
pub struct Work<'s> {
    /// The source.
    pub source: &'s str,
    /// Its notation, which is detected if it is not given.
    pub from: Option<Notation>,
    /// The spelling of the argument with the notation, for messages.
    pub setting: &'static str,
    /// The tools that it is checked against.
    pub tools: Option<&'s Known>,
    /// What the host expects of it.
    pub expected: Option<&'s Expected>,
    /// Whether source positions are left out of the program.
    pub strip: bool,
}

/// A result of work on a source, and the diagnostics. A source with an error has no result.
pub type Made = (Option<String>, Diagnostics);

impl<'s> Work<'s> {
    /// A source with default options.
    pub fn new(source: &'s str, from: Option<Notation>, words: &Words) -> Work<'s> {
        let setting = words.notation;
        Work { source, from, setting, tools: None, expected: None, strip: false }
    }

    /// The options with which it is read.
    pub fn options(&self) -> Options<'_> {
        let catalog = self.tools.map(|tools| &tools.catalog);
        let Work { from, expected, strip, .. } = *self;
        let (signature, output) =
            (expected.and_then(|it| it.signature.as_ref()), expected.and_then(|it| it.output.as_ref()));
        let (notation_setting, strict) = (Some(self.setting), expected.is_some_and(|it| it.strict));
        Options { from, notation_setting, catalog, signature, output, strict, strip, ..Options::default() }
    }

    /// Builds it. Returns the program if there is no error, and the diagnostics.
    ///
    /// # Errors
    /// That the verifier refused what was built, which is an error of this library.
    pub fn build(&self) -> Result<(Option<ilo_vm::Program>, Diagnostics), String> {
        let (program, found) = build_source(self.source, &self.options());
        let program = program.map(ilo_vm::Program::new).transpose().map_err(|error| error.to_string())?;
        Ok((program, found))
    }

    /// Its diagnostics.
    pub fn check(&self) -> Diagnostics {
        build_source(self.source, &self.options()).1
    }

    /// Applies every unambiguous fix. Returns the new source, the number of fixes, and the remaining
    /// diagnostics.
    pub fn fix(&self) -> (String, usize, Diagnostics) {
        let (mut text, mut fixed) = (self.source.to_owned(), 0);
        for _ in 0..ROUNDS {
            let (_, diagnostics) = build_source(&text, &self.options());
            let (next, count) = fixes::apply(&text, diagnostics.as_slice());
            if count == 0 {
                return (text, fixed, diagnostics);
            }
            fixed += count;
            text = next;
        }
        let (_, diagnostics) = build_source(&text, &self.options());
        (text, fixed, diagnostics)
    }

    fn made(&self, make: impl FnOnce(&ilo_asm::ast::File<'_>, &mut Diagnostics) -> String) -> Made {
        let arena = Arena::new();
        let mut diagnostics = Diagnostics::default();
        let (file, _) = read_and_check(self.source, &arena, &self.options(), &mut diagnostics);
        if diagnostics.has_errors() {
            return (None, diagnostics);
        }
        let mut diagnostics = Diagnostics::default();
        let text = make(&file, &mut diagnostics);
        ((!diagnostics.has_errors()).then_some(text), diagnostics)
    }

    /// The source in another notation.
    pub fn convert(&self, to: Notation) -> Made {
        self.made(|file, diagnostics| print::print(file, to, diagnostics))
    }

    /// A drawing of the source.
    pub fn graph(&self, form: ilo_graph::Format) -> Made {
        self.made(|file, _| ilo_graph::graph(file, form))
    }

    /// The source in its canonical layout.
    pub fn layout(&self) -> Made {
        let mut diagnostics = Diagnostics::default();
        let options = self.options();
        let laid = match options.from.or_else(|| Notation::detect(self.source)) {
            None | Some(Notation::Id) => format::id_text(self.source, &options.reading, &mut diagnostics),
            Some(notation) => {
                match format::format(self.source, notation, &options.reading, &mut diagnostics) {
                    Formatted::Text(text) => Some(text),
                    // Another layout would change its meaning.
                    Formatted::LeftAlone => Some(self.source.to_owned()),
                    Formatted::Refused => None,
                }
            }
        };
        (laid, diagnostics)
    }
}

/// The card that teaches a model a notation, with the tools, and what the host expects of the program that it
/// writes.
pub fn card(notation: Notation, tools: Option<&Known>, expected: &Expected) -> String {
    let catalog = tools.map(|tools| &tools.catalog);
    prompt::prompt_for(notation, catalog, expected.signature.as_ref(), expected.output.as_ref())
}

/// The explanation of an error code.
///
/// # Errors
/// That there is no such code, with the nearest one.
pub fn explain(code: &str) -> Result<&'static str, String> {
    pages::explain(code).ok_or_else(|| {
        let near = ilo_drive::problem::did_you_mean(code, Code::ALL.iter().map(|code| code.as_str()));
        format!("there is no code `{code}`{near}")
    })
}
