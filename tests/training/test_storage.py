"""What a cluster does with its file system and volumes, beside what each of them does by itself."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_s3 as s3

from gpu_constructs import Checkpoints, GpuConstructsError, GpuImage, Lustre, TrainingCluster, Volume
from tests.conftest import only, resources, warnings

FAST = Lustre.persistent(4800, 1000, efa=True)


def _cluster(scope: Stack, **options: Any) -> TrainingCluster:
    return TrainingCluster(scope, "Cluster", **{"instance_type": "p5.48xlarge", "node_count": 2, **options})


@pytest.mark.parametrize(
    ("instance_type", "message"),
    [
        ("p5.48xlarge", None),
        ("g6e.48xlarge", None),
        ("p4d.24xlarge", "p4d.24xlarge has version 3 of the Nitro system"),
        ("g5.48xlarge", "g5.48xlarge has version 3 of the Nitro system"),
        ("g6.xlarge", "g6.xlarge has no EFA"),
    ],
)
def test_nodes_that_mount_over_tcp_a_file_system_with_efa_are_warned_of(
    stack: Stack, instance_type: str, message: str | None
) -> None:
    _cluster(stack, instance_type=instance_type, file_system=FAST)
    found = [text for text in warnings(stack) if "over TCP" in text]
    assert len(found) == (message is not None)
    assert message is None or message in found[0]


def test_nodes_on_amazon_linux_2_are_warned_of_with_a_file_system_that_has_efa(stack: Stack) -> None:
    _cluster(stack, file_system=FAST, image=GpuImage.custom("ami-0123456789abcdef0", os="al2"))
    assert [text for text in warnings(stack) if "runs Amazon Linux 2 and mounts the file system over TCP" in text]


def test_nodes_reach_a_file_system_with_efa_by_all_traffic(stack: Stack) -> None:
    """EFA traffic has no IP address: it needs rules between groups, in each direction."""
    cluster = _cluster(stack, file_system=FAST)
    assert cluster.file_system is not None
    own = cluster.node_group.launch_template.security_group
    data, nodes = (stack.resolve(group.security_group_id) for group in (cluster.file_system.security_group, own))
    for kind, peer in (("Ingress", "SourceSecurityGroupId"), ("Egress", "DestinationSecurityGroupId")):
        rules = [rule["Properties"] for rule in resources(stack, f"AWS::EC2::SecurityGroup{kind}").values()]
        found = [(rule["GroupId"], rule.get(peer)) for rule in rules if rule["IpProtocol"] == "-1"]
        assert (data, nodes) in found
        assert (nodes, data) in found


def test_nodes_wait_for_the_links_of_the_file_system(stack: Stack) -> None:
    bucket = s3.Bucket(stack, "Data")
    _cluster(stack, file_system=Lustre.scratch().linked_to(bucket), checkpoints=Checkpoints(bucket=bucket))
    (link,) = resources(stack, "AWS::FSx::DataRepositoryAssociation")
    assert link in only(stack, "AWS::AutoScaling::AutoScalingGroup")["DependsOn"]


def test_volumes_are_those_of_the_nodes(stack: Stack) -> None:
    _cluster(stack, root_volume=Volume(300), data_volume=Volume(1000, iops=6000))
    data = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    assert [device["Ebs"]["VolumeSize"] for device in data["BlockDeviceMappings"]] == [300, 1000]


def test_mistakes_in_everything_are_told_at_once(stack: Stack) -> None:
    with pytest.raises(GpuConstructsError, match="Stack/Cluster: 6 problems") as raised:
        _cluster(
            stack,
            node_count=0,
            file_system=Lustre.persistent(1200, 125, efa=True, metadata_iops=7).linked_to(
                s3.Bucket(stack, "Data"), "x"
            ),
            root_volume=Volume(0),
            data_volume=Volume(1, iops=1),
        )
    for argument in ("node_count", "capacity_gib", "metadata_iops", "path", "root_volume size_gib", "data_volume iops"):
        assert f"{argument} must be" in str(raised.value)


@pytest.mark.parametrize(
    "lustre", [Lustre.hdd(6000, 12), Lustre.intelligent_tiering(4000), Lustre.persistent(1200, 125)]
)
def test_every_kept_file_system_in_a_vpc_of_the_cluster_is_warned_of(stack: Stack, lustre: Lustre) -> None:
    _cluster(stack, file_system=lustre)
    assert ["the persistent file system is kept" in text for text in warnings(stack)] == [True]
