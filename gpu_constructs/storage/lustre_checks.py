"""The rules of a Lustre file system, one function each. Imports no aws_cdk; `lustre_rules` says when each applies."""

from __future__ import annotations

from math import isfinite
from typing import Final, Literal, TypeGuard

from gpu_constructs.checks import UNKNOWN, Problem, Unknown
from gpu_constructs.storage import lustre_facts as facts
from gpu_constructs.storage.lustre_facts import Kind, Sizes

MetadataIops = int | Literal["AUTOMATIC"]

_INVALID_THROUGHPUT: Final = (
    "BadRequest: per unit storage throughput is invalid or does not meet storage capacity requirement"
)
_WITH_METADATA: Final = "PERSISTENT_2 (125, 250, 500 or 1000 MB/s for each TiB of SSD, or Intelligent-Tiering)"


def combination_problems(deployment_type: str, storage_type: str) -> list[Problem]:
    """Judge a combination of deployment type and storage type."""
    possible = [storage for deployment, storage in facts.KINDS if deployment == deployment_type]
    if storage_type in possible:
        return []
    return [
        Problem(
            what="Lustre storage_type",
            given=repr(storage_type),
            allowed=f"{' or '.join(possible)} for {deployment_type}",
            remedy="use HDD with PERSISTENT_1 and INTELLIGENT_TIERING with PERSISTENT_2",
        )
    ]


def capacity_problems(
    kind: Kind, capacity_gib: object, throughput_mb_s_per_tib: int | Unknown | None, *, efa: bool
) -> list[Problem]:
    """Judge a capacity: its sizes depend on throughput, and are far larger with EFA."""
    table = facts.EFA_SIZES if efa else kind.sizes
    different = list(dict.fromkeys(table.values()))
    chosen = _lookup(table, throughput_mb_s_per_tib)
    unknown = [facts.EFA_SIZES_OF_ANY] if efa else different
    choices = unknown if chosen is None else [chosen]
    at = f" at {throughput_mb_s_per_tib} MB/s for each TiB" if chosen and len(different) > 1 else ""
    return _size_problems(
        "capacity_gib",
        capacity_gib,
        choices,
        suffix=f"{' with EFA' if efa else ''}{at}",
        prevents=f"BadRequest: Invalid storage capacity. Must be {choices[0]}"
        if choices == [facts.SSD_SIZES]
        else None,
    )


def throughput_problems(kind: Kind, given: int | Unknown | None, choices: tuple[int, ...]) -> list[Problem]:
    """Judge throughput for each TiB, required of persistent file systems and refused for scratch ones."""
    if given is UNKNOWN or given in kind.throughputs or (given is None and not kind.throughputs):
        return []
    near = " or ".join(map(str, _around(choices, given if _is_number(given) else 0)))
    return [
        Problem(
            what="Lustre throughput_mb_s_per_tib",
            given=repr(given),
            allowed=f"one of {', '.join(map(str, choices))}" if choices else "left out for scratch: it has 200 MB/s",
            remedy=f"use {near}" if choices else "leave it out",
            prevents=_INVALID_THROUGHPUT,
        )
    ]


def metadata_problems(
    metadata_iops: MetadataIops | Unknown | None, capacity_gib: int | Unknown | None, *, possible: bool
) -> list[Problem]:
    """Judge metadata IOPS, which only PERSISTENT_2 has and which may not be below what FSx gives by itself."""
    if metadata_iops is None:
        return []
    if not possible:
        return [_only_persistent_2("metadata_iops", metadata_iops)]
    if metadata_iops == "AUTOMATIC":
        return []
    automatic = facts.automatic_metadata_iops(capacity_gib) if isinstance(capacity_gib, int) else 0
    floor = automatic > facts.METADATA_IOPS.single[0]
    return _size_problems(
        "metadata_iops",
        metadata_iops,
        [facts.METADATA_IOPS],
        least=automatic if floor else 0,
        suffix=f", and at least {automatic}, which {capacity_gib} GiB have by themselves" if floor else "",
    )


def efa_problems(*, efa: bool, possible: bool) -> list[Problem]:
    """Judge EFA, which only PERSISTENT_2 has."""
    return [_only_persistent_2("efa", efa)] if efa and not possible else []


def elastic_problems(throughput_mb_s: object, read_cache_gib: object, *, efa: bool) -> list[Problem]:
    """Judge throughput and read cache of an Intelligent-Tiering file system."""
    sizes = facts.ELASTIC_EFA_MB_S if efa else facts.ELASTIC_MB_S
    found = _size_problems("throughput_mb_s", throughput_mb_s, [sizes], suffix=" with EFA" if efa else "")
    return [*found, *_cache_problems(read_cache_gib, UNKNOWN if found else throughput_mb_s)]


def _cache_problems(given: object, throughput_mb_s: object) -> list[Problem]:
    # 0 is no cache, None one that FSx sizes.
    if given is None or given is UNKNOWN or given == 0:
        return []
    least, most = facts.CACHE_GIB_PER_1000_MB_S
    at = ""
    if _is_number(throughput_mb_s):
        least, most = (int(limit * throughput_mb_s // 1000) for limit in facts.CACHE_GIB_PER_1000_MB_S)
        at = f" at {throughput_mb_s} MB/s"
    else:
        most = most * facts.MOST_ELASTIC_MB_S // 1000
    if isinstance(given, int) and not isinstance(given, bool) and least <= given <= most:
        return []
    nearest = most if _is_number(given) and given > most else least
    return [
        Problem(
            what="Lustre read_cache_gib",
            given=repr(given),
            allowed=f"0 or a whole number from {least} to {most}{at} (8 to 32768 GiB for each 1000 MB/s)",
            remedy=f"use {nearest}, 0 for no cache, or leave it out for one that FSx sizes",
        )
    ]


def _size_problems(
    what: str, given: object, choices: list[Sizes], *, suffix: str = "", least: int = 0, prevents: str | None = None
) -> list[Problem]:
    """Say that a number is none of the valid ones, with those nearest to it; nothing if it is, or is `UNKNOWN`."""
    number = given if _is_number(given) else 0
    if given is UNKNOWN or (_is_number(given) and given >= least and any(sizes.has(given) for sizes in choices)):
        return []
    near = _around([size for sizes in choices for size in sizes.nearest(number, least=least)], number)
    return [
        Problem(
            what=f"Lustre {what}",
            given=repr(given),
            allowed=" or ".join(map(str, choices)) + suffix,
            remedy=f"use {' or '.join(map(str, near))}",
            prevents=prevents,
        )
    ]


def _only_persistent_2(what: str, given: object) -> Problem:
    return Problem(
        what=f"Lustre {what}",
        given=str(given) if given is UNKNOWN else repr(given),
        allowed=f"left out but for {_WITH_METADATA}",
        remedy="leave it out, or choose such a throughput",
    )


def _lookup(table: dict[int | None, Sizes], throughput: int | Unknown | None) -> Sizes | None:
    return None if isinstance(throughput, Unknown) else table.get(throughput)


def _around(sizes: list[int] | tuple[int, ...], number: float) -> list[int]:
    ordered = sorted(sizes)
    below = [size for size in ordered if size < number]
    above = [size for size in ordered if size > number]
    return [*below[-1:], *above[:1]]


def _is_number(value: object) -> TypeGuard[float]:
    """Whether a value can be compared with a size; a truth value is none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)
