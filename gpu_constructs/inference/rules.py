"""All that is wrong about an inference tier together, before anything of it is created."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Final

from aws_cdk import aws_ec2 as ec2

from gpu_constructs import image_rules
from gpu_constructs.checks import UNKNOWN, Problem, Unknown, whole_number
from gpu_constructs.inference import (
    listener_rules,
    load_budget,
    model,
    rollout,
    runtime_rules,
    scaling,
)
from gpu_constructs.inference.listener import Listener
from gpu_constructs.inference.load_budget import LoadBudget
from gpu_constructs.inference.model import ModelSource
from gpu_constructs.inference.rollout import Rollout
from gpu_constructs.inference.runtime import ServingRuntime
from gpu_constructs.inference.scaling import Scaling
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network.efa import Efa
from gpu_constructs.network.subnets import Zone
from gpu_constructs.network.vpc import candidates, describe
from gpu_constructs.node_group import block_devices, capacity_rules, internet_rules, market, mixed, sizes
from gpu_constructs.node_group.instance_type import InstanceType, resolve
from gpu_constructs.node_group.machine_image import without_tokens
from gpu_constructs.node_group.node import Node
from gpu_constructs.storage.volumes import Volume
from gpu_constructs.tokens import known

_IMAGE_GIB: Final = 75
_ROOM_GIB: Final = 50
_THROUGHPUT_MIB_S: Final = 500
_DEFAULT_THROUGHPUT_MIB_S: Final = 125


@dataclass(frozen=True, kw_only=True)
class Tier:
    """A wish for a tier, as the arguments of the construct say it; `InferenceTier` documents each.

    Attributes:
        types: The facts about the instance types that are known.
        budget: How long a node may take until it serves, or why that is not known.
    """

    instance_types: Sequence[InstanceType]
    node: Node
    runtime: ServingRuntime
    model: ModelSource
    listener: Listener
    vpc: ec2.IVpc | None
    vpc_subnets: ec2.SubnetSelection | None
    min_capacity: int
    max_capacity: int
    warm_pool: int
    scaling: Sequence[Scaling]
    rollout: Rollout
    load_seconds: int | None
    types: tuple[GpuInstance, ...] = field(init=False)
    budget: LoadBudget | Problem = field(init=False)

    def __post_init__(self) -> None:
        """Look each type up once, and tell tokens from values."""
        found = [resolve(name, allow_retired=self.node.allow_retired) for name in self.instance_types]
        object.__setattr__(self, "types", tuple(one for one in found if isinstance(one, GpuInstance)))
        object.__setattr__(self, "runtime", replace(self.runtime, image=known(self.runtime.image)))
        plain = replace(self.model, prefix=known(self.model.prefix), version=known(self.model.version))
        object.__setattr__(self, "model", plain)
        object.__setattr__(self, "budget", self._budget())

    @property
    def waits(self) -> bool:
        """Whether deployments wait for nodes that serve: only where AWS can be expected to have them."""
        return self.node.capacity.market in {"on-demand", "reservation", "reservation-group"}

    def problems(self, region: str | Unknown) -> list[Problem]:
        """Say all that would fail about it in a Region; nothing if nothing is known to."""
        if not self.instance_types:
            return [_no_types()]
        minimum, maximum = known(self.min_capacity), known(self.max_capacity)
        found = [
            *self.node.problems(region),
            *self._type_problems(),
            *sizes.problems(min_capacity=minimum, max_capacity=maximum, desired_capacity=None),
            *runtime_rules.problems(self.runtime, self.model, self.types),
            *model.problems(self.model),
            *listener_rules.problems(self.listener, self.runtime),
            *listener_rules.bucket_problems(encrypted_by_key=_by_key(self.listener)),
            *self._subnet_problems(),
            *self._time_problems(minimum, maximum),
            *scaling.problems(self.scaling),
            *self._warm_pool_problems(),
        ]
        # Each of several types may have the same.
        return list(dict.fromkeys(found))

    def doubts(self) -> dict[str, str]:
        """Say what looks wrong about it, by the code of the warning; only after `problems` found none."""
        return {
            **runtime_rules.doubts(self.runtime, self.model),
            **listener_rules.doubts(self.listener, self.runtime),
            **scaling.doubts(self.scaling, min_capacity=known(self.min_capacity)),
            **self._endpoint_doubts(),
        }

    def subnets(self, vpc: ec2.IVpc) -> Sequence[ec2.ISubnet]:
        """Return where the nodes are; only after `problems` found none."""
        found = candidates(vpc, self.vpc_subnets)
        assert not isinstance(found, Problem)
        return found

    def front_subnets(self, vpc: ec2.IVpc) -> Sequence[ec2.ISubnet]:
        """Return where the load balancer is: one subnet a zone."""
        possible = (vpc.private_subnets or vpc.isolated_subnets) if self.listener.internal else vpc.public_subnets
        return list({subnet.availability_zone: subnet for subnet in reversed(possible)}.values())[::-1]

    def _budget(self) -> LoadBudget | Problem:
        if self.load_seconds is not None:
            return load_budget.stated(self.load_seconds)
        root = self.node.root_volume or block_devices.DEFAULT_ROOT
        speed = known(root.throughput_mb_s or (_DEFAULT_THROUGHPUT_MIB_S if root.type == "gp3" else _THROUGHPUT_MIB_S))
        volume = _DEFAULT_THROUGHPUT_MIB_S if speed is UNKNOWN else speed
        # Megabits to mebibytes.
        instances = [one.ebs_max_mbps * 1e6 / 8 / 2**20 for one in self.types if one.ebs_max_mbps]
        size = self.model.size_gib
        model_gib = size if size is not None else (model.ASSUMED_GIB if self.model.bucket else 0)
        return load_budget.estimate(
            image_gib=self.runtime.image_gib, model_gib=model_gib, ebs_mib_s=min([volume, *instances])
        )

    def _type_problems(self) -> list[Problem]:
        first = self.node.instance
        if not isinstance(first, GpuInstance):
            return []
        resolved = [resolve(name, allow_retired=self.node.allow_retired) for name in self.instance_types[1:]]
        bought, image = market.plain(self.node.capacity), without_tokens(self.node.image)
        others = [one for one in self.types if one != first]
        return [
            *(found for found in resolved if isinstance(found, Problem)),
            *mixed.problems(first, Efa.OFF, others),
            *(problem for one in others for problem in image_rules.problems(one, image, boots=True)),
            *(problem for one in others for problem in capacity_rules.type_problems(bought, one)),
        ]

    def _subnet_problems(self) -> list[Problem]:
        if self.vpc is None:
            return [] if self.vpc_subnets is None else [_selection_without_vpc()]
        vpc = self.vpc
        chosen = candidates(vpc, self.vpc_subnets)
        if isinstance(chosen, Problem):
            return [chosen]
        nodes = [describe(vpc, subnet) for subnet in chosen]
        front = [describe(vpc, subnet) for subnet in self.front_subnets(vpc)]
        zones = list(dict.fromkeys(subnet.zone for subnet in nodes if isinstance(subnet.zone, Zone)))
        bought = market.plain(self.node.capacity)
        minimum = known(self.min_capacity)
        return [
            *([] if nodes else [_no_subnets()]),
            *capacity_rules.group_problems(bought, zones, types=len(self.types), min_capacity=minimum),
            *listener_rules.subnet_problems(self.listener, front, "vpc"),
            *internet_rules.problems(
                runtime_rules.internet_hosts(self.runtime, self.model),
                isolated=self._isolated(vpc, chosen),
                remedy="copy the image to a repository in ECR, and the model to S3",
            ),
        ]

    def _time_problems(self, minimum: int | Unknown, maximum: int | Unknown) -> list[Problem]:
        budget = self.budget
        loads = 0 if isinstance(budget, Problem) else budget.ready_seconds
        return [
            *([budget] if isinstance(budget, Problem) else load_budget.problems(budget, waits=self.waits)),
            *rollout.problems(
                self.rollout,
                min_capacity=minimum,
                max_capacity=maximum,
                needed_seconds=load_budget.BOOT_SECONDS + loads,
            ),
        ]

    def _warm_pool_problems(self) -> list[Problem]:
        count = known(self.warm_pool)
        wrong = whole_number("warm_pool", count, minimum=0, remedy="pass a number of stopped nodes")
        if wrong or not count or count is UNKNOWN:
            return wrong
        if self.node.capacity.market != "spot":
            return capacity_rules.warm_pool_problems(self.node.capacity)
        return [
            Problem(
                what="warm_pool",
                given=f"{count} with Capacity.spot(...)",
                allowed="0 with spot: Auto Scaling keeps stopped nodes of on-demand groups alone",
                remedy="leave warm_pool out, or buy on demand",
                prevents="You can't add a warm pool to an Auto Scaling group that has a mixed instances policy or a "
                "launch template that requests Spot Instances",
            )
        ]

    def _endpoint_doubts(self) -> dict[str, str]:
        if self.vpc is None or not self._isolated(self.vpc, self.subnets(self.vpc)):
            return {}
        needed = ["ecr.api", "ecr.dkr", "s3"]
        needed += ["cloudformation"] if self.waits else []
        needed += ["secretsmanager"] if self.runtime.credentials else []
        needed += [] if self.listener.takes_requests else ["sqs"]
        return {
            "endpoints-needed": f"nodes are in isolated subnets, and reach {', '.join(needed)} by endpoints of the VPC "
            "alone, beside those of gpu_constructs.network.private_vpc: private_vpc(..., more_services=...)"
        }

    @staticmethod
    def _isolated(vpc: ec2.IVpc, chosen: Sequence[ec2.ISubnet]) -> bool:
        isolated = {subnet.subnet_id for subnet in vpc.isolated_subnets}
        return any(subnet.subnet_id in isolated for subnet in chosen)


def default_root(runtime: ServingRuntime, source: ModelSource) -> Volume:
    """Return the root volume of a node: room for machine image, container image and model, and quick to fill."""
    size = source.size_gib or (model.ASSUMED_GIB if source.bucket else 0)
    wanted = ceil(_IMAGE_GIB + 1.5 * runtime.image_gib + size + _ROOM_GIB)
    return Volume(max(200, wanted), throughput_mb_s=_THROUGHPUT_MIB_S)


def _by_key(listener: Listener) -> bool:
    bucket = listener.access_logs
    return not isinstance(bucket, bool) and bucket.encryption_key is not None


def _no_types() -> Problem:
    return Problem(
        what="instance_types",
        given="none",
        allowed="at least one instance type",
        remedy='pass for example ["g5.xlarge"]',
    )


def _no_subnets() -> Problem:
    return Problem(
        what="vpc_subnets",
        given="a selection without subnets",
        allowed="a selection with at least one subnet of the VPC",
        remedy="select private subnets that exist, or add some with egress (a NAT gateway) to the VPC",
    )


def _selection_without_vpc() -> Problem:
    return Problem(
        what="vpc_subnets",
        given="a selection without a VPC",
        allowed="left out where the tier creates its VPC",
        remedy="pass the vpc whose subnets are selected, or leave vpc_subnets out",
    )
