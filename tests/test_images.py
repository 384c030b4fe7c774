from __future__ import annotations

from typing import Any

import pytest

from gpu_constructs import images
from gpu_constructs.images import GpuImage
from gpu_constructs.instances.catalog import GpuInstance

AMI = "ami-0123456789abcdef0"
DLAMI = "/aws/service/deeplearning/ami/"
ECS = "/aws/service/ecs/optimized-ami/"
EKS = "/aws/service/eks/optimized-ami/1.34/"

P4D = GpuInstance.of("p4d.24xlarge")


@pytest.mark.parametrize(
    ("parameter", "said"),
    [
        (
            f"{DLAMI}x86_64/oss-nvidia-driver-gpu-pytorch-2.12-ubuntu-24.04/latest/ami-id",
            images.Said(publisher="dlami", os="ubuntu-24.04", architecture="x86_64", driver="open", framework=True),
        ),
        (
            f"{DLAMI}arm64/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id",
            images.Said(publisher="dlami", os="al2023", architecture="arm64", driver="open"),
        ),
        (
            "/aws/service/pcs/ami/dlami-base-ubuntu2404/arm64/latest/ami-id",
            images.Said(publisher="pcs", os="ubuntu-24.04", architecture="arm64", driver="open"),
        ),
        (
            f"{ECS}amazon-linux-2/gpu/recommended/image_id",
            images.Said(publisher="ecs", os="al2", architecture="x86_64"),
        ),
        (
            f"{ECS}amazon-linux-2023/arm64/recommended/image_id",
            images.Said(publisher="ecs", os="al2023", architecture="arm64", driver="none"),
        ),
        (
            f"{EKS}amazon-linux-2023/arm64/nvidia/recommended/image_id",
            images.Said(publisher="eks", os="al2023", architecture="arm64"),
        ),
        (
            f"{EKS}amazon-linux-2-gpu/recommended/image_id",
            images.Said(publisher="eks", os="al2", architecture="x86_64"),
        ),
        ("/golden/ami", images.Said()),
    ],
)
def test_name_of_a_public_parameter_says_what_the_image_is(parameter: str, said: images.Said) -> None:
    assert images.read(parameter) == said
    assert GpuImage.from_ssm(f"{parameter}:7").said == said


@pytest.mark.parametrize(
    ("os", "device"), [("al2023", "/dev/xvda"), ("al2", "/dev/xvda"), ("ubuntu-22.04", "/dev/sda1")]
)
def test_root_device_is_that_of_the_operating_system(os: Any, device: str) -> None:
    assert GpuImage.custom(AMI, os=os).root_device == device


def test_framework_is_in_the_name_of_the_parameter() -> None:
    image = GpuImage.dlami(os="ubuntu-24.04", framework="pytorch-2.12")
    expected = f"{DLAMI}x86_64/oss-nvidia-driver-gpu-pytorch-2.12-ubuntu-24.04/latest/ami-id"
    assert image.parameter_for(P4D) == (expected, None)


@pytest.mark.parametrize(
    ("pinned", "ami_id", "version"), [(AMI, AMI, None), (7, None, 7), ("7", None, 7), (None, None, None)]
)
def test_pinned_is_an_ami_or_a_version(pinned: Any, ami_id: str | None, version: int | None) -> None:
    image = GpuImage.dlami(pinned=pinned)
    assert image.ami_id() == ami_id
    parameter = image.parameter_for(P4D)
    assert parameter is None if ami_id else parameter and parameter[1] == version


@pytest.mark.parametrize(
    ("parameter", "expected"),
    [
        ("/golden/ami", ("/golden/ami", None)),
        ("/golden/ami:3", ("/golden/ami", 3)),
        ("arn:aws:ssm:us-east-1:111111111111:parameter/a", ("arn:aws:ssm:us-east-1:111111111111:parameter/a", None)),
    ],
)
def test_version_stands_at_the_end_of_a_parameter(parameter: str, expected: tuple[str, int | None]) -> None:
    assert GpuImage.from_ssm(parameter, os="al2").parameter_for(P4D) == expected
