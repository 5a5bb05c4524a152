//! Traces and metrics for OpenTelemetry: a run is a trace, and a call is a span of it; the durations of both
//! are metrics. They are sent as OTLP over HTTP, in JSON, if the standard variables of the environment name a
//! collector.
//!
//! A span has names, times and kinds of failures. It has no arguments, answers or messages, which may be
//! private. Spans wait in a queue of bounded length; what does not fit is dropped and counted. A run never
//! waits for the collector.

#[cfg(feature = "telemetry")]
mod export;
mod metrics;
mod span;

pub use crate::trace_context::Context;
#[cfg(feature = "telemetry")]
use export::queue;
use metrics::Metric;
use span::{EndedSpan, SpanKind};

use crate::tool::{Failure, Source};
use ilo_drive::problem::Problem;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

/// The exporter of the spans of runs. Clones share the queue.
#[derive(Clone, Debug)]
pub struct Telemetry {
    queue: Arc<dyn SpanQueue>,
    /// The parent span of the runs.
    parent: Option<Context>,
}

/// Sends what has ended, and waits for nothing.
trait SpanQueue: std::fmt::Debug + Send + Sync {
    /// Adds a span, unless the queue is full.
    fn add(&self, span: EndedSpan);

    /// Adds a duration to a metric.
    fn measure(&self, metric: Metric, attributes: Vec<(&'static str, String)>, took: Duration);

    /// Waits until the queue is empty, for at most this time. Returns the first error, once.
    fn flush(&self, most: Duration) -> Option<String>;
}

/// Without the feature `telemetry` there is none.
#[cfg(not(feature = "telemetry"))]
#[allow(clippy::unnecessary_wraps, reason = "with the feature a setting may be wrong")]
fn queue() -> Result<Option<Arc<dyn SpanQueue>>, Problem> {
    Ok(None)
}

/// The trace of one run.
#[derive(Clone, Debug)]
pub(crate) struct RunTrace {
    telemetry: Telemetry,
    run: Context,
    /// The same moment by both clocks.
    start: (Instant, SystemTime),
}

impl Telemetry {
    /// Configured by the environment: `OTEL_EXPORTER_OTLP_ENDPOINT` names the collector, or
    /// `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT` one for each,
    /// `OTEL_EXPORTER_OTLP_HEADERS` has headers, `OTEL_SERVICE_NAME` a name, `OTEL_METRIC_EXPORT_INTERVAL`
    /// the milliseconds between two exports of metrics, and `TRACEPARENT` the span that runs are part of.
    /// `OTEL_TRACES_EXPORTER` and `OTEL_METRICS_EXPORTER` may be `none`. `None` without a collector, or if
    /// `OTEL_SDK_DISABLED` is `true`.
    ///
    /// # Errors
    /// A setting that cannot be used.
    pub fn from_environment() -> Result<Option<Telemetry>, Problem> {
        let parent = std::env::var("TRACEPARENT").ok().and_then(|text| text.parse().ok());
        Ok(queue()?.map(|queue| Telemetry { queue, parent }))
    }

    /// The same with another parent span, if there is one.
    #[must_use]
    pub fn part_of(&self, parent: Option<Context>) -> Telemetry {
        Telemetry { queue: Arc::clone(&self.queue), parent: parent.or(self.parent) }
    }

    /// Waits until the queue is empty, for at most this time. Returns the first error, once.
    pub fn flush(&self, most: Duration) -> Option<String> {
        self.queue.flush(most)
    }

    /// A client's call of a tool has been answered.
    #[cfg_attr(not(feature = "serve"), allow(dead_code, reason = "only a server has clients"))]
    pub(crate) fn answered(&self, tool: &str, error: Option<&str>, took: Duration) {
        let attributes = [
            ("gen_ai.operation.name", "execute_tool".to_owned()),
            ("gen_ai.tool.name", tool.to_owned()),
            ("mcp.method.name", "tools/call".to_owned()),
        ];
        self.measure(Metric::Server, &attributes, error, took);
    }

    fn measure(
        &self,
        metric: Metric,
        attributes: &[(&'static str, String)],
        error: Option<&str>,
        took: Duration,
    ) {
        let error = error.map(|error| ("error.type", error.to_owned()));
        self.queue.measure(metric, attributes.iter().cloned().chain(error).collect(), took);
    }

    /// Begins the trace of a run.
    pub(crate) fn begin(&self) -> Option<RunTrace> {
        let run = Context::new(self.parent.as_ref())?;
        Some(RunTrace { telemetry: self.clone(), run, start: (Instant::now(), SystemTime::now()) })
    }
}

impl RunTrace {
    /// Begins the span of a call.
    pub(crate) fn call(&self) -> Option<Context> {
        Context::new(Some(&self.run))
    }

    fn time(&self, at: Instant) -> SystemTime {
        let (instant, time) = self.start;
        match at.checked_duration_since(instant) {
            Some(later) => time + later,
            None => time - instant.duration_since(at),
        }
    }

    /// A call has ended.
    pub(crate) fn called(
        &self,
        span: Context,
        (tool, source): (&str, Option<&Source>),
        (start, end): (Instant, Instant),
        result: &Result<ilo_drive::data::Data, Failure>,
    ) {
        let (server, name) = match source {
            Some(Source::Server(target)) => match ilo_asm::catalog::server_and_tool(target) {
                Some((server, name)) => (Some(server), name),
                None => (None, tool),
            },
            _ => (None, tool),
        };
        let error = error_kind(result);
        let mut attributes =
            vec![("gen_ai.operation.name", "execute_tool".to_owned()), ("gen_ai.tool.name", name.to_owned())];
        let (title, kind, metric) = match server {
            Some(server) => {
                attributes.push(("mcp.method.name", "tools/call".to_owned()));
                attributes.push(("ilo.server", server.to_owned()));
                (format!("tools/call {name}"), SpanKind::Client, Metric::Client)
            }
            None => (format!("execute_tool {name}"), SpanKind::Internal, Metric::Tool),
        };
        self.telemetry.measure(metric, &attributes, error, end.saturating_duration_since(start));
        self.send(EndedSpan {
            context: span,
            name: title,
            kind,
            start: self.time(start),
            end: self.time(end),
            attributes,
            error: error.map(str::to_owned),
        });
    }

    /// The run has ended; `error` is the kind of its failure, if it failed.
    pub(crate) fn ended(self, function: &str, error: Option<&str>) {
        let attributes = vec![
            ("gen_ai.operation.name", "invoke_workflow".to_owned()),
            ("gen_ai.workflow.name", function.to_owned()),
        ];
        self.telemetry.measure(Metric::Run, &attributes, error, self.start.0.elapsed());
        self.send(EndedSpan {
            context: self.run,
            name: format!("invoke_workflow {function}"),
            kind: SpanKind::Internal,
            start: self.start.1,
            end: self.time(Instant::now()),
            attributes,
            error: error.map(str::to_owned),
        });
    }

    fn send(&self, span: EndedSpan) {
        self.telemetry.queue.add(span);
    }
}

/// The kind of a call's failure, if it failed.
pub(crate) fn error_kind(result: &Result<ilo_drive::data::Data, Failure>) -> Option<&'static str> {
    match result {
        Ok(_) => None,
        Err(Failure::TimedOut) => Some("timeout"),
        Err(Failure::Interrupted) => Some("cancelled"),
        Err(Failure::InDoubt(_)) => Some("in_doubt"),
        Err(Failure::Limit(code, _)) => Some(code.as_str()),
        Err(_) => Some("tool_error"),
    }
}
