"""Where the nodes of a group can be: its subnets, against what its launch template needs."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2

from gpu_constructs.checks import UNKNOWN, Problem, Unknown
from gpu_constructs.network import addresses, efa, subnets
from gpu_constructs.network.efa import Efa
from gpu_constructs.network.subnets import Subnet
from gpu_constructs.network.vpc import describe
from gpu_constructs.node_group.launch_template import GpuLaunchTemplate


def template_problems(template: object) -> list[Problem]:
    """Say that a launch template is not one of ours, of which alone image, interfaces and capacity are known."""
    if isinstance(template, GpuLaunchTemplate):
        return []
    return [
        Problem(
            what="launch_template",
            given=f"a {type(template).__name__}",
            allowed="a GpuLaunchTemplate",
            remedy="create one; CDK's own, above all an imported one, gives a group no connections, role or user data",
        )
    ]


def describe_all(template: GpuLaunchTemplate, chosen: Sequence[ec2.ISubnet] | Problem) -> list[Subnet]:
    """Return what the rules need to know of subnets; nothing of a selection that is refused."""
    return [] if isinstance(chosen, Problem) else [describe(template.vpc, subnet) for subnet in chosen]


def problems(template: GpuLaunchTemplate, found: Sequence[Subnet], nodes_at_first: int) -> list[Problem]:
    """Say why nodes cannot be in the subnets; nothing if they can."""
    return [
        *subnets.group_problems(
            found,
            interface_count=len(efa.interfaces(template.instance, template.efa)),
            placed_together=template.placement_strategy == "cluster",
            instead=efa.single_interface_mode(template.instance),
        ),
        *_address_problems(template, found, nodes_at_first),
    ]


def doubts(template: GpuLaunchTemplate, found: Sequence[Subnet], max_capacity: int | Unknown) -> dict[str, str]:
    """Say what looks wrong about the subnets, by the code of the warning."""
    # Only a warning: the group works, and grows until the addresses are used up.
    small = [f"max_capacity: {problem}" for problem in _address_problems(template, found, max_capacity)]
    said = {"subnetsTooSmallForMaximum": "; ".join(small)} if small else {}
    # With Efa.AUTO nodes may well be spread, for example to serve: nobody said that they talk by EFA.
    if template.efa is Efa.REQUIRED and subnets.in_several_zones(found):
        said["efaAcrossZones"] = (
            "nodes with Efa.REQUIRED are spread over several zones, and EFA traffic does not leave a zone; select the "
            "subnets of one (https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa.html#efa-limits)"
        )
    if template.placement_strategy is UNKNOWN and subnets.in_several_zones(found):
        said["placementAcrossZones"] = (
            "the placement group exists and its strategy is not seen; if it is a cluster, Auto Scaling refuses the "
            f"subnets of several zones ({subnets.ONE_ZONE!r}): select those of one"
        )
    return said


def _address_problems(template: GpuLaunchTemplate, found: Sequence[Subnet], nodes: int | Unknown) -> list[Problem]:
    return addresses.problems(
        [subnet.cidr for subnet in found],
        nodes=nodes,
        addresses_per_node=efa.addresses(template.instance, template.efa),
    )
