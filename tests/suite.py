"""`make test`: the parts of the suite one after the other, and at the end how long each took beside its budget.

Each part pays once for what its tests share: Node and aws-cdk-lib by worker, the local AWS and its bootstrap by worker.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic

from rich.console import Console
from rich.table import Table

_WITHOUT_VALIDATION = {"CDK_VALIDATION": "false"}
_SLOW = ("tests/bench", "tests/docs", "tests/examples", "tests/local")


@dataclass(frozen=True, kw_only=True)
class Part:
    """A part of the suite.

    Args:
        name: What it tests.
        paths: What pytest is given.
        budget_seconds: How long it may take on two cores. More is not a failure: it is seen, and asks for a look.
        environment: Variables that must be set before Node starts.
    """

    name: str
    paths: tuple[str, ...]
    budget_seconds: int
    environment: Mapping[str, str] = field(default_factory=dict)


PARTS = (
    Part(
        name="rules and constructs",
        paths=("tests", *(word for path in _SLOW for word in ("--ignore", path))),
        budget_seconds=60,
        environment=_WITHOUT_VALIDATION,
    ),
    Part(name="examples, with CloudFormation's own validation", paths=("tests/examples",), budget_seconds=40),
    Part(
        name="the local AWS and the documentation, with the real CDK command line",
        paths=("tests/local", "tests/docs"),
        budget_seconds=200,
        environment=_WITHOUT_VALIDATION,
    ),
)


def main() -> int:
    """Run every part until one fails, and return the exit code of the last one."""
    took: list[tuple[Part, float]] = []
    code = 0
    for part in PARTS:
        print(f"== tests of {part.name}", flush=True)  # noqa: T201
        began = monotonic()
        command = [sys.executable, "-m", "pytest", *part.paths, "-n", "auto"]
        code = subprocess.run(command, env={**os.environ, **part.environment}, check=False).returncode
        took.append((part, monotonic() - began))
        if code:
            break
    _show(took)
    return code


def _show(took: list[tuple[Part, float]]) -> None:
    table = Table("part", "seconds", "budget", "")
    for part, seconds in took:
        over = "over its budget: see CONTRIBUTING.md" if seconds > part.budget_seconds else ""
        table.add_row(part.name, f"{seconds:.0f}", str(part.budget_seconds), over)
    table.add_section()
    table.add_row("all", f"{sum(s for _, s in took):.0f}", str(sum(part.budget_seconds for part in PARTS)), "")
    Console().print(table)


if __name__ == "__main__":
    sys.exit(main())
