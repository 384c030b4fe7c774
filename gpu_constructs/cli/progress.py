"""What the CDK command line prints, said shorter: how far it is, and everything that went wrong."""

from __future__ import annotations

import re

from rich.console import Console
from rich.markup import escape
from rich.status import Status

# TrainingStack | 12/45 | 4:02:53 PM | CREATE_COMPLETE | AWS::EC2::VPC | Cluster/Vpc (ClusterVpcFAA3CEDF) reason
_EVENT = re.compile(
    r"^(?P<stack>\S+) \|[^|]*\|[^|]*\| (?P<status>\w+)\s+\| (?P<type>\S+)\s+\| (?P<what>\S+)(?P<rest>.*)$"
)
_KEPT = ("✅", "✨", "❌", "⏳")
_EVERY = 10


class Progress:
    """Takes the lines of a `cdk` command; use it as a context manager around the command.

    On a terminal one line at the bottom says what was done last. Elsewhere every tenth resource gets a line, so that
    a log shows that something goes on. With `verbose` every line is printed as it comes.
    """

    def __init__(self, console: Console, *, verbose: bool = False) -> None:
        self._console = console
        self._verbose = verbose
        self._done = 0
        self._status = Status("cdk is starting", console=console, spinner="dots")

    def __enter__(self) -> Progress:
        """Start showing."""
        if self._console.is_terminal and not self._verbose:
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop showing."""
        self._status.stop()

    def __call__(self, line: str) -> None:
        """Take one line."""
        event = _EVENT.match(line.strip())
        if self._verbose or (not event and line.strip().startswith(_KEPT)):
            self._console.print(f"  {line.strip()}", style="dim", markup=False)
            self._done = 0  # these lines stand between one stack and the next
            self._status.update("cdk is working")
        elif event:
            self._event(event)
        elif line.strip():
            self._status.update(escape(line.strip()[:100]))

    def _event(self, event: re.Match[str]) -> None:
        status = event["status"]
        if status.endswith("_FAILED"):
            self._console.print(f"  {status} {event['type']} {event['what']}{event['rest']}", style="red", markup=False)
        elif status in {"CREATE_COMPLETE", "UPDATE_COMPLETE", "DELETE_COMPLETE"}:
            self._done += 1
            text = f"{self._done} done, last {status} {event['type']} {event['what']}"
            if self._console.is_terminal:
                self._status.update(escape(text[: self._console.width - 4]))
            elif self._done % _EVERY == 0:
                self._console.print(f"  {text}", style="dim", markup=False)
