from __future__ import annotations

import pytest

from gpu_constructs import images
from gpu_constructs.instances import catalog
from gpu_constructs.instances.catalog import GpuInstance


@pytest.mark.parametrize(("name", "architecture"), [("p4d.24xlarge", "x86_64"), ("g5g.xlarge", "arm64")])
def test_image_is_the_deep_learning_ami_of_the_architecture(name: str, architecture: str) -> None:
    assert images.dlami_parameter(GpuInstance.of(name)) == (
        f"/aws/service/deeplearning/ami/{architecture}/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"
    )


def test_v100_is_refused_since_no_image_of_aws_has_its_driver() -> None:
    (problem,) = images.problems(GpuInstance.of("p3dn.24xlarge"))
    assert "got 'p3dn.24xlarge' with V100 GPUs" in str(problem)
    assert "images of your own are not supported yet" in str(problem)


def test_every_other_type_has_an_image() -> None:
    refused = [name for name in catalog.names() if images.problems(GpuInstance.of(name))]
    assert refused == ["p3dn.24xlarge"]
