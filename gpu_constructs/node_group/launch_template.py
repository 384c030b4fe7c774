"""The launch template of GPU nodes.

template = GpuLaunchTemplate(self, "Template", instance_type="p4d.24xlarge", vpc=vpc)
nodes = GpuNodeGroup(self, "Nodes", launch_template=template, max_capacity=4)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

import jsii
from aws_cdk import IStableListProducer, Lazy, Tags
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

from gpu_constructs import images
from gpu_constructs.checks import Problem, raise_all
from gpu_constructs.doubts import warn
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network import efa
from gpu_constructs.network.security_group import create_security_group
from gpu_constructs.node_group import block_devices
from gpu_constructs.node_group.instance_type import InstanceType, resolve, warn_of_differences
from gpu_constructs.storage.volumes import Volume

_ROOT_DEVICE: Final = "/dev/xvda"  # of Amazon Linux 2023


@jsii.implements(iam.IGrantable, ec2.IConnectable)
class GpuLaunchTemplate(Construct):
    """A launch template for nodes of one GPU instance type, with EFA wherever the type has it.

    Nodes start from the AWS Deep Learning AMI (Amazon Linux 2023) of their architecture, answer metadata requests by
    IMDSv2 only (hop limit 2, so that containers reach it), and have encrypted volumes. They have a security group of
    their own, which lets them talk to each other and to anywhere, and nobody to them.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        instance_type: The type, such as "p4d.24xlarge", or `GpuInstance(...)` for hardware newer than the catalogue.
        vpc: The VPC of the nodes.
        security_groups: Security groups beside the template's own; each is put on every interface.
        placement_group: A placement group for the nodes. By default EC2 places them anywhere in their zone.
        root_volume: The root volume. By default 200 GiB of gp3, about 16 USD a month and node in us-east-1: the image
            takes 75 GiB, containers the rest. One of less than 100 GiB gets a warning.
        data_volume: A second volume, attached as /dev/sdf (Nitro instances show it as an NVMe device) and empty: to
            format and mount it is up to you. By default there is none.
        role: The role of the nodes. By default one is created that lets them be managed by Systems Manager (sessions
            without SSH) and nothing else.

    Attributes:
        instance: The facts about the instance type.
        vpc: The VPC.
        placement_group: The placement group, if there is one.
        role: The role.
        security_group: The security group of the template's own.
        launch_template: The L2 launch template.

    Raises:
        GpuConstructsError: If the type is unknown or retired, has no image, or its interfaces cannot be laid out; or
            if EBS would refuse a volume.

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
        security_groups: Sequence[ec2.ISecurityGroup] = (),
        placement_group: ec2.IPlacementGroup | None = None,
        root_volume: Volume | None = None,
        data_volume: Volume | None = None,
        role: iam.IRole | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.instance = self._check(instance_type, block_devices.problems(root_volume, data_volume))
        warn(self, block_devices.root_doubts(root_volume))
        self.vpc = vpc
        self.placement_group = placement_group
        self.role = role or self._create_role()
        self.security_group = create_security_group(self, "SecurityGroup", vpc=vpc, description="GPU nodes")
        self.launch_template = self._create_launch_template(root_volume, data_volume)
        for group in security_groups:
            self.connections.add_security_group(group)
        self._set_network_interfaces()

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the nodes."""
        return self.launch_template.connections

    @property
    def grant_principal(self) -> iam.IPrincipal:
        """The principal to which grants for the nodes go."""
        return self.role.grant_principal

    def _check(self, instance_type: InstanceType, found: list[Problem]) -> GpuInstance:
        instance = resolve(instance_type)
        raise_all([*([instance] if isinstance(instance, Problem) else problems(instance)), *found], self.node.path)
        assert isinstance(instance, GpuInstance)
        warn_of_differences(self, instance)
        return instance

    def _create_role(self) -> iam.Role:
        return iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"),
            description="GPU nodes",
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name("AmazonSSMManagedInstanceCore")],
        )

    def _create_launch_template(self, root_volume: Volume | None, data_volume: Volume | None) -> ec2.LaunchTemplate:
        template = ec2.LaunchTemplate(
            self,
            "Resource",
            instance_type=ec2.InstanceType(self.instance.name),
            machine_image=ec2.MachineImage.from_ssm_parameter(
                images.dlami_parameter(self.instance), os=ec2.OperatingSystemType.LINUX
            ),
            role=self.role,
            security_group=self.security_group,
            placement_group=self.placement_group,
            require_imdsv2=True,
            http_endpoint=True,
            http_put_response_hop_limit=2,
            block_devices=block_devices.block_devices(_ROOT_DEVICE, root_volume, data_volume),
            # Stated, because by default its presence depends on a feature flag.
            user_data=ec2.UserData.for_linux(),
        )
        # The name of instances and volumes; CDK would end it in "/Resource".
        Tags.of(template).add("Name", self.node.path)
        block_devices.set_unknown_throughput(
            cast("ec2.CfnLaunchTemplate", template.node.default_child), root_volume, data_volume
        )
        block_devices.acknowledge_old_limit(template, root_volume, data_volume)
        return template

    def _set_network_interfaces(self) -> None:
        """Own everything that is set past the L2.

        The L2 has no network interfaces (https://github.com/aws/aws-cdk/issues/14494), and its security group ids
        beside them are refused: "When a network interface is provided, the security groups must be a part of it". Hence
        they are removed here and repeated on each interface.
        """
        interfaces = efa.interfaces(self.instance)
        groups = Lazy.list(_SecurityGroupIds(self.connections))
        template = cast("ec2.CfnLaunchTemplate", self.launch_template.node.default_child)
        template.add_property_deletion_override("LaunchTemplateData.SecurityGroupIds")
        template.add_property_override(
            "LaunchTemplateData.NetworkInterfaces",
            [_render(interface, groups, several=len(interfaces) > 1) for interface in interfaces],
        )


def problems(instance: GpuInstance) -> list[Problem]:
    """Say why nodes of an instance type cannot be described; nothing if they can."""
    return [*images.problems(instance), *efa.problems(instance)]


def _render(interface: efa.NetworkInterface, groups: list[str], *, several: bool) -> dict[str, Any]:
    rendered: dict[str, Any] = {
        "NetworkCardIndex": interface.network_card_index,
        "DeviceIndex": interface.device_index,
        "Groups": groups,
        "DeleteOnTermination": True,
    }
    if interface.interface_type == "efa-only":
        rendered["InterfaceType"] = interface.interface_type
    elif several:
        # A subnet that assigns public addresses would otherwise fail the launch: "The associatePublicIPAddress
        # parameter cannot be specified when launching with multiple network interfaces".
        rendered["AssociatePublicIpAddress"] = False
    return rendered


@jsii.implements(IStableListProducer)
class _SecurityGroupIds:
    """Reads the security groups when the template is written, so that groups added later reach the interfaces too."""

    def __init__(self, connections: ec2.Connections) -> None:
        self._connections = connections

    def produce(self) -> list[str]:
        return [group.security_group_id for group in self._connections.security_groups]
