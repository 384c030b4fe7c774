"""Nodes of a deployed TrainingStack, booted for real: by the user data that is read back from its launch template."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from gpu_constructs.local import CdkCli, LocalAws, troubles
from gpu_constructs.local.nodes import Failing, Nodes, processes, spans
from gpu_constructs.node_group.bootstrap import READY_HOOK, READY_HOOK_SECONDS
from tests.local.conftest import ROOT, StackUnderTest
from tests.local.test_command import run

pytestmark = [pytest.mark.allow_hosts(["127.0.0.0/8"]), pytest.mark.timeout(300)]

STACK = "TrainingStack"
NO_MOUNT = "mount.lustre: mount fs@tcp:/abcdefgh at /fsx failed: Input/output error\nIs the MGS running?"


@pytest.fixture(scope="module")
def deployed(local_aws: LocalAws) -> Iterator[str]:
    """The group of a TrainingStack, deployed once for all tests here."""
    cli = CdkCli(local_aws, ROOT)
    cli.deploy(STACK)
    resources = local_aws.client("cloudformation").describe_stack_resources(StackName=STACK)["StackResources"]
    yield next(
        one["PhysicalResourceId"] for one in resources if one["ResourceType"] == "AWS::AutoScaling::AutoScalingGroup"
    )
    cli.destroy(STACK)


@pytest.fixture
def group(local_aws: LocalAws, deployed: str) -> Iterator[str]:
    """That group with two new nodes, as it is after a deployment; what a test has left of failures is forgotten."""
    scaling, s3 = local_aws.client("autoscaling"), local_aws.client("s3")
    scaling.update_auto_scaling_group(AutoScalingGroupName=deployed, DesiredCapacity=2)
    yield deployed
    scaling.update_auto_scaling_group(AutoScalingGroupName=deployed, DesiredCapacity=0)
    scaling.resume_processes(AutoScalingGroupName=deployed)
    for bucket, key in _records(local_aws, deployed):
        s3.delete_object(Bucket=bucket, Key=key)


def _events(journal: list[dict[str, Any]], event: str) -> list[str]:
    return [one.get("step", "boot") for one in journal if one["event"] == event]


def _log(aws: LocalAws, instance_id: str) -> str:
    logs = aws.client("logs")
    for log_group in logs.describe_log_groups()["logGroups"]:
        name = log_group["logGroupName"]
        streams = logs.describe_log_streams(logGroupName=name)["logStreams"]
        if f"{instance_id}/boot" in {stream["logStreamName"] for stream in streams}:
            events = logs.get_log_events(logGroupName=name, logStreamName=f"{instance_id}/boot")["events"]
            return "\n".join(event["message"] for event in events)
    return ""


def test_two_nodes_boot_and_come_into_service(local_aws: LocalAws, group: str, tmp_path: Path) -> None:
    with Nodes(local_aws, group, tmp_path) as nodes:
        started = nodes.start()
        assert [(len(started), set(nodes.states().values()))] == [(2, {"Pending:Wait"})]
        assert [node.wait() for node in started] == [0, 0], started[0].console
        assert set(nodes.states().values()) == {"InService"}
        for node in started:
            assert _events(node.journal, "failed") == []
            assert {"gpus", "nvlink", "efa", "lustre-mount", "scratch"} <= set(_events(node.journal, "done"))
            # The file system of the stack, whose names only the deployment knows.
            (fstab,) = [line for line in (node.root / "etc/fstab").read_text().splitlines() if " /fsx " in line]
            assert fstab.startswith("fs-")
            assert "Token" not in fstab
        assert len({node.imds.endpoint for node in started}) == 2
        # Those that do not wait for each other run at the same time.
        steps = spans(started[0].journal)
        assert sum(step.seconds for step in steps) > max(step.begins_seconds + step.seconds for step in steps)


def test_node_with_a_missing_gpu_says_so_and_is_replaced(local_aws: LocalAws, group: str, tmp_path: Path) -> None:
    with Nodes(local_aws, group, tmp_path, machine=lambda whole, number: replace(whole, gpus=8 - number)) as nodes:
        whole, broken = nodes.start()
        assert (whole.wait(), broken.wait()) == (0, 1)
        states = nodes.states()
        assert states[whole.instance_id] == "InService"
        assert broken.instance_id not in states
        reason = "7 GPUs instead of 8"
        assert reason in broken.console
        assert reason in _log(local_aws, broken.instance_id)
        # The one that takes its place boots.
        (third,) = nodes.start()
        third.kill()


def test_node_whose_mount_never_comes_says_so_and_is_replaced(local_aws: LocalAws, group: str, tmp_path: Path) -> None:
    failing = Failing(command="mount /fsx", says=NO_MOUNT)
    with Nodes(local_aws, group, tmp_path, machine=lambda whole, _: replace(whole, failing=(failing,))) as nodes:
        node, other = nodes.start()
        other.kill()
        assert node.wait() == 1
        assert "Is the MGS running?" in node.console
        assert "security groups" in node.console
        assert len([call for call in node.calls if call == ["mount", "/fsx"]]) == 10
        assert node.instance_id not in nodes.states()
        ((bucket, key),) = _records(local_aws, group)
        found = json.loads(local_aws.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read())
        # The other one may have noted the same before it was ended.
        assert (node.instance_id, "lustre-mount") in {(one["instance_id"], one["step"]) for one in found["failures"]}


def _records(aws: LocalAws, group: str) -> list[tuple[str, str]]:
    s3 = aws.client("s3")
    return [
        (bucket["Name"], found["Key"])
        for bucket in s3.list_buckets()["Buckets"]
        for found in s3.list_objects_v2(Bucket=bucket["Name"]).get("Contents", [])
        if "/control/boot-failures/" in found["Key"] and group in found["Key"]
    ]


def test_node_boots_though_its_metadata_flaps(local_aws: LocalAws, group: str, tmp_path: Path) -> None:
    script = [
        {"at": 0, "do": "status", "path": "*", "code": 503, "for": 1.5},
        {"at": 2, "do": "expire_tokens"},
        {"at": 2, "do": "rst", "path": "*"},
    ]
    with Nodes(local_aws, group, tmp_path, script=lambda number: script if number == 0 else []) as nodes:
        flapping, steady = nodes.start()
        assert (flapping.wait(), steady.wait()) == (0, 0), flapping.console
        assert set(nodes.states().values()) == {"InService"}
        assert [one for one in flapping.imds.requests if one.status == 503]


def test_three_nodes_that_cannot_boot_suspend_the_launches(local_aws: LocalAws, group: str, tmp_path: Path) -> None:
    with Nodes(local_aws, group, tmp_path, machine=lambda whole, _: replace(whole, gpus=0)) as nodes:
        first = nodes.start()
        assert [node.wait() for node in first] == [1, 1]
        second = nodes.start()
        codes = [node.wait() for node in second]
        assert set(codes) == {1}
        said = troubles.of_stack(local_aws, STACK)
        assert len([line for line in said if "could not boot, gpus failed: " in line and "No devices" in line]) >= 3
        # Each once: why is told better by the nodes themselves than by the activities of the group.
        assert {len([line for line in said if node.instance_id in line]) for node in first} == {1}
        assert any(line.endswith("is suspended (Launch); aws autoscaling resume-processes goes on") for line in said)
        assert any("ALARM" in line and "resume-processes --scaling-processes Launch" in line for line in said)
        found = local_aws.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[group])
        suspended = {one["ProcessName"] for one in found["AutoScalingGroups"][0]["SuspendedProcesses"]}
        assert suspended == {"Launch"}
        assert nodes.start() == []
        assert any("resume-processes" in node.console for node in second)


def test_node_that_hangs_is_given_up_by_its_hook_and_replaced(local_aws: LocalAws, group: str, tmp_path: Path) -> None:
    # At the mount, long after the first heartbeat was due in the time of the local AWS.
    slow = Failing(command="mount /fsx", says=NO_MOUNT)
    with Nodes(local_aws, group, tmp_path, machine=lambda whole, _: replace(whole, failing=(slow,))) as nodes:
        hanging, other = nodes.start()
        other.kill()
        hanging.freeze()
        local_aws.advance_clock(READY_HOOK_SECONDS + 1)
        assert hanging.instance_id not in nodes.states()
        (said,) = [line for line in troubles.of_stack(local_aws, STACK) if hanging.instance_id in line]
        assert "was abandoned: Heartbeat Timeout" in said
        assert len(nodes.start()) == 2
        assert hanging.gone


def test_nodes_come_and_go_with_the_instances_of_the_group(local_aws: LocalAws, group: str, tmp_path: Path) -> None:
    scaling = local_aws.client("autoscaling")
    with Nodes(local_aws, group, tmp_path) as nodes, nodes.follow():
        _until(lambda: len(nodes.nodes) == 2)
        first, second = nodes.nodes
        scaling.terminate_instance_in_auto_scaling_group(
            InstanceId=first.instance_id, ShouldDecrementDesiredCapacity=False
        )
        _until(lambda: len(nodes.nodes) == 3)
        assert first.gone
        assert processes.of_folder(first.folder) == []
        assert processes.of_folder(second.folder)


def test_harness_leaves_nothing_however_often_it_is_killed(local_aws: LocalAws, group: str) -> None:
    """In the middle of whatever its node does by then: at once, while it fetches or unpacks, or when it boots."""
    local_aws.client("autoscaling").update_auto_scaling_group(AutoScalingGroupName=group, DesiredCapacity=1)
    for number in range(20):
        with TemporaryDirectory() as folder, Nodes(local_aws, group, Path(folder)) as nodes:
            started = nodes.start()
            _until(lambda files=10 * number, root=started[0].root: len(list(root.rglob("*"))) >= files)  # type: ignore[misc]
        assert [processes.of_folder(node.folder) for node in started] == [[]]
        assert not Path(folder).exists()
        for node in started:
            host, port = node.imds.endpoint.removeprefix("http://").split(":")
            with socket.socket() as probe:
                assert probe.connect_ex((host, int(port))) != 0


def _until(happened: Callable[[], bool]) -> None:
    while not happened():
        time.sleep(0.02)


def test_node_that_starts_again_boots_again(local_aws: LocalAws, group: str, tmp_path: Path) -> None:
    with Nodes(local_aws, group, tmp_path) as nodes:
        node = nodes.start()[0]
        assert node.wait() == 0
        before = len(node.calls)
        assert node.boot().wait(120) == 0
        # The machine has not started anew, so that what is done stays done.
        assert "gpus" in _events(node.journal[-60:], "skipped")
        assert not [call for call in node.calls[before:] if call[0] in {"mkfs.ext4", "dnf", "mount"}]
        assert nodes.states()[node.instance_id] == "InService"


def test_hook_is_that_of_the_group(local_aws: LocalAws, group: str) -> None:
    hooks = local_aws.client("autoscaling").describe_lifecycle_hooks(AutoScalingGroupName=group)["LifecycleHooks"]
    assert [(hook["LifecycleHookName"], hook["HeartbeatTimeout"]) for hook in hooks] == [(READY_HOOK, 600)]


def test_command_shows_how_the_nodes_of_a_stack_booted(local_aws: LocalAws, group: str) -> None:
    del group
    shown = run("boot", STACK, "--port", str(local_aws.port))
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout.count("InService") == 2
    assert re.search(r"lustre-mount +done +[\d.]+ +█", shown.stdout)
    # They are in service now, and boot again as after a restart of the machine.
    again = run("boot", STACK, "--port", str(local_aws.port), "--json")
    assert {node["state"] for node in json.loads(again.stdout)} == {"InService"}


def test_stack_without_nodes_has_none_to_boot(local_aws: LocalAws, a_stack: StackUnderTest) -> None:
    a_stack.create({"Bucket": {"Type": "AWS::S3::Bucket"}})
    failed = run("boot", a_stack.name, "--port", str(local_aws.port))
    assert failed.returncode == 1
    assert failed.stderr == f"error: {a_stack.name} has no Auto Scaling group, so it has no nodes to boot\n"
