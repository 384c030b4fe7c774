"""The Auto Scaling group of GPU nodes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import jsii
from aws_cdk import Annotations, Duration
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from gpu_constructs.checks import Problem, Unknown, raise_all
from gpu_constructs.network import addresses, efa, subnets
from gpu_constructs.network.efa import Efa
from gpu_constructs.network.vpc import candidates, describe
from gpu_constructs.node_group import sizes
from gpu_constructs.node_group.launch_template import GpuLaunchTemplate
from gpu_constructs.tokens import known


@jsii.implements(iam.IGrantable, ec2.IConnectable)
class GpuNodeGroup(Construct):
    """An Auto Scaling group of nodes that are all started from one launch template.

    The stack does not wait for nodes: it succeeds when AWS has none to give today, and they come when it has. A new
    version of the launch template is taken by new nodes; running ones are left alone. A later deployment does not reset
    a size that was changed in the meantime, unless the template's own numbers change.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        launch_template: What a node is.
        vpc_subnets: Where nodes run. By default the private subnets with egress of the template's VPC.
        min_capacity: Fewest nodes. By default 0.
        max_capacity: Most nodes.
        desired_capacity: Nodes at first. By default `min_capacity`.

    Attributes:
        launch_template: What a node is.
        auto_scaling_group: The L2 Auto Scaling group.

    Raises:
        GpuConstructsError: If Auto Scaling would refuse the sizes or the subnets, or nodes with several interfaces
            would be in a public subnet, or the subnets have fewer IP addresses than the nodes take at first.

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
    ) -> None:
        super().__init__(scope, id)
        chosen = candidates(launch_template.vpc, vpc_subnets)
        size = sizes.problems(
            min_capacity=known(min_capacity), max_capacity=known(max_capacity), desired_capacity=known(desired_capacity)
        )
        at_first = (known(min_capacity), known(desired_capacity))
        raise_all([*size, *_subnet_problems(launch_template, chosen, at_first)], self.node.path)
        self._warn_of_small_subnets(launch_template, cast("Sequence[ec2.ISubnet]", chosen), known(max_capacity))
        self._warn_of_zones(launch_template, cast("Sequence[ec2.ISubnet]", chosen))

        self.launch_template = launch_template
        self.auto_scaling_group = autoscaling.AutoScalingGroup(
            self,
            "Resource",
            vpc=launch_template.vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=cast("Sequence[ec2.ISubnet]", chosen)),
            launch_template=launch_template.launch_template,
            min_capacity=min_capacity,
            max_capacity=max_capacity,
            desired_capacity=desired_capacity,
            # A node with eight GPUs takes minutes to pass EC2's own status checks.
            health_checks=autoscaling.HealthChecks.ec2(grace_period=Duration.minutes(10)),
            ignore_unmodified_size_properties=True,
        )
        # CDK warns that a desired capacity is reset on every deployment (https://github.com/aws/aws-cdk/issues/5215);
        # the line above is what prevents it.
        Annotations.of(self.auto_scaling_group).acknowledge_warning(
            "@aws-cdk/aws-autoscaling:desiredCapacitySet", "IgnoreUnmodifiedGroupSizeProperties keeps the running size"
        )

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the nodes."""
        return self.launch_template.connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The principal to which grants for the nodes go."""
        return self.launch_template.grant_principal

    def _warn_of_small_subnets(
        self, template: GpuLaunchTemplate, chosen: Sequence[ec2.ISubnet], most: int | Unknown
    ) -> None:
        # Only a warning: the group works, and grows until the addresses are used up.
        for problem in _address_problems(template, chosen, most):
            Annotations.of(self).add_warning_v2("gpu-constructs:subnetsTooSmallForMaximum", f"max_capacity: {problem}")

    def _warn_of_zones(self, template: GpuLaunchTemplate, chosen: Sequence[ec2.ISubnet]) -> None:
        # With Efa.AUTO nodes may well be spread, for example to serve: nobody said that they talk by EFA.
        if template.efa is Efa.REQUIRED and subnets.in_several_zones([describe(template.vpc, s) for s in chosen]):
            Annotations.of(self).add_warning_v2(
                "gpu-constructs:efaAcrossZones",
                "nodes with Efa.REQUIRED are spread over several zones, and EFA traffic does not leave a zone; select "
                "the subnets of one (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-limits)",
            )


def _subnet_problems(
    template: GpuLaunchTemplate, chosen: Sequence[ec2.ISubnet] | Problem, at_first: Sequence[int | Unknown | None]
) -> list[Problem]:
    if isinstance(chosen, Problem):
        return [chosen]
    found = subnets.group_problems(
        [describe(template.vpc, subnet) for subnet in chosen],
        interface_count=len(efa.interfaces(template.instance, template.efa)),
        placed_together=template.placement_group is not None,
        instead=efa.single_interface_mode(template.instance),
    )
    nodes = max((count for count in at_first if isinstance(count, int)), default=0)
    return [*found, *_address_problems(template, chosen, nodes)]


def _address_problems(
    template: GpuLaunchTemplate, chosen: Sequence[ec2.ISubnet], nodes: int | Unknown
) -> list[Problem]:
    return addresses.problems(
        [describe(template.vpc, subnet).cidr for subnet in chosen],
        nodes=nodes,
        addresses_per_node=efa.addresses(template.instance, template.efa),
    )
