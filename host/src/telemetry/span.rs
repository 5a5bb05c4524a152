//! A span, and its JSON in OTLP.
#![cfg_attr(not(feature = "telemetry"), allow(dead_code, reason = "without the feature nothing is sent"))]

use crate::trace_context::Context;
use serde_json::{Value, json};
use std::time::{SystemTime, UNIX_EPOCH};

/// The kind of a span.
#[derive(Clone, Copy, Debug)]
pub(super) enum SpanKind {
    /// Internal work.
    Internal = 1,
    /// A request to a server.
    Client = 3,
}

/// A span that has ended.
#[derive(Debug)]
pub(super) struct EndedSpan {
    pub(super) context: Context,
    pub(super) name: String,
    pub(super) kind: SpanKind,
    pub(super) start: SystemTime,
    pub(super) end: SystemTime,
    pub(super) attributes: Vec<(&'static str, String)>,
    /// The kind of its failure.
    pub(super) error: Option<String>,
}

pub(super) fn attribute(name: &str, value: &str) -> Value {
    json!({"key": name, "value": {"stringValue": value}})
}

impl EndedSpan {
    /// The span in OTLP.
    pub(super) fn json(&self) -> Value {
        let nanos =
            |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string();
        let mut attributes: Vec<Value> =
            self.attributes.iter().map(|(name, value)| attribute(name, value)).collect();
        attributes.extend(self.error.iter().map(|error| attribute("error.type", error)));
        let mut span = json!({
            "traceId": self.context.trace_id(),
            "spanId": self.context.span_id(),
            "name": self.name,
            "kind": self.kind as u8,
            "startTimeUnixNano": nanos(self.start),
            "endTimeUnixNano": nanos(self.end),
            "attributes": attributes,
            "status": if self.error.is_some() { json!({"code": 2}) } else { json!({}) },
        });
        if let Some(parent) = self.context.parent_id() {
            span["parentSpanId"] = parent.into();
        }
        span
    }
}
