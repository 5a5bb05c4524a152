//! Spans of `tracing`: one for a run, one in it for each call, and within that what a tool begins itself.

use crate::support::{current, fine, log, outcome, program, tools};
use ilo_host::data::Data;
use ilo_host::run::Options;
use ilo_host::tools::{Policy, Request};
use std::fmt::{Debug, Write as _};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::DefaultGuard;
use tracing::{Event, Metadata, Subscriber};

/// A line for each span, with its parent and its fields.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Spans>>);

#[derive(Default)]
struct Spans {
    lines: Vec<String>,
    entered: Vec<u64>,
}

impl Seen {
    /// Sees the spans of this thread until the guard is dropped.
    pub(crate) fn watch() -> (Seen, DefaultGuard) {
        let seen = Seen::default();
        let guard = tracing::subscriber::set_default(seen.clone());
        // Another test may come to the places of these spans for the first time just now, and make them known
        // as places that nobody watches: they are passed once, and asked for anew.
        let (_, done) = log();
        let tools = tools(&done, |tools| tools.add_async("then", Policy::default(), fine));
        current().block_on(outcome(&program(), &tools, Options::default()));
        tracing::callsite::rebuild_interest_cache();
        seen.0.lock().unwrap().lines.clear();
        (seen, guard)
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().lines.clone()
    }
}

struct Fields<'l>(&'l mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        if field.name() != "gen_ai.operation.name" {
            write!(self.0, " {}={value:?}", field.name()).unwrap();
        }
    }
}

impl Subscriber for Seen {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut spans = self.0.lock().unwrap();
        let parent = span.parent().map(Id::into_u64).or(spans
            .entered
            .last()
            .copied()
            .filter(|_| span.is_contextual()));
        let mut line = format!("{} in {}", span.metadata().name(), parent.unwrap_or(0));
        span.record(&mut Fields(&mut line));
        spans.lines.push(line);
        Id::from_u64(spans.lines.len() as u64)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let at = usize::try_from(span.into_u64()).unwrap() - 1;
        values.record(&mut Fields(&mut self.0.lock().unwrap().lines[at]));
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, _: &Event<'_>) {}

    fn enter(&self, span: &Id) {
        self.0.lock().unwrap().entered.push(span.into_u64());
    }

    fn exit(&self, span: &Id) {
        let entered = &mut self.0.lock().unwrap().entered;
        let at = entered.iter().rposition(|entered| *entered == span.into_u64());
        entered.remove(at.unwrap());
    }
}

#[test]
fn a_run_and_its_calls_are_spans_with_names_and_kinds_of_failures() {
    let (_, done) = log();
    let tools = tools(&done, |tools| {
        tools.add_async("then", Policy::default(), |_: Data, _| async {
            drop(tracing::info_span!("own"));
            Err::<(), _>("a private message")
        });
    });
    let (seen, guard) = Seen::watch();
    current().block_on(outcome(&program(), &tools, Options::default()));
    let mut blocking = ilo_host::Tools::new();
    for name in ["do", "undo", "then"] {
        blocking.add_blocking(name, Policy::default(), |_: Data, _: &Request<'_>| Ok::<_, String>("private"));
    }
    let (program, input) = (program(), Data::record([("id", "private")]));
    let entry = program.entry().unwrap();
    ilo_host::run(&program, entry, &input, &blocking, &Options::default(), &mut ()).unwrap();
    drop(guard);
    assert_eq!(
        seen.lines(),
        [
            "invoke_workflow in 0 gen_ai.workflow.name=\"f\" error.type=\"err\"",
            "execute_tool in 1 gen_ai.tool.name=\"do\"",
            "execute_tool in 1 gen_ai.tool.name=\"then\" error.type=\"tool_error\"",
            "own in 3",
            "execute_tool in 1 gen_ai.tool.name=\"undo\"",
            "invoke_workflow in 0 gen_ai.workflow.name=\"f\"",
            "execute_tool in 6 gen_ai.tool.name=\"do\"",
            "execute_tool in 6 gen_ai.tool.name=\"then\"",
        ]
    );
}
