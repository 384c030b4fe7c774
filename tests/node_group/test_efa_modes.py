"""How `efa` reaches the launch template, the group and its subnets."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2

from gpu_constructs import Efa, GpuConstructsError, GpuInstance, GpuLaunchTemplate, GpuNodeGroup
from gpu_constructs.network.placement import create_placement_group
from tests.conftest import only, resources, warnings

PUBLIC = ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC)


def _template(stack: Stack, vpc: ec2.IVpc, instance_type: Any = "p4d.24xlarge", **options: Any) -> GpuLaunchTemplate:
    return GpuLaunchTemplate(stack, "Template", instance_type=instance_type, vpc=vpc, **options)


def _nics(stack: Stack) -> list[dict[str, Any]]:
    data = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    nics: list[dict[str, Any]] = data["NetworkInterfaces"]
    return nics


def _small(stack: Stack, mask: int) -> ec2.Vpc:
    private = ec2.SubnetConfiguration(name="P", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=mask)
    return ec2.Vpc(stack, "Small", availability_zones=["us-east-1a"], nat_gateways=0, subnet_configuration=[private])


def test_required_efa_of_a_type_that_has_none_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match=r"efa must be .* got Efa.REQUIRED with 'g5.xlarge', which has no EFA"):
        _template(stack, vpc, "g5.xlarge", efa=Efa.REQUIRED)


def test_required_efa_of_a_type_that_has_it_is_the_ordinary_layout(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc, efa=Efa.REQUIRED)
    assert [nic.get("InterfaceType") for nic in _nics(stack)] == [None, *["efa-only"] * 4]


def test_legacy_interfaces_ask_for_no_public_address(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc, efa=Efa.LEGACY)
    assert [nic["InterfaceType"] for nic in _nics(stack)] == ["efa"] * 4
    assert [nic.get("AssociatePublicIpAddress") for nic in _nics(stack)] == [False, None, None, None]


def test_efa_off_leaves_the_rule_to_itself_out(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc, efa=Efa.OFF)
    assert [nic.get("InterfaceType") for nic in _nics(stack)] == [None]
    assert resources(stack, "AWS::EC2::SecurityGroupEgress") == {}
    ingress = only(stack, "AWS::EC2::SecurityGroupIngress")["Properties"]
    assert ingress["SourceSecurityGroupId"] == ingress["GroupId"]


@pytest.mark.parametrize(("efa", "kind"), [(Efa.LEGACY, "efa"), (Efa.OFF, None)])
def test_single_card_type_gets_a_public_address_with_one_interface(
    stack: Stack, vpc: ec2.Vpc, efa: Efa, kind: str | None
) -> None:
    template = _template(stack, vpc, "g5.8xlarge", efa=efa, associate_public_ip_address=True)
    GpuNodeGroup(stack, "Nodes", launch_template=template, vpc_subnets=PUBLIC, max_capacity=1)
    (nic,) = _nics(stack)
    assert (nic.get("InterfaceType"), nic["AssociatePublicIpAddress"]) == (kind, True)


def test_single_card_type_in_a_public_subnet_is_told_of_the_legacy_layout(stack: Stack, vpc: ec2.Vpc) -> None:
    template = _template(stack, vpc, "g5.8xlarge")
    with pytest.raises(GpuConstructsError, match=r"or pass efa=Efa.LEGACY: one interface, with EFA"):
        GpuNodeGroup(stack, "Nodes", launch_template=template, vpc_subnets=PUBLIC, max_capacity=1)


@pytest.mark.parametrize(("name", "remedy"), [("g5.8xlarge", "Efa.LEGACY"), ("p4d.24xlarge", "Efa.OFF")])
def test_public_address_of_nodes_with_several_interfaces_is_refused(
    stack: Stack, vpc: ec2.Vpc, name: str, remedy: str
) -> None:
    with pytest.raises(GpuConstructsError, match="associatePublicIPAddress parameter cannot be specified") as raised:
        _template(stack, vpc, name, associate_public_ip_address=True)
    assert f"or pass efa={remedy}" in str(raised.value)


def test_subnet_decides_about_the_public_address_of_one_interface(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc, "g5.xlarge")
    assert "AssociatePublicIpAddress" not in _nics(stack)[0]


def test_nodes_that_do_not_fit_into_the_subnets_are_refused(stack: Stack) -> None:
    template = _template(stack, _small(stack, 26), "p5.48xlarge", efa=Efa.LEGACY)
    with pytest.raises(
        GpuConstructsError, match=r"got 10.0.0.0/26 with 59, for 2 nodes .* use a subnet of /25 or larg"
    ):
        GpuNodeGroup(stack, "Nodes", launch_template=template, max_capacity=2, desired_capacity=2)


@pytest.mark.parametrize(("most", "count"), [(1, 0), (2, 1)])
def test_nodes_that_fit_at_first_only_are_warned_of(stack: Stack, most: int, count: int) -> None:
    template = _template(stack, _small(stack, 26), "p5.48xlarge", efa=Efa.LEGACY)
    GpuNodeGroup(stack, "Nodes", launch_template=template, max_capacity=most, desired_capacity=1)
    assert ["max_capacity: vpc_subnets" in warning for warning in warnings(stack)] == [True] * count


def test_size_and_subnet_known_only_at_deploy_time_are_not_judged(stack: Stack) -> None:
    subnet = ec2.Subnet.from_subnet_attributes(
        stack, "S", subnet_id="subnet-1", availability_zone="us-east-1a", route_table_id="rtb-1"
    )
    template = _template(stack, _small(stack, 28), "p5.48xlarge", efa=Efa.LEGACY)
    most: Any = CfnParameter(stack, "Most", type="Number").value_as_number
    GpuNodeGroup(stack, "Tokens", launch_template=template, max_capacity=most)
    GpuNodeGroup(
        stack,
        "Imported",
        launch_template=template,
        vpc_subnets=ec2.SubnetSelection(subnets=[subnet]),
        max_capacity=99,
        desired_capacity=99,
    )
    assert warnings(stack) == []


@pytest.mark.parametrize(("efa", "warned"), [(Efa.REQUIRED, 1), (Efa.AUTO, 0)])
def test_required_efa_over_several_zones_is_warned_of(stack: Stack, vpc: ec2.Vpc, efa: Efa, warned: int) -> None:
    GpuNodeGroup(stack, "Nodes", launch_template=_template(stack, vpc, efa=efa), max_capacity=1)
    assert ["EFA traffic does not leave a zone" in warning for warning in warnings(stack)] == [True] * warned


def test_required_efa_in_one_zone_is_not_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    one = ec2.SubnetSelection(availability_zones=["us-east-1a"], subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS)
    template = _template(stack, vpc, efa=Efa.REQUIRED)
    GpuNodeGroup(stack, "Nodes", launch_template=template, vpc_subnets=one, max_capacity=1)
    assert warnings(stack) == []


def _in_two_zones(stack: Stack, vpc: ec2.Vpc, placement_group: ec2.IPlacementGroup) -> GpuNodeGroup:
    template = _template(stack, vpc, placement_group=placement_group)
    return GpuNodeGroup(stack, "Nodes", launch_template=template, max_capacity=1)


def test_cluster_placement_group_over_several_zones_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    group = ec2.PlacementGroup(stack, "Placement", strategy=ec2.PlacementGroupStrategy.CLUSTER)
    with pytest.raises(GpuConstructsError, match="cannot specify multiple Availability Zones and a cluster placement"):
        _in_two_zones(stack, vpc, group)


@pytest.mark.parametrize("strategy", [ec2.PlacementGroupStrategy.SPREAD, ec2.PlacementGroupStrategy.PARTITION])
def test_other_placement_groups_may_span_zones(
    stack: Stack, vpc: ec2.Vpc, strategy: ec2.PlacementGroupStrategy
) -> None:
    _in_two_zones(stack, vpc, ec2.PlacementGroup(stack, "Placement", strategy=strategy))
    assert warnings(stack) == []


def test_imported_placement_group_over_several_zones_is_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    _in_two_zones(stack, vpc, ec2.PlacementGroup.from_placement_group_name(stack, "Placement", "existing"))
    (warning,) = warnings(stack)
    assert "its strategy is not seen" in warning


def test_placement_group_that_the_type_does_not_support_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    instance = GpuInstance(
        "p9.48xlarge", gpus=1, gpu="X", gpu_memory_mib=1, vcpus=1, memory_mib=1, placement_strategies=("spread",)
    )
    with pytest.raises(GpuConstructsError, match="Cluster placement groups are not supported by"):
        _template(stack, vpc, instance, placement_group=create_placement_group(stack, "Placement"))
    imported = ec2.PlacementGroup.from_placement_group_name(stack, "Imported", "mine")
    GpuLaunchTemplate(stack, "Unseen", instance_type=instance, vpc=vpc, placement_group=imported)


def test_imported_security_group_is_warned_of_with_efa_only(stack: Stack, vpc: ec2.Vpc) -> None:
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0")
    GpuLaunchTemplate(stack, "Without", instance_type="g5.xlarge", vpc=vpc, security_groups=[group])
    assert warnings(stack) == []


def test_imported_security_group_with_efa_is_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0")
    _template(stack, vpc, security_groups=[group])
    (warning,) = warnings(stack)
    assert "no rule is seen by which Stack/Group lets all traffic out to itself" in warning


def test_security_group_that_lets_itself_out_is_not_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc, allow_all_outbound=False)
    group.connections.allow_internally(ec2.Port.all_traffic())
    _template(stack, vpc, security_groups=[group])
    assert warnings(stack) == []


@pytest.mark.parametrize(("count", "warned"), [(4, 0), (5, 1)])
def test_more_security_groups_than_the_quota_of_an_interface_are_warned_of(
    stack: Stack, vpc: ec2.Vpc, count: int, warned: int
) -> None:
    groups = [ec2.SecurityGroup(stack, f"Group{number}", vpc=vpc) for number in range(count)]
    _template(stack, vpc, "g5.xlarge", security_groups=groups)
    assert ["EC2 allows 5 on an interface" in warning for warning in warnings(stack)] == [True] * warned


def test_more_security_groups_than_an_interface_can_have_are_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    groups = [ec2.SecurityGroup(stack, f"Group{number}", vpc=vpc) for number in range(16)]
    with pytest.raises(GpuConstructsError, match="SecurityGroupsPerInterfaceLimitExceeded"):
        _template(stack, vpc, "g5.xlarge", security_groups=groups)


def test_all_problems_of_a_template_are_raised_at_once(stack: Stack, vpc: ec2.Vpc) -> None:
    groups = [ec2.SecurityGroup(stack, f"Group{number}", vpc=vpc) for number in range(16)]
    with pytest.raises(GpuConstructsError, match="Stack/Template: 2 problems"):
        _template(stack, vpc, associate_public_ip_address=True, security_groups=groups)
