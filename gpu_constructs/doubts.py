"""How what looks wrong, but is not known to be refused, reaches the user: as a warning."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Annotations
from constructs import IConstruct


def warn(scope: IConstruct, doubts: Mapping[str, str]) -> None:
    """Warn of doubts, given by the code of the warning; `acknowledge_warning` silences one by its code."""
    for code, text in doubts.items():
        Annotations.of(scope).add_warning_v2(f"gpu-constructs:{code}", text)
