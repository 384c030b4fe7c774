"""What a node is to be, and what is wrong with that: the same for a launch template alone and for a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from gpu_constructs import capacity as capacity_values
from gpu_constructs import image_rules
from gpu_constructs.capacity import Capacity
from gpu_constructs.checks import Problem, Unknown
from gpu_constructs.doubts import warn
from gpu_constructs.images import GpuImage
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network import efa as efa_layout
from gpu_constructs.network import interface_rules, placement_rules
from gpu_constructs.network.efa import Efa
from gpu_constructs.network.placement import strategy_of
from gpu_constructs.network.subnets import public_remedy
from gpu_constructs.node_group import block_devices, capacity_rules, market
from gpu_constructs.node_group.instance_type import InstanceType, resolve, warn_of_type
from gpu_constructs.node_group.machine_image import without_tokens
from gpu_constructs.storage.volumes import Volume
from gpu_constructs.tokens import known


@dataclass(frozen=True, kw_only=True)
class Node:
    """A wish for a node, as the arguments of a construct say it; `GpuLaunchTemplate` documents each.

    Attributes:
        instance: The facts about the instance type, or the reason why there are none.
        placement_strategy: The strategy of its placement group, in EC2's words.
    """

    instance_type: InstanceType
    capacity: Capacity
    efa: Efa
    image: GpuImage | None
    allow_retired: bool
    root_volume: Volume | None
    data_volume: Volume | None
    public_address: bool | None = None
    placement_group: ec2.IPlacementGroup | None = None
    security_groups: int = 1
    boots: bool = False  # by Bootstrap.standalone
    instance: GpuInstance | Problem = field(init=False)
    placement_strategy: str | Unknown | None = field(init=False)

    def __post_init__(self) -> None:
        """Look the type up once, and ask CDK once."""
        placement_group = self.placement_group or self.capacity.placement_group
        object.__setattr__(self, "placement_strategy", strategy_of(placement_group))
        object.__setattr__(self, "instance", resolve(self.instance_type, allow_retired=self.allow_retired))

    def problems(self, region: str | Unknown) -> list[Problem]:
        """Say why there can be no such node in a Region; nothing if there can."""
        bought = market.plain(self.capacity)
        of_type = [self.instance] if isinstance(self.instance, Problem) else self._problems_of(self.instance, region)
        return [
            *of_type,
            *capacity_values.problems(bought),
            *interface_rules.group_count_problems(self.security_groups),
            *block_devices.problems(self.root_volume, self.data_volume),
        ]

    def warn(self, scope: Construct) -> None:
        """Warn of what looks wrong; only where there are no problems."""
        assert isinstance(self.instance, GpuInstance)
        bought = market.plain(self.capacity)
        warn_of_type(scope, self.instance)
        warn(scope, image_rules.warnings(self.instance, without_tokens(self.image), boots=self.boots))
        warn(scope, block_devices.root_doubts(self.root_volume))
        warn(scope, capacity_values.doubts(bought))
        warn(scope, capacity_rules.placement_doubts(bought, given=self.placement_group is not None))

    def _problems_of(self, instance: GpuInstance, region: str | Unknown) -> list[Problem]:
        bought = market.plain(self.capacity)
        return [
            *image_rules.problems(instance, without_tokens(self.image), region, boots=self.boots),
            *efa_layout.problems(instance, self.efa),
            *interface_rules.public_address_problems(
                interface_count=len(efa_layout.interfaces(instance, self.efa)),
                asked=None if self.public_address is None else known(self.public_address),
                remedy=public_remedy(efa_layout.single_interface_mode(instance)),
            ),
            *placement_rules.problems(instance, self.placement_strategy),
            *capacity_rules.type_problems(bought, instance),
            *capacity_rules.placement_problems(bought, given=self.placement_group is not None),
        ]
