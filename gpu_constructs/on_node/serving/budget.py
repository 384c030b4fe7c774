"""The time that a server has until it serves, which its steps share."""

from __future__ import annotations

import threading

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.host import Host


class Budget:
    """A number of seconds that begin with the first step that asks, whichever that is.

    Args:
        seconds: How many.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._ends: float | None = None
        self._lock = threading.Lock()

    def left(self, host: Host) -> float:
        """Return how many seconds are left; none, or less than none, once they are over."""
        now = host.clock()
        with self._lock:
            if self._ends is None:
                self._ends = now + self.seconds
            return self._ends - now

    def need(self, host: Host, what: str) -> float:
        """Return how many seconds are left.

        Raises:
            ActionError: If none are, with what has not come about.
        """
        left = self.left(host)
        if left <= 0:
            raise ActionError(f"{what} within the {self.seconds:g} s that the server has until it is ready")
        return left
