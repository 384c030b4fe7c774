from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk.assertions import Template

from gpu_constructs import GpuConstructsError, GpuImage, GpuInstance, GpuLaunchTemplate
from tests.conftest import only, resources, warnings


def _data(stack: Stack) -> dict[str, Any]:
    data: dict[str, Any] = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    return data


def _template(stack: Stack, vpc: ec2.Vpc, instance_type: Any = "p4d.24xlarge", **options: Any) -> GpuLaunchTemplate:
    return GpuLaunchTemplate(stack, "Template", instance_type=instance_type, vpc=vpc, **options)


@pytest.mark.parametrize(
    ("name", "count"), [("g5.xlarge", 1), ("p4d.24xlarge", 5), ("p5.48xlarge", 33), ("p6-b300.48xlarge", 17)]
)
def test_interfaces_each_have_groups_and_go_with_the_instance(
    stack: Stack, vpc: ec2.Vpc, name: str, count: int
) -> None:
    template = _template(stack, vpc, name)
    interfaces = _data(stack)["NetworkInterfaces"]
    assert len(interfaces) == count
    assert all(nic["Groups"] == [stack.resolve(template.security_group.security_group_id)] for nic in interfaces)
    assert all(nic["DeleteOnTermination"] is True for nic in interfaces)


def test_interfaces_of_p4d_are_one_ordinary_and_four_efa_only(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc)
    found = [
        (nic["NetworkCardIndex"], nic["DeviceIndex"], nic.get("InterfaceType"))
        for nic in _data(stack)["NetworkInterfaces"]
    ]
    assert found == [(0, 0, None), (0, 1, "efa-only"), (1, 0, "efa-only"), (2, 0, "efa-only"), (3, 0, "efa-only")]


def test_public_address_is_never_asked_for(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc)
    primary, *efa_only = _data(stack)["NetworkInterfaces"]
    assert primary["AssociatePublicIpAddress"] is False
    assert not [nic for nic in efa_only if "AssociatePublicIpAddress" in nic]


def test_security_groups_are_on_the_interfaces_alone(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc)
    assert "SecurityGroupIds" not in _data(stack)
    assert "SecurityGroups" not in _data(stack)


def test_more_security_groups_reach_every_interface_even_when_added_later(stack: Stack, vpc: ec2.Vpc) -> None:
    given, later = (ec2.SecurityGroup(stack, name, vpc=vpc) for name in ("Given", "Later"))
    template = _template(stack, vpc, security_groups=[given])
    template.connections.add_security_group(later)
    groups = [stack.resolve(group.security_group_id) for group in (template.security_group, given, later)]
    assert [nic["Groups"] for nic in _data(stack)["NetworkInterfaces"]] == [groups] * 5


def test_metadata_is_answered_by_imdsv2_only_and_reaches_containers(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc)
    assert _data(stack)["MetadataOptions"] == {
        "HttpEndpoint": "enabled",
        "HttpTokens": "required",
        "HttpPutResponseHopLimit": 2,
    }


def test_nodes_are_named_after_their_template(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc)
    specifications = _data(stack)["TagSpecifications"]
    assert [specification["ResourceType"] for specification in specifications] == ["instance", "volume"]
    assert all({"Key": "Name", "Value": "Stack/Template"} in specification["Tags"] for specification in specifications)


def test_root_volume_is_encrypted_gp3(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc)
    (volume,) = _data(stack)["BlockDeviceMappings"]
    assert volume == {"DeviceName": "/dev/xvda", "Ebs": {"Encrypted": True, "VolumeSize": 200, "VolumeType": "gp3"}}


@pytest.mark.parametrize(("name", "architecture"), [("p4d.24xlarge", "x86_64"), ("g5g.xlarge", "arm64")])
def test_image_is_read_from_its_public_parameter_at_deploy(
    stack: Stack, vpc: ec2.Vpc, name: str, architecture: str
) -> None:
    _template(stack, vpc, name)
    parameters = Template.from_stack(stack).to_json()["Parameters"]
    assert parameters[_data(stack)["ImageId"]["Ref"]] == {
        "Type": "AWS::SSM::Parameter::Value<AWS::EC2::Image::Id>",
        "Default": f"/aws/service/deeplearning/ami/{architecture}/"
        "base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id",
    }


def test_role_lets_systems_manager_in_and_nothing_else(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc)
    (policy,) = only(stack, "AWS::IAM::Role")["Properties"]["ManagedPolicyArns"]
    assert policy["Fn::Join"][1][-1] == ":iam::aws:policy/AmazonSSMManagedInstanceCore"
    assert resources(stack, "AWS::IAM::Policy") == {}


def test_role_of_the_user_is_taken_as_it_is(stack: Stack, vpc: ec2.Vpc) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    template = _template(stack, vpc, role=role)
    assert template.role is role
    assert "ManagedPolicyArns" not in only(stack, "AWS::IAM::Role")["Properties"]


def test_template_is_a_grantee_and_has_connections(stack: Stack, vpc: ec2.Vpc) -> None:
    template = _template(stack, vpc)
    iam.Grant.add_to_principal(grantee=template, actions=["s3:ListAllMyBuckets"], resource_arns=["*"])
    ec2.SecurityGroup(stack, "Other", vpc=vpc).connections.allow_from(template, ec2.Port.tcp(80))
    assert only(stack, "AWS::IAM::Policy")
    assert [
        r for r in resources(stack, "AWS::EC2::SecurityGroupIngress").values() if r["Properties"].get("ToPort") == 80
    ]


def test_instance_type_of_cdk_is_taken_by_its_name(stack: Stack, vpc: ec2.Vpc) -> None:
    """CDK's own parser raises for this family."""
    _template(stack, vpc, ec2.InstanceType("p6-b200.48xlarge"))
    assert _data(stack)["InstanceType"] == "p6-b200.48xlarge"


def test_hardware_newer_than_the_catalogue_is_stated_by_hand(stack: Stack, vpc: ec2.Vpc) -> None:
    instance = GpuInstance(
        "p9.48xlarge", gpus=8, gpu="X", gpu_memory_mib=1, vcpus=1, memory_mib=1, network_cards=3, max_efa_interfaces=3
    )
    _template(stack, vpc, instance)
    assert len(_data(stack)["NetworkInterfaces"]) == 4
    assert warnings(stack) == []


def test_facts_by_hand_win_over_the_catalogue_with_a_warning(stack: Stack, vpc: ec2.Vpc) -> None:
    instance = dataclasses.replace(GpuInstance.of("p4d.24xlarge"), network_cards=2, max_efa_interfaces=2)
    _template(stack, vpc, instance)
    assert len(_data(stack)["NetworkInterfaces"]) == 3
    (warning,) = warnings(stack)
    assert "network_cards is 2, in the catalogue 4; max_efa_interfaces is 2, in the catalogue 4" in warning


@pytest.mark.parametrize(
    ("instance_type", "message"),
    [
        ("p4d.24xlrage", "closest: p4d.24xlarge"),
        ("p3.2xlarge", "must be a type that AWS still offers"),
        ("p6e-gb200.36xlarge", "sold as Capacity Blocks of 9 or 18"),
        (ec2.InstanceType("p3.2xlarge"), "must be a type that AWS still offers"),
    ],
)
def test_instance_type_is_refused(stack: Stack, vpc: ec2.Vpc, instance_type: Any, message: str) -> None:
    with pytest.raises(GpuConstructsError, match="Stack/Template: instance_type must be") as raised:
        _template(stack, vpc, instance_type)
    assert message in str(raised.value)


def test_instance_type_known_only_at_deploy_time_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match="got a value known only at deploy time"):
        _template(stack, vpc, CfnParameter(stack, "Type").value_as_string)


AMI = "ami-0123456789abcdef0"


def test_image_of_ones_own_is_taken_with_its_root_device(stack: Stack, vpc: ec2.Vpc) -> None:
    template = _template(stack, vpc, image=GpuImage.custom(AMI, os="ubuntu-24.04"))
    assert _data(stack)["ImageId"] == AMI
    assert [volume["DeviceName"] for volume in _data(stack)["BlockDeviceMappings"]] == ["/dev/sda1"]
    assert "SsmParameterValue" not in str(Template.from_stack(stack).to_json().get("Parameters"))
    assert template.image.system == "ubuntu-24.04"


def test_image_that_only_the_deployment_knows_is_taken(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc, image=GpuImage.custom(CfnParameter(stack, "Ami").value_as_string, os="al2023"))
    assert _data(stack)["ImageId"] == {"Ref": "Ami"}


def test_images_by_region_are_one_where_the_region_is_known(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc, image=GpuImage.custom({"us-east-1": AMI, "us-west-2": "ami-01234567"}, os="al2023"))
    assert _data(stack)["ImageId"] == AMI


def test_images_by_region_are_a_mapping_where_it_is_not() -> None:
    anywhere = Stack(App(), "Stack")
    image = GpuImage.custom({"us-east-1": AMI, "us-west-2": "ami-01234567"}, os="al2023")
    _template(anywhere, ec2.Vpc(anywhere, "Vpc"), image=image)
    assert _data(anywhere)["ImageId"]["Fn::FindInMap"][1:] == [{"Ref": "AWS::Region"}, "ami"]


@pytest.mark.parametrize(
    ("image", "reference"),
    [
        (GpuImage.from_ssm("/golden/ami:3", os="al2023"), "{{resolve:ssm:/golden/ami:3}}"),
        (
            GpuImage.dlami(os="ubuntu-22.04", pinned=12),
            "{{resolve:ssm:/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id:12}}",
        ),
        (GpuImage.dlami(pinned=AMI), AMI),
    ],
)
def test_pinned_image_is_the_same_at_each_deployment(
    stack: Stack, vpc: ec2.Vpc, image: GpuImage, reference: str
) -> None:
    _template(stack, vpc, image=image)
    assert _data(stack)["ImageId"] == reference


def test_image_that_does_not_fit_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match=r"image: architecture must be arm64") as raised:
        _template(stack, vpc, "g5g.xlarge", image=GpuImage.custom({"us-west-2": "ami-1"}, os="al2023"))
    assert "3 problems" in str(raised.value)  # the id and the Region too


def test_v100_starts_from_an_image_of_ones_own_with_a_warning_of_its_type(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc, "p3dn.24xlarge", image=GpuImage.custom(AMI, os="al2023"))
    (warning,) = warnings(stack)
    assert "EC2 still describes p3dn.24xlarge" in warning


def test_retired_type_is_taken_where_it_is_allowed_with_a_warning(stack: Stack, vpc: ec2.Vpc) -> None:
    image = GpuImage.custom(AMI, os="al2023")
    _template(stack, vpc, "p3.16xlarge", allow_retired=True, image=image)
    assert _data(stack)["InstanceType"] == "p3.16xlarge"
    assert len(_data(stack)["NetworkInterfaces"]) == 1
    (warning,) = warnings(stack)
    assert "2025-12-20" in warning


def test_what_is_not_verified_of_an_image_is_a_warning(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc, "g5.xlarge", image=GpuImage.dlami(framework="pytorch-2.10"))
    (warning,) = warnings(stack)
    assert "no public parameter of this name was seen" in warning
