//! Events of a run, and what their handlers do to it: nothing.

use crate::support::{both, build, fine, log, program, tools};
use ilo_host::run::{AsyncOptions, Event, run_async};
use ilo_host::tools::{Policy, Tools};
use serde_json::json;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

#[test]
fn events_come_as_they_happen_and_a_panic_in_their_handler_changes_nothing() {
    let (_, done) = log();
    let tools = tools(&done, |tools| tools.add_async("then", Policy::default(), fine));
    both(|| async {
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let events = seen.clone();
        let options = AsyncOptions::new(&tools).tool_call_id("call-7").on_event(move |event| {
            events.lock().unwrap().push(match event {
                Event::Start(call) => {
                    assert_eq!(call.tool_call_id.as_deref(), Some("call-7"));
                    format!("start {}", call.tool)
                }
                Event::End { call, result, .. } => format!("end {} {}", call.tool, result.is_ok()),
                other => format!("{other:?}"),
            });
            panic!("an observer");
        });
        let finished = run_async(&program(), &json!({"id": "x"}), options).await.unwrap();
        assert_eq!(finished.outcome().unwrap().to_string(), r#"{"status":"ok","value":"fine"}"#);
        assert_eq!(*seen.lock().unwrap(), ["start do", "end do true", "start then", "end then true"]);
    });
}

/// How many times a handler was called, and what it then does.
type Handler = Box<dyn FnMut(Event) + Send>;

#[test]
fn handlers_of_a_thousand_events_that_panic_or_read_nothing_change_nothing() {
    let mut tools = Tools::new();
    tools.add_async("t", Policy::default(), fine);
    let tools = Arc::new(tools);
    let program =
        build("; fn f() -> list any\n; Tools: 0=t\nFOR 0 RANGE LIT 1 500 2\n  LET 1 CALL 0 0\n  REF 1\n");
    both(|| async {
        let told = Arc::new(AtomicUsize::new(0));
        let counts = || {
            let told = told.clone();
            move || told.fetch_add(1, Ordering::SeqCst)
        };
        // Nobody reads the other end: what has no room is dropped by the host.
        let (full, _unread) = tokio::sync::mpsc::channel(1);
        let (first, second, third) = (counts(), counts(), counts());
        let handlers: [Handler; 3] = [
            Box::new(move |_| panic!("an observer of event {}", first())),
            Box::new(move |event| {
                second();
                drop(full.try_send(event));
            }),
            Box::new(move |_| {
                third();
                std::thread::yield_now();
            }),
        ];
        for handler in handlers {
            told.store(0, Ordering::SeqCst);
            let options = AsyncOptions::new(&tools).on_event(handler);
            let finished = run_async(&program, &json!({}), options).await.unwrap();
            let expected = format!(r#"{{"status":"ok","value":[{}]}}"#, vec![r#""fine""#; 500].join(","));
            assert_eq!(finished.outcome().unwrap().to_string(), expected);
            assert_eq!(told.load(Ordering::SeqCst), 1000);
        }
    });
}
