"""Volumes of nodes: size, type and speed, and what EBS accepts. Imports no aws_cdk.

https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html#gp3-ebs-volume-type
https://docs.aws.amazon.com/ebs/latest/userguide/provisioned-iops.html
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Final, Literal

from gpu_constructs.checks import UNKNOWN, Problem, Unknown

VolumeType = Literal["gp3", "io2"]

_SMALL_ROOT_GIB: Final = 100


@dataclass(frozen=True)
class Volume:
    """A volume of a node: encrypted, and deleted with its node.

    In us-east-1 a GiB of gp3 costs about 0.08 USD a month, an IOPS above 3000 0.005 and a MiB/s above 125 0.04; a GiB
    of io2 0.125, and an IOPS 0.065 up to 32000 and less above (https://aws.amazon.com/ebs/pricing/).

    Args:
        size_gib: 1 to 65536 GiB; of io2 at least 4.
        type: "gp3", or "io2" for more IOPS and for latency and durability that are guaranteed.
        iops: Operations a second. Of gp3 3000 to 80000, at most 500 for each GiB; by default 3000, which any size may
            have. Of io2 100 to 256000, at most 1000 for each GiB, and not left out.
        throughput_mb_s: Of gp3 alone: 125 to 2000 MiB/s, at most a quarter of the IOPS. By default 125.
    """

    size_gib: int
    _: KW_ONLY
    type: VolumeType = "gp3"
    iops: int | None = None
    throughput_mb_s: int | None = None


@dataclass(frozen=True, kw_only=True)
class _Limits:
    size_gib: tuple[int, int]
    iops: tuple[int, int]
    iops_per_gib: int
    default_iops: int | None
    throughput_mb_s: tuple[int, int] | None


# "EbsBlockDevice" of the EC2 API has the ranges, the pages above the ratios.
_LIMITS: Final = {
    "gp3": _Limits(
        size_gib=(1, 65536), iops=(3000, 80_000), iops_per_gib=500, default_iops=3000, throughput_mb_s=(125, 2000)
    ),
    "io2": _Limits(
        size_gib=(4, 65536), iops=(100, 256_000), iops_per_gib=1000, default_iops=None, throughput_mb_s=None
    ),
}
_IOPS_PER_MB_S: Final = 4


def problems(
    what: str,
    *,
    size_gib: int | Unknown,
    type: str | Unknown,  # noqa: A002
    iops: int | Unknown | None,
    throughput_mb_s: int | Unknown | None,
) -> list[Problem]:
    """Say what EBS would refuse about a volume; nothing if it would accept it.

    Args:
        what: The argument that the volume was given as.
        size_gib: As of `Volume`.
        type: As of `Volume`.
        iops: As of `Volume`.
        throughput_mb_s: As of `Volume`.
    """
    if type is UNKNOWN:
        return []
    limits = _LIMITS.get(type)
    if limits is None:
        return [_problem(f"{what} type", type, '"gp3" or "io2"', 'use "gp3"')]
    size = _range_problems(f"{what} size_gib", size_gib, limits.size_gib, of=type)
    speed = _iops_problems(what, iops, limits, type, UNKNOWN if size else size_gib)
    return [*size, *speed, *_throughput_problems(what, throughput_mb_s, limits, type, UNKNOWN if speed else iops)]


def root_doubts(size_gib: int | Unknown) -> dict[str, str]:
    """Say whether a root volume may be too small for its image, by the code of the warning."""
    if size_gib is UNKNOWN or size_gib >= _SMALL_ROOT_GIB:
        return {}
    return {
        "smallRootVolume": f"root_volume has {size_gib} GiB; a launch fails where that is less than the snapshot of "
        "the image (75 GiB of the Deep Learning AMI, as users of it say), and containers need room beside it: use "
        f"{_SMALL_ROOT_GIB} or more"
    }


def _iops_problems(
    what: str, iops: int | Unknown | None, limits: _Limits, type_: str, size_gib: int | Unknown
) -> list[Problem]:
    if iops is None:
        if limits.default_iops is not None:
            return []
        least, most = limits.iops
        return [
            _problem(
                f"{what} iops",
                iops,
                f"a whole number from {least} to {most} for {type_}",
                f"say how many, for example {least * 30}",
                "MissingParameter: The request must contain the parameter iops",
            )
        ]
    found = _range_problems(f"{what} iops", iops, limits.iops, of=type_)
    if found or iops is UNKNOWN or size_gib is UNKNOWN:
        return found
    most = max(limits.iops_per_gib * size_gib, limits.default_iops or 0)
    if iops <= most:
        return []
    smallest = -(-iops // limits.iops_per_gib)
    return [
        _problem(
            f"{what} iops",
            iops,
            f"at most {most} for {size_gib} GiB of {type_} ({limits.iops_per_gib} for each GiB)",
            f"use {most}, or {smallest} GiB",
            "InvalidParameterValue: Iops to volume size ratio is too high",
        )
    ]


def _throughput_problems(
    what: str, throughput: int | Unknown | None, limits: _Limits, type_: str, iops: int | Unknown | None
) -> list[Problem]:
    if throughput is None:
        return []
    if limits.throughput_mb_s is None:
        return [_problem(f"{what} throughput_mb_s", throughput, f"left out for {type_}", "leave it out, or use gp3")]
    found = _range_problems(f"{what} throughput_mb_s", throughput, limits.throughput_mb_s, of=type_)
    if found or throughput is UNKNOWN or iops is UNKNOWN:
        return found
    operations = iops or limits.default_iops or 0
    if throughput * _IOPS_PER_MB_S <= operations:
        return []
    return [
        _problem(
            f"{what} throughput_mb_s",
            throughput,
            f"at most {operations // _IOPS_PER_MB_S} for {operations} IOPS (0.25 MiB/s for each)",
            f"use {operations // _IOPS_PER_MB_S}, or {throughput * _IOPS_PER_MB_S} IOPS",
            "InvalidParameterValue: Throughput (MiBps) to iops ratio is too high",
        )
    ]


def _range_problems(what: str, given: object, limits: tuple[int, int], *, of: str) -> list[Problem]:
    least, most = limits
    number = isinstance(given, int) and not isinstance(given, bool)
    if given is UNKNOWN or (number and least <= given <= most):  # type: ignore[operator]
        return []
    above = isinstance(given, (int, float)) and given > most
    between = isinstance(given, float) and least < given < most
    nearest = f"{int(given)} or {int(given) + 1}" if between else f"{most if above else least}"  # type: ignore[call-overload]
    return [_problem(what, given, f"a whole number from {least} to {most} for {of}", f"use {nearest}")]


def _problem(what: str, given: object, allowed: str, remedy: str, prevents: str | None = None) -> Problem:
    return Problem(what=what, given=repr(given), allowed=allowed, remedy=remedy, prevents=prevents)
