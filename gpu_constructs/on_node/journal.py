"""What a node says of its boot: a line of JSON for machines, a line of words on the console for whoever watches."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

_TAIL_BYTES = 8192


def _now() -> datetime:
    return datetime.now(timezone.utc)


class Journal:
    """What a node says.

    Args:
        path: The file of JSON lines; it is added to.
        console: Says a line to whoever watches.
        now: The time.
    """

    def __init__(
        self,
        path: Path,
        console: Callable[[str], None],
        now: Callable[[], datetime] = _now,
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path, self._console, self._now = path, console, now
        self._lock = threading.Lock()

    def event(self, **fields: Any) -> None:
        """Say what happened: `step`, `event`, and what else there is to say of it."""
        line = json.dumps({"at": self._now().isoformat(timespec="milliseconds"), **fields}, ensure_ascii=False)
        with self._lock:
            with self._path.open("a") as file:
                file.write(line + "\n")
            self._console(_words(fields))

    def tail(self) -> str:
        """Return the last lines, for whoever is told of a failure."""
        lines = self._path.read_bytes()[-_TAIL_BYTES:].decode(errors="replace").splitlines()
        return "\n".join(lines[-50:])


def _words(fields: dict[str, Any]) -> str:
    event = fields.get("event", "")
    seconds = f" in {fields['seconds']:.1f} s" if "seconds" in fields else ""
    reason = f": {fields['reason']}" if fields.get("reason") else ""
    return f"gpu-node: {fields.get('step', 'boot')} {event}{seconds}{reason}"
