"""The machine that a step acts on: its file system, its commands, its time.

A test or a drill passes another root folder, and commands that stand in for those that cannot run there.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_SHELL_COULD_NOT = 127  # what a shell answers for a command that it does not find
_TIMED_OUT = 124  # what timeout(1) answers
_DIES_WITHIN_SECONDS = 10


@dataclass(frozen=True)
class Finished:
    """A command that has ended.

    Args:
        code: Its exit code; 127 if there is no such command, 124 if it took too long.
        output: What it printed, on both streams.
    """

    code: int
    output: str


def run_command(argv: Sequence[str], timeout_seconds: float) -> Finished:
    """Run a command to its end; what it has started in the background may live on."""
    # To a file: a pipe has its end only when all have closed it that were started, however long they live.
    with tempfile.TemporaryFile() as printed:
        try:
            process = subprocess.Popen(
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                # A package manager that asks a question would wait for ever.
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"},
                start_new_session=True,
            )
        except FileNotFoundError:
            return Finished(_SHELL_COULD_NOT, f"{argv[0]}: command not found")
        try:
            code, end = process.wait(timeout_seconds), ""
        except subprocess.TimeoutExpired:
            _kill(process)
            code, end = _TIMED_OUT, f"\nstopped after {timeout_seconds:g} s"
        printed.seek(0)
        return Finished(code, printed.read().decode(errors="replace") + end)


def _kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a command and what it has started. One that waits for a device or a file server dies when that answers."""
    os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_DIES_WITHIN_SECONDS)


@dataclass(frozen=True)
class Host:
    """The machine that a step acts on.

    Args:
        root: The root folder of its file system.
        run_command: Runs a command.
        wait: Waits for a number of seconds.
        clock: Seconds since some moment.
    """

    root: Path = Path("/")
    run_command: Callable[[Sequence[str], float], Finished] = run_command
    wait: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = field(default=time.monotonic)

    def path(self, absolute: str) -> Path:
        """Return where a file of the machine is."""
        return self.root / absolute.lstrip("/")

    def argv(self, words: Sequence[str]) -> list[str]:
        """Return a command with `{root}` in its words replaced: nothing on a real machine."""
        root = "" if self.root == Path("/") else str(self.root)
        return [word.replace("{root}", root) for word in words]

    def run(self, words: Sequence[str], *, timeout_seconds: float = 600) -> Finished:
        """Run a command in which `{root}` stands for the root folder."""
        return self.run_command(self.argv(words), timeout_seconds)

    def read(self, absolute: str) -> str:
        """Return the text of a file; nothing if there is none."""
        try:
            return self.path(absolute).read_text(errors="replace")
        except (FileNotFoundError, NotADirectoryError):
            return ""
