//! Where a journal is: the parts of a `postgres://` address, with those that are ilo's own.

use super::cluster::Cluster;
use crate::backend::Tell;
use crate::error::{Error, ErrorCode, Result};
use crate::place::without_password;
use std::fmt;
use std::str::FromStr as _;
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, config::TargetSessionAttrs};

/// The lease of an owner where the address names none, in seconds.
const LEASE: f64 = 10.0;
/// The shortest lease that an address may name: below that a busy machine loses its runs.
const SHORTEST: f64 = 0.5;
/// The longest lease: nobody waits longer for the runs of a process that was killed.
const LONGEST: f64 = 60.0;
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long sent data may stay without an acknowledgement.
const SILENT: Duration = Duration::from_secs(20);

/// Tells people about a server that is away.
#[derive(Default)]
pub(crate) struct Teller {
    pub(crate) tell: OnceLock<Tell>,
    /// Whether that was said.
    pub(crate) is_away: AtomicBool,
}

impl fmt::Debug for Teller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Teller(..)")
    }
}

/// A place of a journal.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) config: Config,
    /// The PostgreSQL schema that has the tables, in the quotes of SQL: its name may be a reserved word.
    pub(crate) schema: String,
    pub(crate) lease: Duration,
    /// The file with the certificates that are trusted, in place of those of the system.
    pub(crate) roots: Option<String>,
    /// Whether a standby that takes over has everything that was acknowledged, as the address says.
    pub(crate) is_synchronous: bool,
    /// Whether statements that write have names, as the address says: not every pooler lets them pass.
    pub(crate) is_named: bool,
    pub(crate) teller: Teller,
    /// The server, once it is known.
    pub(crate) cluster: OnceLock<Cluster>,
    /// The address without its password.
    pub(crate) shown: String,
}

impl Target {
    /// Reads an address. No message quotes it.
    pub(crate) fn read(address: &str) -> Result<Target> {
        let refused = |message: String| {
            Error::new(ErrorCode::CannotOpen, message)
                .remedy("give an address such as `postgres://user@host/database?schema=ilo`")
        };
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let (mut schema, mut lease, mut roots, mut mode, mut rest) =
            ("ilo".to_owned(), LEASE, None, None, Vec::new());
        let (mut is_synchronous, mut is_named) = (false, false);
        for part in query.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            match name {
                "schema" => value.clone_into(&mut schema),
                "lease" => {
                    let given = value.parse().ok().filter(|lease| (SHORTEST..=LONGEST).contains(lease));
                    let message = format!("expected a `lease` of {SHORTEST} to {LONGEST} seconds");
                    lease = given.ok_or_else(|| refused(message))?;
                }
                "standby" if value == "synchronous" => is_synchronous = true,
                "standby" => return Err(refused("expected `standby=synchronous`, or none".to_owned())),
                "prepare" if matches!(value, "0" | "1") => is_named = value == "1",
                "prepare" => return Err(refused("expected `prepare=1`, or none".to_owned())),
                "sslrootcert" => roots = Some(unescaped(value)),
                "sslmode" => mode = Some(value.to_owned()),
                _ => rest.push(part),
            }
        }
        let is_name = |text: &str| {
            text.len() <= 48
                && text.starts_with(|first: char| first.is_ascii_lowercase() || first == '_')
                && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
        };
        if !is_name(&schema) {
            let message =
                "expected a `schema` of at most 48 small letters, digits and `_`, not beginning with a digit";
            return Err(refused(message.to_owned()));
        }
        let query = if rest.is_empty() { String::new() } else { format!("?{}", rest.join("&")) };
        let mut config = Config::from_str(&format!("{base}{query}"))
            .map_err(|error| refused(format!("the address cannot be read: {}", reason(&error))))?;
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        if config.get_user().is_none() {
            config.user(std::env::var("PGUSER").or_else(|_| std::env::var("USER")).unwrap_or_default());
        }
        config.ssl_mode(tls(mode.as_deref(), &config).map_err(refused)?);
        // Of several servers the one that takes writes; a single one says itself why it does not.
        let is_one = config.get_hosts().len() < 2;
        config.target_session_attrs(if is_one {
            TargetSessionAttrs::Any
        } else {
            TargetSessionAttrs::ReadWrite
        });
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        config.tcp_user_timeout(SILENT).keepalives_idle(SILENT);
        if config.get_application_name().is_none() {
            config.application_name("ilo");
        }
        let (schema, lease) = (format!("\"{schema}\""), Duration::from_secs_f64(lease));
        let (cluster, shown) = (OnceLock::new(), without_password(address));
        let teller = Teller::default();
        Ok(Target { config, schema, lease, roots, is_synchronous, is_named, teller, cluster, shown })
    }
}

/// What is wrong with an address, without what the address says.
fn reason(error: &tokio_postgres::Error) -> String {
    let why = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
    // A message may quote a value: only its kind is shown.
    why.split(['`', '"', ':']).next().unwrap_or_default().trim().to_owned()
}

/// Whether the connection is encrypted. One that leaves the machine is, unless the address says otherwise;
/// what is encrypted is also checked.
fn tls(mode: Option<&str>, config: &Config) -> std::result::Result<SslMode, String> {
    let is_local = config.get_hosts().iter().all(|host| match host {
        Host::Tcp(name) => matches!(name.as_str(), "localhost" | "127.0.0.1" | "::1"),
        #[cfg(unix)]
        Host::Unix(_) => true,
    });
    match mode {
        Some("disable") => Ok(SslMode::Disable),
        Some("require" | "verify-ca" | "verify-full") => Ok(SslMode::Require),
        None => Ok(if is_local { SslMode::Disable } else { SslMode::Require }),
        Some(_) => {
            Err("expected `sslmode=verify-full`, which is what `require` means here, or `disable`".into())
        }
    }
}

/// A value of the address without its escapes.
fn unescaped(value: &str) -> String {
    let (mut bytes, mut found) = (value.bytes(), Vec::new());
    while let Some(byte) = bytes.next() {
        let digits = |first: Option<u8>, second: Option<u8>| {
            let digits = [first?, second?];
            u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()
        };
        match byte {
            b'%' => found.extend(digits(bytes.next(), bytes.next())),
            byte => found.push(byte),
        }
    }
    String::from_utf8_lossy(&found).into_owned()
}

#[cfg(test)]
mod tests {
    use super::Target;
    use std::time::Duration;
    use tokio_postgres::config::SslMode;

    #[test]
    fn what_an_address_says_is_read_and_its_own_words_do_not_reach_the_server() {
        let target = Target::read("postgres://ann:x@db/app?schema=a_1&lease=2.5&sslrootcert=/a%20b").unwrap();
        assert_eq!((target.schema.as_str(), target.lease), ("\"a_1\"", Duration::from_millis(2500)));
        assert_eq!(target.roots.as_deref(), Some("/a b"));
        assert_eq!(target.config.get_ssl_mode(), SslMode::Require, "it leaves the machine");
        let local = Target::read("postgres://ann@localhost/app").unwrap();
        assert_eq!(local.config.get_ssl_mode(), SslMode::Disable);
        for wrong in [
            "postgres://ann:secret@db/app?schema=A",
            "postgres://ann:secret@db/app?schema=a\"b",
            "postgres://ann:secret@db/app?lease=0",
            "postgres://ann:secret@db/app?lease=x",
            "postgres://ann:secret@db/app?prepare=yes",
            "postgres://ann:secret@db/app?sslmode=prefer",
            "postgres://ann:secret@db:port/app",
            "postgres://ann:secret@db/app?unknown=secret",
        ] {
            let error = Target::read(wrong).unwrap_err();
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }
}
