"""What a training cluster asks of its network, its nodes and its file system together, and what is wrong with that."""

from __future__ import annotations

from dataclasses import dataclass

from aws_cdk import aws_ec2 as ec2

from gpu_constructs import image_rules
from gpu_constructs.capacity import Capacity
from gpu_constructs.checks import Problem, Unknown
from gpu_constructs.images import GpuImage
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network import addresses, subnets
from gpu_constructs.network import efa as efa_layout
from gpu_constructs.network.vpc import as_zone, candidates, describe
from gpu_constructs.node_group import capacity_rules, internet_rules, market, sizes
from gpu_constructs.node_group.node import Node
from gpu_constructs.on_node.boot.internet import internet_hosts
from gpu_constructs.storage import lustre as lustre_storage
from gpu_constructs.storage import place_rules
from gpu_constructs.storage.lustre import LustreStorage
from gpu_constructs.storage.lustre_rules import Lustre
from gpu_constructs.tokens import is_token, known


@dataclass(frozen=True)
class Network:
    """Where the user wants the cluster to be."""

    vpc: ec2.IVpc | None
    selection: ec2.SubnetSelection | None
    availability_zone: str | None

    def subnet(self, vpc: ec2.IVpc) -> ec2.ISubnet:
        """Return the subnet of the cluster; only after `problems` found none."""
        if self.vpc is None:
            return vpc.private_subnets[0]
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

    @property
    def isolated(self) -> bool:
        """Whether the subnet is known, and has no way to the internet that CDK knows of."""
        chosen = None if self.vpc is None else self._choose(self.vpc)
        if self.vpc is None or chosen is None or isinstance(chosen, Problem):
            return False
        return chosen.subnet_id in {subnet.subnet_id for subnet in self.vpc.isolated_subnets}

    def _choose(self, vpc: ec2.IVpc) -> ec2.ISubnet | Problem:
        found = candidates(vpc, self.selection)
        if isinstance(found, Problem):
            return found
        zone = None if self.availability_zone is None else as_zone(self.availability_zone)
        index = subnets.choose([describe(vpc, subnet) for subnet in found], zone)
        return index if isinstance(index, Problem) else found[index]


def problems(
    region: str | Unknown, node: Node, node_count: int, network: Network, file_system: Lustre | LustreStorage
) -> list[Problem]:
    """Say all that would fail about a cluster in a Region; nothing if nothing is known to."""
    return [
        *node.problems(region),
        *sizes.node_count_problems(known(node_count)),
        *network.problems(node, node_count),
        *network.capacity_problems(node.capacity),
        *_file_system_problems(region, file_system, network),
        *_boot_problems(node, file_system, network),
    ]


def file_system_doubts(file_system: Lustre | LustreStorage, network: Network) -> dict[str, str]:
    """Say what looks wrong about a file system and where it is, by the code of the warning."""
    if isinstance(file_system, Lustre):
        return _kept_doubts(file_system, network)
    new_vpc = network.vpc is None
    found = place_rules.vpc_doubts(same_vpc=_same_vpc(file_system.vpc, network.vpc), clients_get_a_vpc=new_vpc)
    if network.vpc is None:
        return found
    zones = (file_system.availability_zone, network.subnet(network.vpc).availability_zone)
    own, of_nodes = (None if zone is None else as_zone(zone) for zone in zones)
    assert of_nodes is not None
    return {**found, **place_rules.zone_doubts(own, of_nodes, efa=file_system.efa)}


def boots(image: GpuImage | None) -> bool:
    """Return whether nodes boot by `Bootstrap.standalone`: where it knows its way on their image."""
    return image is None or image.system in image_rules.BOOTS


def boot_doubts(node: Node) -> dict[str, str]:
    """Say what looks wrong about how nodes boot, by the code of the warning."""
    assert isinstance(node.instance, GpuInstance)
    image = node.image or GpuImage.default(node.instance, boots=node.boots)
    if node.boots:
        return {}
    return {
        "image-not-booted": f"nodes boot on {', '.join(image_rules.BOOTS)}; on {image.system} they start what the "
        "image starts, mount no file system, and count as soon as EC2 has started them"
    }


def _boot_problems(node: Node, file_system: Lustre | LustreStorage, network: Network) -> list[Problem]:
    if not node.boots or not isinstance(node.instance, GpuInstance) or not network.isolated:
        return []
    image = node.image or GpuImage.default(node.instance, boots=True)
    hosts = internet_hosts(
        system=image.system or "",
        install_cuda=image.install_cuda,
        lustre=isinstance(file_system, LustreStorage) or file_system.deployment_type is not None,
        efa=efa_layout.has_efa(node.instance, node.efa),
    )
    return internet_rules.problems(
        hosts,
        isolated=True,
        remedy="use the Deep Learning AMI on al2023, which needs none of them, or an image that has what is missing",
    )


def _file_system_problems(
    region: str | Unknown, file_system: Lustre | LustreStorage, network: Network
) -> list[Problem]:
    if isinstance(file_system, Lustre):
        return lustre_storage.problems(file_system, region)
    return place_rules.problems(created_in_a_vpc=file_system.vpc is not None, clients_get_a_vpc=network.vpc is None)


def _same_vpc(one: ec2.IVpc | None, other: ec2.IVpc | None) -> bool | None:
    if one is None or other is None:
        return None
    first, second = one.vpc_id, other.vpc_id
    # A name and a token may stand for the same VPC.
    return first == second if is_token(first) == is_token(second) else None


def _kept_doubts(file_system: Lustre, network: Network) -> dict[str, str]:
    """Say that a stack cannot be deleted whole, by the code of the warning."""
    if network.vpc is not None or not file_system.kept:
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
