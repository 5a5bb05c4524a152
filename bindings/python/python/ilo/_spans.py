"""Spans of runs and their calls, where OpenTelemetry is installed and in use. They hold no arguments, answers or messages."""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from ._events import Event
    from ._ilo import Run


def in_use() -> bool:
    """Whether somebody in this process records spans."""
    # Who records spans has imported it; importing it here would cost each program its time.
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None:
        return False
    return type(trace.get_tracer_provider()).__name__ not in ("ProxyTracerProvider", "NoOpTracerProvider")


def spans(run: Run) -> Spans | None:
    """The spans of a run that begins here; nothing if nobody records any."""
    try:
        return Spans(sys.modules["opentelemetry.trace"], run.function or "run") if in_use() else None
    except Exception:
        return None


class Spans:
    """A span for a run, and one for each of its calls. Whatever fails here changes nothing of the run."""

    def __init__(self, trace: Any, name: str) -> None:
        self.trace = trace
        self.open: dict[int, Any] = {}
        self.tracer = trace.get_tracer("ilo")
        attributes = {"gen_ai.operation.name": "invoke_workflow", "gen_ai.workflow.name": name}
        self.run = self.tracer.start_span(f"invoke_workflow {name}", attributes=attributes)

    def event(self, event: Event) -> None:
        try:
            if event.type == "start":
                self._start(event.id, event.tool)
            elif event.type == "end" and (span := self.open.pop(event.id, None)) is not None:
                if not event.ok:
                    kind = "tool_error" if event.error is None else type(event.error).__name__
                    self._failed(span, kind)
                span.end()
        except Exception:
            pass

    def _start(self, id: int, tool: str) -> None:
        attributes = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
        around = self.trace.set_span_in_context(self.run)
        self.open[id] = self.tracer.start_span(f"execute_tool {tool}", context=around, attributes=attributes)

    def _failed(self, span: Any, kind: str) -> None:
        span.set_attribute("error.type", kind)
        span.set_status(self.trace.StatusCode.ERROR)

    def within(self, id: int) -> Any:
        """A context in which the span of a call is the current one, so that spans of its tool are below it."""
        span = self.open.get(id)
        if span is None:
            from contextlib import nullcontext

            return nullcontext()
        return self.trace.use_span(span, end_on_exit=False, record_exception=False, set_status_on_exception=False)

    def end(self, outcome: Any) -> None:
        """The run has ended, with this outcome or, if there is none, in another way."""
        try:
            status = type(outcome).__name__
            if status != "Ok":
                kind = {"Err": "err", "Fault": getattr(outcome, "code", ""), "NoneType": "interrupted"}.get(status)
                if kind is not None:
                    self._failed(self.run, kind)
            self.run.end()
        except Exception:
            pass
