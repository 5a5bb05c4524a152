//! `schema`: prints a JSON Schema of programs in the notation constrained.

use super::{Done, grammar, input, print};
use ilo_guide::export as exports;

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Host {
    /// Structured outputs and strict tools of `OpenAI`
    Openai,
    /// Structured outputs and strict tools of Anthropic
    Anthropic,
    /// Outlines
    Outlines,
}

#[derive(clap::Args)]
#[command(after_help = "\
A schema cannot express all rules; its description lists the others. Check what the model wrote.

Example: ilo-asm schema --catalog catalog.json --signature 'f(id: text) -> result nil, text' --for openai > ilo.schema.json")]
pub(super) struct Args {
    #[command(flatten)]
    tools: input::ToolsOption,
    /// The tools that may be called, separated by commas [default: all]
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    only: Option<Vec<String>>,
    /// The host whose limits and keywords the schema respects [default: JSON Schema without limits]
    #[arg(long = "for", value_name = "HOST")]
    host: Option<Host>,
    /// The signature of the function, such as 'f(id: text) -> text'; required with --for [default: any]
    #[arg(long)]
    signature: Option<String>,
}

pub(super) fn run(args: &Args) -> Done {
    if args.host.is_some() && args.signature.is_none() {
        return Err("--for needs --signature, since these hosts take no records with free keys".to_owned());
    }
    let host = args.host.map(|host| match host {
        Host::Openai => exports::Host::OpenAi,
        Host::Anthropic => exports::Host::Anthropic,
        Host::Outlines => exports::Host::Outlines,
    });
    let catalog = args.tools.catalog()?.unwrap_or_default();
    let signature = args.signature.as_deref().unwrap_or(grammar::ANY);
    let session = grammar::session(&catalog, signature, args.only.as_ref())?;
    let any = args.signature.is_none();
    let schema = exports::schema(&session, host, any).map_err(|error| error.to_string())?;
    print(schema.as_bytes())
}
