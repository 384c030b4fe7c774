"""A VPC without a way to the internet, and the endpoints by which nodes in it reach AWS.

vpc = private_vpc(self, "Vpc", availability_zone="us-east-1d")
TrainingCluster(self, "Cluster", vpc=vpc, ...)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aws_cdk import Aws, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from constructs import Construct

_CIDR: Final = "10.0.0.0/16"

# Systems Manager asks for two (https://docs.aws.amazon.com/systems-manager/latest/userguide/setup-create-vpc.html): its
# agent uses ssmmessages in place of ec2messages since version 3.3.40.0. Auto Scaling is for lifecycle hooks and the
# replacement of nodes, the next two for the CloudWatch agent, and EC2 for the tags of the instance, from which that
# agent takes the name of the Auto Scaling group.
_SERVICES: Final = {
    "Ssm": ec2.InterfaceVpcEndpointAwsService.SSM,
    "SsmMessages": ec2.InterfaceVpcEndpointAwsService.SSM_MESSAGES,
    "AutoScaling": ec2.InterfaceVpcEndpointAwsService.AUTOSCALING,
    "Monitoring": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_MONITORING,
    "Logs": ec2.InterfaceVpcEndpointAwsService.CLOUDWATCH_LOGS,
    "Ec2": ec2.InterfaceVpcEndpointAwsService.EC2,
}

# Buckets of AWS from which a node may read without credentials: packages of Amazon Linux, and what Systems Manager uses
# (https://docs.aws.amazon.com/systems-manager/latest/userguide/ssm-agent-minimum-s3-permissions.html).
_PUBLIC_BUCKETS: Final = (
    "al2023-repos-{region}-de612dc2",
    "amazonlinux-2-repos-{region}",
    "amazon-ssm-{region}",
    "amazon-ssm-packages-{region}",
    "aws-ssm-{region}",
    "aws-ssm-document-attachments-{region}",
    "{region}-birdwatcher-prod",
)


def private_vpc(
    scope: Construct,
    id: str,
    *,
    availability_zone: str | None = None,
    more_services: Mapping[str, ec2.IInterfaceVpcEndpointService] | None = None,
) -> ec2.Vpc:
    """Create a VPC in one zone whose nodes reach AWS by endpoints, and nothing else.

    There is one isolated subnet, no internet gateway, no NAT gateway and no public address. S3 is reached by a gateway
    endpoint, which costs nothing; Systems Manager (sessions), EC2, Auto Scaling and CloudWatch metrics and logs by
    interface endpoints. In us-east-1 each of these six costs 0.01 USD an hour in the one zone, and 0.01 USD for each GB
    that passes it (https://aws.amazon.com/privatelink/pricing/): 0.06 USD an hour, where a NAT gateway costs 0.045.

    Endpoints take HTTPS from the addresses of the VPC, and, by their policies, only principals of the stack's account;
    the one of S3 also lets nodes read the public buckets of packages that Amazon Linux and Systems Manager come from.
    The default security group is emptied, by a function that CDK brings along.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        availability_zone: The zone. By default the first that the account has.
        more_services: Further services that nodes are to reach, by the ids that their endpoints get; for containers of
            a private registry `{"EcrApi": ec2.InterfaceVpcEndpointAwsService.ECR, "EcrDocker":
            ec2.InterfaceVpcEndpointAwsService.ECR_DOCKER}`. STS, KMS and FSx are not among the six: an instance role
            needs no STS, S3 and EBS call KMS themselves, and a file system is mounted without its API.
    """
    zones = [availability_zone] if availability_zone else None
    vpc = ec2.Vpc(
        scope,
        id,
        ip_addresses=ec2.IpAddresses.cidr(_CIDR),
        availability_zones=zones,
        max_azs=None if zones else 1,
        nat_gateways=0,
        restrict_default_security_group=True,
        subnet_configuration=[
            ec2.SubnetConfiguration(name="Private", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=20)
        ],
    )
    storage = vpc.add_gateway_endpoint("S3", service=ec2.GatewayVpcEndpointAwsService.S3)
    storage.add_to_policy(_own_account())
    storage.add_to_policy(_public_packages(scope))
    group = ec2.SecurityGroup(
        vpc, "EndpointSecurityGroup", vpc=vpc, description="Endpoints of AWS services", allow_all_outbound=False
    )
    group.add_ingress_rule(ec2.Peer.ipv4(_CIDR), ec2.Port.tcp(443), "HTTPS from the VPC")
    for name, service in {**_SERVICES, **(more_services or {})}.items():
        endpoint = vpc.add_interface_endpoint(name, service=service, security_groups=[group], open=False)
        endpoint.add_to_policy(_own_account())
    return vpc


def _own_account() -> iam.PolicyStatement:
    return iam.PolicyStatement(
        principals=[iam.AnyPrincipal()],
        actions=["*"],
        resources=["*"],
        conditions={"StringEquals": {"aws:PrincipalAccount": Aws.ACCOUNT_ID}},
    )


def _public_packages(scope: Construct) -> iam.PolicyStatement:
    stack = Stack.of(scope)
    return iam.PolicyStatement(
        principals=[iam.AnyPrincipal()],
        actions=["s3:GetObject"],
        resources=[f"arn:{stack.partition}:s3:::{bucket.format(region=stack.region)}/*" for bucket in _PUBLIC_BUCKETS],
    )
