"""How what is wrong about a construct reaches the user: as an error, or as a warning where nobody knows for sure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from aws_cdk import Annotations
from constructs import IConstruct

from gpu_constructs.checks import Problem, raise_all


def warn(scope: IConstruct, doubts: Mapping[str, str]) -> None:
    """Warn of doubts, given by the code of the warning; `acknowledge_warning` silences one by its code."""
    for code, text in doubts.items():
        Annotations.of(scope).add_warning_v2(f"gpu-constructs:{code}", text)


def refuse(scope: IConstruct, problems: Iterable[Problem]) -> None:
    """Raise once with all problems of a construct; do nothing, and ask CDK nothing, when there are none.

    Raises:
        GpuConstructsError: If there is at least one problem.
    """
    found = tuple(problems)
    if found:
        raise_all(found, scope.node.path)
