//! `login` and `logout`: sign in to an MCP server by OAuth; revoke and delete its tokens.

use super::signal::Signal;
use super::{Exit, Refused, output, tools_of};
use ilo_host::login::{Settings, SignedOut, sign_in, sign_out};
use ilo_host::problem::Problem;
use ilo_spec::error::Code;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::time::Duration;

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-vm login tickets --tools tools.json")]
pub(super) struct Login {
    /// The name of the server in the tools file
    server: String,
    /// The tools file
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
    /// A scope to request [default: those that the server names]
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
    /// The ID of a client that was registered by hand
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// The environment variable with the secret of that client
    #[arg(long, value_name = "NAME", requires = "client_id")]
    client_secret_env: Option<String>,
    /// The port of this machine to which the browser is redirected; 0 is any
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    port: u16,
    /// Print the address and open no browser
    #[arg(long)]
    no_browser: bool,
    /// How long to wait for the answer of the browser
    #[arg(long, value_name = "MS", default_value_t = 300_000)]
    timeout: u64,
}

#[derive(clap::Args)]
#[command(after_help = "Example: ilo-vm logout tickets --tools tools.json")]
pub(super) struct Logout {
    /// The name of the server in the tools file
    server: String,
    /// The tools file
    #[arg(long, value_name = "FILE")]
    tools: PathBuf,
}

pub(super) fn login(args: &Login) -> Result<Exit, Refused> {
    let tools = tools_of(Some(&args.tools))?;
    let signal = Signal::listen(false);
    let settings = Settings {
        scopes: args.scopes.clone(),
        client_id: args.client_id.clone(),
        client_secret: secret(args)?,
        port: args.port,
        timeout: Duration::from_millis(args.timeout),
        interrupt: signal.interrupt.clone(),
    };
    let opens = !args.no_browser && std::io::stderr().is_terminal();
    let server = output::plain(&args.server);
    sign_in(&tools, &args.server, &settings, &mut |address| {
        output::error(&format!("to sign in to `{server}`, open this address in a browser:\n\n{address}\n\n"));
        if opens && open::that_detached(address).is_err() {
            output::error("no browser could be opened here\n");
        }
    })?;
    output::error(&format!("signed in to `{server}`\n"));
    Ok(Exit::Ok)
}

pub(super) fn logout(args: &Logout) -> Result<Exit, Refused> {
    let tools = tools_of(Some(&args.tools))?;
    let ended = sign_out(&tools, &args.server)?;
    let server = output::plain(&args.server);
    output::error(&match ended {
        SignedOut::Revoked => format!("signed out of `{server}`: its tokens are revoked and deleted\n"),
        SignedOut::NotRenewable => format!(
            "signed out of `{server}`: its tokens are deleted here and cannot be renewed; its authorization server \
             revokes no access tokens, so that the last one is valid until its time is over\n"
        ),
        SignedOut::Deleted(why) => {
            let why = output::plain(&why);
            format!("signed out of `{server}`: its tokens are deleted here, but not revoked: {why}\n")
        }
        SignedOut::NoTokens => format!("there were no tokens of `{server}`\n"),
    });
    Ok(Exit::Ok)
}

/// The secret of a client. It comes from the environment so that process lists do not show it.
fn secret(args: &Login) -> Result<Option<String>, Problem> {
    let Some(name) = &args.client_secret_env else { return Ok(None) };
    let given = std::env::var(name).ok().filter(|secret| !secret.is_empty());
    let lacks = || {
        Problem::new(Code::BadUsage, "--client-secret-env", format!("the environment has no text `{name}`"))
    };
    given.map(Some).ok_or_else(lacks)
}
