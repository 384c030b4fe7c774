"""The VPC that a cluster gets when none is given, and the subnets it uses of one that is."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ec2 as ec2
from constructs import Construct, IDependable

from gpu_constructs.checks import UNKNOWN, Problem, Unknown, no_struct
from gpu_constructs.network.subnets import Subnet, Zone
from gpu_constructs.tokens import is_token, known


def create_vpc(scope: Construct, id: str, *, availability_zone: str | None = None, zone_count: int = 1) -> ec2.Vpc:
    """Create a VPC: in each zone a private subnet for nodes, and a public one for their way out.

    The private subnet reaches AWS APIs and the internet through one NAT gateway, and S3 through a gateway endpoint,
    which costs nothing. In us-east-1 the NAT gateway costs about 0.045 USD an hour and as much for each GB that passes
    it (https://aws.amazon.com/vpc/pricing/). Nothing gets a public address but the gateway. The default security group
    is emptied, by a function that CDK brings along. There are no flow logs, which are billed by the GB: whoever needs
    them calls `add_flow_log` on the VPC or brings one that has them.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        availability_zone: The zone. By default the first ones that the account has.
        zone_count: In how many zones it is, where none is named. By default in one.
    """
    zones = [availability_zone] if availability_zone else None
    return ec2.Vpc(
        scope,
        id,
        availability_zones=zones,
        max_azs=None if zones else zone_count,
        nat_gateways=1,
        # Stated, because by default it depends on a feature flag.
        restrict_default_security_group=True,
        subnet_configuration=[
            ec2.SubnetConfiguration(
                name="Public", subnet_type=ec2.SubnetType.PUBLIC, cidr_mask=24, map_public_ip_on_launch=False
            ),
            ec2.SubnetConfiguration(name="Private", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS),
        ],
        gateway_endpoints={"S3": ec2.GatewayVpcEndpointOptions(service=ec2.GatewayVpcEndpointAwsService.S3)},
    )


def candidates(vpc: ec2.IVpc, selection: ec2.SubnetSelection | None) -> Sequence[ec2.ISubnet] | Problem:
    """Return the subnets of a selection, or why there are none.

    By default the private ones with egress, or, in a VPC that has none, the isolated ones.
    """
    if selection is None:
        return vpc.private_subnets or vpc.isolated_subnets
    if not isinstance(selection, ec2.SubnetSelection):
        return no_struct("vpc_subnets", selection, "ec2.SubnetSelection")
    try:
        # The subnets that are named are the answer, which CDK would take longer to give; each with its zone.
        if selection.subnets and all(subnet.availability_zone for subnet in selection.subnets):
            return selection.subnets
        return vpc.select_subnets(
            availability_zones=selection.availability_zones,
            one_per_az=selection.one_per_az,
            subnet_filters=selection.subnet_filters,
            subnet_group_name=selection.subnet_group_name,
            subnets=selection.subnets,
            subnet_type=selection.subnet_type,
        ).subnets
    except RuntimeError as error:  # how CDK's own errors reach Python
        return Problem(
            what="vpc_subnets",
            given=f"a selection that CDK refuses ({str(error).splitlines()[0]})",
            allowed="a selection with at least one subnet of the VPC",
            remedy="select subnets that the VPC has, imported with their zones",
        )


def describe(vpc: ec2.IVpc, subnet: ec2.ISubnet) -> Subnet:
    """Return what the rules need to know about a subnet."""
    public = subnet.subnet_id in {public.subnet_id for public in vpc.public_subnets}
    return Subnet(zone=as_zone(subnet.availability_zone), public=public, cidr=_cidr(subnet))


def way_out(vpc: ec2.IVpc, subnet: ec2.ISubnet) -> list[IDependable]:
    """Return what must exist before a node in a subnet can reach AWS: its routes, or the endpoints of its VPC.

    Args:
        vpc: The VPC; of one that was imported the endpoints are taken to exist.
        subnet: The subnet of the node.
    """
    isolated = subnet.subnet_id in {isolated.subnet_id for isolated in vpc.isolated_subnets}
    kinds = (ec2.InterfaceVpcEndpoint, ec2.GatewayVpcEndpoint)
    endpoints = [child for child in vpc.node.children if isinstance(child, kinds)] if isolated else []
    return [subnet.internet_connectivity_established, *endpoints]


def as_zone(availability_zone: str) -> Zone:
    """Return a zone as the rules see it."""
    return Zone(name=availability_zone, literal=not is_token(availability_zone))


def _cidr(subnet: ec2.ISubnet) -> str | Unknown:
    try:
        return known(subnet.ipv4_cidr_block)
    except RuntimeError:  # imported without it
        return UNKNOWN
