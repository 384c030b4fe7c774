"""How the nodes of a cluster boot: by the bundle, where that knows its way on their image."""

from __future__ import annotations

import pytest
from aws_cdk import Stack

from gpu_constructs import GpuConstructsError, GpuImage, Lustre
from gpu_constructs.network import private_vpc
from tests.conftest import only, resources, warnings
from tests.training.made import make_cluster

AMI = "ami-0123456789abcdef0"


def _hooks(stack: Stack) -> int:
    group = only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]
    return len(group.get("LifecycleHookSpecificationList", []))


def test_cluster_boots_and_has_an_alarm_for_nodes_that_cannot(stack: Stack) -> None:
    cluster = make_cluster(stack)
    assert _hooks(stack) == 1
    assert cluster.node_group.launches_suspended is not None
    assert len(resources(stack, "AWS::CloudWatch::Alarm")) == 1
    assert warnings(stack) == []


def test_image_that_the_boot_does_not_know_starts_as_it_is(stack: Stack) -> None:
    cluster = make_cluster(stack, image=GpuImage.custom(AMI, os="al2"))
    assert _hooks(stack) == 0
    assert cluster.node_group.launches_suspended is None
    assert any(
        "nodes boot on al2023, ubuntu-22.04, ubuntu-24.04; on al2 they start" in text for text in warnings(stack)
    )


@pytest.mark.parametrize(
    ("image", "file_system", "host"),
    [
        (GpuImage.dlami(os="ubuntu-22.04"), Lustre.scratch(), "fsx-lustre-client-repo.s3.amazonaws.com"),
        (GpuImage.custom(AMI, os="al2023", install_cuda=True), Lustre.none(), "developer.download.nvidia.com"),
    ],
)
def test_boot_that_needs_the_internet_is_refused_where_there_is_none(
    stack: Stack, image: GpuImage, file_system: Lustre, host: str
) -> None:
    with pytest.raises(GpuConstructsError) as caught:
        make_cluster(stack, vpc=private_vpc(stack, "Vpc"), image=image, file_system=file_system, availability_zone=None)
    (problem,) = caught.value.problems
    assert problem.given.startswith("isolated subnets, for nodes that fetch from")
    assert host in problem.given
    assert "use the Deep Learning AMI on al2023" in problem.remedy


@pytest.mark.parametrize(
    ("image", "file_system"),
    [(None, Lustre.scratch()), (GpuImage.dlami(os="ubuntu-22.04"), Lustre.none())],
)
def test_boot_that_needs_no_internet_is_accepted(stack: Stack, image: GpuImage | None, file_system: Lustre) -> None:
    make_cluster(stack, vpc=private_vpc(stack, "Vpc"), image=image, file_system=file_system, availability_zone=None)


def test_way_to_the_internet_is_enough(stack: Stack) -> None:
    make_cluster(stack, image=GpuImage.dlami(os="ubuntu-22.04"))
    assert warnings(stack) == []
