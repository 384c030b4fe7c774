"""Stack operations that take time: each is a generator that yields while it waits, and goes on with the clock."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import Stack, cloudformation_backends

from gpu_constructs.local.services.cloudformation.signals import Signals

Steps = Iterator[None]

_log = logging.getLogger(__name__)
_running: dict[str, Steps] = {}


@dataclass(frozen=True)
class Change:
    """A resource that was created or updated, and whose stack may have to wait for it."""

    resource: Any
    definition: dict[str, Any]
    """As it is now, references resolved."""
    before: dict[str, Any] | None
    """As it was; None for what has just been created."""
    signals: Signals
    note: Callable[[str], None]
    """Adds an event to the resource, still in progress, with this reason."""


Settle = Callable[[Change], Steps]
_settles: dict[str, Settle] = {}


def settles(resource_type: str, settle: Settle) -> None:
    """Have what `settle` waits for done after a resource of this type is created or updated; it raises if it fails."""
    _settles[resource_type] = settle


def settle(change: Change) -> Steps:
    """Wait for what is particular to a type."""
    waits = _settles.get(change.definition["Type"])
    if waits:
        yield from waits(change)


def run(stack: Stack, steps: Steps) -> None:
    """Begin an operation: it is over when this returns, unless it has to wait."""
    _running[stack.stack_id] = steps
    _advance(stack)


def refuse_if_running(stack: Stack, what: str) -> None:
    """Refuse to begin another operation before one has ended.

    Raises:
        ValidationError: One is under way.
    """
    if stack.stack_id in _running:
        message = f"Stack:{stack.stack_id} is in {stack.status} state and can not be {what}."
        raise ValidationError(stack.stack_id, message=message)


def abandon(stack: Stack) -> None:
    """End an operation where it is."""
    steps: Any = _running.pop(stack.stack_id, None)
    if steps is not None:
        steps.close()


def abandon_all() -> None:
    """End every operation where it is."""
    while _running:
        _, steps = _running.popitem()
        close: Any = steps
        close.close()


def tick(now: datetime) -> None:
    """Let every operation go on as far as it can."""
    del now  # whoever waits looks at the clock itself
    if not _running:
        return
    stacks = {
        stack_id: stack
        for _, _, backend in cloudformation_backends.iter_backends()
        for stack_id, stack in getattr(backend, "stacks", {}).items()
    }
    for stack_id in list(_running):
        if stack_id not in stacks:
            del _running[stack_id]  # moto has been reset
            continue
        try:
            _advance(stacks[stack_id])
        except Exception as error:  # of this operation, not of the request that happens to come now
            _log.exception("%s", stack_id)
            stacks[stack_id].status = stacks[stack_id].status.replace("IN_PROGRESS", "FAILED")
            stacks[stack_id]._add_stack_event(stacks[stack_id].status, resource_status_reason=str(error))


def _advance(stack: Stack) -> None:
    steps = _running.pop(stack.stack_id)
    for _ in steps:
        _running[stack.stack_id] = steps
        return
