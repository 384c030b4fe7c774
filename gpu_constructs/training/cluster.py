"""A cluster of GPU nodes that train one model together.

TrainingCluster(self, "Cluster", instance_type="p4d.24xlarge", node_count=2)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jsii
from aws_cdk import Annotations
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from gpu_constructs.checks import Problem, raise_all
from gpu_constructs.doubts import warn
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network import efa, subnets
from gpu_constructs.network.placement import create_placement_group
from gpu_constructs.network.vpc import as_zone, candidates, create_vpc, describe
from gpu_constructs.node_group import block_devices, sizes
from gpu_constructs.node_group import launch_template as node_rules
from gpu_constructs.node_group.instance_type import InstanceType, resolve
from gpu_constructs.node_group.launch_template import GpuLaunchTemplate
from gpu_constructs.node_group.node_group import GpuNodeGroup
from gpu_constructs.storage import checkpoints as checkpoint_storage
from gpu_constructs.storage import lustre as lustre_storage
from gpu_constructs.storage import lustre_rules
from gpu_constructs.storage.checkpoints import Checkpoints
from gpu_constructs.storage.lustre import LustreStorage
from gpu_constructs.storage.lustre_rules import Lustre
from gpu_constructs.storage.volumes import Volume
from gpu_constructs.tokens import known


@jsii.implements(iam.IGrantable, ec2.IConnectable)
class TrainingCluster(Construct):
    """GPU nodes in one zone, close to each other, with EFA between them, a Lustre file system and a checkpoint bucket.

    Nodes bill from the moment they run. They start once the file system is there. The group keeps `node_count` of them,
    may have one more while one is replaced, and may be scaled to none; a later deployment leaves a size that was
    changed as it is.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        instance_type: The type, such as "p4d.24xlarge", or `GpuInstance(...)` for hardware newer than the catalogue.
        node_count: Nodes wanted.
        vpc: The VPC. By default one is created in one zone, with private subnets, a NAT gateway (about 0.045 USD an
            hour in us-east-1) and an S3 gateway endpoint.
        availability_zone: The one zone of nodes and file system. Needed where the subnets are in several; by default,
            with a VPC of the cluster's own, the first of the account, which often has no p4d or p5.
        vpc_subnets: Subnets of the VPC; the first one in the zone is used. By default the private ones with egress.
        security_groups: Security groups of the nodes beside the cluster's own.
        file_system: A Lustre file system to create, or one that exists. By default `Lustre.scratch()`: 1200 GiB for
            about 168 USD a month. `Lustre.none()` for none.
        checkpoints: Where checkpoints go. By default a bucket is created, and kept when the stack is deleted.
        root_volume: The root volume of each node. By default 200 GiB of gp3, about 16 USD a month.
        data_volume: A second volume of each node, attached as /dev/sdf and empty. By default there is none.
        role: The role of the nodes. By default one is created that lets them be managed by Systems Manager. Either is
            allowed to read and write the checkpoint bucket.

    Attributes:
        vpc: The VPC.
        node_group: The nodes.
        auto_scaling_group: The L2 Auto Scaling group of the nodes.
        launch_template: The L2 launch template of the nodes.
        file_system: The file system; `None` with `Lustre.none()`.
        checkpoint_bucket: The bucket for checkpoints.
        role: The role of the nodes.

    Raises:
        GpuConstructsError: If something about it would fail at deploy; all that is known is in one message.

    The L1 resources beneath are the `node.default_child` of the attributes above.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        instance_type: InstanceType,
        node_count: int,
        vpc: ec2.IVpc | None = None,
        availability_zone: str | None = None,
        vpc_subnets: ec2.SubnetSelection | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] = (),
        file_system: Lustre | LustreStorage | None = None,
        checkpoints: Checkpoints = Checkpoints(),
        root_volume: Volume | None = None,
        data_volume: Volume | None = None,
        role: iam.IRole | None = None,
    ) -> None:
        super().__init__(scope, id)
        network = _Network(vpc, vpc_subnets, availability_zone)
        file_system = file_system or Lustre.scratch()
        raise_all(
            [
                *_problems(instance_type, node_count, network),
                *_file_system_problems(self, file_system),
                *block_devices.problems(root_volume, data_volume),
            ],
            self.node.path,
        )

        self.vpc = vpc or create_vpc(self, "Vpc", availability_zone=availability_zone)
        subnet = network.subnet(self.vpc)
        template = self._create_launch_template(instance_type, security_groups, role, root_volume, data_volume)
        self.node_group = self._create_node_group(template, subnet, node_count)
        self.auto_scaling_group = self.node_group.auto_scaling_group
        self.launch_template = template.launch_template
        self.role = template.role
        self.checkpoint_bucket = self._create_checkpoint_bucket(checkpoints)
        self.file_system = self._create_file_system(file_system, subnet)

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the nodes."""
        return self.node_group.connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The principal to which grants for the nodes go."""
        return self.node_group.grant_principal

    def _create_launch_template(
        self,
        instance_type: InstanceType,
        security_groups: Sequence[ec2.ISecurityGroup],
        role: iam.IRole | None,
        root_volume: Volume | None,
        data_volume: Volume | None,
    ) -> GpuLaunchTemplate:
        return GpuLaunchTemplate(
            self,
            "LaunchTemplate",
            instance_type=instance_type,
            vpc=self.vpc,
            security_groups=security_groups,
            placement_group=create_placement_group(self, "PlacementGroup"),
            root_volume=root_volume,
            data_volume=data_volume,
            role=role,
        )

    def _create_node_group(self, template: GpuLaunchTemplate, subnet: ec2.ISubnet, node_count: int) -> GpuNodeGroup:
        nodes = GpuNodeGroup(
            self,
            "Nodes",
            launch_template=template,
            vpc_subnets=ec2.SubnetSelection(subnets=[subnet]),
            max_capacity=node_count + sizes.SURGE,
            desired_capacity=node_count,
        )
        # A node that boots before its way out exists cannot reach Systems Manager or fetch anything.
        nodes.node.add_dependency(subnet.internet_connectivity_established)
        return nodes

    def _create_checkpoint_bucket(self, checkpoints: Checkpoints) -> s3.IBucket:
        bucket = checkpoints.bucket or checkpoint_storage.create_bucket(self, "Checkpoints")
        checkpoint_storage.grant_read_write(bucket, self.role)
        return bucket

    def _create_file_system(self, wanted: Lustre | LustreStorage, subnet: ec2.ISubnet) -> LustreStorage | None:
        if isinstance(wanted, Lustre):
            if wanted.deployment_type is None:
                return None
            storage = LustreStorage(self, "FileSystem", vpc=self.vpc, subnet=subnet, lustre=wanted)
            self._warn_of_kept_file_system(wanted)
        else:
            storage = wanted
        storage.allow_from(self)
        self._warn_of_tcp(storage)
        # GPU nodes must not bill for the minutes that a file system takes to come up, nor for one that fails.
        self.node_group.node.add_dependency(storage)
        return storage

    def _warn_of_tcp(self, storage: LustreStorage) -> None:
        instance = self.node_group.launch_template.instance
        doubts = lustre_rules.client_doubts(
            efa=storage.efa,
            instance=instance.name,
            efa_interfaces=instance.max_efa_interfaces,
            nitro_version=instance.nitro_version,
        )
        warn(self, doubts)

    def _warn_of_kept_file_system(self, lustre: Lustre) -> None:
        if lustre.kept and self.vpc.node.scope is self:
            Annotations.of(self).add_warning_v2(
                "gpu-constructs:kept-file-system",
                "the persistent file system is kept when the stack is deleted, and the VPC that the cluster creates "
                "cannot be deleted before it; pass a vpc of your own, which outlives the stack",
            )


@dataclass(frozen=True)
class _Network:
    """Where the user wants the cluster to be."""

    vpc: ec2.IVpc | None
    selection: ec2.SubnetSelection | None
    availability_zone: str | None

    def subnet(self, vpc: ec2.IVpc) -> ec2.ISubnet:
        """Return the subnet of the cluster; only after `problems` found none."""
        chosen = self._choose(vpc)
        assert not isinstance(chosen, Problem)
        return chosen

    def problems(self, instance: GpuInstance | None) -> list[Problem]:
        """Say why there is no subnet for the cluster; nothing if there is one."""
        if self.vpc is None:
            return [] if self.selection is None else [_selection_without_vpc()]
        chosen = self._choose(self.vpc)
        if isinstance(chosen, Problem):
            return [chosen]
        if instance is None:
            return []
        count = len(efa.interfaces(instance))
        return subnets.public_problems(describe(self.vpc, chosen), interface_count=count)

    def _choose(self, vpc: ec2.IVpc) -> ec2.ISubnet | Problem:
        found = candidates(vpc, self.selection)
        if isinstance(found, Problem):
            return found
        zone = None if self.availability_zone is None else as_zone(self.availability_zone)
        index = subnets.choose([describe(vpc, subnet) for subnet in found], zone)
        return index if isinstance(index, Problem) else found[index]


def _problems(instance_type: InstanceType, node_count: int, network: _Network) -> list[Problem]:
    instance = resolve(instance_type)
    facts = None if isinstance(instance, Problem) else instance
    return [
        *([instance] if isinstance(instance, Problem) else node_rules.problems(instance)),
        *sizes.node_count_problems(known(node_count)),
        *network.problems(facts),
    ]


def _file_system_problems(scope: Construct, file_system: Lustre | LustreStorage) -> list[Problem]:
    return lustre_storage.problems(file_system, scope) if isinstance(file_system, Lustre) else []


def _selection_without_vpc() -> Problem:
    return Problem(
        what="vpc_subnets",
        given="a selection without a VPC",
        allowed="left out where the cluster creates its VPC",
        remedy="pass the vpc whose subnets are selected, or leave vpc_subnets out",
    )
