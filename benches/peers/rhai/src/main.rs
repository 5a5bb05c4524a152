//! The worker for Rhai: programs are compiled once and called by name; arguments are shared, so that a call
//! does not copy lists.

use ilo_worker::Worker;
use rhai::{AST, Array, CallFnOptions, Dynamic, Engine, FLOAT, Map, OptimizationLevel, Scope};
use std::cell::RefCell;
use std::error::Error;
use std::fmt::Write;
use std::hint::black_box;
use std::rc::Rc;

const PROGRAMS: &str = include_str!("../../programs/programs.rhai");

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// An engine with the programs and the tools.
struct Rhai {
    engine: Engine,
    ast: AST,
    scope: Scope<'static>,
}

fn record(fields: impl IntoIterator<Item = (&'static str, Dynamic)>) -> Map {
    fields.into_iter().map(|(name, value)| (name.into(), value)).collect()
}

fn user() -> Map {
    record([("ok", record([("email", "a@b.c".into()), ("verified", true.into())]).into())])
}

fn sent() -> Map {
    record([("ok", record([("message-id", "m1".into())]).into())])
}

impl Rhai {
    fn new(mut engine: Engine) -> Result<Rhai> {
        engine.set_optimization_level(OptimizationLevel::Full);
        let ast = engine.compile(PROGRAMS)?;
        Ok(Rhai { engine, ast, scope: Scope::new() })
    }

    fn timed() -> Result<Rhai> {
        let mut engine = Engine::new();
        engine.register_fn("get_user", |_: Map| user());
        engine.register_fn("send_email", |_: Map| sent());
        Rhai::new(engine)
    }

    fn call(&mut self, function: &str, arguments: &[Dynamic]) -> Result<Dynamic> {
        let options = CallFnOptions::new().eval_ast(false);
        let arguments = arguments.to_vec();
        Ok(self.engine.call_fn_with_options(options, &mut self.scope, &self.ast, function, arguments)?)
    }
}

fn item(
    worker: &mut Worker,
    name: &'static str,
    function: &'static str,
    arguments: Vec<Dynamic>,
    units: u64,
    show: fn(Dynamic) -> String,
) -> Result<()> {
    let mut rhai = Rhai::timed()?;
    let shown = show(rhai.call(function, &arguments)?);
    worker.item(name, shown, move |count| {
        for _ in 0..count {
            let _ = black_box(rhai.call(function, &arguments));
        }
        count * units
    });
    Ok(())
}

fn number(value: Dynamic) -> String {
    value.as_float().map_or("?".to_owned(), |number| number.to_string())
}

fn summaries(list: Dynamic) -> String {
    let mut out = String::new();
    for summary in list.into_typed_array::<Map>().unwrap_or_default() {
        for field in ["name", "level", "discount"] {
            let _ = write!(out, "{} ", summary.get(field).map_or_else(String::new, ToString::to_string));
        }
    }
    out
}

fn shown_notify() -> Result<String> {
    let log = Rc::new(RefCell::new(String::new()));
    let mut engine = Engine::new();
    let tell = |log: &Rc<RefCell<String>>, tool: &str, arguments: &Map, fields: &[&str]| {
        let texts: Vec<String> = fields.iter().filter_map(|field| Some(arguments.get(*field)?.to_string())).collect();
        let _ = write!(log.borrow_mut(), "{tool}({}) ", texts.join(", "));
    };
    let (users, mails) = (log.clone(), log.clone());
    engine.register_fn("get_user", move |arguments: Map| {
        tell(&users, "get-user", &arguments, &["user-id"]);
        user()
    });
    engine.register_fn("send_email", move |arguments: Map| {
        tell(&mails, "send-email", &arguments, &["email", "subject", "body"]);
        sent()
    });
    let outcome = Rhai::new(engine)?.call("notify", &["u1".into(), "Hello".into()])?;
    let good = outcome.try_cast::<Map>().is_some_and(|outcome| outcome.contains_key("ok"));
    let log = log.borrow();
    Ok(format!("{log}{}", if good { "ok" } else { "err" }))
}

/// A fresh scope and the first run. Engine and compiled program are shared, as a module is in other engines.
fn start(worker: &mut Worker) -> Result<()> {
    let engine = Engine::new();
    let ast = engine.compile(PROGRAMS)?;
    let run = move || engine.call_fn::<FLOAT>(&mut Scope::new(), &ast, "total", (10.5, 20.5, 0.3));
    let shown = run()?.to_string();
    worker.item("start", shown, move |count| {
        for _ in 0..count {
            let _ = black_box(run());
        }
        count
    });
    Ok(())
}

fn main() -> Result<()> {
    let mut worker = Worker::new("Rhai 1.27");
    item(&mut worker, "p1", "total", [10.5, 20.5, 0.3].map(Dynamic::from).to_vec(), 1, number)?;
    let customers: Array = (0..1_000_u32)
        .map(|place| {
            let spent = f64::from(place % 13) * 100.0 + 0.5;
            record([("name", format!("customer {place}").into()), ("spent", spent.into())]).into()
        })
        .collect();
    item(&mut worker, "p2", "summaries", vec![Dynamic::from_array(customers).into_shared()], 1_000, summaries)?;
    let mut rhai = Rhai::timed()?;
    worker.item("p3", shown_notify()?, move |count| {
        let arguments = ["u1".into(), "Hello".into()];
        for _ in 0..count {
            let _ = black_box(rhai.call("notify", &arguments));
        }
        count
    });
    let numbers: Array = (0..10_000_u32).map(|place| (f64::from(place % 10) + 0.5).into()).collect();
    item(&mut worker, "p4", "sum", vec![Dynamic::from_array(numbers).into_shared()], 10_000, number)?;
    start(&mut worker)?;
    worker.serve()?;
    Ok(())
}
