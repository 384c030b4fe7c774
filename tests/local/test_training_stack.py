"""TrainingStack with the real CDK command line: deploy, redeploy with a change, a second stack beside it, destroy."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gpu_constructs.local import CdkCli, LocalAws, report, retained
from tests.local.deployed import check_that_nothing_is_left, outputs, replace, rows

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.timeout(300)]

OTHER = """
from aws_cdk import App, Stack
from gpu_constructs import Lustre, TrainingCluster
app = App()
TrainingCluster(Stack(app, "Other"), "Cluster", instance_type="g6e.48xlarge", node_count=1, file_system=Lustre.none())
"""


def _nodes(aws: LocalAws, group: str) -> set[str]:
    groups = aws.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[group])["AutoScalingGroups"]
    return {node["InstanceId"] for node in groups[0]["Instances"]}


def _check_what_was_created(found: report.StackReport) -> None:
    assert found.status == "CREATE_COMPLETE"
    parts = [(part, what) for _, _, part, what in rows(found, "Launch template") if part != "image"]
    assert parts == [
        ("card 0 device 0", "ENA"),
        ("card 0 device 1", "EFA"),
        ("card 1 device 0", "EFA"),
        ("card 2 device 0", "EFA"),
        ("card 3 device 0", "EFA"),
    ]
    rules = {(way, traffic, peer) for _, _, way, traffic, peer in rows(found, "Security groups")}
    assert {("in", "all traffic", "itself"), ("out", "all traffic", "itself"), ("in", "tcp 988", "itself")} <= rules
    group, *nodes = rows(found, "Auto Scaling group")
    assert group[1] == "0 to 3, 2 wanted"
    assert [node[1:] for node in nodes] == [("p4d.24xlarge", "us-east-1b", "Pending:Wait")] * 2
    assert [(kind, size) for _, kind, size, _ in rows(found, "File system")] == [("SCRATCH_2", "1200 GiB")]
    assert [strategy for _, strategy, _ in rows(found, "Placement group")] == ["cluster"]
    assert "AmazonSSMManagedInstanceCore" in {policies for _, policies, _ in rows(found, "Roles")}
    assert [what for what, _, _, _ in rows(found, "Network")] == [
        "VPC",
        "public subnet",
        "private subnet",
        "NAT gateway",
        "Gateway endpoint",
    ]
    # A type that was not created fails this test; what only AWS would run is a known exception.
    assert set(found.unfinished) == {"not_run"}
    assert set(found.unfinished["not_run"].values()) == {"Custom::VpcRestrictDefaultSG"}


def test_deploy_redeploy_a_second_stack_and_destroy(project: Path, local_home: Path) -> None:
    del local_home
    zone = ["availability_zone=us-east-1b"]
    with LocalAws.start() as aws:
        cli = CdkCli(aws, project)

        cli.deploy("TrainingStack", context=zone)
        _check_what_was_created(report.read(aws, "TrainingStack"))
        before = outputs(aws, "TrainingStack")
        nodes = _nodes(aws, before["AutoScalingGroupName"])
        aws.client("s3").put_object(Bucket=before["CheckpointBucket"], Key="step-1", Body=b"weights")

        # A change of the file system and of the nodes; both stay what they are.
        stack = project / "examples" / "training" / "stack.py"
        replace(stack, "Lustre.scratch(1200)", "Lustre.scratch(2400)")
        replace(stack, "node_count=2", "node_count=3")
        cli.deploy("TrainingStack", context=zone)
        assert report.read(aws, "TrainingStack").status == "UPDATE_COMPLETE"
        assert outputs(aws, "TrainingStack") == before
        assert nodes < _nodes(aws, before["AutoScalingGroupName"])
        (file_system,) = aws.client("fsx").describe_file_systems()["FileSystems"]
        assert file_system["StorageCapacity"] == 2400

        # Nothing to do is nothing done.
        cli.deploy("TrainingStack", context=zone)
        assert len(_nodes(aws, before["AutoScalingGroupName"])) == 3

        other = project / "other"
        other.mkdir()
        (other / "app.py").write_text(OTHER + "app.synth()\n")
        shutil.copy(project / "cdk.json", other)
        second = CdkCli(aws, other)
        second.deploy("Other")
        assert report.read(aws, "Other").status == "CREATE_COMPLETE"
        second.destroy("Other")

        kept = retained.of_stack(aws, "TrainingStack")
        cli.destroy("TrainingStack", context=zone)
        assert [one.physical_id for one in kept] == [before["CheckpointBucket"]]
        assert retained.empty(aws, kept[0]) == 1
        assert "Contents" not in aws.client("s3").list_objects_v2(Bucket=kept[0].physical_id)
        check_that_nothing_is_left(aws)


def test_another_region_and_account(project: Path, local_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    del local_home
    monkeypatch.chdir(project)
    with LocalAws.start(account="000000000042", region="eu-west-1") as aws:
        CdkCli(aws, Path(), region="ap-northeast-1").deploy("TrainingStack")

        found = report.read(aws, "TrainingStack", "ap-northeast-1")
        assert rows(found, "Auto Scaling group")[1][2] == "ap-northeast-1a"
        assert aws.client("cloudformation", "eu-west-1").describe_stacks()["Stacks"] == []
