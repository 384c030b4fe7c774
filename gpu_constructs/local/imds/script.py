"""Reading scripts: what a fake metadata service does and when, as JSON. The table is in docs/local_aws.md."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from gpu_constructs.local.imds import state

Entry = state.Change | state.Fault

_EVENT_CODES = ("instance-reboot", "instance-retirement", "instance-stop", "system-maintenance", "system-reboot")
LIFECYCLE_STATES = (
    *("Detached", "InService", "Standby", "Terminated"),
    *("Warmed:Hibernated", "Warmed:Running", "Warmed:Stopped", "Warmed:Terminated"),
)
"""https://docs.aws.amazon.com/autoscaling/ec2/userguide/retrieving-target-lifecycle-state-through-imds.html"""


def parse(script: object, known_paths: Collection[str]) -> list[Entry]:
    """Read a script, the entries of which may be in any order.

    Raises:
        ValueError: It is not one; the message names every entry that is wrong.
    """
    if not isinstance(script, Iterable) or isinstance(script, (str, bytes, Mapping)):
        raise ValueError(f"a script must be a list of entries, got {script!r}")
    entries, problems = [], []
    for number, given in enumerate(script):
        try:
            entries.append(_entry(given, known_paths))
        except ValueError as error:
            problems.append(f"entry {number}: {error}")
    if problems:
        raise ValueError("\n".join(problems))
    return entries


@dataclass(frozen=True)
class _Field:
    """A value of an entry: the argument that it becomes, and what reads it."""

    argument: str
    read: Callable[[Any], Any]
    required: bool = False


def _number(least: float, most: float = math.inf) -> Callable[[Any], float]:
    def read(given: Any) -> float:
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not math.isfinite(given):
            raise ValueError(f"must be a number, got {given!r}")
        if not least <= given <= most:
            limits = f"at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
            raise ValueError(f"must be {limits}, got {given:g}")
        return given

    return read


def _whole(least: int, most: int) -> Callable[[Any], int]:
    def read(given: Any) -> int:
        if isinstance(given, bool) or not isinstance(given, int):
            raise ValueError(f"must be a whole number, got {given!r}")
        return int(_number(least, most)(given))

    return read


def _one_of(*allowed: str) -> Callable[[Any], str]:
    def read(given: Any) -> str:
        if given not in allowed:
            raise ValueError(f"must be {', '.join(allowed[:-1])} or {allowed[-1]}, got {given!r}")
        return str(given)

    return read


def _text(given: Any) -> str:
    if not isinstance(given, str) or not given:
        raise ValueError(f"must be a text, got {given!r}")
    return given


def full_path(given: Any) -> Any:
    """Return a path below /latest/: those of meta-data may be given without it."""
    if (
        not isinstance(given, str)
        or given == "*"
        or given.split("/")[0] in ("api", "dynamic", "meta-data", "user-data")
    ):
        return given
    return f"meta-data/{given}"


def _place(*allowed: str) -> _Field:
    return _Field("path", lambda given: _one_of(*allowed)(full_path(given)))


_FOR = _Field("for_seconds", _number(0))
_IN = _Field("in_seconds", _number(0))
_FAULTS = {
    "status": {"code": _Field("code", _whole(400, 599), required=True), "for": _FOR},
    "hang": {"for": _FOR},
    "rst": {"for": _FOR},
    "truncate": {"for": _FOR},
}
_CHANGES: dict[str, tuple[Callable[..., Entry], dict[str, _Field]]] = {
    "notice": (
        state.Notice,
        {
            "in": _IN,
            "action": _Field("action", _one_of("terminate", "stop", "hibernate")),
            "path": _place(*state.DATED, "*"),
        },
    ),
    "past_time": (state.PastTime, {"by": _Field("by_seconds", _number(0)), "path": _place(*state.DATED, "*")}),
    "rebalance": (state.Rebalance, {}),
    "scheduled_event": (
        state.ScheduledEvent,
        {
            "code": _Field("code", _one_of(*_EVENT_CODES)),
            "in": _IN,
            "lasts": _Field("lasts_seconds", _number(0)),
            "state": _Field("state", _one_of("active", "completed", "canceled")),
            "id": _Field("event_id", _text),
            "description": _Field("description", _text),
        },
    ),
    "lifecycle_state": (state.LifecycleState, {"state": _Field("state", _one_of(*LIFECYCLE_STATES), required=True)}),
    "withdraw": (state.Withdraw, {"path": _place(*state.WITHDRAWABLE, "*")}),
    "expire_tokens": (state.ExpireTokens, {}),
    "hop_limit": (state.HopLimit, {"value": _Field("value", _whole(1, 64), required=True)}),
}


def _entry(given: Any, known_paths: Collection[str]) -> Entry:
    if not isinstance(given, Mapping):
        raise ValueError(f"must be an object, got {given!r}")
    do = _one_of(*sorted([*_FAULTS, *_CHANGES]))
    kind = _read("do", do, given.get("do"))
    if kind in _FAULTS:
        path = _Field("path", lambda path: _known_path(full_path(path), known_paths))
        return state.Fault(kind=kind, **_arguments(kind, given, {**_FAULTS[kind], "path": path}))
    make, fields = _CHANGES[kind]
    return make(**_arguments(kind, given, fields))


def _arguments(kind: str, given: Mapping[str, Any], fields: Mapping[str, _Field]) -> dict[str, Any]:
    fields = {"at": _Field("at", _number(0), required=True), **fields}
    unknown = sorted(str(name) for name in given.keys() - fields.keys() - {"do"})
    if unknown:
        raise ValueError(f"{kind} has no {', '.join(unknown)}; it has {', '.join(fields)}")
    missing = [name for name, one in fields.items() if one.required and name not in given]
    if missing:
        raise ValueError(f"{kind} needs {', '.join(missing)}")
    return {one.argument: _read(name, one.read, given[name]) for name, one in fields.items() if name in given}


def _read(name: str, read: Callable[[Any], Any], given: Any) -> Any:
    try:
        return read(given)
    except ValueError as error:
        raise ValueError(f"{name} {error}") from None


def _known_path(given: Any, known_paths: Collection[str]) -> str:
    """Refuse a fault that would never be met: a drill with it would show nothing."""
    path = _text(given)
    if path == "*" or path in known_paths:
        return path
    near = difflib.get_close_matches(path, known_paths, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f'must be "*" or a path that this instance answers, got {path!r}{hint}')
