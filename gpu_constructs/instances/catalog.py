"""The GPU instance types that EC2 offers, as data.

    GpuInstance.of("p4d.24xlarge").gpus  # 8

The facts are in `catalog.json`, with their sources; a new instance family is a refresh of that file. No AWS API is
called, and CDK's own parser of instance types is not used: it does not know names such as "p6-b200.48xlarge"
(https://github.com/aws/aws-cdk/issues/27587).
"""

from __future__ import annotations

import json
import re
from dataclasses import KW_ONLY, dataclass, fields
from difflib import get_close_matches
from functools import cache
from importlib.resources import files
from typing import Any

from gpu_constructs.checks import Problem, raise_all, whole_number

_NAME = re.compile(r"[a-z0-9-]+\.[a-z0-9-]+")
_COUNTS = {
    "gpus": 0,  # types with a fraction of a GPU (g6f, gr6f) report none
    "gpu_memory_mib": 1,
    "vcpus": 1,
    "memory_mib": 1,
    "network_cards": 1,
    "max_enis_per_card": 1,
    "max_efa_interfaces": 0,
    "local_nvme_gb": 0,
}


@dataclass(frozen=True)
class GpuInstance:
    """Facts about one GPU instance type.

    `GpuInstance.of(name)` takes them from the catalogue. For hardware that is newer than the catalogue, state them by
    hand; what is stated wins over the catalogue, and constructs warn where the two differ.

    Args:
        name: The instance type, as EC2 writes it.
        gpus: GPUs; 0 where the instance has a fraction of one.
        gpu: The model, as EC2 writes it ("A100").
        gpu_memory_mib: Memory of each GPU, in MiB.
        vcpus: Virtual CPUs.
        memory_mib: Memory of the instance, in MiB.
        network_cards: Network cards.
        max_enis_per_card: Network interfaces that a card takes.
        max_efa_interfaces: EFA interfaces that the instance takes: at most one a card; 0 where it has no EFA.
        card0_efa: Whether network card 0 takes an EFA interface. By default it does when every card does; types such as
            p6-b300.48xlarge keep card 0 for ordinary traffic.
        architecture: "x86_64" or "arm64".
        local_nvme_gb: Local NVMe disks in total, in GB.
        usage_classes: How it can be bought, in EC2's words: "on-demand", "spot", "capacity-block".
        placement_strategies: Placement groups it can be in, in EC2's words: "cluster", "partition", "spread".
        nitro_version: Generation of the Nitro system, if known; it decides which clients reach a file system by EFA.
        usd_per_hour_us_east_1: On-demand price of Linux in us-east-1 in USD an hour, if known.

    Raises:
        GpuConstructsError: If the facts cannot be those of an instance type.

    See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/using-eni.html#network-cards
    """

    name: str
    _: KW_ONLY
    gpus: int
    gpu: str
    gpu_memory_mib: int
    vcpus: int
    memory_mib: int
    network_cards: int = 1
    max_enis_per_card: int = 2
    max_efa_interfaces: int = 0
    card0_efa: bool | None = None
    architecture: str = "x86_64"
    local_nvme_gb: int = 0
    usage_classes: tuple[str, ...] = ("on-demand", "spot")
    placement_strategies: tuple[str, ...] = ("cluster", "partition", "spread")
    nitro_version: int | None = None
    usd_per_hour_us_east_1: float | None = None

    def __post_init__(self) -> None:
        """Fill in `card0_efa` and refuse facts that contradict each other."""
        if self.card0_efa is None:
            object.__setattr__(self, "card0_efa", self.max_efa_interfaces == self.network_cards)
        raise_all(self._problems(), f"GpuInstance({self.name!r})")

    @classmethod
    def of(cls, name: str) -> GpuInstance:
        """Return the facts about an instance type from the catalogue.

        Args:
            name: The instance type, such as "p4d.24xlarge".

        Raises:
            GpuConstructsError: If the catalogue does not know the type (the message names the closest ones), or if AWS
                has retired it.
        """
        found = find(name)
        if isinstance(found, Problem):
            raise_all([found])
        assert isinstance(found, GpuInstance)
        return found

    def _problems(self) -> list[Problem]:
        problems = []
        if not _NAME.fullmatch(self.name):
            problems.append(
                Problem(
                    what="name",
                    given=repr(self.name),
                    allowed="a family and a size joined by a dot",
                    remedy='write it as EC2 does, for example "p4d.24xlarge"',
                )
            )
        for what, minimum in _COUNTS.items():
            problems += whole_number(what, getattr(self, what), minimum=minimum, remedy="see DescribeInstanceTypes")
        if self.architecture not in {"x86_64", "arm64"}:
            problems.append(
                Problem(
                    what="architecture",
                    given=repr(self.architecture),
                    allowed='"x86_64" or "arm64"',
                    remedy="see DescribeInstanceTypes",
                )
            )
        cards_with_efa = self.network_cards if self.card0_efa else self.network_cards - 1
        # Only a type with EFA at all can contradict itself: `card0_efa` says nothing about the others.
        if not problems and (
            self.max_efa_interfaces > cards_with_efa or (self.card0_efa and not self.max_efa_interfaces)
        ):
            problems.append(
                Problem(
                    what="max_efa_interfaces",
                    given=f"{self.max_efa_interfaces} with {self.network_cards} network cards and "
                    f"card0_efa={self.card0_efa}",
                    allowed=f"between {int(bool(self.card0_efa))} and {cards_with_efa}, at most one a network card",
                    remedy="correct max_efa_interfaces, network_cards or card0_efa",
                )
            )
        return problems


def find(name: str) -> GpuInstance | Problem:
    """Return the facts about an instance type, or the reason why there are none."""
    catalogue = _load()
    if name in catalogue["instances"]:
        return _instance(name)
    if name in catalogue["retired"]:
        return Problem(
            what="instance_type",
            given=f"{name!r}: {catalogue['retired'][name]}",
            allowed="a type that AWS still offers",
            remedy="use a newer type, such as g5.xlarge for one GPU or p4d.24xlarge for eight with EFA",
            prevents="Unsupported: The requested configuration is currently not supported",
        )
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


def sources() -> dict[str, str]:
    """Return where the facts and prices come from, and when the prices were read."""
    return dict(_load()["sources"])


def differences(instance: GpuInstance) -> tuple[str, ...]:
    """Return where facts stated by hand differ from the catalogue; none for a type it does not know."""
    if instance.name not in _load()["instances"]:
        return ()
    known = _instance(instance.name)
    pairs = ((field.name, getattr(instance, field.name), getattr(known, field.name)) for field in fields(instance))
    return tuple(f"{what} is {given!r}, in the catalogue {ours!r}" for what, given, ours in pairs if given != ours)


@cache
def _load() -> dict[str, Any]:
    text = files("gpu_constructs.instances").joinpath("catalog.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded


@cache
def _instance(name: str) -> GpuInstance:
    facts: dict[str, Any] = {
        what: tuple(value) if isinstance(value, list) else value for what, value in _load()["instances"][name].items()
    }
    return GpuInstance(name, **facts)
