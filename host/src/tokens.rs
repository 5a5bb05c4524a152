//! Stores the tokens of sign-ins to servers: one file for each server, which only its owner can read.
//!
//! A file belongs to the URL of one server. Its tokens are sent only to that URL, over TLS or within this
//! machine. Processes that renew a token take turns by a lock file.

use crate::https;
use crate::tool::secrets::Secrets;
use ilo_asm::text::visible;
use ilo_drive::data::write::hex;
use ilo_drive::problem::shortened;
use reqwest::Client;
use reqwest::header::{ACCEPT, CONTENT_TYPE, WWW_AUTHENTICATE};
use reqwest::redirect::Policy;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, CredentialRefreshGuard, CredentialStore,
    OAuthClientConfig, StoredCredentials,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::fmt::{self, Write as _};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The environment variable with the folder of the files.
const FOLDER: &str = "ILO_TOKENS";
/// The maximum size of a file.
const FILE: u64 = 256 << 10;
/// The number of bytes of the hash of a URL in the name of its file.
const NAME: usize = 16;
/// How long a server may take to say what it demands of a request.
const CHALLENGE: Duration = Duration::from_secs(10);

/// The tokens of one server.
#[derive(Clone)]
pub(crate) struct Store {
    file: PathBuf,
    url: Arc<str>,
    /// The secret of a client that was registered by hand, which token requests need.
    client_secret: Option<String>,
    secrets: Secrets,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("file", &self.file).finish_non_exhaustive()
    }
}

/// The folder of the files: `ILO_TOKENS`, otherwise a folder in the configuration of the user.
fn folder() -> Option<PathBuf> {
    let given = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let configuration = || {
        if cfg!(windows) {
            return given("APPDATA");
        }
        given("XDG_CONFIG_HOME").or_else(|| Some(given("HOME")?.join(".config")))
    };
    given(FOLDER).or_else(|| Some(configuration()?.join("ilo").join("tokens")))
}

impl Store {
    /// The store of a server, which need not have tokens yet. Tokens that it reads become secrets.
    ///
    /// # Errors
    /// A URL to which no token may be sent; no folder for the file.
    pub(crate) fn of(url: &str, secrets: &Secrets) -> Result<Store, String> {
        if https::safe(url).is_none() {
            return Err("a token is sent over `https` or within this machine only".to_owned());
        }
        let folder = folder().ok_or_else(|| {
            format!("there is no folder for tokens; set `{FOLDER}` to a folder that only you can read")
        })?;
        Ok(Store::in_folder(&folder, url, secrets))
    }

    fn in_folder(folder: &Path, url: &str, secrets: &Secrets) -> Store {
        let digest = Sha256::digest(url);
        let file = folder.join(hex(digest.get(..NAME).unwrap_or_default()) + ".json");
        Store { file, url: url.into(), client_secret: None, secrets: secrets.clone() }
    }

    pub(crate) fn with_client_secret(mut self, secret: Option<String>) -> Store {
        self.client_secret = secret;
        self
    }

    pub(crate) fn exists(&self) -> bool {
        self.file.exists()
    }

    /// Deletes the tokens. Returns whether there were any.
    pub(crate) fn delete(&self) -> Result<bool, String> {
        let removed = |path: &Path| match fs::remove_file(path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(format!("cannot delete {}: {error}", path.display())),
        };
        let was = removed(&self.file)?;
        removed(&self.lock_file())?;
        Ok(was)
    }

    fn lock_file(&self) -> PathBuf {
        self.file.with_extension("lock")
    }

    /// What is stored, with the secret of the client.
    pub(crate) fn read(&self) -> Result<Option<(StoredCredentials, Option<String>)>, String> {
        let place = self.file.display();
        let file = match File::open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(format!("{place} cannot be read: {error}")),
        };
        private(&file).map_err(|why| format!("{place} {why}"))?;
        let mut text = Vec::new();
        file.take(FILE).read_to_end(&mut text).map_err(|error| format!("{place} cannot be read: {error}"))?;
        let bad = || format!("{place} is not a file of tokens; delete it, and sign in again");
        let mut stored: Value = serde_json::from_slice(&text).map_err(|_| bad())?;
        if stored.get("url").and_then(Value::as_str) != Some(&*self.url) {
            return Err(format!("{place} belongs to another server; delete it, and sign in again"));
        }
        let secret = stored.get("client_secret").and_then(Value::as_str).map(str::to_owned);
        let credentials = stored.get_mut("credentials").map(Value::take).unwrap_or_default();
        let credentials: StoredCredentials = serde_json::from_value(credentials).map_err(|_| bad())?;
        self.learn(&credentials);
        secret.iter().for_each(|secret| self.secrets.learn(secret));
        Ok(Some((credentials, secret)))
    }

    /// Adds the tokens to the secrets.
    fn learn(&self, credentials: &StoredCredentials) {
        let texts = serde_json::to_value(&credentials.token_response).unwrap_or_default();
        for name in ["access_token", "refresh_token", "id_token"] {
            texts.get(name).and_then(Value::as_str).iter().for_each(|token| self.secrets.learn(token));
        }
    }

    fn write(&self, credentials: &StoredCredentials) -> Result<(), String> {
        self.learn(credentials);
        let stored = json!({
            "url": *self.url, "client_secret": self.client_secret, "credentials": credentials,
        });
        let place = self.file.display();
        self.written(stored.to_string().as_bytes())
            .map_err(|error| format!("{place} cannot be written: {error}"))
    }

    /// Replaces the file atomically.
    fn written(&self, bytes: &[u8]) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            create_folder(folder)?;
        }
        let new = self.file.with_extension(format!("{}.new", std::process::id()));
        let written = || {
            let mut file = own(&new)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&new, &self.file)
        };
        let result = written();
        if result.is_err() {
            drop(fs::remove_file(&new));
        }
        result
    }
}

#[cfg(unix)]
fn create_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn create_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

/// A new file that only its owner can read and write.
fn own(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        // A killed process has left it.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            fs::remove_file(path)?;
            options.open(path)
        }
        opened => opened,
    }
}

/// The mode bits that give access to others than the owner.
#[cfg(unix)]
const OTHERS: u32 = 0o077;

/// Rejects a file that others can read.
#[cfg(unix)]
fn private(file: &File) -> Result<(), String> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = file.metadata().map_err(|error| format!("cannot be read: {error}"))?.mode();
    if mode & OTHERS == 0 {
        return Ok(());
    }
    Err(format!("has the mode {:03o}, so that others can read it; set it to 600", mode & 0o777))
}

#[cfg(not(unix))]
#[allow(clippy::unnecessary_wraps, reason = "other systems have no such mode")]
fn private(_file: &File) -> Result<(), String> {
    Ok(())
}

/// Takes the lock file; the lock ends when the file is dropped.
fn locked_file(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        create_folder(folder)?;
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    file.lock()?;
    Ok(file)
}

#[async_trait::async_trait]
impl CredentialStore for Store {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        let read = self.read().map_err(AuthError::CredentialStoreError)?;
        Ok(read.map(|(credentials, _)| credentials))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        self.write(&credentials).map_err(AuthError::CredentialStoreError)
    }

    async fn clear(&self) -> Result<(), AuthError> {
        self.delete().map(drop).map_err(AuthError::CredentialStoreError)
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        let path = self.lock_file();
        let lock = tokio::task::spawn_blocking(move || locked_file(&path)).await;
        let lock = lock.map_err(io::Error::other).and_then(|lock| lock);
        let failed = |error| AuthError::CredentialStoreError(format!("the tokens cannot be locked: {error}"));
        lock.map(|lock| Some(CredentialRefreshGuard::new(lock))).map_err(failed)
    }
}

/// What a server demands of a request without a token: many servers answer a POST with it and nothing else.
async fn challenge(url: &str) -> Option<String> {
    let builder = Client::builder().redirect(Policy::none()).timeout(CHALLENGE);
    let http = https::client(builder, url.starts_with("http://")).ok()?;
    let request = http.post(url).header(CONTENT_TYPE, "application/json");
    let request = request.header(ACCEPT, "application/json, text/event-stream");
    let answer = request.body(r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#).send().await.ok()?;
    let wanted = answer.headers().get(WWW_AUTHENTICATE).filter(|_| answer.status() == 401);
    wanted.map(|wanted| String::from_utf8_lossy(wanted.as_bytes()).into_owned())
}

/// The metadata of the authorization server of the server at a URL.
///
/// # Errors
/// If it is not published, or has endpoints to which no token may be sent.
pub(crate) async fn discovered(
    url: &str,
    manager: &AuthorizationManager,
) -> Result<AuthorizationMetadata, String> {
    let challenge = challenge(url).await;
    let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await;
    let found = found.map_err(|error| why(&error))?;
    if !found.source.is_discovered() {
        return Err("it publishes no metadata of an authorization server (RFC 9728 and RFC 8414)".to_owned());
    }
    let metadata = found.metadata;
    let registration = metadata.registration_endpoint.as_deref();
    let endpoints = [metadata.authorization_endpoint.as_str(), metadata.token_endpoint.as_str()];
    let unsafe_one =
        endpoints.into_iter().chain(registration).find(|endpoint| https::safe(endpoint).is_none());
    match unsafe_one.map(|endpoint| shortened(endpoint, 200)) {
        None => Ok(metadata),
        Some(endpoint) => Err(format!(
            "its authorization server names the endpoint `{endpoint}`, which is neither `https` nor within this machine",
        )),
    }
}

/// Why a step of OAuth failed, with its sources.
pub(crate) fn why(error: &AuthError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            // Writing to a string does not fail.
            let _ = write!(text, ": {more}");
        }
        cause = error.source();
    }
    shortened(&visible(&text), 600)
}

/// The token for requests to one server.
#[derive(Debug)]
pub(crate) struct Access {
    store: Store,
    /// Held while the token is renewed.
    turn: tokio::sync::Mutex<()>,
}

impl Access {
    /// The token for a server after a sign-in.
    pub(crate) fn of(url: &str, secrets: &Secrets) -> Option<Access> {
        let store = Store::of(url, secrets).ok().filter(Store::exists)?;
        Some(Access { store, turn: tokio::sync::Mutex::default() })
    }

    /// The current token, renewed if it expires soon. `None` if there is none any more.
    ///
    /// # Errors
    /// A file that cannot be used; a renewal that failed.
    pub(crate) async fn token(&self) -> Result<Option<String>, String> {
        let Some((stored, _)) = self.store.read()? else { return Ok(None) };
        if !is_old(&stored) {
            return Ok(token_of(&stored));
        }
        self.renewed(token_of(&stored).as_deref()).await
    }

    /// A token in place of one that the server has rejected; `None` if a new sign-in is needed.
    ///
    /// # Errors
    /// Like [`Access::token`].
    pub(crate) async fn renewed(&self, old: Option<&str>) -> Result<Option<String>, String> {
        let _turn = self.turn.lock().await;
        let Some((stored, client_secret)) = self.store.read()? else { return Ok(None) };
        let token = token_of(&stored);
        if token.as_deref() != old && !is_old(&stored) {
            return Ok(token);
        }
        let mut manager = AuthorizationManager::new(&*self.store.url).await.map_err(|error| why(&error))?;
        let store = self.store.clone().with_client_secret(client_secret.clone());
        manager.set_credential_store(store);
        let metadata = discovered(&self.store.url, &manager).await?;
        // The tokens are sent only to the authorization server that issued them.
        if stored.issuer.is_none() || stored.issuer != metadata.issuer {
            return Ok(None);
        }
        manager.set_metadata(metadata);
        if !manager.initialize_from_store().await.map_err(|error| why(&error))? {
            return Ok(None);
        }
        if let Some(secret) = client_secret {
            let client =
                OAuthClientConfig::new(&stored.client_id, "http://127.0.0.1").with_client_secret(secret);
            manager.configure_client(client).map_err(|error| why(&error))?;
        }
        match manager.refresh_token().await {
            Ok(_) => Ok(self.store.read()?.and_then(|(stored, _)| token_of(&stored))),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(None),
            Err(error) => Err(why(&error)),
        }
    }
}

/// How many seconds before its expiry a token is renewed.
const EARLY: u64 = 30;

fn token_of(stored: &StoredCredentials) -> Option<String> {
    let response = serde_json::to_value(&stored.token_response).ok()?;
    response.get("access_token")?.as_str().map(str::to_owned)
}

/// Whether the token expires soon.
fn is_old(stored: &StoredCredentials) -> bool {
    let response = serde_json::to_value(&stored.token_response).unwrap_or_default();
    let lasts = response.get("expires_in").and_then(Value::as_u64);
    let (Some(lasts), Some(since)) = (lasts, stored.token_received_at) else { return false };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.is_ok_and(|now| now.as_secs().saturating_add(EARLY) >= since.saturating_add(lasts))
}

#[cfg(unix)]
#[allow(clippy::unwrap_used, reason = "a test fails by a panic")]
#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    const URL: &str = "https://mcp.example/mcp";

    fn credentials(token: &str) -> StoredCredentials {
        let text = format!(r#"{{"access_token": "{token}", "token_type": "bearer", "expires_in": 60}}"#);
        let response = serde_json::from_str(&text).unwrap();
        StoredCredentials::new("id".to_owned(), Some(response), Vec::new(), Some(0))
    }

    #[test]
    fn a_file_of_tokens_is_read_by_its_owner_and_for_its_url_alone() {
        let folder = tempfile::tempdir().unwrap();
        let secrets = Secrets::default();
        let store = Store::in_folder(&folder.path().join("new/folder"), URL, &secrets);
        assert!(store.read().unwrap().is_none());
        store.write(&credentials("canary-token")).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&store.file), mode(store.file.parent().unwrap())), (0o600, 0o700));
        assert_eq!(token_of(&store.read().unwrap().unwrap().0).as_deref(), Some("canary-token"));
        assert_eq!(secrets.hidden("it has canary-token in it"), "it has *** in it");
        assert!(!format!("{store:?}").contains("canary"));

        fs::set_permissions(&store.file, fs::Permissions::from_mode(0o640)).unwrap();
        assert!(
            store
                .read()
                .unwrap_err()
                .ends_with("has the mode 640, so that others can read it; set it to 600")
        );
        fs::set_permissions(&store.file, fs::Permissions::from_mode(0o600)).unwrap();
        let other = Store::in_folder(store.file.parent().unwrap(), "https://other.example/mcp", &secrets);
        fs::rename(&store.file, &other.file).unwrap();
        assert!(other.read().unwrap_err().contains("belongs to another server"));
        fs::write(&other.file, "{").unwrap();
        assert!(other.read().unwrap_err().contains("is not a file of tokens"));
        assert!(other.delete().unwrap() && !other.delete().unwrap());
    }

    #[test]
    fn a_token_is_old_half_a_minute_before_its_end() {
        let at = |since: u64| {
            StoredCredentials::new("id".to_owned(), credentials("t").token_response, Vec::new(), Some(since))
        };
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
        assert!(!is_old(&at(now)) && is_old(&at(now - 31)) && is_old(&at(0)));
    }

    #[test]
    fn tokens_are_sent_over_tls_or_within_this_machine() {
        for url in
            ["https://a.example/mcp", "http://localhost:1/", "http://127.0.0.2/mcp", "http://[::1]:8080/mcp"]
        {
            assert!(https::safe(url).is_some(), "{url}");
        }
        for url in [
            "http://a.example/",
            "http://127.0.0.1.evil/",
            "http://localhost@evil/",
            "ftp://localhost/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "",
            "http://10.0.0.1/",
        ] {
            assert!(https::safe(url).is_none(), "{url}");
        }
    }
}
