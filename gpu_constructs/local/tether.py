"""Runs a program that must not outlive its starter: `python tether.py PROGRAM ARGUMENTS...`, standard input held open.

When the starter ends, however it ends, its end of the pipe closes; then the program is killed with all that it started.
The tether must lead a process group of its own.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading


def _kill_all_when_let_go() -> None:
    while os.read(0, 1):
        pass
    os.killpg(0, signal.SIGKILL)


def main() -> int:
    """Run the program; its exit code."""
    threading.Thread(target=_kill_all_when_let_go, daemon=True).start()
    return subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
