//! Spans of `tracing`, for hosts that collect spans themselves: one for a run, and in it one for each call.
//! They have names and kinds of failures, no arguments, answers or messages. Without the feature `tracing`
//! there are none.

use crate::tools::Tools;

/// A span.
#[derive(Clone, Debug)]
pub(crate) struct Span {
    #[cfg(feature = "tracing")]
    span: tracing::Span,
}

#[cfg(feature = "tracing")]
impl Span {
    /// The span of a run of this function.
    pub(crate) fn run(function: &str) -> Span {
        let span = tracing::info_span!(
            "invoke_workflow",
            "gen_ai.operation.name" = "invoke_workflow",
            "gen_ai.workflow.name" = function,
            "error.type" = tracing::field::Empty,
        );
        Span { span }
    }

    /// The span of a call in a run.
    pub(crate) fn call(&self, tools: &Tools, tool: &str) -> Span {
        let target = tools.get(tool).and_then(|tool| match &tool.source {
            crate::tool::Source::Server(target) => ilo_asm::catalog::server_and_tool(target),
            _ => None,
        });
        let span = tracing::info_span!(
            parent: &self.span,
            "execute_tool",
            "gen_ai.operation.name" = "execute_tool",
            "gen_ai.tool.name" = target.map_or(tool, |(_, name)| name),
            "ilo.server" = target.map(|(server, _)| server),
            "error.type" = tracing::field::Empty,
        );
        Span { span }
    }

    /// Notes the kind of a failure.
    pub(crate) fn ended(&self, error: Option<&str>) {
        if let Some(error) = error {
            self.span.record("error.type", error);
        }
    }

    /// Works within the span.
    pub(crate) fn within<R>(&self, work: impl FnOnce() -> R) -> R {
        self.span.in_scope(work)
    }

    /// A future that works within the span.
    #[cfg(feature = "tokio")]
    pub(crate) fn around<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        tracing::Instrument::instrument(future, self.span.clone())
    }
}

#[cfg(not(feature = "tracing"))]
#[allow(clippy::unused_self, reason = "the methods are those of spans that exist")]
impl Span {
    pub(crate) fn run(_function: &str) -> Span {
        Span {}
    }

    pub(crate) fn call(&self, _tools: &Tools, _tool: &str) -> Span {
        self.clone()
    }

    pub(crate) fn ended(&self, _error: Option<&str>) {}

    pub(crate) fn within<R>(&self, work: impl FnOnce() -> R) -> R {
        work()
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn around<F: Future>(&self, future: F) -> F {
        future
    }
}
