"""The facts about one GPU instance type, as a value."""

from __future__ import annotations

import re
from dataclasses import KW_ONLY, dataclass

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
    "local_nvme_disks": 0,
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
        gpu_memory_mib: Memory of each GPU, in MiB; of the fraction where it has one.
        vcpus: Virtual CPUs.
        memory_mib: Memory of the instance, in MiB.
        gpu_fraction: The part of a GPU that each one is: 1, or 0.125 to 0.5 for g6f and gr6f.
        network_cards: Network cards.
        max_enis_per_card: Network interfaces that a card takes.
        max_efa_interfaces: EFA interfaces that the instance takes: at most one a card; 0 where it has no EFA.
        card0_efa: Whether network card 0 takes an EFA interface. By default it does when every card does; types such as
            p6-b300.48xlarge keep card 0 for ordinary traffic.
        architecture: "x86_64" or "arm64".
        local_nvme_gb: Local NVMe disks in total, in GB.
        local_nvme_disks: How many disks these are.
        ebs_max_mbps: Most bandwidth to EBS volumes, in megabits per second, if known.
        hypervisor: "nitro" or "xen"; `None` where there is none (bare metal).
        bare_metal: Whether the instance is the whole server.
        usage_classes: How it can be bought, in EC2's words: "on-demand", "spot", "capacity-block".
        placement_strategies: Placement groups it can be in, in EC2's words: "cluster", "partition", "spread".
        nitro_version: Generation of the Nitro system, if known; it decides which clients reach a file system by EFA.
        usd_per_hour_us_east_1: On-demand price of Linux in us-east-1 in USD an hour, if known.
            `catalog.sources()["prices_read"]` says of which day.

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
    gpu_fraction: float = 1.0
    network_cards: int = 1
    max_enis_per_card: int = 2
    max_efa_interfaces: int = 0
    card0_efa: bool | None = None
    architecture: str = "x86_64"
    local_nvme_gb: int = 0
    local_nvme_disks: int = 0
    ebs_max_mbps: int | None = None
    hypervisor: str | None = "nitro"
    bare_metal: bool = False
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
    def of(cls, name: str, *, allow_retired: bool = False) -> GpuInstance:
        """Return the facts about an instance type from the catalogue.

        Args:
            name: The instance type, such as "p4d.24xlarge".
            allow_retired: Whether a type that AWS has retired (P2, P3, G3) is taken as well. By default it is refused.

        Raises:
            GpuConstructsError: If the catalogue does not know the type (the message names the closest ones), or if AWS
                has retired it (the message says when, and names the nearest current type).
        """
        from gpu_constructs.instances import catalog  # which holds values of this class

        found = catalog.find(name, allow_retired=allow_retired)
        if isinstance(found, Problem):
            raise_all([found])
        assert isinstance(found, GpuInstance)
        return found

    @property
    def family(self) -> str:
        """What stands before the dot: "p4d"."""
        return self.name.partition(".")[0]

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
        if not 0 < self.gpu_fraction <= 1:
            problems.append(
                Problem(
                    what="gpu_fraction",
                    given=repr(self.gpu_fraction),
                    allowed="above 0 and at most 1",
                    remedy="see GpuPartitionSize of DescribeInstanceTypes, or leave it out for whole GPUs",
                )
            )
        return problems or self._efa_problems()

    def _efa_problems(self) -> list[Problem]:
        cards_with_efa = self.network_cards if self.card0_efa else self.network_cards - 1
        # Only a type with EFA at all can contradict itself: `card0_efa` says nothing about the others.
        if self.max_efa_interfaces <= cards_with_efa and (self.max_efa_interfaces or not self.card0_efa):
            return []
        return [
            Problem(
                what="max_efa_interfaces",
                given=f"{self.max_efa_interfaces} with {self.network_cards} network cards and "
                f"card0_efa={self.card0_efa}",
                allowed=f"between {int(bool(self.card0_efa))} and {cards_with_efa}, at most one a network card",
                remedy="correct max_efa_interfaces, network_cards or card0_efa",
            )
        ]
