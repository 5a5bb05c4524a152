"""Calls that were left behind: they did not end at their limit, and nothing can end them."""

from __future__ import annotations

from ._errors import IloError

TYPE_CHECKING = False
if TYPE_CHECKING:
    import threading
    from asyncio import AbstractEventLoop, Task
    from typing import Any

# The most calls that may be left behind in a process; each holds a thread or a task with its memory.
MOST = 64
# Seconds for which a call that was cancelled may clean up, before it is left behind.
GRACE = 0.25

_tasks: set[Task[Any]] = set()
_threads: set[threading.Thread] = set()


def leave_task(task: Task[Any]) -> None:
    """A task that was cancelled and goes on. It is kept, since one that is dropped would be reported."""
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    # Nobody awaits it, so that its failure is nobody's.
    task.add_done_callback(lambda task: task.cancelled() or task.exception())


def leave_thread(thread: threading.Thread) -> None:
    """A thread whose function goes on. It is a daemon: the interpreter does not wait for it."""
    _threads.add(thread)


def tasks_of(loop: AbstractEventLoop) -> set[Task[Any]]:
    """The tasks of an event loop that were left behind."""
    return {task for task in _tasks if task.get_loop() is loop}


def count() -> int:
    """How many calls that were left behind have not ended."""
    for thread in list(_threads):
        if not thread.is_alive():
            _threads.discard(thread)
    return len(_tasks) + len(_threads)


def check() -> None:
    """Refuses a new run where too many calls were left behind."""
    if (_tasks or _threads) and (number := count()) >= MOST:
        raise IloError(
            f"{number} calls of tools did not end at their limits and are still under way; no run starts "
            "until some of them have ended"
        )
