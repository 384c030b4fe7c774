"""The launch template of GPU nodes.

template = GpuLaunchTemplate(self, "Template", instance_type="p4d.24xlarge", vpc=vpc)
nodes = GpuNodeGroup(self, "Nodes", launch_template=template, max_capacity=4)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import jsii
from aws_cdk import IStableListProducer, Lazy, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from gpu_constructs.capacity import Capacity
from gpu_constructs.doubts import refuse, warn
from gpu_constructs.images import GpuImage
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network import efa as efa_layout
from gpu_constructs.network.efa import Efa
from gpu_constructs.network.security_group import create_security_group, warn_of_groups
from gpu_constructs.node_group import block_devices, market, user_data, user_data_rules
from gpu_constructs.node_group.bootstrap import Bootstrap
from gpu_constructs.node_group.instance_type import InstanceType
from gpu_constructs.node_group.machine_image import as_machine_image
from gpu_constructs.node_group.node import Node
from gpu_constructs.storage.volumes import Volume
from gpu_constructs.tokens import region_of


@jsii.implements(iam.IGrantable, ec2.IConnectable)
class GpuLaunchTemplate(Construct):
    """A launch template for nodes of one GPU instance type, with EFA wherever the type has it.

    Nodes answer metadata requests by IMDSv2 only (hop limit 2, so that containers reach it), have encrypted volumes,
    and a security group of their own, which lets them talk to each other and to anywhere, and nobody to them.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        instance_type: The type, such as "p4d.24xlarge", or `GpuInstance(...)` for hardware newer than the catalogue.
        vpc: The VPC of the nodes.
        image: The machine image. By default the newest Deep Learning Base AMI on Amazon Linux 2023, looked up at each
            deployment; `GpuImage` says how to pin one. V100 and older GPUs need an image of your own.
        capacity: How the nodes are bought. By default on demand. What a reservation or block needs is set here; spot is
            set by `GpuNodeGroup`, and a node started from this template by anything else is bought on demand.
        efa: Whether and how nodes get EFA. By default wherever the type has it, by EFA-only interfaces beside an
            ordinary one; `Efa.OFF` for one ordinary interface.
        bootstrap: What nodes do when they start. By default what the image does by itself. Commands may be added until
            synth by `template.launch_template.user_data`.
        associate_public_ip_address: Whether nodes get a public address, which takes a type and `efa` with one
            interface. By default the subnet decides, and nodes with several interfaces get none.
        security_groups: Security groups beside the template's own; each is put on every interface.
        placement_group: A placement group for the nodes. By default EC2 places them anywhere in their zone, or, in a
            reservation, in the placement group of that.
        root_volume: The root volume. By default 200 GiB of gp3, about 16 USD a month and node in us-east-1: the image
            takes 75 GiB, containers the rest. One of less than 100 GiB gets a warning.
        data_volume: A second volume, attached as /dev/sdf (Nitro instances show it as an NVMe device) and empty: to
            format and mount it is up to you. By default there is none.
        role: The role of the nodes. By default one is created that lets them be managed by Systems Manager (sessions
            without SSH) and nothing else.
        allow_retired: Whether a type that AWS has retired (P2, P3, G3) is taken, with a warning. By default it is
            refused.

    Attributes:
        instance: The facts about the instance type.
        image: The machine image.
        capacity: How the nodes are bought.
        efa: Whether and how nodes get EFA.
        bootstrap: What nodes do when they start.
        vpc: The VPC.
        placement_group: The placement group, if there is one.
        placement_strategy: Its strategy, in EC2's words.
        role: The role.
        standalone: What nodes stand on that boot by `Bootstrap.standalone`; `None` where they do not.
        security_group: The security group of the template's own.
        launch_template: The L2 launch template.

    Raises:
        GpuConstructsError: If the type is unknown or retired, lacks the EFA that is required, cannot be bought in this
            way or be in the placement group; if the image does not fit it; if its interfaces cannot be laid out, cannot
            have the public address that was asked for, or have too many security groups; if EBS would refuse a volume;
            or if the user data is longer than EC2 takes.

    The L2 beneath is `template.launch_template`, and its `node.default_child` the L1. Of the launch template data,
    `SecurityGroupIds` and `NetworkInterfaces` belong to this construct; `connections.add_security_group` reaches every
    interface.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        instance_type: InstanceType,
        vpc: ec2.IVpc,
        image: GpuImage | None = None,
        capacity: Capacity = Capacity.on_demand(),
        efa: Efa = Efa.AUTO,
        bootstrap: Bootstrap = Bootstrap.none(),
        associate_public_ip_address: bool | None = None,
        security_groups: Sequence[ec2.ISecurityGroup] = (),
        placement_group: ec2.IPlacementGroup | None = None,
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
            public_address=associate_public_ip_address,
            placement_group=placement_group,
            security_groups=1 + len(security_groups),
            boots=bootstrap.boots,
        )
        commands = user_data.as_user_data(bootstrap)
        self.instance = self._check(node, commands.render())
        self.image = image or GpuImage.default(self.instance, boots=bootstrap.boots)
        self.capacity, self.efa, self.bootstrap, self.vpc = capacity, efa, bootstrap, vpc
        self.placement_group = placement_group or capacity.placement_group
        self.placement_strategy = node.placement_strategy
        self.role = role or self._create_role()
        self.security_group = create_security_group(
            self, "SecurityGroup", vpc=vpc, description="GPU nodes", efa=efa is not Efa.OFF
        )
        self.standalone = self._create_standalone(node) if bootstrap.boots else None
        commands = self.standalone.user_data if self.standalone else commands
        self.launch_template = self._create_launch_template(node, commands)
        self._connections = self.launch_template.connections
        for group in security_groups:
            self._connections.add_security_group(group)
        warn_of_groups(self, security_groups, efa=efa_layout.has_efa(self.instance, efa))
        self._set_what_the_l2_lacks(node)
        user_data.measure_at_synth(self, commands)

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the nodes."""
        return self._connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The principal to which grants for the nodes go."""
        return self.role.grant_principal

    def _check(self, node: Node, commands: str) -> GpuInstance:
        refuse(self, [*node.problems(region_of(self)), *user_data_rules.problems(commands)])
        node.warn(self)
        warn(self, user_data_rules.doubts(commands))
        assert isinstance(node.instance, GpuInstance)
        return node.instance

    def _create_role(self) -> iam.Role:
        return iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            description="GPU nodes",
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name("AmazonSSMManagedInstanceCore")],
        )

    def _create_standalone(self, node: Node) -> Any:
        from gpu_constructs.node_group.standalone import Standalone

        return Standalone(
            self,
            "Boot",
            bootstrap=self.bootstrap,
            instance=self.instance,
            role=self.role,
            install_cuda=self.image.install_cuda,
            data_volume=node.data_volume is not None,
            efa=self.efa,
        )

    def _create_launch_template(self, node: Node, commands: ec2.UserData) -> ec2.LaunchTemplate:
        template = ec2.LaunchTemplate(
            self,
            "Resource",
            instance_type=ec2.InstanceType(self.instance.name),
            machine_image=as_machine_image(self.image, self.instance),
            role=self.role,
            security_group=self.security_group,
            placement_group=self.placement_group,
            require_imdsv2=True,
            http_endpoint=True,
            http_put_response_hop_limit=2,
            block_devices=block_devices.block_devices(self.image.root_device, node.root_volume, node.data_volume),
            user_data=commands,
        )
        # The name of instances and volumes; CDK would end it in "/Resource".
        Tags.of(template).add("Name", self.node.path)
        block_devices.acknowledge_old_limit(template, node.root_volume, node.data_volume)
        return template

    def _set_what_the_l2_lacks(self, node: Node) -> None:
        """Own everything that is set past the L2.

        The L2 has no network interfaces (https://github.com/aws/aws-cdk/issues/14494), and its security group ids
        beside them are refused: "When a network interface is provided, the security groups must be a part of it". Hence
        they are removed here and repeated on each interface.
        """
        interfaces = efa_layout.interfaces(self.instance, self.efa)
        # A subnet that assigns public addresses would otherwise fail the launch of nodes with several interfaces.
        public_address = False if len(interfaces) > 1 else node.public_address
        groups = Lazy.list(_SecurityGroupIds(self._connections))
        template = cast("ec2.CfnLaunchTemplate", self.launch_template.node.default_child)
        template.add_property_deletion_override("LaunchTemplateData.SecurityGroupIds")
        template.add_property_override(
            "LaunchTemplateData.NetworkInterfaces",
            [_render(interface, groups, public_address=public_address) for interface in interfaces],
        )
        market.set_capacity(template, self.capacity)
        block_devices.set_unknown_throughput(template, node.root_volume, node.data_volume)


def _render(
    interface: efa_layout.NetworkInterface, groups: list[str], *, public_address: bool | None
) -> dict[str, Any]:
    rendered: dict[str, Any] = {
        "NetworkCardIndex": interface.network_card_index,
        "DeviceIndex": interface.device_index,
        "Groups": groups,
        "DeleteOnTermination": True,
    }
    if interface.interface_type != "interface":
        rendered["InterfaceType"] = interface.interface_type
    primary = (interface.network_card_index, interface.device_index) == (0, 0)
    if primary and public_address is not None:
        rendered["AssociatePublicIpAddress"] = public_address
    return rendered


@jsii.implements(IStableListProducer)
class _SecurityGroupIds:
    """Reads the security groups when the template is written, so that groups added later reach the interfaces too."""

    def __init__(self, connections: ec2.Connections) -> None:
        self._connections = connections

    def produce(self) -> list[str]:
        return [group.security_group_id for group in self._connections.security_groups]
