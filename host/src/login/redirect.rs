//! Receives the redirect of a browser as one short HTTP request, which is parsed by hand.
//!
//! Any process on this machine can connect. A request with another state is answered and ignored.

use ilo_asm::text::visible;
use ilo_drive::problem::shortened;
use reqwest::Url;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// The maximum size of the head of a request.
const HEAD: usize = 16 << 10;
/// The most connections at a time.
const CONNECTIONS: usize = 16;
/// How long a connection may take.
const CONNECTION: Duration = Duration::from_secs(5);
const PATH: &str = "/callback";

/// The answer of the authorization server.
pub(super) struct Answer {
    pub(super) code: String,
    /// The issuer that claims to have answered.
    pub(super) issuer: Option<String>,
}

/// A query parameter; `None` if it is duplicate.
pub(super) fn parameter(address: &str, name: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let mut values = url.query_pairs().filter(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let value = values.next()?;
    values.next().is_none().then_some(value)
}

/// Waits for the answer with this state.
///
/// # Errors
/// The refusal of the authorization server.
pub(super) async fn answer(listener: TcpListener, state: &str) -> Result<Answer, String> {
    let mut open = JoinSet::new();
    loop {
        tokio::select! {
            connection = listener.accept(), if open.len() < CONNECTIONS => match connection {
                Ok((stream, _)) => {
                    let state = state.to_owned();
                    open.spawn(async move {
                        timeout(CONNECTION, request(stream, &state)).await.ok().and_then(Result::ok).flatten()
                    });
                }
                // For example too many open files, which is temporary.
                Err(_) => sleep(Duration::from_millis(100)).await,
            },
            Some(ended) = open.join_next(), if !open.is_empty() => {
                if let Ok(Some(answer)) = ended {
                    return answer;
                }
            }
        }
    }
}

/// Reads and answers a request. Returns its content if it has the expected state.
async fn request(mut stream: TcpStream, state: &str) -> io::Result<Option<Result<Answer, String>>> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > HEAD || stream.read_buf(&mut head).await? == 0 {
            return Ok(None);
        }
    }
    let line = String::from_utf8_lossy(&head);
    let target = line.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default();
    let address = format!("http://127.0.0.1{target}");
    let is_here = target.strip_prefix(PATH).is_some_and(|rest| rest.is_empty() || rest.starts_with('?'));
    let is_ours = is_here && parameter(&address, "state").is_some_and(|given| given == state);
    let answer = is_ours.then(|| read(&address));
    let (status, text) = match &answer {
        None if is_here => ("400 Bad Request", "This does not belong to the sign-in that is under way."),
        None => ("404 Not Found", "There is nothing here."),
        Some(Ok(_)) => ("200 OK", "The answer has arrived. Close this page; the terminal shows the result."),
        Some(Err(_)) => ("200 OK", "You are not signed in. Close this page; the terminal says why."),
    };
    let reply = format!(
        "HTTP/1.1 {status}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n{text}",
        text.len()
    );
    // The request counts even if the browser does not wait for the reply.
    if stream.write_all(reply.as_bytes()).await.is_ok() {
        drop(stream.shutdown().await);
    }
    Ok(answer)
}

fn read(address: &str) -> Result<Answer, String> {
    if let Some(error) = parameter(address, "error") {
        let more =
            parameter(address, "error_description").map_or_else(String::new, |more| format!(": {more}"));
        return Err(format!(
            "the authorization server refused: {}",
            shortened(&visible(&format!("{error}{more}")), 300)
        ));
    }
    match parameter(address, "code") {
        Some(code) => Ok(Answer { code, issuer: parameter(address, "iss") }),
        None => Err("the authorization server answered without a code".to_owned()),
    }
}
