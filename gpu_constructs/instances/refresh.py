"""How `catalog.json` is made: what EC2 describes, and the few facts that it does not give, which are in `extra.json`.

The command is `gpu-constructs catalog refresh`. It needs `ec2:DescribeInstanceTypes` and nothing else; with `--local`
it asks the local AWS, whose data are a recording of the real one. See
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeInstanceTypes.html
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from mypy_boto3_ec2 import EC2Client

# The API filters by name, not by the maker of a GPU: g4ad (AMD) and others are left out afterwards.
_FAMILIES = ("p*", "g*")


def describe(ec2: EC2Client) -> list[dict[str, Any]]:
    """Return what EC2 says of every instance type with NVIDIA GPUs, also those that the Region does not have."""
    pages = ec2.get_paginator("describe_instance_types").paginate(
        Filters=[{"Name": "instance-type", "Values": list(_FAMILIES)}], IncludeUnsupportedInRegion=True
    )
    return [dict(one) for page in pages for one in page["InstanceTypes"] if _by_nvidia(one)]


def extra() -> dict[str, Any]:
    """Return what the API does not give: prices, Nitro generations, retired types, types that it does not describe."""
    text = files("gpu_constructs.instances").joinpath("extra.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


def merge(described: Iterable[Mapping[str, Any]], more: Mapping[str, Any], source: str) -> dict[str, Any]:
    """Return the catalogue.

    Args:
        described: What EC2 says of each instance type.
        more: The contents of `extra.json`. A type that it calls retired is retired, even if EC2 still describes it; a
            family that EC2 describes is no longer an undescribed one.
        source: Where `described` comes from.
    """
    retired, prices, nitro = more["retired"], more["usd_per_hour_us_east_1"], more["nitro_version"]
    instances = {}
    for one in sorted(described, key=_order):
        name = one["InstanceType"]
        family = name.partition(".")[0]
        known = {"nitro_version": nitro.get(family), "usd_per_hour_us_east_1": prices.get(name)}
        if name not in retired:
            instances[name] = {**_facts(one), **{what: value for what, value in known.items() if value is not None}}
    families = {name.partition(".")[0] for name in instances}
    return {
        "sources": {"facts": source, **more["sources"]},
        "in_doubt": more["in_doubt"],
        "undescribed": {family: note for family, note in more["undescribed"].items() if family not in families},
        "retired": retired,
        "instances": instances,
    }


def render(catalogue: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of `catalog.json`: a line for each type, so that a refresh is a readable diff."""
    parts = []
    for part, entries in catalogue.items():
        lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items()]
        parts.append(f" {json.dumps(part)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Return in words what a refresh changed."""
    old, new = before["instances"], after["instances"]
    gone = "no longer described; if AWS retired it, move its facts to retired in extra.json"
    return [
        *(f"{name}: new" for name in new if name not in old),
        *(f"{name}: {gone}" for name in old if name not in new and name not in after["retired"]),
        *(f"{name}: changed" for name in new if name in old and new[name] != old[name]),
        *(f"{name}: no price in extra.json" for name in new if "usd_per_hour_us_east_1" not in new[name]),
        *(f"{name}: no Nitro generation in extra.json" for name in new if "nitro_version" not in new[name]),
    ]


def _by_nvidia(one: Mapping[str, Any]) -> bool:
    return any(gpu.get("Manufacturer") == "NVIDIA" for gpu in one.get("GpuInfo", {}).get("Gpus", ()))


def _order(one: Mapping[str, Any]) -> tuple[str, int, int, str]:
    name = one["InstanceType"]
    return name.partition(".")[0], one["VCpuInfo"]["DefaultVCpus"], one["MemoryInfo"]["SizeInMiB"], name


def _facts(one: Mapping[str, Any]) -> dict[str, Any]:
    (gpu,) = one["GpuInfo"]["Gpus"]  # no type has two models
    network = one["NetworkInfo"]
    cards = network["NetworkCards"]
    storage = one.get("InstanceStorageInfo", {})
    ebs = one.get("EbsInfo", {}).get("EbsOptimizedInfo", {}).get("MaximumBandwidthInMbps")
    return {
        "gpus": gpu["Count"],
        "gpu": gpu["Name"],
        "gpu_memory_mib": gpu["MemoryInfo"]["SizeInMiB"],
        **({"gpu_fraction": gpu["GpuPartitionSize"]} if gpu.get("GpuPartitionSize", 1) != 1 else {}),
        "vcpus": one["VCpuInfo"]["DefaultVCpus"],
        "memory_mib": one["MemoryInfo"]["SizeInMiB"],
        "network_cards": network["MaximumNetworkCards"],
        # All cards of a type are alike today; were they not, the least is what every layout can count on.
        "max_enis_per_card": min(card["MaximumNetworkInterfaces"] for card in cards),
        "max_efa_interfaces": network.get("EfaInfo", {}).get("MaximumEfaInterfaces", 0),
        "card0_efa": "efa-only" in cards[0].get("InterfaceTypes", ()),
        "architecture": one["ProcessorInfo"]["SupportedArchitectures"][0],
        "local_nvme_gb": storage.get("TotalSizeInGB", 0),
        "local_nvme_disks": sum(disk["Count"] for disk in storage.get("Disks", ())),
        **({"ebs_max_mbps": ebs} if ebs else {}),
        "hypervisor": one.get("Hypervisor"),
        "bare_metal": one["BareMetal"],
        "usage_classes": sorted(one["SupportedUsageClasses"]),
        "placement_strategies": sorted(one["PlacementGroupInfo"]["SupportedStrategies"]),
    }
