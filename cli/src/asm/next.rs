//! `next`: lists what may follow the beginning of a program.

use super::{Done, REFUSED, input, output};
use ilo_asm::catalog::Catalog;
use ilo_asm::text::{nearest, visible};
use ilo_guide::{ConstrainedGuide, Guide, Node, Session};
use ilo_spec::{json::quoted, limits};
use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

/// The most choices that a message lists.
const LISTED: usize = 12;

#[derive(clap::Args)]
#[command(
    after_help = "Example: printf 'RET MUL REF ' | ilo-asm next - --signature 'double(n: number) -> number'"
)]
pub(super) struct Args {
    /// The beginning of a program in ID text, or in the form of constrained that guides use; `-` is standard
    /// input
    file: PathBuf,
    #[command(flatten)]
    tools: input::ToolsOption,
    /// The signature of the function, such as 'f(id: text) -> text' [default: that of the last header in the
    /// file]
    #[arg(long)]
    signature: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &Args) -> Done {
    let catalog = args.tools.catalog()?.unwrap_or_default();
    let input = input::Input::read(&args.file, limits::DEFAULT_SOURCE)?;
    if input.bytecode().is_some() {
        return Err(format!("{}: expected ID text, found bytecode", input.name));
    }
    let Some(text) = input.source() else { return Ok(ExitCode::from(REFUSED)) };
    if text.trim_start().starts_with('{') {
        return constrained(args, &catalog, &input.name, text);
    }
    let (session, start) = session(&catalog, args.signature.as_deref(), text)
        .map_err(|message| format!("{}: {message}", input.name))?;
    let body = text.get(start..).unwrap_or_default();
    let mut guide = Guide::new(&session);
    if let Err(refused) = guide.accept_bytes(body.as_bytes()) {
        let at = start + refused.at;
        let good = body.as_bytes().get(..refused.at).unwrap_or_default();
        // The bytes before this position have been accepted.
        let _ = guide.accept_bytes(good);
        output::complain(&wrong(&input.name, text, at, &guide.next()));
        return Ok(ExitCode::from(REFUSED));
    }
    let shown = if args.json { guide.next_json() + "\n" } else { listing(&mut guide) };
    output::show(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

/// The same for a body in `constrained`, whose header has the signature.
fn constrained(args: &Args, catalog: &Catalog, name: &str, text: &str) -> Done {
    if args.signature.is_some() {
        return Err(format!("{name}: the header in the text gives the signature; leave --signature out"));
    }
    let (session, start) =
        Session::of_constrained(catalog, text).map_err(|error| format!("{name}: {error}"))?;
    let mut guide = ConstrainedGuide::new(&session);
    let body = text.get(start..).unwrap_or_default().trim_end_matches('\n').as_bytes();
    if let Err(refused) = guide.accept_bytes(body) {
        let good = body.get(..refused.at).unwrap_or_default();
        // The bytes before this position have been accepted.
        let _ = guide.accept_bytes(good);
        let before = text.get(..text.floor_char_boundary(start + refused.at)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let rest: String = text.get(before.len()..).unwrap_or_default().chars().take(40).collect();
        let expected = guide.next();
        let all: Vec<String> = expected.iter().take(LISTED).map(|it| format!("`{it}`")).collect();
        let more = match expected.len().saturating_sub(LISTED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let expected = all.join(", ");
        output::complain(&format!("{name}:{line}:{column}: expected {expected}{more}; found `{rest}`"));
        return Ok(ExitCode::from(REFUSED));
    }
    let shown = if args.json {
        guide.next_json() + "\n"
    } else {
        let nodes = guide.next().iter().map(ToString::to_string).collect();
        lines(nodes, &guide.forced(), &guide.close().unwrap_or_default())
    };
    output::show(shown.as_bytes())?;
    Ok(ExitCode::SUCCESS)
}

fn session<'c>(
    catalog: &'c Catalog,
    signature: Option<&str>,
    text: &str,
) -> Result<(Session<'c>, usize), String> {
    Session::of_file(catalog, signature, text).map_err(|error| error.to_string())
}

/// The error in a beginning: the position, what was expected and found, and the nearest word.
fn wrong(name: &str, text: &str, at: usize, nodes: &[Node]) -> String {
    let before = text.get(..text.floor_char_boundary(at)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    let in_line = before.rsplit('\n').next().unwrap_or_default();
    let from = in_line.rfind(' ').map_or(0, |blank| blank + 1);
    let begun = in_line.get(from..).unwrap_or_default();
    let rest = text.get(before.len()..).unwrap_or_default();
    let token: String =
        begun.chars().chain(rest.chars().take_while(|c| !c.is_whitespace()).take(40)).collect();
    let column = in_line.chars().count() + 1;
    let mut expected: Vec<String> = Vec::new();
    for node in nodes {
        let shown = node.to_string();
        if !expected.contains(&shown) {
            expected.push(shown);
        }
    }
    let more = expected.len().saturating_sub(LISTED);
    let list = expected.iter().take(LISTED).cloned().collect::<Vec<_>>().join(", ");
    let list = match more {
        _ if expected.is_empty() => "a blank or the end of the line".to_owned(),
        0 => list,
        more => format!("{list} and {more} more"),
    };
    let found = match token.as_str() {
        "" if rest.is_empty() => "the end of the text".to_owned(),
        "" if rest.starts_with('\n') => "the end of the line".to_owned(),
        "" => "a blank".to_owned(),
        token => format!("`{token}`"),
    };
    let words = nodes.iter().filter_map(|node| match node {
        Node::Word(word, _) => Some(word.mnemonic()),
        _ => None,
    });
    let near = nearest(&token, words).filter(|near| *near != token);
    let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("{name}:{line}:{column}: expected {list}; found {found}{hint}")
}

fn listing(guide: &mut Guide<'_>) -> String {
    let nodes = guide.next().iter().map(ToString::to_string).collect();
    lines(nodes, &guide.forced(), &guide.close().unwrap_or_default())
}

fn lines(nodes: Vec<String>, forced: &[u8], close: &[u8]) -> String {
    let mut out = String::new();
    for node in nodes {
        out += &node;
        out.push('\n');
    }
    if !forced.is_empty() {
        // Writing to a string does not fail.
        let _ = writeln!(out, "forced: {}", visible(&quoted(&String::from_utf8_lossy(forced))));
    }
    if !close.is_empty() {
        let _ = writeln!(out, "an end: {}", visible(&quoted(&String::from_utf8_lossy(close))));
    }
    out
}
