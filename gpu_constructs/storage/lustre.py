"""A Lustre file system that nodes can reach.

storage = LustreStorage(self, "Data", vpc=vpc, subnet=vpc.private_subnets[0], lustre=Lustre.persistent(2400, 250))
storage.allow_from(cluster)
"""

from __future__ import annotations

from functools import cache
from typing import Final, cast

import jsii
from aws_cdk import CfnResource, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_fsx as fsx
from constructs import Construct

from gpu_constructs.checks import Problem, Unknown
from gpu_constructs.doubts import refuse, warn
from gpu_constructs.storage import associations, lustre_links, lustre_rules
from gpu_constructs.storage.lustre_checks import MetadataIops
from gpu_constructs.storage.lustre_rules import Lustre
from gpu_constructs.tokens import known, region_of

# https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
_PORTS: Final = ((988, 988), (1018, 1023))


@jsii.implements(ec2.IConnectable)
class LustreStorage(Construct):
    """An FSx for Lustre file system in one subnet, with a security group of its own.

    The file system runs Lustre 2.15, compresses data with LZ4 unless told otherwise and is encrypted at rest. It is
    created once its security group lets Lustre through, and with EFA all traffic, which FSx checks.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        vpc: The VPC.
        subnet: The one subnet it lives in; take that of its clients, traffic to another zone is slower and billed.
        lustre: Kind and size. By default `Lustre.scratch()`, 1200 GiB for about 168 USD a month.
        removal_policy: What becomes of it when it leaves the stack. By default a scratch file system is deleted. A
            persistent one is kept, with its security group, and billed on until it is deleted by hand; until then its
            subnet and VPC cannot be deleted either.

    Attributes:
        file_system_id: The id, as in "fs-0123456789abcdef0".
        mount_name: The name under which clients mount it.
        dns_name: The name under which clients reach it.
        security_group: Its security group.
        efa: Whether clients may reach it by EFA.
        vpc: Its VPC; `None` of one that exists.
        availability_zone: Its zone; `None` of one that exists.

    Raises:
        GpuConstructsError: If FSx would refuse the file system.

    The L1 `CfnFileSystem` beneath is `storage.node.default_child`.
    """

    file_system_id: str
    mount_name: str
    dns_name: str
    security_group: ec2.ISecurityGroup
    efa: bool
    vpc: ec2.IVpc | None = None
    availability_zone: str | None = None

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnet: ec2.ISubnet,
        lustre: Lustre | None = None,
        removal_policy: RemovalPolicy | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.vpc, self.availability_zone = vpc, subnet.availability_zone
        lustre = lustre or Lustre.scratch()
        region = region_of(self)
        refuse(self, [*_none_problems(lustre), *problems(lustre, region)])
        warn(self, _doubts(lustre, region))

        group = self._create_security_group(vpc, efa=lustre.efa)
        rules = _rules_of(group)
        file_system = self._create_file_system(lustre, subnet, group)
        # The rules between servers are resources of their own. Without waiting for them creation fails: "the provided
        # security groups do not permit Lustre LNET network traffic on port 988"
        # (https://docs.aws.amazon.com/fsx/latest/LustreGuide/cannot-create-fs.html).
        file_system.node.add_dependency(*rules)
        policy = removal_policy or _default_removal_policy(lustre)
        file_system.apply_removal_policy(policy)
        if policy is not RemovalPolicy.DESTROY:
            # One that is kept keeps its group: EC2 would refuse to delete one that is in use, and so the stack.
            for resource in (cast("ec2.CfnSecurityGroup", group.node.default_child), *rules):
                resource.apply_removal_policy(RemovalPolicy.RETAIN)
        self._describe(file_system.ref, file_system.attr_lustre_mount_name, group, efa=lustre.efa)
        associations.create(self, file_system.ref, lustre.links)

    @classmethod
    def from_attributes(
        cls,
        scope: Construct,
        id: str,
        file_system_id: str,
        mount_name: str,
        security_group: ec2.ISecurityGroup,
        *,
        efa: bool = False,
    ) -> LustreStorage:
        """Use a file system that exists.

        Args:
            scope: The construct that owns the reference.
            id: Its id there.
            file_system_id: The id, as in "fs-0123456789abcdef0".
            mount_name: The name under which clients mount it.
            security_group: Its security group; clients are let in by rules added to it.
            efa: Whether clients reach it by EFA, for which all traffic is let through. By default by TCP alone.
        """
        return _ImportedLustreStorage(scope, id, file_system_id, mount_name, security_group, efa=efa)

    @property
    def connections(self) -> ec2.Connections:
        """The connections of the security group."""
        return self._connections

    def allow_from(self, clients: ec2.IConnectable, *, rules_with_clients: bool = False) -> None:
        """Let clients mount the file system: TCP 988 and 1018 to 1023, or with EFA all traffic, in both directions.

        Args:
            clients: The clients.
            rules_with_clients: Whether the rules go into the stack of the clients where that is another one, as they
                must if it depends on this one: CloudFormation takes no stacks that depend on each other. By default
                they go into this stack.

        See https://docs.aws.amazon.com/fsx/latest/LustreGuide/limit-access-security-groups.html
        """
        peer = clients.connections  # asked once: each question crosses into Python and back
        if self.efa:
            warn(self, _group_doubts(self.connections, peer))
        for port in _ports(efa=self.efa):
            # The same rules either way; CDK puts them into the stack of the side that is asked.
            if rules_with_clients:
                peer.allow_to(self.connections, port, "Lustre from clients")
                peer.allow_from(self.connections, port, "Lustre to clients")
            else:
                self.connections.allow_from(peer, port, "Lustre from clients")
                self.connections.allow_to(peer, port, "Lustre to clients")

    def _describe(self, file_system_id: str, mount_name: str, group: ec2.ISecurityGroup, *, efa: bool) -> None:
        stack = Stack.of(self)
        self.efa = efa
        self.file_system_id = file_system_id
        self.mount_name = mount_name
        # Built rather than read, so that an imported file system has it as well:
        # https://docs.aws.amazon.com/fsx/latest/LustreGuide/mounting-ec2-instance.html
        self.dns_name = f"{file_system_id}.fsx.{stack.region}.{stack.url_suffix}"
        self.security_group = group
        self._connections = ec2.Connections(security_groups=[group])

    def _create_security_group(self, vpc: ec2.IVpc, *, efa: bool) -> ec2.SecurityGroup:
        group = ec2.SecurityGroup(
            self, "SecurityGroup", vpc=vpc, description="Lustre file system and its clients", allow_all_outbound=False
        )
        for port in _ports(efa=efa):
            group.connections.allow_internally(port, "Lustre between file servers")
        return group

    def _create_file_system(self, lustre: Lustre, subnet: ec2.ISubnet, group: ec2.SecurityGroup) -> fsx.CfnFileSystem:
        # The L1, because the L2 lets combinations through that FSx refuses and does not wait for the rules.
        return fsx.CfnFileSystem(
            self,
            "Resource",
            file_system_type="LUSTRE",
            # By default FSx takes 2.10 for scratch, which clients of today's kernels cannot mount.
            file_system_type_version="2.15",
            storage_type=lustre.storage_type,
            storage_capacity=lustre.capacity_gib,
            subnet_ids=[subnet.subnet_id],
            security_group_ids=[group.security_group_id],
            lustre_configuration=_configuration(lustre),
        )


class _ImportedLustreStorage(LustreStorage):
    """A file system that exists: nothing is created for it but rules."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        file_system_id: str,
        mount_name: str,
        security_group: ec2.ISecurityGroup,
        *,
        efa: bool,
    ) -> None:
        # Past LustreStorage's own constructor, which would create one.
        Construct.__init__(self, scope, id)
        self._describe(file_system_id, mount_name, security_group, efa=efa)


def problems(lustre: Lustre, region: str | Unknown) -> list[Problem]:
    """Say what FSx would refuse in a Region; values known only at deploy time are not judged."""
    return [
        *lustre_rules.problems(
            deployment_type=lustre.deployment_type,
            storage_type=lustre.storage_type,
            capacity_gib=known(lustre.capacity_gib),
            throughput_mb_s_per_tib=known(lustre.throughput_mb_s_per_tib),
            throughput_mb_s=known(lustre.throughput_mb_s),
            read_cache_gib=known(lustre.read_cache_gib),
            efa=lustre.efa,
            metadata_iops=known(lustre.metadata_iops),
            linked=bool(lustre.links),
        ),
        *lustre_links.problems(associations.plain(lustre.links), region=region),
    ]


def _doubts(lustre: Lustre, region: str | Unknown) -> dict[str, str]:
    found = lustre_rules.doubts(
        deployment_type=lustre.deployment_type,
        region=region,
        storage_type=lustre.storage_type,
        throughput_mb_s=known(lustre.throughput_mb_s),
        metadata_iops=known(lustre.metadata_iops),
        linked=bool(lustre.links),
    )
    return {**found, **lustre_links.doubts(associations.plain(lustre.links))}


def _group_doubts(*sides: ec2.Connections) -> dict[str, str]:
    # One group that completes the rules is enough: those of all groups of an interface add up.
    if all(any(not group.allow_all_outbound for group in side.security_groups) for side in sides):
        return {}
    return {
        "groupsOfEfaFileSystem": "CDK adds no rule for traffic out to another group where a group allows all outbound "
        "traffic, as imported ones do by default; 0.0.0.0/0 does not cover EFA, so that clients may mount over TCP "
        "alone: create or import the groups of clients and file system with allow_all_outbound=False, or add an "
        "ec2.CfnSecurityGroupEgress from each to the other (https://github.com/aws/aws-cdk/issues/38558)"
    }


def _configuration(lustre: Lustre) -> fsx.CfnFileSystem.LustreConfigurationProperty:
    elastic = lustre.storage_type == "INTELLIGENT_TIERING"
    hdd = lustre.storage_type == "HDD"
    return fsx.CfnFileSystem.LustreConfigurationProperty(
        deployment_type=lustre.deployment_type,
        per_unit_storage_throughput=lustre.throughput_mb_s_per_tib,
        throughput_capacity=lustre.throughput_mb_s,
        data_read_cache_configuration=_read_cache(lustre.read_cache_gib) if elastic else None,
        # FSx requires it with HDD and refuses it without.
        drive_cache_type=("READ" if lustre.read_cache else "NONE") if hdd else None,
        efa_enabled=lustre.efa or None,
        metadata_configuration=_metadata(lustre.metadata_iops),
        data_compression_type="LZ4" if lustre.compression else "NONE",
    )


def _read_cache(size_gib: int | None) -> fsx.CfnFileSystem.DataReadCacheConfigurationProperty:
    if size_gib is None:
        mode = "PROPORTIONAL_TO_THROUGHPUT_CAPACITY"
    else:
        mode = "NO_CACHE" if size_gib == 0 else "USER_PROVISIONED"
    return fsx.CfnFileSystem.DataReadCacheConfigurationProperty(sizing_mode=mode, size_gib=size_gib or None)


def _metadata(iops: MetadataIops | None) -> fsx.CfnFileSystem.MetadataConfigurationProperty | None:
    if iops is None:
        return None
    if iops == "AUTOMATIC":
        return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="AUTOMATIC")
    return fsx.CfnFileSystem.MetadataConfigurationProperty(mode="USER_PROVISIONED", iops=iops)


def _none_problems(lustre: Lustre) -> list[Problem]:
    if lustre.deployment_type is not None:
        return []
    return [
        Problem(
            what="lustre",
            given="Lustre.none()",
            allowed="a kind that exists, such as Lustre.scratch(...) or Lustre.persistent(...)",
            remedy="do not create a LustreStorage, or choose a kind",
        )
    ]


def _default_removal_policy(lustre: Lustre) -> RemovalPolicy:
    return RemovalPolicy.RETAIN if lustre.kept else RemovalPolicy.DESTROY


def _rules_of(group: ec2.SecurityGroup) -> list[CfnResource]:
    rules = (ec2.CfnSecurityGroupIngress, ec2.CfnSecurityGroupEgress)
    return [child for child in group.node.children if isinstance(child, rules)]


@cache
def _ports(*, efa: bool) -> list[ec2.Port]:
    # https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html
    if efa:
        return [ec2.Port.all_traffic()]
    return [ec2.Port.tcp_range(first, last) if first != last else ec2.Port.tcp(first) for first, last in _PORTS]
