//! Monty behind the worker's protocol, in process. A run of its own for P1 and P3, as its hosts do it; P2 and P4 loop
//! inside a session, so that their lists are made once.

use ilo_worker::Worker;
use monty::{MontyRepl, MontyRun, RunProgress};
use monty_types::{CompileOptions, MontyException, MontyObject, PrintWriter, ResourceTracker};
use std::fmt::Write;
use std::hint::black_box;

const PROGRAMS: &str = include_str!("../../programs/programs.py");
const LISTS: &str = r#"
customers = [{"name": f"customer {n}", "spent": n % 13 * 100.0 + 0.5} for n in range(1_000)]
numbers = [n % 10 + 0.5 for n in range(10_000)]
"#;

type Result<T> = std::result::Result<T, MontyException>;

/// One function of the programs.
fn part(name: &str) -> &'static str {
    let start = PROGRAMS.find(&format!("def {name}(")).unwrap_or(0);
    PROGRAMS[start..].split("\n\n\n").next().unwrap_or("")
}

fn compiled(function: &str, call: &str, inputs: &[&str]) -> Result<MontyRun> {
    let code = format!("{}\n{call}", part(function));
    let inputs = inputs.iter().map(|&input| input.to_owned()).collect();
    MontyRun::new(code, "p.py", inputs, CompileOptions::default())
}

fn record(fields: &[(&str, MontyObject)]) -> MontyObject {
    MontyObject::dict(fields.iter().map(|(name, value)| (MontyObject::string(*name), value.clone())))
}

fn answer(tool: &str) -> MontyObject {
    let value = if tool == "get_user" {
        record(&[("email", MontyObject::string("a@b.c")), ("verified", MontyObject::bool(true))])
    } else {
        record(&[("message-id", MontyObject::string("m1"))])
    };
    record(&[("ok", value)])
}

/// One run of notify; tells what it called where `log` is given.
fn notify(run: MontyRun, inputs: Vec<MontyObject>, mut log: Option<&mut String>) -> Result<bool> {
    let mut progress = run.start(inputs, ResourceTracker::default(), PrintWriter::Disabled)?;
    loop {
        match progress {
            RunProgress::FunctionCall(call) => {
                if let Some(log) = &mut log {
                    let pairs = call.args.arg(0).and_then(|argument| argument.pairs()).unwrap_or_default();
                    let texts: Vec<&str> = pairs.iter().filter_map(|(_, value)| value.as_str()).collect();
                    let _ = write!(log, "{}({}) ", call.function_name.replace('_', "-"), texts.join(", "));
                }
                let answer = answer(&call.function_name);
                progress = call.resume(answer, PrintWriter::Disabled)?;
            }
            RunProgress::Complete(value) => return Ok(value.is_truthy()),
            _ => return Ok(false),
        }
    }
}

fn floats(worker: &mut Worker) -> Result<()> {
    let inputs = || [10.5, 20.5, 0.3].map(MontyObject::float).to_vec();
    let mut run = compiled("total", "total(price, quantity, rate)", &["price", "quantity", "rate"])?;
    let mut again = move || run.run(inputs(), ResourceTracker::default(), PrintWriter::Disabled);
    let shown = again()?.as_ref().as_float().map_or("?".to_owned(), |number| number.to_string());
    worker.item("p1", shown, move |count| {
        for _ in 0..count {
            let _ = black_box(again());
        }
        count
    });
    Ok(())
}

fn session(worker: &mut Worker, name: &'static str, show: &str, call: &'static str, units: u64) -> Result<()> {
    let mut repl = MontyRepl::new("p.py", ResourceTracker::default(), CompileOptions::default());
    let mut feed = move |code: &str| repl.feed_run(code, vec![], PrintWriter::Disabled);
    // The tools are named by a function that no list calls.
    feed(&format!("get_user = None\nsend_email = None\n{PROGRAMS}\n{LISTS}"))?;
    let shown = feed(show)?.as_ref().as_str().unwrap_or("?").to_owned();
    worker.item(name, shown, move |count| {
        let _ = black_box(feed(&format!("for _ in range({count}):\n    {call}\n")));
        count * units
    });
    Ok(())
}

fn run() -> Result<Worker> {
    let mut worker = Worker::new("Monty 1.4");
    floats(&mut worker)?;
    let show = r#"" ".join([f"{s['name']} {s['level']} {s['discount']}" for s in summaries(customers)])"#;
    session(&mut worker, "p2", show, "summaries(customers)", 1_000)?;

    let names = ["get_user", "send_email", "user_id", "message"];
    let notifying = compiled("notify", "notify(user_id, message)", &names)?;
    let inputs = || {
        let tool = |name: &str| MontyObject::function(name, None);
        vec![tool("get_user"), tool("send_email"), MontyObject::string("u1"), MontyObject::string("Hello")]
    };
    let mut log = String::new();
    let good = notify(notifying.clone(), inputs(), Some(&mut log))?;
    worker.item("p3", log + if good { "ok" } else { "err" }, move |count| {
        for _ in 0..count {
            let _ = black_box(notify(notifying.clone(), inputs(), None));
        }
        count
    });
    session(&mut worker, "p4", "str(int(sum_large(numbers)))", "sum_large(numbers)", 10_000)?;
    Ok(worker)
}

fn main() -> Result<()> {
    let worker = run()?;
    if let Err(error) = worker.serve() {
        eprintln!("{error}");
    }
    Ok(())
}
