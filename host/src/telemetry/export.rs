//! Sends spans to a collector, from a thread of its own.

use super::span::{Span, attribute};
use ilo_drive::problem::{Problem, shortened};
use ilo_spec::error::Code;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use serde_json::json;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Spans that wait.
const QUEUE: usize = 8192;
/// Spans of one request.
const BATCH: usize = 512;
/// How long a span waits for others that are sent with it.
const PAUSE: Duration = Duration::from_secs(2);
/// How long the collector may take.
const ANSWER: Duration = Duration::from_secs(10);

enum Message {
    Span(Box<Span>),
    /// Send what there is, and say so.
    Flush(SyncSender<()>),
}

/// The way to the collector.
pub(super) struct Queue {
    sender: SyncSender<Message>,
    state: Arc<State>,
}

#[derive(Default)]
struct State {
    dropped: AtomicU64,
    /// Why spans could not be sent, where that was not said yet.
    failure: Mutex<Option<String>>,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").finish_non_exhaustive()
    }
}

/// The collector.
struct Collector {
    http: Client,
    url: Url,
    headers: HeaderMap,
    service: String,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn wrong(name: &str, message: String) -> Problem {
    Problem::new(Code::BadUsage, name, message)
}

impl Queue {
    pub(super) fn from_environment() -> Result<Option<Queue>, Problem> {
        const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
        const ALL: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
        if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
            return Ok(None);
        }
        let (name, given) = match (variable(TRACES), variable(ALL)) {
            (Some(own), _) => (TRACES, own),
            (None, Some(all)) => (ALL, format!("{}/v1/traces", all.trim_end_matches('/'))),
            (None, None) => return Ok(None),
        };
        // The URL may hold a secret, so it is not shown.
        let url = Url::parse(&given).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let url =
            url.ok_or_else(|| wrong(name, "no URL of a collector; write `http://HOST:4318`".to_owned()))?;
        let headers = headers(variable("OTEL_EXPORTER_OTLP_HEADERS").as_deref().unwrap_or_default())?;
        let service = variable("OTEL_SERVICE_NAME").unwrap_or_else(|| "ilo-vm".to_owned());
        // Once a process: a second provider would be refused, and the first one serves.
        drop(rustls::crypto::ring::default_provider().install_default());
        let mut builder = Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(ANSWER);
        if url.scheme() == "http" {
            // Without TLS no certificates are needed, and a machine may have none.
            builder = builder.tls_certs_only([]);
        }
        let http = builder.build().map_err(|error| wrong(name, format!("no HTTP client: {error}")))?;
        let (sender, receiver) = sync_channel(QUEUE);
        let state = Arc::<State>::default();
        let (shared, collector) = (Arc::clone(&state), Collector { http, url, headers, service });
        let begun = thread::Builder::new().name("telemetry".to_owned());
        let begun = begun.spawn(move || collector.serve(&receiver, &shared));
        begun.map_err(|error| wrong(name, format!("no thread: {error}")))?;
        Ok(Some(Queue { sender, state }))
    }

    /// Adds a span, unless the queue is full.
    pub(super) fn add(&self, span: Span) {
        if span.context.is_sampled() && self.sender.try_send(Message::Span(Box::new(span))).is_err() {
            self.state.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn flush(&self, most: Duration) -> Option<String> {
        let until = Instant::now() + most;
        let (done, wait) = sync_channel(1);
        let mut message = Message::Flush(done);
        // The queue may be full.
        while let Err(full) = self.sender.try_send(message) {
            use std::sync::mpsc::TrySendError::{Disconnected, Full};
            let (Full(back) | Disconnected(back)) = full;
            if Instant::now() >= until {
                break;
            }
            message = back;
            thread::sleep(Duration::from_millis(5));
        }
        let _ = wait.recv_timeout(until.saturating_duration_since(Instant::now()));
        let failure = self.state.failure.lock().unwrap_or_else(PoisonError::into_inner).take();
        let dropped = self.state.dropped.swap(0, Ordering::Relaxed);
        failure.or_else(|| {
            (dropped > 0).then(|| format!("{dropped} spans were dropped: the collector is too slow"))
        })
    }
}

/// Headers as the standard variable has them: `name=value`, separated by commas, with percent signs decoded.
fn headers(text: &str) -> Result<HeaderMap, Problem> {
    let bad = || wrong("OTEL_EXPORTER_OTLP_HEADERS", "expected `name=value`, separated by commas".to_owned());
    let mut headers = HeaderMap::new();
    for pair in text.split(',').filter(|pair| !pair.trim().is_empty()) {
        let (name, value) = pair.split_once('=').ok_or_else(bad)?;
        let name: HeaderName = name.trim().parse().map_err(|_| bad())?;
        let value = percent_encoding::percent_decode_str(value.trim()).decode_utf8().map_err(|_| bad())?;
        let mut value = HeaderValue::from_str(&value).map_err(|_| bad())?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

impl Collector {
    /// Sends what comes until the queue is gone.
    fn serve(&self, queue: &Receiver<Message>, state: &State) {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        let mut spans: Vec<Box<Span>> = Vec::new();
        let mut until = Instant::now();
        loop {
            let wait =
                if spans.is_empty() { ANSWER } else { until.saturating_duration_since(Instant::now()) };
            let mut waiting = None;
            match queue.recv_timeout(wait) {
                Ok(Message::Span(span)) => {
                    if spans.is_empty() {
                        until = Instant::now() + PAUSE;
                    }
                    spans.push(span);
                    if spans.len() < BATCH {
                        continue;
                    }
                }
                Ok(Message::Flush(done)) => waiting = Some(done),
                Err(RecvTimeoutError::Disconnected) if spans.is_empty() => return,
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
            }
            if !spans.is_empty() {
                let sent = runtime.block_on(self.send(&spans));
                if let Err(why) = sent {
                    *state.failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
                }
                spans.clear();
            }
            if let Some(done) = waiting {
                let _ = done.try_send(());
            }
        }
    }

    async fn send(&self, spans: &[Box<Span>]) -> Result<(), String> {
        let spans: Vec<_> = spans.iter().map(|span| span.json()).collect();
        let body = json!({"resourceSpans": [{
            "resource": {"attributes": [attribute("service.name", &self.service)]},
            "scopeSpans": [{"scope": {"name": "ilo-vm", "version": env!("CARGO_PKG_VERSION")}, "spans": spans}],
        }]});
        let request = self.http.post(self.url.clone()).headers(self.headers.clone());
        let sent = request.header(CONTENT_TYPE, "application/json").body(body.to_string()).send().await;
        let failed = |error: reqwest::Error| {
            let error = error.without_url();
            let mut cause: &dyn std::error::Error = &error;
            while let Some(source) = cause.source() {
                cause = source;
            }
            format!("traces could not be sent: {}", shortened(&cause.to_string(), 200))
        };
        let status = sent.map_err(failed)?.status();
        if status.is_success() {
            Ok(())
        } else {
            Err(format!("traces could not be sent: HTTP status {}", status.as_u16()))
        }
    }
}
