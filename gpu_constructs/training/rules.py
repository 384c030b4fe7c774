"""What a training cluster asks of its network, its nodes and its file system together, and what is wrong with that."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from gpu_constructs.capacity import Capacity
from gpu_constructs.checks import Problem
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network import addresses, subnets
from gpu_constructs.network import efa as efa_layout
from gpu_constructs.network.vpc import as_zone, candidates, describe
from gpu_constructs.node_group import capacity_rules, market, sizes
from gpu_constructs.node_group.node import Node
from gpu_constructs.storage import lustre as lustre_storage
from gpu_constructs.storage.lustre import LustreStorage
from gpu_constructs.storage.lustre_rules import Lustre
from gpu_constructs.tokens import known


@dataclass(frozen=True)
class Network:
    """Where the user wants the cluster to be."""

    vpc: ec2.IVpc | None
    selection: ec2.SubnetSelection | None
    availability_zone: str | None

    def subnet(self, vpc: ec2.IVpc) -> ec2.ISubnet:
        """Return the subnet of the cluster; only after `problems` found none."""
        chosen = self._choose(vpc)
        assert not isinstance(chosen, Problem)
        return chosen

    def problems(self, node: Node, node_count: int) -> list[Problem]:
        """Say why there is no subnet for the cluster; nothing if there is one."""
        if self.vpc is None:
            return [] if self.selection is None else [_selection_without_vpc()]
        chosen = self._choose(self.vpc)
        if isinstance(chosen, Problem):
            return [chosen]
        if not isinstance(node.instance, GpuInstance):
            return []
        subnet = describe(self.vpc, chosen)
        return [
            *subnets.public_problems(
                subnet,
                interface_count=len(efa_layout.interfaces(node.instance, node.efa)),
                instead=efa_layout.single_interface_mode(node.instance),
            ),
            *addresses.problems(
                [subnet.cidr],
                nodes=known(node_count),
                addresses_per_node=efa_layout.addresses(node.instance, node.efa),
            ),
        ]

    def capacity_problems(self, capacity: Capacity) -> list[Problem]:
        """Say why the zone is not that of the capacity; nothing if it is, or nothing says so."""
        zones = [] if self.availability_zone is None else [as_zone(self.availability_zone)]
        return capacity_rules.group_problems(market.plain(capacity), zones, types=1, min_capacity=0)

    def doubts(self, capacity: Capacity) -> dict[str, str]:
        """Say what looks wrong about the zone, by the code of the warning."""
        if self.vpc is not None:
            return {}
        return capacity_rules.zone_doubts(capacity, chosen=self.availability_zone is not None)

    def _choose(self, vpc: ec2.IVpc) -> ec2.ISubnet | Problem:
        found = candidates(vpc, self.selection)
        if isinstance(found, Problem):
            return found
        zone = None if self.availability_zone is None else as_zone(self.availability_zone)
        index = subnets.choose([describe(vpc, subnet) for subnet in found], zone)
        return index if isinstance(index, Problem) else found[index]


def problems(
    scope: Construct, node: Node, node_count: int, network: Network, file_system: Lustre | LustreStorage
) -> list[Problem]:
    """Say all that would fail about a cluster; nothing if nothing is known to."""
    return [
        *node.problems(scope),
        *sizes.node_count_problems(known(node_count)),
        *network.problems(node, node_count),
        *network.capacity_problems(node.capacity),
        *(lustre_storage.problems(file_system, scope) if isinstance(file_system, Lustre) else []),
    ]


def kept_file_system_doubts(file_system: Lustre | LustreStorage, network: Network) -> dict[str, str]:
    """Say that a stack cannot be deleted whole, by the code of the warning."""
    if network.vpc is not None or not isinstance(file_system, Lustre) or not file_system.kept:
        return {}
    return {
        "kept-file-system": "the persistent file system is kept when the stack is deleted, and the VPC that the "
        "cluster creates cannot be deleted before it; pass a vpc of your own, which outlives the stack"
    }


def _selection_without_vpc() -> Problem:
    return Problem(
        what="vpc_subnets",
        given="a selection without a VPC",
        allowed="left out where the cluster creates its VPC",
        remedy="pass the vpc whose subnets are selected, or leave vpc_subnets out",
    )
