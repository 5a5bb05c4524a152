//! Steps a second of DBOS's crate: `ilo-dbos-speed ADDRESS SECONDS` prints them at 1, 8 and 64 workflows at
//! once, of 10 steps each, as `journal/benches/journal.rs` does for the journal. A step returns nothing, so
//! the figure is the cost of a durable step.

use dbos::{Config, DBOS, WorkflowRef, step};
use std::time::{Duration, Instant};

const STEPS: u32 = 10;

async fn pay(steps: u32) -> dbos::Result<u32> {
    for _ in 0..steps {
        step("pay", || async { dbos::Result::Ok(()) }).await?;
    }
    Ok(steps)
}

/// Workflows a second of `at_once` tasks, each starting one after another.
async fn measure(workflow: &WorkflowRef<u32, u32>, at_once: usize, time: Duration) -> f64 {
    let begun = Instant::now();
    let tasks: Vec<_> = (0..at_once)
        .map(|_| {
            let workflow = workflow.clone();
            tokio::spawn(async move {
                let mut made = 0_u32;
                while begun.elapsed() < time {
                    workflow.run(STEPS).await.expect("a workflow ends");
                    made += 1;
                }
                made
            })
        })
        .collect();
    let mut made = 0;
    for task in tasks {
        made += task.await.expect("no task panics");
    }
    f64::from(made) / begun.elapsed().as_secs_f64()
}

#[tokio::main]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let address = arguments.next().expect("an address: postgres://USER@HOST/DATABASE");
    let seconds = arguments.next().map_or(3, |text| text.parse().expect("seconds, a whole number"));
    // As many connections as workflows at once: its default of 10 would hold it back.
    let config = Config { app_version: Some("1".to_owned()), max_connections: 64, ..Config::new("speed", address) };
    let dbos = DBOS::new(config);
    let workflow = dbos.register_workflow("pay", pay).expect("the only one of its name");
    dbos.launch().await.expect("the server answers");
    for at_once in [1, 8, 64] {
        let runs = measure(&workflow, at_once, Duration::from_secs(seconds)).await;
        println!("DBOS c={at_once}, workflows of {STEPS} steps: {:.0} steps/s", runs * f64::from(STEPS));
    }
    dbos.shutdown().await;
}
