//! A connection with the runtime that drives it, for one thread; what its errors mean, and statements with
//! typed values.

use super::target::Target;
use super::tls::Tls;
use super::{apply, cluster};
use crate::error::{Error, ErrorCode, Result};
use futures_util::future::join_all;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls, Row};

/// How long a group may take before its connection counts as lost.
const SLOW: Duration = Duration::from_mins(1);
/// After how long people hear that a server is away.
const TOLD_AFTER: Duration = Duration::from_secs(1);
/// How long writes wait for a server that is away.
const PATIENCE: Duration = Duration::from_mins(5);
/// The first and the longest pause before a group is sent again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(1));

/// A value for a statement, with its type: statements have no names, so that they pass through poolers.
pub(crate) type Param = (Box<dyn ToSql + Sync + Send>, Type);

/// A statement with its values.
pub(crate) struct Statement {
    sql: String,
    params: Vec<Param>,
    /// It has no values, and its rows are not read: it costs the server one message instead of five.
    is_plain: bool,
}

impl Statement {
    pub(crate) fn new(sql: impl Into<String>, params: Vec<Param>) -> Statement {
        Statement { sql: sql.into(), params, is_plain: false }
    }

    /// Statements without values, with semicolons between them, whose rows are not read.
    pub(crate) fn plain(sql: impl Into<String>) -> Statement {
        Statement { sql: sql.into(), params: Vec::new(), is_plain: true }
    }
}

/// A connection, which is made again after it was lost.
pub(crate) struct Link {
    runtime: Runtime,
    target: Arc<Target>,
    client: Option<Client>,
    /// The statements that this connection knows by a name, by their texts, if it is to know any.
    named: Option<HashMap<String, tokio_postgres::Statement>>,
    /// Counts the notifications of the server.
    news: Arc<AtomicI64>,
    /// Since when the server has been away, and whether this connection has said so.
    away: Option<Instant>,
    told: bool,
}

/// Why statements had no result.
pub(crate) enum Trouble {
    /// The connection was lost, or the server asks to send it again.
    Again(Error),
    /// It is no use to send it again.
    Refused(Error),
}

impl Link {
    /// Connects, once.
    pub(crate) fn open(target: &Arc<Target>, news: &Arc<AtomicI64>) -> Result<Link> {
        let runtime = Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|error| Error::new(ErrorCode::Io, format!("no runtime: {error}")))?;
        let mut link = Link {
            runtime,
            target: target.clone(),
            client: None,
            named: None,
            news: news.clone(),
            away: None,
            told: false,
        };
        match link.connect() {
            Ok(()) => Ok(link),
            Err(Trouble::Again(error) | Trouble::Refused(error)) => Err(error),
        }
    }

    /// Gives statements names from now on if the address says so: the server then plans each once for a
    /// connection.
    pub(crate) fn name_statements(&mut self) {
        if self.target.is_named {
            self.client = None;
            self.named = Some(HashMap::new());
        }
    }

    /// Whether statements have names, so that a connection keeps its settings too.
    pub(crate) fn is_named(&self) -> bool {
        self.named.is_some()
    }

    /// The place of the journal.
    pub(crate) fn target(&self) -> &Arc<Target> {
        &self.target
    }

    /// Connects unless there is a connection. Returns whether it is new.
    fn connect(&mut self) -> std::result::Result<(), Trouble> {
        if self.client.as_ref().is_some_and(|client| !client.is_closed()) {
            return Ok(());
        }
        self.client = None;
        let client = self.runtime.block_on(connect(&self.target, &self.news))?;
        if let Some(&known) = self.target.cluster.get() {
            let asked = async { tokio::time::timeout(SLOW, pipeline(&client, &[cluster::ask()])).await };
            let found = self.runtime.block_on(asked).map_err(|_| Trouble::Again(away(&self.target)))?;
            let found = found.map_err(|error| trouble(&self.target, &error))?;
            let row = found.iter().flatten().next();
            let found = row.map(cluster::of).transpose().map_err(Trouble::Refused)?.flatten();
            // A standby that has not taken over yet takes no writes.
            let found = found.ok_or_else(|| Trouble::Again(away(&self.target)))?;
            known.expect(found, &self.target).map_err(Trouble::Refused)?;
        }
        if let Some(named) = &mut self.named {
            named.clear();
            let set = async { tokio::time::timeout(SLOW, pipeline(&client, &[apply::settings()])).await };
            let set = self.runtime.block_on(set).map_err(|_| Trouble::Again(away(&self.target)))?;
            set.map_err(|error| trouble(&self.target, &error))?;
        }
        self.client = Some(client);
        Ok(())
    }

    /// Sends statements one after another without waiting in between, and gives their rows. If one fails,
    /// the first error counts.
    pub(crate) fn try_send(
        &mut self,
        statements: &[Statement],
    ) -> std::result::Result<Vec<Vec<Row>>, Trouble> {
        let found = self.attempt(statements);
        self.tell(found.as_ref().err());
        found
    }

    /// Tells people once if the server stays away, and when it answers again.
    fn tell(&mut self, trouble: Option<&Trouble>) {
        let teller = &self.target.teller;
        let Some(tell) = teller.tell.get() else { return };
        if let Some(Trouble::Again(error)) = trouble {
            let since = *self.away.get_or_insert_with(Instant::now);
            if since.elapsed() >= TOLD_AFTER && !teller.is_away.swap(true, Ordering::Relaxed) {
                self.told = true;
                tell(&format!("{error}; it is tried again until it works, for some minutes at most"));
            }
            return;
        }
        self.away = None;
        if std::mem::take(&mut self.told) {
            teller.is_away.store(false, Ordering::Relaxed);
            tell(&format!("{}: the server answers again", self.target.shown));
        }
    }

    fn attempt(&mut self, statements: &[Statement]) -> std::result::Result<Vec<Vec<Row>>, Trouble> {
        self.connect()?;
        let Some(client) = &self.client else { return Err(Trouble::Again(away(&self.target))) };
        let named = self.named.as_mut();
        let sending = async {
            match named {
                Some(named) => by_names(client, statements, named).await,
                None => pipeline(client, statements).await,
            }
        };
        let sent = self.runtime.block_on(async { tokio::time::timeout(SLOW, sending).await });
        let found = match sent {
            Ok(found) => found.map_err(|error| trouble(&self.target, &error)),
            Err(_) => Err(Trouble::Again(away(&self.target))),
        };
        if found.is_err() {
            // What a failed group has left of its transaction ends with its connection.
            self.client = None;
        }
        found
    }

    /// As [`Link::try_send`], again and again while the server is away and `goes_on` says so.
    pub(crate) fn send(
        &mut self,
        statements: &[Statement],
        goes_on: impl Fn(Duration) -> bool,
    ) -> Result<Vec<Vec<Row>>> {
        let mut waiting = Waiting::new();
        loop {
            match self.try_send(statements) {
                Ok(rows) => return Ok(rows),
                Err(Trouble::Refused(error)) => return Err(error),
                Err(Trouble::Again(error)) if !waiting.again(&goes_on) => return Err(error),
                Err(Trouble::Again(_)) => {}
            }
        }
    }

    /// Waits with the connection at work, so that notifications arrive.
    pub(crate) fn wait<T>(&self, until: impl Future<Output = T>, most: Duration) -> Option<T> {
        self.runtime.block_on(async { tokio::time::timeout(most, until).await.ok() })
    }
}

/// Counts how long something was tried.
pub(crate) struct Waiting {
    since: Instant,
    pause: Duration,
}

impl Waiting {
    pub(crate) fn new() -> Waiting {
        Waiting { since: Instant::now(), pause: PAUSES.0 }
    }

    /// Pauses before the next attempt; false if there should be none.
    pub(crate) fn again(&mut self, goes_on: &impl Fn(Duration) -> bool) -> bool {
        let waited = self.since.elapsed();
        if waited > PATIENCE || !goes_on(waited) {
            return false;
        }
        std::thread::sleep(self.pause);
        self.pause = (self.pause * 2).min(PAUSES.1);
        true
    }
}

async fn connect(target: &Target, news: &Arc<AtomicI64>) -> std::result::Result<Client, Trouble> {
    if target.config.get_ssl_mode() == SslMode::Disable {
        let connected = target.config.connect(NoTls).await;
        let (client, connection) = connected.map_err(|error| trouble(target, &error))?;
        tokio::spawn(listen(connection, news.clone()));
        return Ok(client);
    }
    let tls = Tls::new(target.roots.as_deref()).map_err(Trouble::Refused)?;
    let connected = target.config.connect(tls).await;
    let (client, connection) = connected.map_err(|error| trouble(target, &error))?;
    tokio::spawn(listen(connection, news.clone()));
    Ok(client)
}

/// Drives a connection until it ends, and counts its notifications.
async fn listen<S, T>(mut connection: Connection<S, T>, news: Arc<AtomicI64>)
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    T: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
{
    while let Some(Ok(message)) = std::future::poll_fn(|context| connection.poll_message(context)).await {
        if let AsyncMessage::Notification(_) = message {
            news.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Sends all statements before the answer to the first has come.
async fn pipeline(
    client: &Client,
    statements: &[Statement],
) -> std::result::Result<Vec<Vec<Row>>, tokio_postgres::Error> {
    let params: Vec<Vec<(&(dyn ToSql + Sync), Type)>> = statements
        .iter()
        .map(|statement| {
            statement.params.iter().map(|(value, of)| (&**value as &(dyn ToSql + Sync), of.clone())).collect()
        })
        .collect();
    let sent = statements.iter().zip(&params).map(|(statement, params)| async move {
        if statement.is_plain {
            return client.batch_execute(&statement.sql).await.map(|()| Vec::new());
        }
        client.query_typed(&statement.sql, params).await
    });
    // The end of a failed transaction succeeds: each result is looked at.
    join_all(sent).await.into_iter().collect()
}

/// As [`pipeline`], with statements that the server knows from before.
async fn by_names(
    client: &Client,
    statements: &[Statement],
    named: &mut HashMap<String, tokio_postgres::Statement>,
) -> std::result::Result<Vec<Vec<Row>>, tokio_postgres::Error> {
    for Statement { sql, params, .. } in statements.iter().filter(|statement| !statement.is_plain) {
        if !named.contains_key(sql) {
            let types: Vec<Type> = params.iter().map(|(_, of)| of.clone()).collect();
            named.insert(sql.clone(), client.prepare_typed(sql, &types).await?);
        }
    }
    let named = &*named;
    let sent = statements.iter().map(|statement| async move {
        let Some(known) = named.get(&statement.sql).filter(|_| !statement.is_plain) else {
            return client.batch_execute(&statement.sql).await.map(|()| Vec::new());
        };
        let params: Vec<&(dyn ToSql + Sync)> =
            statement.params.iter().map(|(value, _)| &**value as &(dyn ToSql + Sync)).collect();
        client.query(known, &params).await
    });
    join_all(sent).await.into_iter().collect()
}

/// What an error of a server or a connection means.
fn trouble(target: &Target, error: &tokio_postgres::Error) -> Trouble {
    let Some(told) = error.as_db_error() else {
        let why = chain(error);
        let of_connection = error.is_closed() || has_io(error);
        let message = format!("{}: {why}", target.shown);
        if why.contains("TLS") || why.contains("certificate") {
            let remedy = "give the server a certificate that this machine trusts, or name its authority with \
                          `sslrootcert=FILE`; `sslmode=disable` sends everything readable";
            return Trouble::Refused(Error::new(ErrorCode::CannotOpen, message).remedy(remedy));
        }
        return if of_connection {
            let remedy = "check that the server runs and can be reached";
            Trouble::Again(Error::new(ErrorCode::CannotOpen, message).remedy(remedy))
        } else {
            Trouble::Refused(Error::new(ErrorCode::CannotOpen, message))
        };
    };
    let state = told.code().code();
    let message = format!("{}: {} ({state})", target.shown, told.message());
    let class = state.get(..2).unwrap_or_default();
    let of = |code: ErrorCode, remedy: &str| Error::new(code, message.clone()).remedy(remedy);
    match (class, state) {
        (_, "57014" | "40001" | "40P01" | "55P03" | "25P03" | "25P04" | "53300") | ("08" | "57", _) => {
            Trouble::Again(of(ErrorCode::Busy, "try again; look at the log of the server"))
        }
        (_, "26000" | "42P05") => Trouble::Refused(of(
            ErrorCode::CannotOpen,
            "leave `prepare=1` out of the address: a pooler in between does not keep names of statements",
        )),
        ("53", _) => Trouble::Again(of(ErrorCode::Full, "make room on the server, then `resume`")),
        ("28", _) => Trouble::Refused(of(
            ErrorCode::CannotOpen,
            "check the user and the password; PGPASSWORD may hold it",
        )),
        ("3D", _) => Trouble::Refused(of(ErrorCode::CannotOpen, "create the database first")),
        (_, "25006") => Trouble::Refused(of(ErrorCode::ReadOnly, "name the server that takes writes")),
        (_, "42501") => Trouble::Refused(of(
            ErrorCode::ReadOnly,
            "let the role create the schema, or read and write the tables in it",
        )),
        (_, "42P01" | "42703") => {
            Trouble::Refused(of(ErrorCode::Damaged, "restore the tables from a back-up"))
        }
        // It has no form that can be stored, or is too large, as a long name is for an index.
        ("22" | "54", _) => Trouble::Refused(Error::new(ErrorCode::Value, message)),
        _ => Trouble::Refused(of(ErrorCode::Io, "look at the log of the server")),
    }
}

fn away(target: &Target) -> Error {
    Error::new(ErrorCode::Busy, format!("{}: the server gives no answer", target.shown))
        .remedy("check that the server runs and can be reached")
}

/// An error with its causes.
fn chain(error: &dyn std::error::Error) -> String {
    let (mut text, mut next) = (error.to_string(), error.source());
    while let Some(cause) = next {
        let told = cause.to_string();
        if !text.contains(&told) {
            text.push_str(": ");
            text.push_str(&told);
        }
        next = cause.source();
    }
    text
}

fn has_io(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(cause) = next {
        let io = cause.downcast_ref::<std::io::Error>();
        // What cannot be sent is no loss of the connection.
        if io.is_some_and(|io| io.kind() != std::io::ErrorKind::InvalidInput)
            || cause.to_string().contains("timeout")
        {
            return true;
        }
        next = cause.source();
    }
    false
}

pub(crate) fn int(value: i64) -> Param {
    (Box::new(value), Type::INT8)
}

pub(crate) fn text(value: &str) -> Param {
    (Box::new(value.to_owned()), Type::TEXT)
}

pub(crate) fn blob(value: &[u8]) -> Param {
    (Box::new(value.to_vec()), Type::BYTEA)
}

/// Functions that make arrays.
macro_rules! arrays {
    ($($name:ident: $of:ty => $is:ident),* $(,)?) => {$(
        pub(crate) fn $name(values: impl Iterator<Item = $of>) -> Param {
            (Box::new(values.collect::<Vec<_>>()), Type::$is)
        }
    )*};
}

arrays! {
    ints: i64 => INT8_ARRAY,
    maybe_ints: Option<i64> => INT8_ARRAY,
    flags: bool => BOOL_ARRAY,
    texts: String => TEXT_ARRAY,
    maybe_texts: Option<String> => TEXT_ARRAY,
    blobs: Vec<u8> => BYTEA_ARRAY,
    maybe_blobs: Option<Vec<u8>> => BYTEA_ARRAY,
}
