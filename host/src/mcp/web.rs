//! A server over HTTP: the client of the library, with a check of each event of a stream before the library
//! reads it.
//!
//! If the answer is plain JSON and not a stream, the library reads it first. It rejects a body that is too
//! long, and turns an integer beyond 64 bits into a double, which is recognized later by its size
//! (`data/inexact_numbers`).

use super::guard::{self, passed};
use futures_util::StreamExt as _;
use futures_util::stream::BoxStream;
use http::{HeaderName, HeaderValue};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use std::collections::HashMap;
use std::sync::Arc;

/// The HTTP client, which wraps that of the library.
#[derive(Clone)]
pub(super) struct Client(pub(super) reqwest::Client);

type Failed = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

fn guarded(events: Events) -> Events {
    let pass = |event: Sse| Sse { data: event.data.map(passed), ..event };
    events.map(move |event| event.map(pass)).boxed()
}

/// An error without the server's URL, which may hold a secret: programs and logs see its text.
fn without_url(error: Failed) -> Failed {
    match error {
        StreamableHttpError::Client(error) => StreamableHttpError::Client(error.without_url()),
        other => other,
    }
}

impl StreamableHttpClient for Client {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        self.post_message_with_max_sse_event_size(uri, message, session, token, headers, guard::MESSAGE).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<StreamableHttpPostResponse, Failed> {
        let sent = self.0.post_message_with_max_sse_event_size(uri, message, session, token, headers, most);
        Ok(match sent.await.map_err(without_url)? {
            StreamableHttpPostResponse::Sse(events, session) => {
                StreamableHttpPostResponse::Sse(guarded(events), session)
            }
            StreamableHttpPostResponse::Json(message, session) => {
                StreamableHttpPostResponse::Json(guard::read(message), session)
            }
            other => other,
        })
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failed> {
        self.0.delete_session(uri, session, token, headers).await.map_err(without_url)
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<Events, Failed> {
        self.get_stream_with_max_sse_event_size(uri, session, last, token, headers, guard::MESSAGE).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last: Option<String>,
        token: Option<String>,
        headers: Headers,
        most: usize,
    ) -> Result<Events, Failed> {
        let opened =
            self.0.get_stream_with_max_sse_event_size(uri, session, last, token, headers, most).await;
        opened.map(guarded).map_err(without_url)
    }
}
