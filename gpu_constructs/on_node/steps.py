"""A boot as steps, and what runs them: in order, at once where they do not wait for each other, and again after a kill.

What has been done since the machine started is not done again; after a reboot each step is, and finds its work done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from gpu_constructs.on_node.actions import Action, ActionError, Write
from gpu_constructs.on_node.host import Host
from gpu_constructs.on_node.journal import Journal

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_MARKS = "/var/lib/gpu-node/steps"


@dataclass(frozen=True, kw_only=True)
class Step:
    """A part of the boot.

    Args:
        name: Its name, in the log and in the mark that it is done.
        actions: What it does, one after the other.
        after: The steps that it waits for.
    """

    name: str
    actions: tuple[Action, ...]
    after: tuple[str, ...] = ()


class BootError(Exception):
    """A step failed.

    Args:
        step: Its name.
        reason: Why.
        tail: The end of what its command printed.
    """

    def __init__(self, step: str, reason: str, tail: str) -> None:
        super().__init__(f"{step}: {reason}")
        self.step, self.reason, self.tail = step, reason, tail


def run(steps: Sequence[Step], host: Host, journal: Journal) -> None:
    """Run steps, each as soon as those are done that it waits for.

    Raises:
        BootError: With the first step that failed. Those that run then are waited for, no other one is begun.
    """
    _check(steps)
    marks = _Marks(host)
    waiting, done, failed = list(steps), set[str](), list[BootError]()
    running: dict[Future[None], Step] = {}
    with ThreadPoolExecutor(max_workers=max(len(steps), 1)) as pool:
        while running or (waiting and not failed):
            ready = [step for step in waiting if done.issuperset(step.after)] if not failed else []
            waiting = [step for step in waiting if step not in ready]
            running |= {pool.submit(_run, step, host, journal, marks): step for step in ready}
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                step = running.pop(future)
                error = future.exception()
                if error is None:
                    done.add(step.name)
                else:
                    failed.append(as_boot_error(step.name, error))
    if failed:
        raise failed[0]


def _check(steps: Sequence[Step]) -> None:
    """A step that waits for one that is not before it would wait for ever."""
    seen: set[str] = set()
    for step in steps:
        if missing := set(step.after) - seen:
            raise ValueError(f"step {step.name} waits for {', '.join(sorted(missing))}, not a step before it")
        if step.name in seen:
            raise ValueError(f"two steps are named {step.name}")
        seen.add(step.name)


def _run(step: Step, host: Host, journal: Journal, marks: _Marks) -> None:
    if marks.has(step):
        journal.event(step=step.name, event="skipped")
        return
    journal.event(step=step.name, event="started")
    began = host.clock()
    try:
        for action in step.actions:
            action.perform(host)
    except Exception as error:
        failure = as_boot_error(step.name, error)
        seconds = round(host.clock() - began, 3)
        journal.event(step=step.name, event="failed", seconds=seconds, reason=failure.reason, tail=failure.tail)
        raise failure from error
    marks.set(step)
    journal.event(step=step.name, event="done", seconds=round(host.clock() - began, 3))


def as_boot_error(step: str, error: BaseException) -> BootError:
    """Return an error as that of a step, unless it is one already."""
    if isinstance(error, BootError):
        return error
    if isinstance(error, ActionError):
        return BootError(step, str(error), error.tail)
    return BootError(step, f"{type(error).__name__}: {error}", "")


class _Marks:
    """Which steps are done, each in a file of its own: they end at the same time."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._boot_id = host.read(_BOOT_ID).strip()

    def has(self, step: Step) -> bool:
        return self._host.read(self._path(step)) == self._text(step.actions)

    def set(self, step: Step) -> None:
        Write(path=self._path(step), text=self._text(step.actions)).perform(self._host)

    def _path(self, step: Step) -> str:
        return f"{_MARKS}/{step.name}"

    def _text(self, actions: Iterable[Action]) -> str:
        """The start of the machine, and what was done: another configuration is other work."""
        digest = hashlib.sha256("\n".join(str(action) for action in actions).encode()).hexdigest()
        return f"{self._boot_id} {digest}\n"
