"""What FSx for Lustre accepts. Imports no aws_cdk.

The rules are those of CreateFileSystem:
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from gpu_constructs.checks import UNKNOWN, Problem, Unknown

DeploymentType = Literal["SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"]

_SMALLEST_GIB = 1200
_STEP_GIB = 2400
_PERSISTENT_1_MB_S_PER_TIB = (50, 100, 200)
_PERSISTENT_2_MB_S_PER_TIB = (125, 250, 500, 1000)


@dataclass(frozen=True, kw_only=True)
class Lustre:
    """A wish for a Lustre file system; made by `scratch`, `persistent` and `none`, not by hand.

    Args:
        deployment_type: As FSx calls it; `None` for no file system.
        capacity_gib: Storage, in GiB.
        throughput_mb_s_per_tib: Throughput, in MB/s for each TiB; `None` where it is not a choice.
    """

    deployment_type: DeploymentType | None
    capacity_gib: int
    throughput_mb_s_per_tib: int | None

    @property
    def kept(self) -> bool:
        """Whether it is kept, by default, when its stack is deleted: what is persistent is."""
        return self.deployment_type in {"PERSISTENT_1", "PERSISTENT_2"}

    @classmethod
    def none(cls) -> Lustre:
        """No file system."""
        return cls(deployment_type=None, capacity_gib=0, throughput_mb_s_per_tib=None)

    @classmethod
    def scratch(cls, capacity_gib: int = 1200) -> Lustre:
        """A file system for data that can be had again: nothing is replicated, and it is deleted with its stack.

        It has 200 MB/s for each TiB, and bursts. 1200 GiB cost about 168 USD a month in us-east-1
        (https://aws.amazon.com/fsx/lustre/pricing/: 0.14 USD for each GB and month).

        Args:
            capacity_gib: 1200 or a multiple of 2400 GiB (deployment type SCRATCH_2).
        """
        return cls(deployment_type="SCRATCH_2", capacity_gib=capacity_gib, throughput_mb_s_per_tib=None)

    @classmethod
    def persistent(cls, capacity_gib: int, throughput_mb_s_per_tib: int) -> Lustre:
        """A file system for data that must stay: replicated in its zone, and kept when its stack is deleted.

        Args:
            capacity_gib: 1200 or a multiple of 2400 GiB of SSD.
            throughput_mb_s_per_tib: 125, 250, 500 or 1000 MB/s for each TiB (deployment type PERSISTENT_2), or 50, 100
                or 200 (PERSISTENT_1, for Regions that lack PERSISTENT_2).
        """
        older = throughput_mb_s_per_tib in _PERSISTENT_1_MB_S_PER_TIB
        return cls(
            deployment_type="PERSISTENT_1" if older else "PERSISTENT_2",
            capacity_gib=capacity_gib,
            throughput_mb_s_per_tib=throughput_mb_s_per_tib,
        )


def problems(
    *,
    deployment_type: DeploymentType | None,
    capacity_gib: int | Unknown,
    throughput_mb_s_per_tib: int | Unknown | None,
) -> list[Problem]:
    """Say what FSx would refuse about a file system; nothing if it would accept it."""
    if deployment_type is None:
        return []
    return [
        *_capacity_problems(capacity_gib),
        *_throughput_problems(deployment_type, throughput_mb_s_per_tib),
    ]


def _capacity_problems(capacity_gib: int | Unknown) -> list[Problem]:
    if capacity_gib is UNKNOWN or capacity_gib == _SMALLEST_GIB or _is_multiple(capacity_gib):
        return []
    below = int(capacity_gib // _STEP_GIB) * _STEP_GIB
    nearest = (below if below > 0 else _SMALLEST_GIB, below + _STEP_GIB)
    return [
        Problem(
            what="Lustre capacity_gib",
            given=repr(capacity_gib),
            allowed="1200 or a multiple of 2400",
            remedy=f"use {nearest[0]} or {nearest[1]}" if capacity_gib > _SMALLEST_GIB else f"use {_SMALLEST_GIB}",
            prevents="BadRequest: Invalid storage capacity. Must be 1200 or a multiple of 2400",
        )
    ]


def _is_multiple(capacity_gib: int) -> bool:
    return capacity_gib > 0 and capacity_gib % _STEP_GIB == 0


def _throughput_problems(
    deployment_type: DeploymentType, throughput_mb_s_per_tib: int | Unknown | None
) -> list[Problem]:
    if throughput_mb_s_per_tib is UNKNOWN:
        return []
    choices = {
        "SCRATCH_2": (),
        "PERSISTENT_1": _PERSISTENT_1_MB_S_PER_TIB,
        "PERSISTENT_2": _PERSISTENT_2_MB_S_PER_TIB,
    }[deployment_type]
    if throughput_mb_s_per_tib in choices or (throughput_mb_s_per_tib is None and not choices):
        return []
    every = (*_PERSISTENT_1_MB_S_PER_TIB, *_PERSISTENT_2_MB_S_PER_TIB)
    return [
        Problem(
            what="Lustre throughput_mb_s_per_tib",
            given=repr(throughput_mb_s_per_tib),
            allowed=f"one of {', '.join(map(str, sorted(every)))}"
            if choices
            else "left out for scratch: it has 200 MB/s",
            remedy="use the next higher of them" if choices else "leave it out",
            prevents="BadRequest: per unit storage throughput is invalid or does not meet storage capacity requirement",
        )
    ]
