"""What a boot step consists of, as data: so that a test sees every command of every step, and a log can say it.

Each action may be performed again: after a reboot, or when the boot was killed half-way.
"""

from __future__ import annotations

import re
import shlex
import threading
from dataclasses import dataclass
from typing import Protocol

from gpu_constructs.on_node.host import Finished, Host

_TAIL_LINES = 20
_ONE_LINE_AT_A_TIME = threading.Lock()


class ActionError(Exception):
    """An action failed; its text says why, its `tail` holds the end of what was printed."""

    def __init__(self, reason: str, tail: str = "") -> None:
        super().__init__(reason)
        self.tail = tail


class Action(Protocol):
    """Something that a step does."""

    def perform(self, host: Host) -> None:
        """Do it, or raise `ActionError`."""

    def __str__(self) -> str: ...


@dataclass(frozen=True, kw_only=True)
class Run:
    """Run a command.

    Args:
        argv: Its words; `{root}` in them stands for the root folder.
        unless: A command; where it succeeds, there is nothing to do.
        tries: How often it is run until it succeeds.
        pause_seconds: How long to wait between two tries.
        timeout_seconds: How long one try may take.
        remedy: What to do where it fails, for whoever reads the log.
    """

    argv: tuple[str, ...]
    unless: tuple[str, ...] = ()
    tries: int = 1
    pause_seconds: float = 6
    timeout_seconds: float = 600
    remedy: str = ""

    def perform(self, host: Host) -> None:
        """Run it until it succeeds, unless there is nothing to do."""
        if self.unless and host.run(self.unless).code == 0:
            return
        for left in reversed(range(self.tries)):
            done = host.run(self.argv, timeout_seconds=self.timeout_seconds)
            if done.code == 0:
                return
            if left:
                host.wait(self.pause_seconds)
        raise ActionError(_failure(self.argv, done, self.tries, self.remedy), tail(done.output))

    def __str__(self) -> str:
        unless = f"unless {_words(self.unless)}: " if self.unless else ""
        tries = f" (up to {self.tries} times, every {self.pause_seconds:g} s)" if self.tries > 1 else ""
        return f"{unless}{_words(self.argv)}{tries}"


@dataclass(frozen=True, kw_only=True)
class Write:
    """Write a file whole: who reads it sees the old text or the new one.

    Args:
        path: Where.
        text: Its text.
        mode: Its permissions.
    """

    path: str
    text: str
    mode: int = 0o644

    def perform(self, host: Host) -> None:
        """Write it beside its place, then put it there."""
        target = host.path(self.path)
        target.parent.mkdir(parents=True, exist_ok=True)
        new = target.with_name(f".{target.name}.new")
        new.write_text(self.text)
        new.chmod(self.mode)
        new.replace(target)

    def __str__(self) -> str:
        return f"write {self.path} ({self.mode:o}):\n{self.text.rstrip()}"


@dataclass(frozen=True, kw_only=True)
class Line:
    """Have one line in a file, in place of the one that begins with the same words.

    Args:
        path: The file.
        text: The line, without its end.
        key: How the line begins that it replaces.
    """

    path: str
    text: str
    key: str

    def perform(self, host: Host) -> None:
        """Write the file anew with the line at its end."""
        # Steps that run at once have lines for one file (fstab), and none may write over another's.
        with _ONE_LINE_AT_A_TIME:
            kept = [line for line in host.read(self.path).splitlines() if not line.startswith(self.key)]
            Write(path=self.path, text="\n".join([*kept, self.text, ""])).perform(host)

    def __str__(self) -> str:
        return f"have in {self.path}: {self.text}"


@dataclass(frozen=True, kw_only=True)
class Folder:
    """Have a folder.

    Args:
        path: Where.
        mode: Its permissions.
    """

    path: str
    mode: int = 0o755

    def perform(self, host: Host) -> None:
        """Make it, and those above it."""
        host.path(self.path).mkdir(parents=True, exist_ok=True)
        host.path(self.path).chmod(self.mode)

    def __str__(self) -> str:
        return f"have the folder {self.path} ({self.mode:o})"


@dataclass(frozen=True, kw_only=True)
class Count:
    """Count lines that a command prints, and fail unless there are as many as expected.

    Args:
        what: What the lines stand for.
        argv: The command.
        pattern: A regular expression that a line of them matches from its beginning.
        expected: How many there must be.
        remedy: What to do where there are not.
    """

    what: str
    argv: tuple[str, ...]
    pattern: str
    expected: int
    remedy: str

    def perform(self, host: Host) -> None:
        """Run it once and count."""
        done = host.run(self.argv)
        if done.code:
            raise ActionError(_failure(self.argv, done, 1, self.remedy), tail(done.output))
        found = sum(1 for line in done.output.splitlines() if re.match(self.pattern, line))
        if found != self.expected:
            raise ActionError(f"{found} {self.what} instead of {self.expected}; {self.remedy}", tail(done.output))

    def __str__(self) -> str:
        return f"expect {self.expected} {self.what}: lines of {shlex.join(self.argv)} like {self.pattern}"


def _words(argv: tuple[str, ...]) -> str:
    """A command as it is on a real machine, which has no other root folder."""
    return shlex.join(word.replace("{root}", "") for word in argv)


def _failure(argv: tuple[str, ...], done: Finished, tries: int, remedy: str) -> str:
    times = f", {tries} times" if tries > 1 else ""
    return f"{_words(argv)} ended with code {done.code}{times}: {last_line(done.output)}" + (
        f"; {remedy}" if remedy else ""
    )


def last_line(output: str) -> str:
    """Return the last line that a command printed, where it mostly says why it failed."""
    return next((line.strip() for line in reversed(output.splitlines()) if line.strip()), "nothing was printed")


def tail(output: str) -> str:
    """Return the end of what a command printed."""
    return "\n".join(output.splitlines()[-_TAIL_LINES:])
