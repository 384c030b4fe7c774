from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2

from gpu_constructs import GpuConstructsError, GpuLaunchTemplate, Volume
from tests.conftest import only, warnings


def _devices(stack: Stack, vpc: ec2.Vpc, **options: Any) -> list[dict[str, Any]]:
    GpuLaunchTemplate(stack, "Template", instance_type="g5.xlarge", vpc=vpc, **options)
    template = only(stack, "AWS::EC2::LaunchTemplate")
    devices: list[dict[str, Any]] = template["Properties"]["LaunchTemplateData"]["BlockDeviceMappings"]
    return devices


def test_default_is_an_encrypted_root_volume_alone(stack: Stack, vpc: ec2.Vpc) -> None:
    assert _devices(stack, vpc) == [
        {"DeviceName": "/dev/xvda", "Ebs": {"Encrypted": True, "VolumeSize": 200, "VolumeType": "gp3"}}
    ]
    assert warnings(stack) == []


def test_volumes_have_the_speed_that_was_asked_for(stack: Stack, vpc: ec2.Vpc) -> None:
    root = Volume(500, iops=16_000, throughput_mb_s=2000)
    data = Volume(4000, type="io2", iops=100_000)
    assert _devices(stack, vpc, root_volume=root, data_volume=data) == [
        {
            "DeviceName": "/dev/xvda",
            "Ebs": {"Encrypted": True, "Iops": 16_000, "Throughput": 2000, "VolumeSize": 500, "VolumeType": "gp3"},
        },
        {
            "DeviceName": "/dev/sdf",
            "Ebs": {
                "DeleteOnTermination": True,
                "Encrypted": True,
                "Iops": 100_000,
                "VolumeSize": 4000,
                "VolumeType": "io2",
            },
        },
    ]


def test_values_known_only_at_deploy_time_are_let_through(stack: Stack, vpc: ec2.Vpc) -> None:
    number: Any = CfnParameter(stack, "Number", type="Number").value_as_number
    volume = Volume(number, iops=number, throughput_mb_s=number)
    ref = {"Ref": "Number"}
    for device in _devices(stack, vpc, root_volume=volume, data_volume=volume):
        assert {name: device["Ebs"][name] for name in ("VolumeSize", "Iops", "Throughput")} == {
            "VolumeSize": ref,
            "Iops": ref,
            "Throughput": ref,
        }


def test_mistakes_of_all_arguments_are_told_at_once(stack: Stack, vpc: ec2.Vpc) -> None:
    with pytest.raises(GpuConstructsError, match="Stack/Template: 3 problems") as raised:
        GpuLaunchTemplate(
            stack,
            "Template",
            instance_type="p3.2xlarge",
            vpc=vpc,
            root_volume=Volume(0),
            data_volume=Volume(100, type="io2"),
        )
    for argument in ("instance_type", "root_volume size_gib", "data_volume iops"):
        assert f"{argument} must be" in str(raised.value)


@pytest.mark.parametrize(("size", "warned"), [(75, True), (99, True), (100, False)])
def test_small_root_volume_is_warned_of(stack: Stack, vpc: ec2.Vpc, size: int, warned: bool) -> None:
    _devices(stack, vpc, root_volume=Volume(size), data_volume=Volume(10))
    assert [f"root_volume has {size} GiB" in text for text in warnings(stack)] == [True] * warned
