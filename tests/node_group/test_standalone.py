"""What nodes stand on that boot by themselves: configuration, permissions, hook, log group, alarm."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3

from gpu_constructs import (
    Bootstrap,
    Capacity,
    Efa,
    GpuConstructsError,
    GpuImage,
    GpuLaunchTemplate,
    GpuNodeGroup,
    LustreStorage,
    Volume,
)
from gpu_constructs.node_group.bootstrap import READY_HOOK
from tests.conftest import only, resources, warnings
from tests.node_config import node_config

AMI = "ami-0123456789abcdef0"


def _template(stack: Stack, vpc: ec2.IVpc, bootstrap: Bootstrap, **options: Any) -> GpuLaunchTemplate:
    return GpuLaunchTemplate(
        stack, "Template", **{"instance_type": "g6.xlarge", "vpc": vpc, "bootstrap": bootstrap, **options}
    )


def _group(stack: Stack, vpc: ec2.IVpc, bootstrap: Bootstrap, *, types: tuple[str, ...] = (), **options: Any) -> None:
    template = _template(stack, vpc, bootstrap, **options)
    GpuNodeGroup(stack, "Nodes", launch_template=template, max_capacity=2, instance_types=types)


def _actions(stack: Stack) -> set[str]:
    statements = [
        statement
        for policy in resources(stack, "AWS::IAM::Policy").values()
        for statement in policy["Properties"]["PolicyDocument"]["Statement"]
    ]
    found = [one["Action"] for one in statements]
    return {action for one in found for action in ([one] if isinstance(one, str) else one)}


def test_node_is_told_what_it_must_show(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Bootstrap.standalone(), instance_type="g6.48xlarge")
    config = node_config(stack)
    assert config["hardware"] == {
        "g6.48xlarge": {
            "driver": "580",
            "efa_interfaces": 1,
            "gpu": "L4",
            "gpus": 8,
            "local_nvme_disks": 8,
            "nvswitch": False,
            "open_modules": True,
        }
    }
    assert (config["launch_hook"], config["launch_hook_seconds"]) == (READY_HOOK, 600)
    assert (config["lustre"], config["record_bucket"], config["install_cuda"]) == (None, None, False)
    assert "TemplateBootLog" in config["log_group"]


def test_node_without_efa_is_to_show_none(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Bootstrap.standalone(), instance_type="g6.48xlarge", efa=Efa.OFF)
    assert node_config(stack)["hardware"]["g6.48xlarge"]["efa_interfaces"] == 0


def test_types_that_a_group_mixes_are_known_to_the_node(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Bootstrap.standalone(), types=("g5.xlarge", "g6.xlarge", "g6f.xlarge"), capacity=Capacity.spot())
    hardware = node_config(stack)["hardware"]
    assert {name: (facts["gpu"], facts["gpus"]) for name, facts in hardware.items()} == {
        "g5.xlarge": ("A10G", 1),
        "g6.xlarge": ("L4", 1),
        "g6f.xlarge": ("L4", 1),  # an eighth of one shows as one
    }


@pytest.mark.parametrize(
    ("name", "nvswitch"),
    [
        ("p4d.24xlarge", True),
        ("p5.48xlarge", True),
        ("p5.4xlarge", False),
        ("p6-b300.48xlarge", True),
        ("g7e.48xlarge", False),
    ],
)
def test_nvswitches_are_where_eight_gpus_meet_in_them(stack: Stack, vpc: ec2.Vpc, name: str, nvswitch: bool) -> None:
    _group(stack, vpc, Bootstrap.standalone(), instance_type=name)
    assert node_config(stack)["hardware"][name]["nvswitch"] is nvswitch


def test_file_system_and_data_volume_are_mounted(stack: Stack, vpc: ec2.Vpc) -> None:
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc)
    storage = LustreStorage.from_attributes(stack, "Data", "fs-0123456789abcdef0", "abcdefgh", group)
    _group(stack, vpc, Bootstrap.standalone(file_system=storage), data_volume=Volume(100))
    config = node_config(stack)
    assert config["lustre"]["mount_name"] == "abcdefgh"
    assert config["lustre"]["dns_name"].startswith("fs-0123456789abcdef0.fsx.")
    assert config["data_volume"] is True


def test_nodes_may_do_what_the_boot_needs_and_no_more(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Bootstrap.standalone())
    assert _actions(stack) == {
        "s3:GetObject",
        "autoscaling:CompleteLifecycleAction",
        "autoscaling:DescribeAutoScalingInstances",
        "autoscaling:RecordLifecycleActionHeartbeat",
        "autoscaling:SetInstanceHealth",
        "autoscaling:SuspendProcesses",
        "cloudwatch:PutMetricData",
        "ec2:DescribeTags",
        "logs:CreateLogStream",
        "logs:DescribeLogStreams",
        "logs:PutLogEvents",
    }


def test_role_of_the_user_gets_the_permissions(stack: Stack, vpc: ec2.Vpc) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    _group(stack, vpc, Bootstrap.standalone(), role=role)
    assert only(stack, "AWS::IAM::Policy")["Properties"]["Roles"] == [stack.resolve(role.role_name)]


def test_with_records_there_is_an_alarm_and_a_place_to_write_them(stack: Stack, vpc: ec2.Vpc) -> None:
    bucket = s3.Bucket(stack, "Bucket")
    _group(stack, vpc, Bootstrap.standalone(records=bucket))
    assert "s3:PutObject" in _actions(stack)
    assert node_config(stack)["record_prefix"] == "gpu-node/"
    alarm = only(stack, "AWS::CloudWatch::Alarm")["Properties"]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("GpuConstructs", "LaunchesSuspended")
    assert alarm["Dimensions"][0]["Name"] == "AutoScalingGroupName"
    # One datum says it, and nobody takes it back but people.
    assert alarm["TreatMissingData"] == "ignore"


def test_without_records_there_is_no_alarm_that_could_never_ring(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Bootstrap.standalone())
    assert resources(stack, "AWS::CloudWatch::Alarm") == {}
    assert "s3:PutObject" not in _actions(stack)


def test_log_group_keeps_a_month_and_goes_with_the_stack(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Bootstrap.standalone())
    log_group = only(stack, "AWS::Logs::LogGroup")
    assert (log_group["Properties"]["RetentionInDays"], log_group["DeletionPolicy"]) == (30, "Delete")


def test_hook_holds_nodes_until_they_have_booted(stack: Stack, vpc: ec2.Vpc) -> None:
    _group(stack, vpc, Bootstrap.standalone())
    (hook,) = only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]["LifecycleHookSpecificationList"]
    assert (hook["LifecycleHookName"], hook["DefaultResult"]) == (READY_HOOK, "ABANDON")
    assert warnings(stack) == []


def test_system_that_it_cannot_boot_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(
        GpuConstructsError, match=r"os must be al2023 \| ubuntu-22\.04 \| ubuntu-24\.04 for nodes that boot"
    ):
        _template(stack, vpc, Bootstrap.standalone(), image=GpuImage.custom(AMI, os="al2"))


def test_driver_that_nothing_would_install_is_refused(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match="install_cuda must be True only for nodes that boot by Bootstrap"):
        _template(stack, vpc, Bootstrap.none(), image=GpuImage.custom(AMI, os="al2023", install_cuda=True))


def test_driver_is_installed_where_the_image_has_none(stack: Stack, vpc: ec2.Vpc) -> None:
    _template(stack, vpc, Bootstrap.standalone(), image=GpuImage.custom(AMI, os="al2023", install_cuda=True))
    assert node_config(stack)["install_cuda"] is True
    assert warnings(stack) == []


def test_second_driver_is_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    parameter = "/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
    _template(stack, vpc, Bootstrap.standalone(), image=GpuImage.from_ssm(parameter, install_cuda=True))
    (warning,) = warnings(stack)
    assert "over which install_cuda=True installs another one" in warning


def test_v100_starts_from_a_plain_image_and_installs_its_driver(stack: Stack, vpc: ec2.Vpc) -> None:
    template = _template(stack, vpc, Bootstrap.standalone(), instance_type="p3dn.24xlarge")
    assert template.image.parameter == "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-x86_64"
    facts = node_config(stack)["hardware"]["p3dn.24xlarge"]
    assert (facts["driver"], facts["open_modules"]) == ("580", False)


def test_v100_that_nothing_boots_needs_an_image_of_ones_own(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match="with V100 GPUs"):
        _template(stack, vpc, Bootstrap.none(), instance_type="p3dn.24xlarge")
