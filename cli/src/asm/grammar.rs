//! `grammar`: prints a grammar of programs for engines of constrained decoding.

use super::{Done, input, print};
use ilo_asm::catalog::Catalog;
use ilo_asm::text::nearest;
use ilo_guide::export::{self, DEEPEST, DEPTH, Syntax};
use ilo_guide::{Options, Session};

/// The default signature.
pub(super) const ANY: &str = "main() -> any";

#[derive(Clone, Copy, clap::ValueEnum)]
enum To {
    /// Lark, for llguidance and Guidance
    Lark,
    /// GBNF, for llama.cpp
    Gbnf,
    /// EBNF, for xgrammar and the model servers that use it
    Ebnf,
}

#[derive(clap::Args)]
#[command(after_help = "\
The grammar is for the body of a function. The comment at its head has the text that comes before the body, for the \
prompt, and the rules that a grammar cannot express: check what the model wrote.

Example: ilo-asm grammar --to lark --catalog tools.json --signature 'f(id: text) -> result text, text'")]
pub(super) struct Args {
    /// The syntax of the grammar
    #[arg(long, value_enum)]
    to: To,
    #[command(flatten)]
    tools: input::ToolsOption,
    /// The tools that may be called, separated by commas [default: all]
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    only: Option<Vec<String>>,
    /// The signature of the function, such as 'f(id: text) -> text'
    #[arg(long, default_value = ANY)]
    signature: String,
    /// The maximum nesting of blocks in a program
    #[arg(long, default_value_t = DEPTH, value_parser = clap::value_parser!(u8).range(1..=i64::from(DEEPEST)))]
    depth: u8,
}

pub(super) fn run(args: &Args) -> Done {
    let catalog = args.tools.catalog()?.unwrap_or_default();
    let session = session(&catalog, &args.signature, args.only.as_ref())?;
    let syntax = match args.to {
        To::Lark => Syntax::Lark,
        To::Gbnf => Syntax::Gbnf,
        To::Ebnf => Syntax::Ebnf,
    };
    let grammar = export::grammar(&session, syntax, args.depth).map_err(|error| error.to_string())?;
    print(grammar.as_bytes())
}

/// The session of a signature with a catalogue, or with some of its tools.
pub(super) fn session<'c>(
    catalog: &'c Catalog,
    signature: &str,
    only: Option<&Vec<String>>,
) -> Result<Session<'c>, String> {
    let names = || catalog.tools().iter().map(|tool| tool.name.as_str());
    for name in only.into_iter().flatten() {
        if !names().any(|tool| tool == name) {
            let near =
                nearest(name, names()).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(format!("--only: the catalogue has no tool `{name}`{near}"));
        }
    }
    let options = Options { tools: only.cloned(), ..Options::default() };
    Session::new(catalog, signature, &options).map_err(|error| error.to_string())
}
