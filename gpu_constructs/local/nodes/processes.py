"""The processes of a node: whatever it has started, in whichever session, ends with it as on a machine that is gone."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_GONE_WITHIN_SECONDS = 10
_PAUSE_SECONDS = 0.02


def of_folder(folder: Path) -> list[int]:
    """Return the processes that have the folder of a node in their environment, which children inherit."""
    mark = os.fsencode(folder)
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):  # it has ended meanwhile, or is somebody else's
            if mark in path.read_bytes():
                found.append(int(path.parent.name))
    return [pid for pid in found if pid != os.getpid()]


def send_all(folder: Path, number: signal.Signals) -> list[int]:
    """Send a signal to the processes of a node, and return them."""
    found = of_folder(folder)
    for pid in found:
        with suppress(ProcessLookupError):
            os.kill(pid, number)
    return found


def kill_all(folder: Path) -> None:
    """Kill the processes of a node, those included that are started meanwhile.

    Raises:
        TimeoutError: One does not end, which happens only to one that waits for a device.
    """
    until = time.monotonic() + _GONE_WITHIN_SECONDS
    while alive := send_all(folder, signal.SIGKILL):
        if time.monotonic() > until:
            raise TimeoutError(f"processes {alive} of the node in {folder} do not end")
        time.sleep(_PAUSE_SECONDS)
