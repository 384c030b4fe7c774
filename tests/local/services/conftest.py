"""Real boto3 clients against moto in this process, extended; time moves only when a test says so."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from moto import mock_aws

from gpu_constructs.local import services
from gpu_constructs.local.clock import clock
from tests.local.services.group import Group
from tests.local.services.stack import DeployedStack

if TYPE_CHECKING:
    from mypy_boto3_autoscaling.client import AutoScalingClient
    from mypy_boto3_cloudformation.client import CloudFormationClient
    from mypy_boto3_ec2.client import EC2Client
    from mypy_boto3_elbv2.client import ElasticLoadBalancingv2Client

REGION = "us-east-1"


@pytest.fixture(scope="session")
def clients() -> Callable[[str], Any]:
    """One client a service for all tests (making one is slow); each calls what the server calls before a request."""
    session: Any = boto3.Session(aws_access_key_id="testing", aws_secret_access_key="testing", region_name=REGION)
    made: dict[str, Any] = {}

    def tick(**_: Any) -> None:
        for due in services.ticks():
            due(clock.now())

    def client(service: str) -> Any:
        if service not in made:
            made[service] = session.client(service)
            made[service].meta.events.register("before-call", tick)
        return made[service]

    return client


@pytest.fixture(autouse=True)
def aws() -> Iterator[None]:
    services.install_all()
    with mock_aws():
        yield


@pytest.fixture
def scaling(aws: None, clients: Callable[[str], AutoScalingClient]) -> AutoScalingClient:
    return clients("autoscaling")


@pytest.fixture
def ec2(aws: None, clients: Callable[[str], EC2Client]) -> EC2Client:
    return clients("ec2")


@pytest.fixture
def load_balancing(
    aws: None,
    clients: Callable[[str], ElasticLoadBalancingv2Client],
) -> ElasticLoadBalancingv2Client:
    return clients("elbv2")


@pytest.fixture
def acm(aws: None, clients: Callable[[str], Any]) -> Any:
    return clients("acm")


@pytest.fixture
def of(aws: None, clients: Callable[[str], Any]) -> Callable[[str], Any]:
    """A client of any service, by boto3's name."""
    return clients


@pytest.fixture
def cloudformation(aws: None, clients: Callable[[str], CloudFormationClient]) -> CloudFormationClient:
    return clients("cloudformation")


@pytest.fixture
def deployed(cloudformation: CloudFormationClient) -> DeployedStack:
    """A stack not created yet."""
    return DeployedStack(cloudformation)


@pytest.fixture
def subnets(ec2: EC2Client) -> list[str]:
    """Two subnets, one a zone."""
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    return [
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{number}.0/24", AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for number, zone in enumerate(["us-east-1a", "us-east-1b"])
    ]


@pytest.fixture
def template(ec2: EC2Client) -> str:
    """A launch template with three network interfaces, as EFA has them."""
    created = ec2.create_launch_template(
        LaunchTemplateName="node",
        LaunchTemplateData={
            "ImageId": "ami-12c6146b",
            "InstanceType": "p4d.24xlarge",
            "UserData": base64.b64encode(b"#!/bin/sh").decode(),
            "NetworkInterfaces": [
                {"DeviceIndex": 0 if card == 0 else 1, "NetworkCardIndex": card, "InterfaceType": "efa"}
                for card in range(3)
            ],
        },
    )
    return created["LaunchTemplate"]["LaunchTemplateId"]


@pytest.fixture
def make_group(scaling: AutoScalingClient, ec2: EC2Client, subnets: list[str], template: str) -> Callable[..., Group]:
    """Make a group named `nodes`; `launch_hook` and `terminate_hook` are its inline hooks' heartbeat timeouts."""

    def make(
        desired: int = 1, *, launch_hook: int | None = None, terminate_hook: int | None = None, **settings: Any
    ) -> Group:
        hooks = [
            {"LifecycleHookName": name, "LifecycleTransition": f"autoscaling:{transition}", "HeartbeatTimeout": seconds}
            for name, transition, seconds in (
                ("boot", "EC2_INSTANCE_LAUNCHING", launch_hook),
                ("drain", "EC2_INSTANCE_TERMINATING", terminate_hook),
            )
            if seconds is not None
        ]
        asked: dict[str, Any] = {
            "AutoScalingGroupName": "nodes",
            "MinSize": 0,
            "MaxSize": 4,
            "DesiredCapacity": desired,
            "VPCZoneIdentifier": ",".join(subnets),
            "LifecycleHookSpecificationList": hooks,
            **settings,
        }
        if "MixedInstancesPolicy" not in asked:
            asked.setdefault("LaunchTemplate", {"LaunchTemplateId": template})
        scaling.create_auto_scaling_group(**asked)
        return Group(scaling, ec2, asked["AutoScalingGroupName"])

    return make
