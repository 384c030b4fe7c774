"""Each invariant passes for what the constructs write, and fails for each way to break it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template

from gpu_constructs import TrainingCluster
from gpu_constructs.testing import (
    assert_efa_valid,
    assert_encrypted_volumes,
    assert_imdsv2,
    assert_no_public_address,
    assert_retained,
)

Break = Callable[[dict[str, Any]], Any]
BUCKET = "AWS::S3::Bucket"


@pytest.fixture(scope="module")
def original() -> dict[str, Any]:
    stack = Stack(App(), "Stack")
    TrainingCluster(stack, "Cluster", instance_type="p4d.24xlarge", node_count=2)
    return dict(Template.from_stack(stack).to_json())


@pytest.fixture
def template(original: dict[str, Any]) -> dict[str, Any]:
    return copy.deepcopy(original)


def _of(template: dict[str, Any], type_name: str) -> dict[str, Any]:
    found = next(resource for resource in template["Resources"].values() if resource["Type"] == type_name)
    assert isinstance(found, dict)
    return found


def _data(template: dict[str, Any]) -> dict[str, Any]:
    data: dict[str, Any] = _of(template, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    return data


def _nics(template: dict[str, Any]) -> list[dict[str, Any]]:
    nics: list[dict[str, Any]] = _data(template)["NetworkInterfaces"]
    return nics


def _without(template: dict[str, Any], type_name: str, key: str) -> None:
    for name, resource in list(template["Resources"].items()):
        if resource["Type"] == type_name and key in resource["Properties"]:
            del template["Resources"][name]


def test_all_hold_for_a_cluster(template: dict[str, Any]) -> None:
    assert_efa_valid(template)
    assert_no_public_address(template)
    assert_imdsv2(template)
    assert_encrypted_volumes(template)
    assert_retained(template, BUCKET)


def test_templates_of_cdk_are_taken_as_they_are() -> None:
    stack = Stack(App(), "Stack")
    ec2.Vpc(stack, "Vpc", max_azs=1)
    with pytest.raises(AssertionError, match="MapPublicIpOnLaunch is true"):
        assert_no_public_address(Template.from_stack(stack))


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda t: _nics(t)[1].update(DeviceIndex=0), "2 interfaces at card 0, device 0"),
        (lambda t: _nics(t)[2].update(NetworkCardIndex="0", DeviceIndex="2"), "2 EFA interfaces on card 0"),
        (lambda t: _nics(t)[2].update(NetworkCardIndex=4), "interfaces on cards 0 to 3"),
        (lambda t: _nics(t)[2].update(DeviceIndex=15), "interfaces at devices 0 to 14"),
        (lambda t: _nics(t)[0].update(InterfaceType="efa-only"), "as the primary one"),
        (lambda t: _nics(t)[0].update(AssociatePublicIpAddress=True), "false for nodes with several"),
        (lambda t: _nics(t)[1].update(Ipv4PrefixCount=1), "got Ipv4PrefixCount on efa-only at card 0, device 1"),
        (lambda t: _data(t).update(NetworkInterfaces={"1": {"DeviceIndex": 1}}), "NetworkInterfaces is no list"),
        (lambda t: _nics(t)[3].pop("Groups"), "interfaces with security groups"),
        (lambda t: _nics(t)[3].pop("DeviceIndex"), "interfaces with a DeviceIndex"),
        (lambda t: _nics(t)[3].pop("DeleteOnTermination"), r"NetworkInterfaces \[3\] stay when the instance ends"),
        (lambda t: _data(t).update(SecurityGroupIds=["sg-1"]), "security groups beside them"),
        (lambda t: _data(t).update(InstanceType="g5.xlarge"), "at most 0 EFA interfaces on g5.xlarge"),
        (
            lambda t: _without(t, "AWS::EC2::SecurityGroupEgress", "DestinationSecurityGroupId"),
            "has no rule of all traffic with itself: Egress",
        ),
        (
            lambda t: _without(t, "AWS::EC2::SecurityGroupIngress", "SourceSecurityGroupId"),
            "has no rule of all traffic with itself: Ingress",
        ),
        (lambda t: _without(t, "AWS::EC2::LaunchTemplate", "LaunchTemplateData"), "nothing to check"),
    ],
)
def test_efa_is_not_valid(template: dict[str, Any], broken: Break, message: str) -> None:
    broken(template)
    with pytest.raises(AssertionError, match=message):
        assert_efa_valid(template)


def test_all_that_is_wrong_with_efa_is_listed(template: dict[str, Any]) -> None:
    _nics(template)[1]["DeviceIndex"] = 15
    _data(template)["SecurityGroupIds"] = ["sg-1"]
    with pytest.raises(AssertionError) as raised:
        assert_efa_valid(template)
    assert len(str(raised.value).splitlines()) == 3


@pytest.mark.parametrize(
    "seen_elsewhere",
    [
        lambda t: [nic.update(Groups=["sg-0123456789abcdef0"]) for nic in _nics(t)],
        lambda t: [nic.update(Groups={"Ref": "Groups"}) for nic in _nics(t)],
        lambda t: _data(t).update(InstanceType="p9.48xlarge"),
        lambda t: _data(t).update(InstanceType={"Ref": "Type"}),
        lambda t: _data(t).update(NetworkInterfaces={"Fn::If": ["Efa", _nics(t), []]}),
    ],
)
def test_what_the_template_does_not_say_is_not_judged(template: dict[str, Any], seen_elsewhere: Break) -> None:
    seen_elsewhere(template)
    assert_efa_valid(template)


def test_rules_may_be_written_in_the_group() -> None:
    rule = {"IpProtocol": -1, "SourceSecurityGroupId": {"Fn::GetAtt": "Group.GroupId"}}
    group = {"SecurityGroupIngress": [rule], "SecurityGroupEgress": []}
    nic = {"DeviceIndex": 0, "InterfaceType": "efa", "Groups": [{"Ref": "Group"}], "DeleteOnTermination": True}
    template = {
        "Resources": {
            "Group": {"Type": "AWS::EC2::SecurityGroup", "Properties": group},
            "Nodes": {
                "Type": "AWS::EC2::LaunchTemplate",
                "Properties": {"LaunchTemplateData": {"NetworkInterfaces": [nic]}},
            },
        }
    }
    with pytest.raises(AssertionError, match="Group has no rule of all traffic with itself: Egress"):
        assert_efa_valid(template)
    group["SecurityGroupEgress"].append({"IpProtocol": "-1", "DestinationSecurityGroupId": {"Ref": "Group"}})
    assert_efa_valid(template)


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda t: _nics(t)[0].update(AssociatePublicIpAddress={"Ref": "Public"}), "AssociatePublicIpAddress is"),
        (
            lambda t: t["Resources"].update(X={"Type": "AWS::EC2::EIP", "Properties": {"InstanceId": "i-1"}}),
            "X: an Elastic IP address for an instance",
        ),
        (
            lambda t: t["Resources"].update(X={"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer", "Properties": {}}),
            "X: an internet-facing load balancer",
        ),
    ],
)
def test_public_address_is_found(template: dict[str, Any], broken: Break, message: str) -> None:
    broken(template)
    with pytest.raises(AssertionError, match=message):
        assert_no_public_address(template)


def test_load_balancer_that_is_named_may_be_reached_from_the_internet(template: dict[str, Any]) -> None:
    template["Resources"]["X"] = {"Type": "AWS::ElasticLoadBalancingV2::LoadBalancer", "Properties": {}}
    assert_no_public_address(template, but=["X"])


def test_imdsv1_is_found(template: dict[str, Any]) -> None:
    _data(template)["MetadataOptions"]["HttpTokens"] = "optional"
    with pytest.raises(AssertionError, match="HttpTokens is optional"):
        assert_imdsv2(template)
    with pytest.raises(AssertionError, match="nothing to check"):
        assert_imdsv2({"Resources": {}})


def test_volume_in_the_clear_is_found(template: dict[str, Any]) -> None:
    _data(template)["BlockDeviceMappings"][0]["Ebs"]["Encrypted"] = False
    template["Resources"]["Disk"] = {"Type": "AWS::EC2::Volume", "Properties": {}}
    with pytest.raises(AssertionError, match=r"/dev/xvda is not encrypted\n  - Disk: not encrypted"):
        assert_encrypted_volumes(template)


def test_resource_that_goes_with_the_stack_is_found(template: dict[str, Any]) -> None:
    _of(template, BUCKET)["DeletionPolicy"] = "Delete"
    with pytest.raises(AssertionError, match="DeletionPolicy is Delete"):
        assert_retained(template, BUCKET)
    with pytest.raises(AssertionError, match="no AWS::Nonsense"):
        assert_retained(template, "AWS::Nonsense")
