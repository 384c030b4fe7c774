"""Nodes that cannot boot, in the local AWS: the record, and what the third failure does."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from threading import Barrier

import pytest

from gpu_constructs.on_node.failures import BootFailure, Record, add
from gpu_constructs.on_node.names import GROUP_DIMENSION, LAUNCHES_SUSPENDED, METRIC_NAMESPACE
from tests.local.conftest import StackUnderTest
from tests.local.nodes import Nodes

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1", "::1"]), pytest.mark.usefixtures("on_the_node")]


@pytest.fixture
def make_nodes(a_stack: StackUnderTest) -> Callable[..., Nodes]:
    return lambda desired=1, **more: Nodes.create(a_stack, desired, **more)


def suspended(nodes: Nodes) -> list[str]:
    return [entry["ProcessName"] for entry in nodes.group.described()["SuspendedProcesses"]]


def alarms(nodes: Nodes) -> float:
    """The sum of the metric of this group."""
    now = datetime.now(timezone.utc)
    found = nodes.client("cloudwatch").get_metric_statistics(
        Namespace=METRIC_NAMESPACE,
        MetricName=LAUNCHES_SUSPENDED,
        Dimensions=[{"Name": GROUP_DIMENSION, "Value": nodes.group.name}],
        StartTime=now - timedelta(hours=1),
        EndTime=now + timedelta(hours=1),
        Period=7200,
        Statistics=["Sum"],
    )
    return float(sum(point["Sum"] for point in found["Datapoints"]))


def test_a_node_that_cannot_boot_says_why_and_is_replaced(make_nodes: Callable[..., Nodes]) -> None:
    nodes, said = make_nodes(), list[str]()
    node = nodes.group.only("Pending:Wait")

    assert nodes.fail(node, said).problems == ()

    assert said == [
        f"gpu-node: {node} cannot boot, driver failed: 0 GPUs instead of 1",
        "gpu-node: | loading",
        "gpu-node: | no GPU",
    ]
    (recorded,) = nodes.record().failures
    assert (recorded.instance_id, recorded.step, recorded.tail) == (node, "driver", "loading\nno GPU")
    events = nodes.client("logs").get_log_events(logGroupName=nodes.place.log_group, logStreamName=f"{node}/boot")
    assert [event["message"] for event in events["events"]] == [
        '{"event": "failed", "step": "driver", "reason": "0 GPUs instead of 1"}',
        "loading",
        "no GPU",
    ]
    assert nodes.group.ec2_state(node) == "terminated"
    assert nodes.group.only("Pending:Wait") != node


def fail_until_none_is_left(nodes: Nodes, most: int = 10) -> int:
    """Let each node that is launched fail; how many did."""
    for failed in range(most):
        waiting = nodes.group.ids("Pending:Wait")
        if not waiting:
            return failed
        nodes.fail(waiting[0])
    raise AssertionError(f"{most} nodes failed and the group goes on")


def test_the_third_failure_suspends_launches_until_somebody_resumes_them(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes()
    assert fail_until_none_is_left(nodes) == 3
    assert suspended(nodes) == ["Launch"]
    assert alarms(nodes) == 1
    record = nodes.record()
    assert record.suspended_at is not None
    assert len(record.failures) == 3

    # All night long.
    for _ in range(8):
        nodes.aws.advance_clock(3600)
        assert nodes.group.states() == {}

    nodes.group.resume("Launch")
    assert fail_until_none_is_left(nodes) == 3  # whoever resumes starts at zero
    assert suspended(nodes) == ["Launch"]
    assert alarms(nodes) == 2


def test_a_boot_that_succeeds_does_not_resume_launches(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes(4)
    *broken, whole = nodes.group.ids("Pending:Wait")
    for node in broken:
        nodes.fail(node)
    waiting = nodes.group.ids("Pending:Wait")
    assert whole in waiting
    for node in waiting:
        nodes.hooks(node).complete("boot", "CONTINUE")
    assert suspended(nodes) == ["Launch"]
    nodes.group.resize(8)
    assert nodes.group.ids("Pending:Wait") == []


def test_failures_that_are_far_apart_do_not_suspend(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes()
    for _ in range(2):
        nodes.fail(nodes.group.only("Pending:Wait"))
    hour = timedelta(hours=1)
    nodes.store.change(
        lambda found: replace(found, failures=tuple(replace(one, at=one.at - hour) for one in found.failures))
    )
    nodes.fail(nodes.group.only("Pending:Wait"))
    assert suspended(nodes) == []
    assert len(nodes.record().failures) == 1


def test_a_node_that_cannot_reach_the_record_still_goes(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes()
    node = nodes.group.only("Pending:Wait")
    report = nodes.fail(node, place=replace(nodes.place, bucket="somebody-elses"))
    (problem,) = report.problems
    assert problem.startswith("could not record the failure in s3://somebody-elses/train/control/boot-failures/")
    assert "NoSuchBucket" in problem
    assert nodes.group.ec2_state(node) == "terminated"


def test_two_nodes_that_fail_at_the_same_moment_are_both_recorded(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes(0)
    store, both_have_read = nodes.store, Barrier(2)
    tries: list[str] = []

    def fail(node: str) -> None:
        failure = BootFailure(instance_id=node, at=datetime.now(timezone.utc), step="driver", reason="no GPU")

        def change(found: Record) -> Record:
            if node not in tries:
                both_have_read.wait(60)
            tries.append(node)
            return add(found, failure, datetime.now(timezone.utc))

        store.change(change)

    for round_, names in enumerate([("i-1", "i-2"), ("i-3", "i-4")]):  # one makes the record, then one changes it
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(fail, names))
        assert {one.instance_id for one in nodes.record().failures} >= set(names)
        assert len(tries) == 3 * (round_ + 1)  # the slower one once more


def test_a_whole_group_that_fails_at_once_is_recorded_and_suspended(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes(8)
    ids, together = nodes.group.ids("Pending:Wait"), Barrier(8)
    place = nodes.place

    def fail(node: str) -> tuple[str, ...]:
        together.wait(60)
        return nodes.fail(node, place=place).problems

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(fail, ids)) == [()] * 8
    assert {one.instance_id for one in nodes.record().failures} == set(ids)
    assert suspended(nodes) == ["Launch"]
    assert all(nodes.group.ec2_state(node) == "terminated" for node in ids)
