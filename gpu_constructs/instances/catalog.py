"""The GPU instance types that EC2 offers, as data.

    GpuInstance.of("p4d.24xlarge").gpus  # 8

The facts are in `catalog.json`, with their sources; a new instance family is a refresh of that file
(`gpu-constructs catalog refresh`), not code. No AWS API is called here, and CDK's own parser of instance types is not
used: it does not know names such as "p6-b200.48xlarge" (https://github.com/aws/aws-cdk/issues/27587).
"""

from __future__ import annotations

import json
from dataclasses import fields
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from math import log2
from typing import Any

from gpu_constructs.checks import Problem
from gpu_constructs.instances.facts import GpuInstance

__all__ = ["GpuInstance", "differences", "find", "names", "nearest", "notices", "retired_names", "sources"]


def find(name: str, *, allow_retired: bool = False) -> GpuInstance | Problem:
    """Return the facts about an instance type, or the reason why there are none.

    Args:
        name: The instance type.
        allow_retired: Whether a type that AWS has retired is taken as well.
    """
    catalogue = _load()
    if name in catalogue["instances"]:
        return _instance(name)
    if name in catalogue["retired"]:
        return _instance(name) if allow_retired else _retired(name)
    if name.partition(".")[0] in catalogue["undescribed"]:
        return _undescribed(name)
    closest = ", ".join(get_close_matches(name, names(), n=3, cutoff=0.0))
    return Problem(
        what="instance_type",
        given=repr(name),
        allowed=f"a GPU instance type of the catalogue (closest: {closest})",
        remedy="correct the name, or state the facts of newer hardware by hand: "
        f"GpuInstance({name!r}, gpus=..., gpu=..., gpu_memory_mib=..., vcpus=..., memory_mib=...)",
        prevents=f"InvalidParameterValue: Invalid value '{name}' for InstanceType",
    )


def names() -> tuple[str, ...]:
    """Return the instance types of the catalogue, retired ones left out."""
    return tuple(_load()["instances"])


def retired_names() -> tuple[str, ...]:
    """Return the instance types that AWS has retired, as far as they are known."""
    return tuple(_load()["retired"])


def sources() -> dict[str, str]:
    """Return where the facts and prices come from, and when the prices were read."""
    return dict(_load()["sources"])


def nearest(instance: GpuInstance) -> GpuInstance:
    """Return the current type of the same architecture that is nearest by GPU memory and count, then the cheapest.

    Both are compared as ratios: half the memory is as far away as twice the memory.
    """
    current = (_instance(name) for name in names())
    return min(
        (one for one in current if one.gpus and one.architecture == instance.architecture),
        key=lambda one: (
            abs(log2(one.gpu_memory_mib / instance.gpu_memory_mib)) + abs(log2(one.gpus / max(instance.gpus, 1))),
            one.usd_per_hour_us_east_1 or float("inf"),
        ),
    )


def notices(instance: GpuInstance) -> dict[str, str]:
    """Return what a user should be told of an instance type that is not refused, by the id of the warning."""
    catalogue = _load()
    found = {}
    if instance.name in catalogue["retired"]:
        reason = catalogue["retired"][instance.name]["reason"]
        found["retired-instance-type"] = f"{instance.name}: {reason}; instances start only where AWS still lets you"
    if instance.name in catalogue["in_doubt"]:
        found["instance-type-in-doubt"] = catalogue["in_doubt"][instance.name]
    return found


def differences(instance: GpuInstance) -> tuple[str, ...]:
    """Return where facts stated by hand differ from the catalogue; none for a type it does not know.

    What is left unknown (`None`) differs from nothing.
    """
    known = find(instance.name, allow_retired=True)
    if isinstance(known, Problem):
        return ()
    pairs = ((field.name, getattr(instance, field.name), getattr(known, field.name)) for field in fields(instance))
    return tuple(
        f"{what} is {given!r}, in the catalogue {ours!r}" for what, given, ours in pairs if given not in (None, ours)
    )


def _retired(name: str) -> Problem:
    return Problem(
        what="instance_type",
        given=f"{name!r}: {_load()['retired'][name]['reason']}",
        allowed="a type that AWS still offers",
        remedy=f"use {nearest(_instance(name)).name}, the nearest by GPU memory and count, or pass allow_retired=True "
        "where your account can still start it",
        prevents="Unsupported: The requested configuration is currently not supported",
    )


def _undescribed(name: str) -> Problem:
    family = _load()["undescribed"][name.partition(".")[0]]
    return Problem(
        what="instance_type",
        given=f"{name!r}, {family['note']}",
        allowed="a type whose facts are in the catalogue",
        remedy="state its facts by hand, as DescribeInstanceTypes gives them where you have it: "
        f"GpuInstance({name!r}, gpus=..., gpu=..., gpu_memory_mib=..., vcpus=..., memory_mib=..., network_cards=..., "
        f"max_enis_per_card=..., max_efa_interfaces=..., {family['by_hand']})",
    )


@cache
def _load() -> dict[str, Any]:
    text = files("gpu_constructs.instances").joinpath("catalog.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def _instance(name: str) -> GpuInstance:
    catalogue = _load()
    record = catalogue["instances"].get(name) or catalogue["retired"][name]
    facts: dict[str, Any] = {
        what: tuple(value) if isinstance(value, list) else value for what, value in record.items() if what != "reason"
    }
    return GpuInstance(name, **facts)
