//! Signs in to MCP servers by OAuth, with a browser that is redirected to a port of this machine.
//!
//! The protocol library discovers the authorization server, registers the client, and makes the requests with
//! PKCE (S256), the issuer and the resource. This module has the settings, the redirect of the browser
//! (`redirect`), and the messages. [`crate::tokens`] stores the tokens.

mod redirect;
mod revoke;

use crate::https;
use crate::interrupt::Interrupt;
use crate::mcp::server_config::{Server, Way, has_authorization};
use crate::tokens::{Store, discovered, why};
use crate::tools::Tools;
use ilo_drive::problem::{Problem, did_you_mean, shortened};
use ilo_spec::error::Code;
use revoke::revoke;
use rmcp::transport::auth::{
    AuthorizationManager, AuthorizationRequest, AuthorizationSession, StoredCredentials,
};
use std::net::Ipv4Addr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::time::timeout;

/// The time limit of each step that does not involve a person.
const STEP: Duration = Duration::from_mins(1);
/// How long the authorization server may take to revoke tokens.
const REVOKING: Duration = Duration::from_secs(15);

/// The settings of a sign-in.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// The scopes to ask for; those that the server names if there are none.
    pub scopes: Vec<String>,
    /// The ID of a client that was registered by hand; otherwise the client registers itself.
    pub client_id: Option<String>,
    /// The secret of that client.
    pub client_secret: Option<String>,
    /// The port of this machine to which the browser is redirected; 0 is any.
    pub port: u16,
    /// The time limit for the person.
    pub timeout: Duration,
    /// Ends the sign-in early.
    pub interrupt: Interrupt,
}

/// A server with its URL.
fn found<'t>(tools: &'t Tools, name: &str) -> Result<(&'t Server, &'t str), Problem> {
    let problem =
        |message: String| Problem::new(Code::BadUsage, format!("server `{}`", shortened(name, 80)), message);
    let Some(server) = tools.server(name) else {
        let near = did_you_mean(name, tools.servers());
        return Err(problem(format!("the tools file has no such server{near}")));
    };
    match &server.way {
        Way::Http { headers, .. } if has_authorization(headers) => Err(problem(
            "the tools file gives it a header `Authorization`; remove that to sign in".to_owned(),
        )),
        Way::Http { url, .. } => Ok((server, url)),
        Way::Program { .. } => {
            Err(problem("it is a program, which needs no sign-in; only servers with a `url` do".to_owned()))
        }
        Way::None => {
            Err(server.lacks.first().cloned().unwrap_or_else(|| problem("it cannot be reached".to_owned())))
        }
    }
}

/// Signs in to a server of the tools file. `show` gets the address that the person opens in a browser.
///
/// # Errors
/// A server that cannot be signed in to, and the step that failed.
pub fn sign_in(
    tools: &Tools,
    server: &str,
    settings: &Settings,
    show: &mut dyn FnMut(&str),
) -> Result<(), Problem> {
    let (server, url) = found(tools, server)?;
    https::install();
    let failed = |message: String| {
        let message = server.secrets.hidden(&message);
        Problem::new(Code::BadUsage, format!("server `{}`", server.name), format!("not signed in: {message}"))
    };
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| failed(error.to_string()))?;
    let signed = runtime.block_on(async {
        tokio::select! {
            signed = with_browser(server, url, settings, show) => signed,
            () = settings.interrupt.wait() => Err("interrupted".to_owned()),
        }
    });
    signed.map_err(failed)
}

async fn with_browser(
    server: &Server,
    url: &str,
    settings: &Settings,
    show: &mut dyn FnMut(&str),
) -> Result<(), String> {
    let store = Store::of(url, &server.secrets)?.with_client_secret(settings.client_secret.clone());
    settings.client_secret.iter().for_each(|secret| server.secrets.learn(secret));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).await;
    let unusable = |error| format!("port {} of this machine cannot be used: {error}", settings.port);
    let listener = listener.map_err(unusable)?;
    let port = listener.local_addr().map_err(unusable)?.port();
    let late = |_| format!("the server did not answer within {} s", STEP.as_secs());
    let session = timeout(STEP, session(url, settings, store, port)).await.map_err(late)??;
    let address = session.get_authorization_url();
    let state = redirect::parameter(address, "state").ok_or("the address has no state")?;
    show(address);
    let answer = timeout(settings.timeout, redirect::answer(listener, &state)).await;
    let answer =
        answer.map_err(|_| format!("nobody signed in within {} s", settings.timeout.as_secs()))??;
    let exchanged = session.handle_callback_with_issuer(&answer.code, &state, answer.issuer.as_deref());
    timeout(STEP, exchanged).await.map_err(late)?.map(drop).map_err(|error| why(&error))
}

/// Finds the authorization server and registers the client.
async fn session(
    url: &str,
    settings: &Settings,
    store: Store,
    port: u16,
) -> Result<AuthorizationSession, String> {
    let mut manager = AuthorizationManager::new(url).await.map_err(|error| why(&error))?;
    let metadata = discovered(url, &manager).await?;
    if metadata.registration_endpoint.is_none() && settings.client_id.is_none() {
        return Err(
            "its authorization server registers no clients by itself; register one, and give its ID with \
                    `--client-id`"
                .to_owned(),
        );
    }
    manager.set_metadata(metadata);
    manager.set_credential_store(store);
    let mut request = AuthorizationRequest::new(format!("http://127.0.0.1:{port}/callback"))
        .with_client_name("ilo-vm")
        .with_scopes(settings.scopes.iter().cloned())
        .with_initial_scope_selection();
    if let Some(id) = &settings.client_id {
        request = request.with_preregistered_client(id);
    }
    if let Some(secret) = &settings.client_secret {
        request = request.with_client_secret(secret);
    }
    AuthorizationSession::new(manager, request).await.map_err(|(_, error)| why(&error))
}

/// The result of signing out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SignedOut {
    /// There were no tokens.
    NoTokens,
    /// The tokens are deleted here and revoked.
    Revoked,
    /// The tokens are deleted here and cannot be renewed; the access token is valid until it expires.
    NotRenewable,
    /// The tokens are deleted here, but may be valid until they expire, for this reason.
    Deleted(String),
}

/// Revokes the tokens of a server, if its authorization server supports that, and deletes them here.
///
/// # Errors
/// A server of a kind without tokens; a file that cannot be deleted.
pub fn sign_out(tools: &Tools, server: &str) -> Result<SignedOut, Problem> {
    let (server, url) = found(tools, server)?;
    let failed = |message| Problem::new(Code::BadUsage, format!("server `{}`", server.name), message);
    let store = Store::of(url, &server.secrets).map_err(failed)?;
    let revoked = match store.read() {
        Ok(Some((stored, secret))) => revoked(url, &stored, secret.as_deref()),
        Ok(None) => Ok(false),
        Err(why) => Err(why),
    };
    let was = store.delete().map_err(failed)?;
    Ok(match revoked {
        _ if !was => SignedOut::NoTokens,
        Ok(false) => SignedOut::Revoked,
        Ok(true) => SignedOut::NotRenewable,
        Err(why) => SignedOut::Deleted(server.secrets.hidden(&why)),
    })
}

fn revoked(url: &str, stored: &StoredCredentials, secret: Option<&str>) -> Result<bool, String> {
    https::install();
    let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let late = |_| format!("the server did not answer within {} s", REVOKING.as_secs());
    runtime.block_on(async { timeout(REVOKING, revoke(url, stored, secret)).await.map_err(late)? })
}
