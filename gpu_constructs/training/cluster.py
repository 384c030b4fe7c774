"""A cluster of GPU nodes that train one model together.

TrainingCluster(self, "Cluster", instance_type="p4d.24xlarge", node_count=2)
"""

from __future__ import annotations

from collections.abc import Sequence

import jsii
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from gpu_constructs.capacity import Capacity
from gpu_constructs.doubts import refuse, warn
from gpu_constructs.images import GpuImage
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network import efa as efa_layout
from gpu_constructs.network.efa import Efa
from gpu_constructs.network.placement import create_placement_group
from gpu_constructs.network.vpc import create_vpc, way_out
from gpu_constructs.node_group import capacity_rules, market, sizes
from gpu_constructs.node_group.bootstrap import Bootstrap
from gpu_constructs.node_group.instance_type import InstanceType
from gpu_constructs.node_group.launch_template import GpuLaunchTemplate
from gpu_constructs.node_group.node import Node
from gpu_constructs.node_group.node_group import GpuNodeGroup
from gpu_constructs.storage import checkpoints as checkpoint_storage
from gpu_constructs.storage import lustre_rules
from gpu_constructs.storage.checkpoints import Checkpoints
from gpu_constructs.storage.lustre import LustreStorage
from gpu_constructs.storage.lustre_rules import Lustre
from gpu_constructs.storage.volumes import Volume
from gpu_constructs.tokens import region_of
from gpu_constructs.training import rules
from gpu_constructs.training.rules import Network


@jsii.implements(iam.IGrantable, ec2.IConnectable)
class TrainingCluster(Construct):
    """GPU nodes in one zone, close to each other, with EFA between them, a Lustre file system and a checkpoint bucket.

    Nodes bill from the moment they run. They start once the file system is there. The group keeps `node_count` of them,
    may have one more while one is replaced (not where capacity is reserved), and may be scaled to none; a later
    deployment leaves a size that was changed as it is.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        instance_type: The type, such as "p4d.24xlarge", or `GpuInstance(...)` for hardware newer than the catalogue.
        node_count: Nodes wanted.
        vpc: The VPC. By default one is created in one zone, with private subnets, a NAT gateway (about 0.045 USD an
            hour in us-east-1) and an S3 gateway endpoint.
        availability_zone: The one zone of nodes and file system. Needed where the subnets are in several; by default,
            with a VPC of the cluster's own, the first of the account, which often has no p4d or p5.
        vpc_subnets: Subnets of the VPC; the first one in the zone is used. By default the private ones with egress, or,
            in a VPC that has none, the isolated ones, see `gpu_constructs.network.private_vpc`.
        security_groups: Security groups of the nodes beside the cluster's own.
        capacity: How the nodes are bought. By default on demand. On demand and as spot they are in a cluster placement
            group; in a reservation in its own, if it has one; in a Capacity Block, which needs none, in none.
        efa: Whether and how nodes get EFA. By default wherever the type has it; `Efa.REQUIRED` to be told where it has
            none.
        image: The machine image of the nodes. By default the newest Deep Learning Base AMI on Amazon Linux 2023, looked
            up at each deployment: nodes that start after one may have a newer image than those that run, so pin it for
            long runs (`GpuImage.dlami(pinned=...)`). V100 and older GPUs need an image of your own.
        file_system: A Lustre file system to create, or one that exists. By default `Lustre.scratch()`: 1200 GiB for
            about 168 USD a month. `Lustre.none()` for none.
        checkpoints: Where checkpoints go. By default a bucket is created, and kept when the stack is deleted.
        root_volume: The root volume of each node. By default 200 GiB of gp3, about 16 USD a month.
        data_volume: A second volume of each node, attached as /dev/sdf and empty. By default there is none.
        role: The role of the nodes. By default one is created that lets them be managed by Systems Manager. Either is
            allowed to read and write the checkpoint bucket.
        allow_retired: Whether a type that AWS has retired (P2, P3, G3) is taken, with a warning. By default it is
            refused.

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
        capacity: Capacity = Capacity.on_demand(),
        efa: Efa = Efa.AUTO,
        image: GpuImage | None = None,
        file_system: Lustre | LustreStorage | None = None,
        checkpoints: Checkpoints = Checkpoints(),
        root_volume: Volume | None = None,
        data_volume: Volume | None = None,
        role: iam.IRole | None = None,
        allow_retired: bool = False,
    ) -> None:
        super().__init__(scope, id)
        node = Node(
            instance_type=instance_type,
            capacity=capacity,
            efa=efa,
            image=image,
            allow_retired=allow_retired,
            root_volume=root_volume,
            data_volume=data_volume,
            security_groups=1 + len(security_groups),
            boots=rules.boots(image),
        )
        network = Network(vpc, vpc_subnets, availability_zone or market.availability_zone(capacity))
        file_system = file_system or Lustre.scratch()
        refuse(self, rules.problems(region_of(self), node, node_count, network, file_system))
        warn(self, {**network.doubts(capacity), **rules.file_system_doubts(file_system, network)})
        warn(self, rules.boot_doubts(node))

        self.vpc = vpc or create_vpc(self, "Vpc", availability_zone=network.availability_zone)
        subnet = network.subnet(self.vpc)
        self.checkpoint_bucket: s3.IBucket = checkpoints.bucket or checkpoint_storage.create_bucket(self, "Checkpoints")
        self.file_system = self._create_file_system(file_system, subnet)
        template = self._create_launch_template(node, security_groups, role)
        self.node_group = self._create_node_group(template, subnet, node_count)
        self.auto_scaling_group = self.node_group.auto_scaling_group
        self.launch_template = template.launch_template
        self.role = template.role
        checkpoint_storage.grant_read_write(self.checkpoint_bucket, self.role)
        self._connect_file_system()

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the nodes."""
        return self.node_group.connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The principal to which grants for the nodes go."""
        return self.node_group.grant_principal

    def _create_launch_template(
        self, node: Node, security_groups: Sequence[ec2.ISecurityGroup], role: iam.IRole | None
    ) -> GpuLaunchTemplate:
        assert isinstance(node.instance, GpuInstance)
        together = capacity_rules.placed_together(node.capacity, node.instance)
        return GpuLaunchTemplate(
            self,
            "LaunchTemplate",
            instance_type=node.instance,
            vpc=self.vpc,
            image=node.image,
            capacity=node.capacity,
            efa=node.efa,
            bootstrap=self._bootstrap(boots=node.boots),
            security_groups=security_groups,
            placement_group=create_placement_group(self, "PlacementGroup") if together else None,
            root_volume=node.root_volume,
            data_volume=node.data_volume,
            role=role,
            allow_retired=node.allow_retired,
        )

    def _bootstrap(self, *, boots: bool) -> Bootstrap:
        if not boots:
            return Bootstrap.none()
        return Bootstrap.standalone(file_system=self.file_system, records=self.checkpoint_bucket)

    def _create_node_group(self, template: GpuLaunchTemplate, subnet: ec2.ISubnet, node_count: int) -> GpuNodeGroup:
        surge = 0 if template.capacity.limited else sizes.SURGE
        nodes = GpuNodeGroup(
            self,
            "Nodes",
            launch_template=template,
            vpc_subnets=ec2.SubnetSelection(subnets=[subnet]),
            max_capacity=node_count + surge,
            desired_capacity=node_count,
        )
        # A node that boots before its way out exists cannot reach Systems Manager or fetch anything.
        nodes.node.add_dependency(*way_out(self.vpc, subnet))
        return nodes

    def _create_file_system(self, wanted: Lustre | LustreStorage, subnet: ec2.ISubnet) -> LustreStorage | None:
        if not isinstance(wanted, Lustre):
            return wanted
        if wanted.deployment_type is None:
            return None
        return LustreStorage(self, "FileSystem", vpc=self.vpc, subnet=subnet, lustre=wanted)

    def _connect_file_system(self) -> None:
        storage = self.file_system
        if storage is None:
            return
        # The nodes wait for the file system, so that its stack cannot wait for theirs.
        storage.allow_from(self, rules_with_clients=True)
        template = self.node_group.launch_template
        instance = template.instance
        warn(
            self,
            lustre_rules.client_doubts(
                efa=storage.efa,
                instance=instance.name,
                efa_interfaces=instance.max_efa_interfaces if efa_layout.has_efa(instance, template.efa) else 0,
                nitro_version=instance.nitro_version,
                os=template.image.system,
            ),
        )
        # GPU nodes must not bill for the minutes that a file system takes to come up, nor for one that fails.
        self.node_group.node.add_dependency(storage)
