"""What the rules find in a Lustre file system as users write it."""

from __future__ import annotations

from gpu_constructs.checks import Problem
from gpu_constructs.storage.lustre_rules import Lustre, problems


def judged(lustre: Lustre) -> list[Problem]:
    return problems(
        deployment_type=lustre.deployment_type,
        storage_type=lustre.storage_type,
        capacity_gib=lustre.capacity_gib,
        throughput_mb_s_per_tib=lustre.throughput_mb_s_per_tib,
        throughput_mb_s=lustre.throughput_mb_s,
        read_cache_gib=lustre.read_cache_gib,
        efa=lustre.efa,
        metadata_iops=lustre.metadata_iops,
        linked=bool(lustre.links),
    )


def messages(lustre: Lustre) -> list[str]:
    return [str(problem) for problem in judged(lustre)]
