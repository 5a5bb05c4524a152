//! An asynchronous host that starts calls of read-only tools before their turn. A scout predicts which calls
//! a run will make.
//!
//! `cargo run -p ilo-examples --example ahead`

use ilo_vm::{Datum, Limits, Program, Run, Scout, Step};
use std::collections::VecDeque;
use std::error::Error;
use std::time::{Duration, Instant};
use tokio::task::{JoinHandle, spawn_local};

const LATENCY: Duration = Duration::from_millis(100);
/// The most calls under way at once.
const MOST: usize = 16;

/// Both tools only read, so their calls may be made early, in any order, and without need.
async fn read(tool: String, _arguments: String) -> Result<i64, String> {
    tokio::time::sleep(LATENCY).await;
    match tool.as_str() {
        "get-price" => Ok(4),
        "count-stock" => Ok(3),
        other => Err(format!("there is no {other}")),
    }
}

/// A call that was started, or that is expected and whose arguments are not known yet.
struct Expected {
    call: (String, Option<String>),
    answer: Option<JoinHandle<Result<i64, String>>>,
}

async fn drive(program: &Program, items: &[Datum<'_>], most: usize) -> Result<String, Box<dyn Error>> {
    let entry = program.function("stock").ok_or("no such function")?;
    let mut run = Run::new(program, Limits::default());
    run.start(entry, &[Datum::List(items)])?;
    let (mut scout, mut going) = (Scout::new(program), false);
    let mut expected: VecDeque<Expected> = VecDeque::new();
    loop {
        let mut arguments = String::new();
        let tool = match run.step() {
            Step::Done(outcome) => return Ok(outcome.to_string()),
            Step::Call(call) => {
                call.write_json(&mut arguments)?;
                call.tool().to_owned()
            }
        };
        // The run makes every call itself. It takes an answer only if it is that of the same call.
        let same = |next: &Expected| {
            next.call.0 == tool && next.call.1.as_ref().is_none_or(|known| *known == arguments)
        };
        let mut answer = None;
        if expected.front().is_some_and(same) {
            answer = expected.pop_front().and_then(|next| next.answer);
        } else {
            expected.drain(..).filter_map(|next| next.answer).for_each(|task| task.abort());
            going = scout.follow(&run);
        }
        let answer = answer.unwrap_or_else(|| spawn_local(read(tool, arguments)));
        while going && expected.len() + 1 < most {
            let Some(ahead) = scout.ahead() else {
                going = false;
                break;
            };
            let mut json = String::new();
            let known = ahead.write_json(&mut json).is_ok();
            let tool = ahead.tool().to_owned();
            let answer = known.then(|| spawn_local(read(tool.clone(), json.clone())));
            expected.push_back(Expected { call: (tool, known.then_some(json)), answer });
        }
        let answer = answer.await?;
        let Some(call) = run.pending() else { return Err("the call is gone".into()) };
        match answer {
            Ok(number) => call.answer(number)?,
            Err(message) => call.fail(&message)?,
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let (program, _) =
        ilo_asm::compile::compile(include_str!("../stock.ilo"), &ilo_asm::compile::Options::default());
    let program = Program::new(program.ok_or("the example does not build")?)?;
    let items: Vec<Datum<'_>> = ["lamp", "desk", "rug", "vase", "clock"].map(Datum::Text).to_vec();
    let local = tokio::task::LocalSet::new();
    let mut outcomes = Vec::new();
    for most in [1, MOST] {
        let start = Instant::now();
        let outcome = local.run_until(drive(&program, &items, most)).await?;
        println!("10 reads of {LATENCY:?}, at most {most} at once: {:?}", start.elapsed());
        outcomes.push(outcome);
    }
    assert_eq!(outcomes[0], outcomes[1], "nothing but time tells");
    println!("{}", outcomes[0]);
    Ok(())
}
