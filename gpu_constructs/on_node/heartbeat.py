"""Keeps a lifecycle hook waiting for as long as the node is at work."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Protocol

_BEATS_A_TIMEOUT = 3  # so that two in a row may be lost


class Waiter(Protocol):
    """As much of `threading.Event` as is used."""

    def wait(self, timeout: float) -> bool:
        """Wait until it is set, at most for `timeout` seconds; say whether it is."""

    def set(self) -> None:
        """Set it."""

    def is_set(self) -> bool:
        """Say whether it is set."""


class Heartbeat:
    """Beats in a thread of its own, from entering to leaving it.

        with Heartbeat(lambda: hooks.heartbeat("ready"), timeout_seconds=600, say=print):
            boot()

    It beats at once, because the hook has waited since before the machine started, then three times a timeout. What
    fails is said, and does not end it.

    Args:
        beat: Records one heartbeat.
        timeout_seconds: How long the hook waits for one.
        say: Says a line to whoever watches.
        stopped: Waits for the next beat, and is set to end them.
    """

    def __init__(
        self,
        beat: Callable[[], object],
        *,
        timeout_seconds: float,
        say: Callable[[str], None],
        stopped: Waiter | None = None,
    ) -> None:
        self._beat, self._say = beat, say
        self._seconds = timeout_seconds / _BEATS_A_TIMEOUT
        self._stopped = stopped or threading.Event()

    def __enter__(self) -> Heartbeat:
        # A daemon that nobody waits for: one beat more harms nobody, and a call that hangs must not hold the node.
        threading.Thread(target=self.run, name="heartbeat", daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopped.set()

    def run(self) -> None:
        """Beat until stopped."""
        self._beat_once()
        while not self._stopped.wait(self._seconds):
            self._beat_once()

    def _beat_once(self) -> None:
        try:
            self._beat()
        except Exception as error:
            if not self._stopped.is_set():
                self._say(f"gpu-node: a heartbeat was lost, the next one is in {self._seconds:g} s: {error}")
