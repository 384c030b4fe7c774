"""The local AWS's clock: real time plus what a test has moved it by, so that no test waits for a timeout."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone


class Clock:
    """Time in UTC that can be moved forward."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def now(self) -> datetime:
        """Real time plus everything it has been moved by."""
        return datetime.now(timezone.utc) + self._ahead

    @property
    def ahead(self) -> timedelta:
        """By how much it has been moved."""
        return self._ahead

    def advance(self, seconds: float) -> None:
        """Move forward by `seconds`; time never goes back.

        Raises:
            ValueError: `seconds` is negative.
        """
        if seconds < 0:
            raise ValueError(f"seconds must not be negative, got {seconds:g}; time never goes back")
        self._ahead += timedelta(seconds=seconds)


clock = Clock()
