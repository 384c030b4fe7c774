"""The Auto Scaling group of GPU nodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import jsii
from aws_cdk import Annotations, ArnFormat, Duration, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct, IValidation

from gpu_constructs import image_rules
from gpu_constructs.capacity import Capacity
from gpu_constructs.checks import Problem
from gpu_constructs.doubts import refuse, warn
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network.subnets import Zone
from gpu_constructs.network.vpc import candidates
from gpu_constructs.node_group import capacity_rules, hook_rules, hooks, market, mixed, places, sizes
from gpu_constructs.node_group.calendar import BlockCalendar
from gpu_constructs.node_group.hooks import HookProperty
from gpu_constructs.node_group.instance_type import InstanceType, resolve
from gpu_constructs.node_group.launch_template import GpuLaunchTemplate
from gpu_constructs.node_group.machine_image import without_tokens
from gpu_constructs.on_node import permissions
from gpu_constructs.tokens import known


@jsii.implements(iam.IGrantable, ec2.IConnectable)
class GpuNodeGroup(Construct):
    """An Auto Scaling group of nodes that are all started from one launch template.

    The stack does not wait for nodes: it succeeds when AWS has none to give today, and they come when it has. A new
    version of the launch template is taken by new nodes; running ones are left alone. A later deployment does not reset
    a size that was changed in the meantime, unless the template's own numbers change.

    How nodes are bought is said by the launch template. Spot, and several instance types, make the group one with a
    mixed instances policy. In a Capacity Block with a start the group is empty until then.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        launch_template: What a node is.
        vpc_subnets: Where nodes run. By default the private subnets with egress of the template's VPC.
        min_capacity: Fewest nodes. By default 0.
        max_capacity: Most nodes.
        desired_capacity: Nodes at first, or, in a Capacity Block with a start, from then on. By default `min_capacity`,
            and in such a block, which is paid for in any case, `max_capacity`.
        lifecycle_hooks: Lifecycle hooks that something else than the node completes; those that the node completes are
            given to its `Bootstrap`. Both hold from the first node on. By default there are none.
        instance_types: Types that take the place of the template's, of its architecture and with room for its network
            interfaces. On demand the first one that AWS has is taken; for spot, the pool that is least likely to be
            interrupted and cheap. By default the template's own.

    Attributes:
        launch_template: What a node is.
        auto_scaling_group: The L2 Auto Scaling group.
        launches_suspended: The alarm that says that nodes cannot boot, and that the group launches no more; `None` but
            for a `Bootstrap.standalone` with records.
        calendar: When nodes come and go, and the topic that is told before it is over; `None` but for a Capacity Block.

    Raises:
        GpuConstructsError: If Auto Scaling would refuse the sizes, the subnets, the types or the hooks, nodes cannot be
            bought in this way there, nodes with several interfaces would be in a public subnet, or the subnets have
            fewer IP addresses than the nodes take at first.

    The L2 beneath is `group.auto_scaling_group`, and its `node.default_child` the L1.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        launch_template: GpuLaunchTemplate,
        vpc_subnets: ec2.SubnetSelection | None = None,
        min_capacity: int = 0,
        max_capacity: int,
        desired_capacity: int | None = None,
        lifecycle_hooks: Sequence[HookProperty] = (),
        instance_types: Sequence[InstanceType] = (),
    ) -> None:
        super().__init__(scope, id)
        refuse(self, places.template_problems(launch_template))
        self.launch_template = launch_template
        size = _Size(min_capacity, max_capacity, desired_capacity)
        subnets_chosen = candidates(launch_template.vpc, vpc_subnets)
        types = self._check(size, subnets_chosen, instance_types, lifecycle_hooks)
        self.auto_scaling_group = self._create_group(size, cast("Sequence[ec2.ISubnet]", subnets_chosen), types)
        self._set_hooks(lifecycle_hooks)
        self.calendar = self._create_calendar(size)
        self.launches_suspended = self._join(types)
        if launch_template.capacity.market == "capacity-block":
            self.node.add_validation(_WarmPools(self.auto_scaling_group, launch_template.capacity))

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the nodes."""
        return self.launch_template.connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The principal to which grants for the nodes go."""
        return self.launch_template.grant_principal

    def grant(self, grantee: iam.IGrantable, *actions: str) -> iam.Grant:
        """Allow actions of Auto Scaling on this group, to its own nodes as well.

        The group is named by the beginning of the name that CloudFormation gives it, not by a reference: the launch
        template waits for the policy of its role, so a policy of that role that waited for the group would close a
        circle ("Circular dependency between resources").

        Args:
            grantee: Who is allowed.
            actions: What, for example "autoscaling:SetDesiredCapacity".

        See https://docs.aws.amazon.com/autoscaling/ec2/userguide/control-access-using-iam.html
        """
        stack = Stack.of(self)
        resource = cast("autoscaling.CfnAutoScalingGroup", self.auto_scaling_group.node.default_child)
        name = f"{stack.stack_name}-{stack.get_logical_id(resource)}-*"
        arn = stack.format_arn(
            service="autoscaling",
            resource="autoScalingGroup:*",
            resource_name=f"autoScalingGroupName/{name}",
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )
        return iam.Grant.add_to_principal(grantee=grantee, actions=list(actions), resource_arns=[arn])

    def _check(
        self,
        size: _Size,
        chosen: Sequence[ec2.ISubnet] | Problem,
        instance_types: Sequence[InstanceType],
        lifecycle_hooks: Sequence[HookProperty],
    ) -> list[GpuInstance]:
        template, resolved = self.launch_template, [resolve(name) for name in instance_types]
        types = list(dict.fromkeys(found for found in resolved if isinstance(found, GpuInstance)))
        subnets = places.describe_all(template, chosen)
        zones = list(dict.fromkeys(s.zone for s in subnets if isinstance(s.zone, Zone)))
        bought = market.plain(template.capacity)
        of_nodes = template.bootstrap.lifecycle_hooks
        held = [*hooks.as_hooks(of_nodes, completed_by_node=True), *hooks.as_hooks(lifecycle_hooks)]
        refuse(
            self,
            [
                *size.problems(),
                *([chosen] if isinstance(chosen, Problem) else places.problems(template, subnets, size.at_first)),
                *(found for found in resolved if isinstance(found, Problem)),
                *self._type_problems(types),
                *capacity_rules.group_problems(bought, zones, types=len(types), min_capacity=known(size.min_capacity)),
                *hooks.struct_problems([*of_nodes, *lifecycle_hooks]),
                *hook_rules.problems(held),
            ],
        )
        placed, most = template.placement_strategy == "cluster", known(size.max_capacity)
        warn(self, capacity_rules.group_doubts(bought, types=len(types), placed=placed, max_capacity=most))
        warn(self, places.doubts(template, subnets, most))
        warn(self, hook_rules.doubts(held, leaves_a_block=template.capacity.end is not None))
        return types

    def _type_problems(self, types: Sequence[GpuInstance]) -> list[Problem]:
        template = self.launch_template
        bought, image = market.plain(template.capacity), without_tokens(template.image)
        each = [
            problem
            for instance in types
            for problem in [
                *image_rules.problems(instance, image),
                *capacity_rules.type_problems(bought, instance),
            ]
        ]
        return [*mixed.problems(template.instance, template.efa, types), *each]

    def _create_group(
        self, size: _Size, chosen: Sequence[ec2.ISubnet], types: Sequence[GpuInstance]
    ) -> autoscaling.AutoScalingGroup:
        template, capacity = self.launch_template.launch_template, self.launch_template.capacity
        policy = market.mixed_instances_policy(template, capacity, types)
        group = autoscaling.AutoScalingGroup(
            self,
            "Resource",
            vpc=self.launch_template.vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=chosen),
            launch_template=None if policy else template,
            mixed_instances_policy=policy,
            capacity_rebalance=True if capacity.market == "spot" else None,
            min_capacity=size.min_capacity,
            max_capacity=size.max_capacity,
            desired_capacity=0 if capacity.start else size.desired_capacity,
            # A node with eight GPUs takes minutes to pass EC2's own status checks.
            health_checks=autoscaling.HealthChecks.ec2(grace_period=Duration.minutes(10)),
            ignore_unmodified_size_properties=True,
        )
        # CDK warns that a desired capacity is reset on every deployment (https://github.com/aws/aws-cdk/issues/5215);
        # the line above is what prevents it.
        Annotations.of(group).acknowledge_warning(
            "@aws-cdk/aws-autoscaling:desiredCapacitySet", "IgnoreUnmodifiedGroupSizeProperties keeps the running size"
        )
        return group

    def _set_hooks(self, lifecycle_hooks: Sequence[HookProperty]) -> None:
        of_nodes = self.launch_template.bootstrap.lifecycle_hooks
        resource = cast("autoscaling.CfnAutoScalingGroup", self.auto_scaling_group.node.default_child)
        hooks.set_hooks(resource, [*of_nodes, *lifecycle_hooks])
        if of_nodes and self.launch_template.standalone is None:
            self.grant(self, *hooks.NODE_ACTIONS)

    def _join(self, types: Sequence[GpuInstance]) -> cloudwatch.Alarm | None:
        standalone = self.launch_template.standalone
        if standalone is None:
            return None
        standalone.add_types(types)
        self.grant(self, *permissions.GROUP_ACTIONS)
        records = self.launch_template.bootstrap.records
        return standalone.alarm_of(self, self.auto_scaling_group) if records else None

    def _create_calendar(self, size: _Size) -> BlockCalendar | None:
        template = self.launch_template
        if template.capacity.market != "capacity-block":
            return None
        return BlockCalendar(
            self,
            "Calendar",
            group=self.auto_scaling_group,
            capacity=template.capacity,
            instance=template.instance,
            node_count=size.max_capacity if size.desired_capacity is None else size.desired_capacity,
        )


@dataclass(frozen=True)
class _Size:
    """How many nodes the user wants."""

    min_capacity: int
    max_capacity: int
    desired_capacity: int | None

    @property
    def at_first(self) -> int:
        """Nodes that there are as soon as the group is, as far as synth knows."""
        wanted = (known(self.min_capacity), known(self.desired_capacity))
        return max((count for count in wanted if isinstance(count, int)), default=0)

    def problems(self) -> list[Problem]:
        return sizes.problems(
            min_capacity=known(self.min_capacity),
            max_capacity=known(self.max_capacity),
            desired_capacity=known(self.desired_capacity),
        )


@jsii.implements(IValidation)
class _WarmPools:
    """Looks for a warm pool that the user added to a group that cannot have one."""

    def __init__(self, group: autoscaling.AutoScalingGroup, capacity: Capacity) -> None:
        self._group = group
        self._capacity = capacity

    def validate(self) -> list[str]:
        pools = [child for child in self._group.node.find_all() if isinstance(child, autoscaling.CfnWarmPool)]
        return [str(problem) for problem in capacity_rules.warm_pool_problems(self._capacity) if pools]
