//! Sends spans and metrics to a collector, on a separate thread.

use super::SpanQueue;
use super::metrics::{Metric, Metrics};
use super::span::{EndedSpan, attribute};
use crate::https;
use ilo_drive::locked::locked;
use ilo_drive::problem::{Problem, shortened};
use ilo_spec::error::Code;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Client, Url};
use serde_json::{Value, json};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// The most spans in the queue.
const QUEUE: usize = 8192;
/// The most spans in one request.
const BATCH: usize = 512;
/// How long a span waits for others to be sent together.
const PAUSE: Duration = Duration::from_secs(2);
/// Milliseconds between two exports of metrics, unless the environment says otherwise.
const INTERVAL: u64 = 60_000;
/// How long the collector may take.
const ANSWER: Duration = Duration::from_secs(10);

enum Message {
    Span(Box<EndedSpan>),
    /// Send everything, and signal when it is done.
    Flush(SyncSender<()>),
}

/// The connection to the collector.
struct Queue {
    sender: SyncSender<Message>,
    state: Arc<Losses>,
    /// Whether spans are sent.
    traces: bool,
    /// `None` if no metrics are sent.
    metrics: Option<Arc<Metrics>>,
}

#[derive(Default)]
struct Losses {
    dropped: AtomicU64,
    /// Why spans could not be sent, if this has not been reported yet.
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
    traces: Option<Url>,
    metrics: Option<(Url, Arc<Metrics>)>,
    /// The time between two exports of metrics.
    interval: Duration,
    headers: HeaderMap,
    service: String,
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().map(|value| value.trim().to_owned()).filter(|value| !value.is_empty())
}

fn wrong(name: &str, message: String) -> Problem {
    Problem::new(Code::BadUsage, name, message)
}

/// The variable that names the collector for everything.
const ALL: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";

/// The URL for a signal; `None` if the environment has none, or says that it is not sent.
fn endpoint(signal: &str, path: &str) -> Result<Option<Url>, Problem> {
    let exporter = variable(&format!("OTEL_{signal}_EXPORTER"));
    if exporter.is_some_and(|exporter| exporter.eq_ignore_ascii_case("none")) {
        return Ok(None);
    }
    let own = format!("OTEL_EXPORTER_OTLP_{signal}_ENDPOINT");
    let (name, given) = match (variable(&own), variable(ALL)) {
        (Some(given), _) => (own.as_str(), given),
        (None, Some(all)) => (ALL, format!("{}/v1/{path}", all.trim_end_matches('/'))),
        (None, None) => return Ok(None),
    };
    // The URL may hold a secret, so it is not shown.
    let url = Url::parse(&given).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
    url.map(Some).ok_or_else(|| wrong(name, "no URL of a collector; write `http://HOST:4318`".to_owned()))
}

/// The queue that the environment asks for.
pub(super) fn queue() -> Result<Option<Arc<dyn SpanQueue>>, Problem> {
    if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return Ok(None);
    }
    let traces = endpoint("TRACES", "traces")?;
    let metrics = endpoint("METRICS", "metrics")?.map(|url| (url, Arc::new(Metrics::new())));
    if traces.is_none() && metrics.is_none() {
        return Ok(None);
    }
    let interval = match variable("OTEL_METRIC_EXPORT_INTERVAL") {
        None => INTERVAL,
        Some(text) => text.parse().ok().filter(|&millis| millis > 0).ok_or_else(|| {
            wrong("OTEL_METRIC_EXPORT_INTERVAL", "expected a number of milliseconds".to_owned())
        })?,
    };
    let headers = headers(variable("OTEL_EXPORTER_OTLP_HEADERS").as_deref().unwrap_or_default())?;
    let service = variable("OTEL_SERVICE_NAME").unwrap_or_else(|| "ilo-vm".to_owned());
    let builder = Client::builder().redirect(reqwest::redirect::Policy::none()).timeout(ANSWER);
    let mut urls = traces.iter().chain(metrics.iter().map(|(url, _)| url));
    let plain = urls.all(|url| url.scheme() == "http");
    let http = https::client(builder, plain).map_err(|why| wrong(ALL, why))?;
    let (sender, receiver) = sync_channel(QUEUE);
    let state = Arc::<Losses>::default();
    let (is_traced, measured) = (traces.is_some(), metrics.as_ref().map(|(_, metrics)| Arc::clone(metrics)));
    let interval = Duration::from_millis(interval);
    let collector = Collector { http, traces, metrics, interval, headers, service };
    let shared = Arc::clone(&state);
    let begun = thread::Builder::new().name("telemetry".to_owned());
    let begun = begun.spawn(move || collector.serve(&receiver, &shared));
    begun.map_err(|error| wrong(ALL, format!("no thread: {error}")))?;
    Ok(Some(Arc::new(Queue { sender, state, traces: is_traced, metrics: measured })))
}

impl SpanQueue for Queue {
    fn add(&self, span: EndedSpan) {
        let wanted = self.traces && span.context.is_sampled();
        if wanted && self.sender.try_send(Message::Span(Box::new(span))).is_err() {
            self.state.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn measure(&self, metric: Metric, attributes: Vec<(&'static str, String)>, took: Duration) {
        if let Some(metrics) = &self.metrics {
            metrics.add(metric, attributes, took);
        }
    }

    fn flush(&self, most: Duration) -> Option<String> {
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
        let failure = locked(&self.state.failure).take();
        let dropped = self.state.dropped.swap(0, Ordering::Relaxed);
        failure.or_else(|| {
            (dropped > 0).then(|| format!("{dropped} spans were dropped: the collector is too slow"))
        })
    }
}

/// Headers in the format of the standard variable: `name=value`, separated by commas, percent-encoded.
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
    /// Sends what arrives until the queue is closed.
    fn serve(&self, queue: &Receiver<Message>, state: &Losses) {
        let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else { return };
        let report = |sent: Result<(), String>| {
            if let Err(why) = sent {
                *locked(&state.failure) = Some(why);
            }
        };
        let mut spans: Vec<Box<EndedSpan>> = Vec::new();
        let mut until = Instant::now();
        let mut measured = until + self.interval;
        loop {
            let next = if spans.is_empty() { measured } else { until.min(measured) };
            let (mut waiting, mut over) = (None, false);
            match queue.recv_timeout(next.saturating_duration_since(Instant::now())) {
                Ok(Message::Span(span)) => {
                    if spans.is_empty() {
                        until = Instant::now() + PAUSE;
                    }
                    spans.push(span);
                }
                Ok(Message::Flush(done)) => waiting = Some(done),
                Err(RecvTimeoutError::Disconnected) => over = true,
                Err(RecvTimeoutError::Timeout) => {}
            }
            let (now, all) = (Instant::now(), over || waiting.is_some());
            if !spans.is_empty() && (all || spans.len() >= BATCH || now >= until) {
                report(runtime.block_on(self.send_spans(&spans)));
                spans.clear();
            }
            let changed = self.metrics.as_ref().is_some_and(|(_, metrics)| metrics.has_changed());
            if now >= measured || (all && changed) {
                report(runtime.block_on(self.send_metrics()));
                measured = Instant::now() + self.interval;
            }
            if let Some(done) = waiting {
                let _ = done.try_send(());
            }
            if over {
                return;
            }
        }
    }

    async fn send_spans(&self, spans: &[Box<EndedSpan>]) -> Result<(), String> {
        let Some(url) = &self.traces else { return Ok(()) };
        let spans: Vec<_> = spans.iter().map(|span| span.json()).collect();
        let body = json!({"resourceSpans": [{
            "resource": self.resource(), "scopeSpans": [{"scope": scope(), "spans": spans}],
        }]});
        self.send(url, &body).await.map_err(|why| format!("traces could not be sent: {why}"))
    }

    async fn send_metrics(&self) -> Result<(), String> {
        let Some((url, metrics)) = &self.metrics else { return Ok(()) };
        let Some(metrics) = metrics.json() else { return Ok(()) };
        let body = json!({"resourceMetrics": [{
            "resource": self.resource(), "scopeMetrics": [{"scope": scope(), "metrics": metrics}],
        }]});
        self.send(url, &body).await.map_err(|why| format!("metrics could not be sent: {why}"))
    }

    fn resource(&self) -> Value {
        json!({"attributes": [attribute("service.name", &self.service)]})
    }

    async fn send(&self, url: &Url, body: &Value) -> Result<(), String> {
        let request = self.http.post(url.clone()).headers(self.headers.clone());
        let sent = request.header(CONTENT_TYPE, "application/json").body(body.to_string()).send().await;
        let status = sent.map_err(|error| shortened(&https::cause(error), 200))?.status();
        if status.is_success() { Ok(()) } else { Err(format!("HTTP status {}", status.as_u16())) }
    }
}

fn scope() -> Value {
    json!({"name": "ilo-vm", "version": env!("CARGO_PKG_VERSION")})
}
