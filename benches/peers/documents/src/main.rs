//! Reads sources in JSON and YAML into the values of `serde_json` and saphyr, and does no more: no positions,
//! no check for duplicate keys in JSON, no programs.

#[path = "../../../src/notations.rs"]
mod notations;

use ilo_worker::Worker;
use notations::{CONSTRAINED, LARGE, MCP, TOOL_CALLING, WORKFLOW};
use saphyr::LoadableYamlNode;
use std::hint::black_box;

fn main() -> std::io::Result<()> {
    let mut worker = Worker::new("serde_json and saphyr");
    for notation in [TOOL_CALLING, CONSTRAINED, MCP] {
        let source = notations::source(&notation, LARGE);
        worker.work(notation.item, move |passes| {
            for _ in 0..passes {
                let documents = serde_json::Deserializer::from_str(black_box(&source));
                let values: Result<Vec<serde_json::Value>, _> = documents.into_iter().collect();
                black_box(values.map_or(0, |values| values.len()));
            }
            passes * source.len() as u64
        });
    }
    let source = notations::source(&WORKFLOW, LARGE);
    worker.work(WORKFLOW.item, move |passes| {
        for _ in 0..passes {
            let values = saphyr::Yaml::load_from_str(black_box(&source));
            black_box(values.map_or(0, |values| values.len()));
        }
        passes * source.len() as u64
    });
    worker.serve()
}
