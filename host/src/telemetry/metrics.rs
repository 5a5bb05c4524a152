//! Durations as OpenTelemetry's histograms: how often something happened, how long it took, and how it
//! failed.
//!
//! Names, units and bounds are those of the semantic conventions for generative AI and MCP. What is added
//! stays for the life of the process, so the number of series is bounded.

#![cfg_attr(not(feature = "telemetry"), allow(dead_code, reason = "without the feature nothing is sent"))]

use super::span::attribute;
use ilo_drive::locked::locked;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The bounds of the buckets, in seconds.
const BOUNDS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// The most series; durations of further ones are counted in an overflow series.
const SERIES: usize = 2_000;
/// The OTLP code for cumulative numbers.
const CUMULATIVE: u8 = 2;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    /// A run.
    Run,
    /// A call of a tool that does not belong to a server.
    Tool,
    /// A call of a server's tool.
    Client,
    /// A call that a client of `serve` made.
    Server,
}

impl Metric {
    const ALL: [Metric; 4] = [Metric::Run, Metric::Tool, Metric::Client, Metric::Server];

    fn name(self) -> &'static str {
        match self {
            Metric::Run => "gen_ai.invoke_workflow.duration",
            Metric::Tool => "gen_ai.execute_tool.duration",
            Metric::Client => "mcp.client.operation.duration",
            Metric::Server => "mcp.server.operation.duration",
        }
    }
}

type Attributes = Vec<(&'static str, String)>;

/// The durations of one series.
#[derive(Clone, Debug)]
struct Histogram {
    count: u64,
    sum: f64,
    least: f64,
    most: f64,
    buckets: [u64; BOUNDS.len() + 1],
}

/// All series.
#[derive(Debug)]
pub(super) struct Metrics {
    start: SystemTime,
    series: Mutex<BTreeMap<(Metric, Attributes), Histogram>>,
    /// Whether something was added since they were last written.
    changed: AtomicBool,
}

impl Metrics {
    pub(super) fn new() -> Metrics {
        Metrics { start: SystemTime::now(), series: Mutex::default(), changed: AtomicBool::new(false) }
    }

    /// Adds a duration.
    pub(super) fn add(&self, metric: Metric, attributes: Attributes, took: Duration) {
        let mut series = locked(&self.series);
        self.changed.store(true, Ordering::Relaxed);
        let mut key = (metric, attributes);
        if series.len() >= SERIES && !series.contains_key(&key) {
            key.1 = vec![("otel.metric.overflow", "true".to_owned())];
        }
        let none =
            Histogram { count: 0, sum: 0.0, least: f64::MAX, most: 0.0, buckets: [0; BOUNDS.len() + 1] };
        let histogram = series.entry(key).or_insert(none);
        let seconds = took.as_secs_f64();
        histogram.count += 1;
        histogram.sum += seconds;
        histogram.least = histogram.least.min(seconds);
        histogram.most = histogram.most.max(seconds);
        // A bound belongs to the bucket below it.
        let at = BOUNDS.partition_point(|&bound| bound < seconds);
        if let Some(bucket) = histogram.buckets.get_mut(at) {
            *bucket += 1;
        }
    }

    /// Whether something was added since they were last written.
    pub(super) fn has_changed(&self) -> bool {
        self.changed.load(Ordering::Relaxed)
    }

    /// All metrics in OTLP; `None` where nothing was added.
    pub(super) fn json(&self) -> Option<Value> {
        let series = locked(&self.series);
        self.changed.store(false, Ordering::Relaxed);
        let nanos =
            |time: SystemTime| time.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string();
        let (start, now) = (nanos(self.start), nanos(SystemTime::now()));
        let point = |attributes: &Attributes, histogram: &Histogram| {
            let attributes: Vec<Value> =
                attributes.iter().map(|(name, value)| attribute(name, value)).collect();
            let buckets: Vec<String> = histogram.buckets.iter().map(u64::to_string).collect();
            json!({
                "attributes": attributes, "startTimeUnixNano": start, "timeUnixNano": now,
                "count": histogram.count.to_string(), "sum": histogram.sum,
                "min": histogram.least, "max": histogram.most,
                "bucketCounts": buckets, "explicitBounds": BOUNDS,
            })
        };
        let metrics = Metric::ALL.into_iter().filter_map(|metric| {
            let of = series.iter().filter(|((of, _), _)| *of == metric);
            let points: Vec<Value> =
                of.map(|((_, attributes), histogram)| point(attributes, histogram)).collect();
            (!points.is_empty()).then(|| {
                json!({"name": metric.name(), "unit": "s",
                    "histogram": {"aggregationTemporality": CUMULATIVE, "dataPoints": points}})
            })
        });
        let metrics: Vec<Value> = metrics.collect();
        (!metrics.is_empty()).then(|| Value::from(metrics))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_is_in_the_bucket_of_its_bound() {
        let metrics = Metrics::new();
        for millis in [1, 10, 11, 300_000, 300_001] {
            metrics.add(Metric::Run, vec![("a", "b".to_owned())], Duration::from_millis(millis));
        }
        let json = metrics.json().unwrap();
        let point = &json[0]["histogram"]["dataPoints"][0];
        assert_eq!(
            (&point["count"], &point["min"], &point["max"]),
            (&"5".into(), &0.001.into(), &300.001.into())
        );
        let buckets: Vec<&str> =
            point["bucketCounts"].as_array().unwrap().iter().map(|count| count.as_str().unwrap()).collect();
        let expected = ["2", "1", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "0", "1", "1"];
        assert_eq!(buckets, expected);
        assert_eq!(point["explicitBounds"].as_array().unwrap().len() + 1, buckets.len());
    }

    #[test]
    fn series_are_bounded() {
        let metrics = Metrics::new();
        for name in 0..SERIES + 10 {
            metrics.add(Metric::Tool, vec![("gen_ai.tool.name", name.to_string())], Duration::ZERO);
        }
        let json = metrics.json().unwrap();
        let points = json[0]["histogram"]["dataPoints"].as_array().unwrap();
        assert_eq!(points.len(), SERIES + 1);
        let rest = points.iter().find(|point| point["attributes"][0]["key"] == "otel.metric.overflow");
        assert_eq!(rest.unwrap()["count"], "10");
    }
}
