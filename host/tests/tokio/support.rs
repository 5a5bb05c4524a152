//! Programs, tools and runtimes of the tests.

use ilo_host::data::Data;
use ilo_host::run::{AsyncOptions, Options, run_async};
use ilo_host::tools::{AsyncRequest, Policy, Tools};
use ilo_vm::{Program, Status};
use serde_json::json;
use std::sync::{Arc, Mutex};
use tokio::runtime::{Builder, Runtime};

pub(crate) fn build(source: &str) -> Program {
    let (built, found) = ilo_asm::compile::compile(source, &ilo_asm::compile::Options::default());
    Program::new(built.unwrap_or_else(|| panic!("{:?}", found.as_slice()))).unwrap()
}

/// f(id): calls `do` with the ROLLBACK `undo`, then `then`, whose failure is its own.
pub(crate) fn program() -> Program {
    build(
        "; fn f(id: any) -> result any, any\n; Tools: 0=do 1=undo 2=then\n; Fields: 0=id\n\
         LET 1 CALL 0 1 0 REF 0\nROLLBACK CALL 1 1 0 REF 0\nLET 2 CALL 2 1 0 REF 0\nRET_OK REF 2\n",
    )
}

/// f(id): calls `do` and `then`, and fails with both failures.
pub(crate) fn reads() -> Program {
    build(
        "; fn f(id: text) -> result any, text\n; Tools: 0=do 1=then\n; Fields: 0=id\n\
         LET 1 CALL 0 1 0 REF 0\nMATCH 1 2\n  OK 2 1\n    RET_OK REF 2\n  ERR 3 4\n    LET 4 CALL 1 1 0 REF 0\n    \
         MATCH 4 2\n      OK 5 1\n        RET_OK REF 5\n      ERR 6 1\n        RET_ERR CONCAT REF 3 CONCAT LIT 0 \"; \" REF 6\n",
    )
}

pub(crate) fn current() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

pub(crate) fn multi() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Runs on both kinds of runtime.
pub(crate) fn both<F: Future<Output = ()>>(test: impl Fn() -> F) {
    for runtime in [current(), multi()] {
        runtime.block_on(test());
        // A thread that holds its call is not awaited.
        runtime.shutdown_background();
    }
}

/// What has happened, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, what: &str) {
        self.0.lock().unwrap().push(what.to_owned());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    pub(crate) fn has(&self, what: &str) -> bool {
        self.0.lock().unwrap().iter().any(|entry| entry == what)
    }
}

pub(crate) type Done = Arc<dyn Fn(&str) + Send + Sync>;

pub(crate) fn log() -> (Log, Done) {
    let log = Log::default();
    let own = log.clone();
    (log, Arc::new(move |what: &str| own.add(what)))
}

/// `do` and `undo`, which note that they were called, and what a test adds.
pub(crate) fn tools(done: &Done, add: impl FnOnce(&mut Tools)) -> Arc<Tools> {
    let mut tools = Tools::new();
    for name in ["do", "undo"] {
        let done = done.clone();
        tools.add_async(name, Policy::default(), move |_: Data, request: AsyncRequest| {
            let done = done.clone();
            async move {
                done(&request.tool);
                Ok::<_, String>("fine")
            }
        });
    }
    add(&mut tools);
    Arc::new(tools)
}

pub(crate) async fn fine(_: Data, _: AsyncRequest) -> Result<&'static str, String> {
    Ok("fine")
}

/// The outcome of a run in a few words: its failure as it is, anything else after its kind.
pub(crate) async fn outcome(program: &Program, tools: &Arc<Tools>, options: Options) -> String {
    let options = AsyncOptions::new(tools).options(options);
    let finished = run_async(program, &json!({"id": "x"}), options).await.unwrap();
    let outcome = finished.outcome().unwrap();
    match outcome.status() {
        Status::Ok(value) => format!("ok {value}"),
        Status::Err(value) => value.as_text().map_or_else(|| value.to_string(), str::to_owned),
        Status::Fault(fault) => format!("{}: {}", fault.code, fault.message),
    }
}
