"""When the steps of a boot began and ended, as its journal says: what a waterfall picture is drawn from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Span:
    """A step of a boot.

    Args:
        step: Its name.
        begins_seconds: When it began, after the boot did.
        seconds: How long it took.
        event: How it ended: "done", "failed" or "skipped".
    """

    step: str
    begins_seconds: float
    seconds: float
    event: str

    def bar(self, whole_seconds: float, width: int) -> str:
        """Return a picture of it in a line of characters: where it is in the whole, and at least a mark."""
        per_character = max(whole_seconds, 1e-9) / width
        before = min(int(self.begins_seconds / per_character), width - 1)
        length = max(round(self.seconds / per_character), 1)
        return " " * before + "█" * min(length, width - before)


def spans(journal: Sequence[dict[str, Any]]) -> list[Span]:
    """Return the steps of the last boot in a journal, in the order in which they began."""
    starts = [index for index, one in enumerate(journal) if one["event"] == "started" and "step" not in one]
    events = journal[starts[-1] :] if starts else []
    if not events:
        return []
    zero = datetime.fromisoformat(events[0]["at"])
    found = [
        Span(
            step=one["step"],
            begins_seconds=max((datetime.fromisoformat(one["at"]) - zero).total_seconds() - one.get("seconds", 0), 0),
            seconds=one.get("seconds", 0),
            event=one["event"],
        )
        for one in events
        if "step" in one and one["event"] != "started"
    ]
    return sorted(found, key=lambda span: span.begins_seconds)
