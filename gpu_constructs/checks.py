"""What a rule reports, and how all reports of one construct are raised together.

A rule is a pure function that takes plain values and returns the problems it sees:

    def problems(capacity_gib: int | Unknown) -> list[Problem]: ...

Nothing here imports `aws_cdk`: rules are tested without Node, and reach templates that were written without CDK.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from gpu_constructs.errors import GpuConstructsError

if TYPE_CHECKING:
    from collections.abc import Iterable


class Unknown(Enum):
    """The type of `UNKNOWN`."""

    UNKNOWN = "known only at deploy time"

    def __str__(self) -> str:
        return str(self.value)


UNKNOWN: Final = Unknown.UNKNOWN
"""Stands for a value that only the deployment knows, such as a CloudFormation parameter. Rules do not judge it."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """One thing that would fail at deploy.

    Args:
        what: The argument or property it is about.
        given: What was given.
        allowed: What is allowed.
        remedy: What to do.
        prevents: The AWS error that the user is spared, if it is known.
    """

    what: str
    given: str
    allowed: str
    remedy: str
    prevents: str | None = None

    def __str__(self) -> str:
        text = f"{self.what} must be {self.allowed}, got {self.given}; {self.remedy}"
        return f'{text} (prevents "{self.prevents}")' if self.prevents else text


def raise_all(problems: Iterable[Problem], where: str = "") -> None:
    """Raise once with all problems; do nothing when there are none.

    Args:
        problems: What the rules found.
        where: The path of the construct they are about.

    Raises:
        GpuConstructsError: If there is at least one problem.
    """
    found = tuple(problems)
    if found:
        raise GpuConstructsError(found, where)


def whole_number(what: str, value: object, *, minimum: int, remedy: str) -> list[Problem]:
    """Say that a value is not a whole number of at least `minimum`; nothing if it is, or is `UNKNOWN`."""
    if value is UNKNOWN or (isinstance(value, int) and not isinstance(value, bool) and value >= minimum):
        return []
    allowed = f"a whole number of at least {minimum}"
    return [Problem(what=what, given=repr(value), allowed=allowed, remedy=remedy)]


def no_struct(what: str, value: object, struct: str) -> Problem:
    """Say that a value, such as a dictionary, is not the struct that CDK has for it.

    In some places CDK takes a dictionary and drops its snake_case keys without a word, in others it fails in words of
    its own.
    """
    return Problem(
        what=what,
        given=f"a {type(value).__name__}",
        allowed=f"an {struct}",
        remedy=f"write {struct}(...) with the same names",
    )
