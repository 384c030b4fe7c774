"""The exception that every construct and rule of this library raises."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gpu_constructs.checks import Problem


class GpuConstructsError(ValueError):
    """Something that would have failed at deploy, found at synth.

    The message lists all problems at once, so that one synth shows everything there is to correct.

    Args:
        problems: What is wrong; at least one.
        where: The path of the construct, or whatever else holds the values; left out of the message if empty.

    Attributes:
        problems: What is wrong, in the order in which it was found.
        where: As given.
    """

    def __init__(self, problems: Sequence[Problem], where: str = "") -> None:
        self.problems = tuple(problems)
        self.where = where
        # The arguments, not the message, so that the exception survives pickling (parallel test runs need it).
        super().__init__(self.problems, where)

    def __str__(self) -> str:
        prefix = f"{self.where}: " if self.where else ""
        if len(self.problems) == 1:
            return f"{prefix}{self.problems[0]}"
        lines = [f"  {number}. {problem}" for number, problem in enumerate(self.problems, start=1)]
        return "\n".join([f"{prefix}{len(self.problems)} problems", *lines])
