"""A node that cannot boot: what it says and where, when it suspends launches, and that it goes whatever fails."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from gpu_constructs.on_node import permissions
from gpu_constructs.on_node.failure_report import Clients, Place, Report, report_boot_failure
from gpu_constructs.on_node.failures import BootFailure, Record
from tests.on_node.aws_fakes import DENIED, NO_ACTION, THROTTLED, Pauses, Scripted, described, error

NOW = datetime(2026, 12, 4, 3, 0, tzinfo=timezone.utc)
FAILURE = BootFailure(
    instance_id="i-1", at=NOW, step="driver", reason="0 GPUs instead of 8", tail="first\n\nlast line of the log"
)
PLACE = Place(region="us-east-1", group="nodes", hook="ready", log_group="boots", bucket="records", prefix="train/")
KEY = "train/control/boot-failures/nodes.json"
RESUME = (
    "aws autoscaling resume-processes --auto-scaling-group-name nodes --scaling-processes Launch --region us-east-1"
)


class Node:
    """A node that reports, with clients that answer as they were told."""

    def __init__(self, before: int = 0, answers: dict[str, list[Any]] | None = None) -> None:
        """`before` is how many other nodes have failed."""
        earlier = [
            replace(FAILURE, instance_id=f"i-other-{n}", at=NOW - timedelta(minutes=n + 1)) for n in range(before)
        ]
        text = Record(failures=tuple(reversed(earlier))).to_json().encode()
        found = [{"Body": io.BytesIO(text), "ETag": "one"}, {"Body": io.BytesIO(text), "ETag": "two"}]
        # One client for all four: no two services here have an operation of the same name.
        self.client = Scripted(**{"get_object": found, **(answers or {})})
        self.said: list[str] = []

    def report(self, place: Place = PLACE) -> Report:
        clients = Clients(autoscaling=self.client, s3=self.client, logs=self.client, cloudwatch=self.client)
        patience = Pauses().patience(tries=2)
        return report_boot_failure(
            FAILURE, place, clients, say=self.said.append, now=lambda: NOW, patience=patience, stubborn=patience
        )

    def written(self) -> list[Record]:
        return [Record.from_json(put["Body"].decode()) for put in self.client.parameters("put_object")]


def test_the_first_failure_is_told_everywhere_and_the_launch_abandoned_last() -> None:
    node = Node()
    assert node.report() == Report(suspended=False, problems=())
    assert node.client.called() == [
        "create_log_stream",
        "put_log_events",
        "get_object",
        "put_object",
        "complete_lifecycle_action",
    ]
    assert node.said == [
        "gpu-node: i-1 cannot boot, driver failed: 0 GPUs instead of 8",
        "gpu-node: | first",
        "gpu-node: | ",
        "gpu-node: | last line of the log",
    ]
    (put,) = node.client.parameters("put_object")
    assert (put["Bucket"], put["Key"]) == ("records", KEY)
    (record,) = node.written()
    assert record == Record(failures=(FAILURE,))
    (abandoned,) = node.client.parameters("complete_lifecycle_action")
    assert abandoned["LifecycleActionResult"] == "ABANDON"


def test_the_log_group_gets_the_reason_and_the_tail_in_a_stream_of_the_node() -> None:
    node = Node()
    node.report()
    (put,) = node.client.parameters("put_log_events")
    assert (put["logGroupName"], put["logStreamName"]) == ("boots", "i-1/boot")
    first, *tail = [event["message"] for event in put["logEvents"]]
    assert json.loads(first) == {"event": "failed", "step": "driver", "reason": "0 GPUs instead of 8"}
    assert tail == ["first", "last line of the log"]  # CloudWatch takes no empty event
    assert {event["timestamp"] for event in put["logEvents"]} == {1796353200000}


def test_a_stream_that_is_there_already_is_written_to() -> None:
    node = Node(
        answers={
            "create_log_stream": [error("ResourceAlreadyExistsException", "The specified log stream already exists")]
        }
    )
    assert node.report().problems == ()
    assert len(node.client.parameters("put_log_events")) == 1


def test_a_clock_that_cloudwatch_does_not_believe_is_told() -> None:
    node = Node(answers={"put_log_events": [{"rejectedLogEventsInfo": {"tooOldLogEventEndIndex": 2}}]})
    (problem,) = node.report().problems
    assert "the clock of the node is wrong: {'tooOldLogEventEndIndex': 2}" in problem


def test_the_second_failure_does_not_suspend() -> None:
    node = Node(before=1)
    assert node.report().suspended is False
    assert "suspend_processes" not in node.client.called()
    assert "put_metric_data" not in node.client.called()


def test_the_third_failure_suspends_launches_alarms_and_says_how_to_resume() -> None:
    node = Node(before=2)
    assert node.report() == Report(suspended=True, problems=())
    assert node.client.called()[3:] == [
        "put_object",
        "suspend_processes",
        "get_object",
        "put_object",
        "put_metric_data",
        "complete_lifecycle_action",
    ]
    assert node.client.parameters("suspend_processes") == [
        {"AutoScalingGroupName": "nodes", "ScalingProcesses": ["Launch"]}
    ]
    assert [record.suspended_at for record in node.written()] == [None, NOW]
    (metric,) = node.client.parameters("put_metric_data")
    assert metric == {
        "Namespace": "GpuConstructs",
        "MetricData": [
            {
                "MetricName": "LaunchesSuspended",
                "Dimensions": [{"Name": "AutoScalingGroupName", "Value": "nodes"}],
                "Timestamp": NOW,
                "Value": 1,
            }
        ],
    }
    assert node.said[-1].endswith(f"which no node does; when the cause is gone: {RESUME}")


@pytest.mark.parametrize(
    ("broken", "told", "suspended"),
    [
        ({"create_log_stream": [DENIED]}, "could not write to the log group boots", True),
        ({"put_log_events": [THROTTLED]}, "could not write to the log group boots", True),
        ({"get_object": [THROTTLED]}, f"could not record the failure in s3://records/{KEY}", False),
        ({"put_object": [DENIED]}, f"could not record the failure in s3://records/{KEY}", False),
        ({"suspend_processes": [THROTTLED]}, "could not suspend the launches of nodes", False),
        ({"put_object": [{}, DENIED]}, f"could not say in s3://records/{KEY} that launches are suspended", True),
        ({"put_metric_data": [DENIED]}, "could not publish the metric LaunchesSuspended", True),
    ],
)
def test_what_fails_is_told_and_the_rest_is_done(broken: dict[str, list[Any]], told: str, suspended: bool) -> None:
    node = Node(2, broken)
    report = node.report()
    assert report.suspended is suspended
    (problem,) = report.problems
    assert problem.startswith(f"{told}: ")
    assert re.search(r"is not authorized|Rate exceeded", problem)
    assert f"gpu-node: {problem}" in node.said
    assert node.client.called()[-1] == "complete_lifecycle_action"
    assert ("put_metric_data" in node.client.called()) is ("record the failure" not in told)


def test_whatever_else_fails_the_launch_is_abandoned() -> None:
    operations = ["create_log_stream", "get_object", "put_object", "suspend_processes", "put_metric_data"]
    node = Node(answers={operation: [DENIED] for operation in operations})
    assert len(node.report().problems) == 2
    assert node.client.called()[-1] == "complete_lifecycle_action"


def test_an_alarm_is_raised_even_where_launches_could_not_be_suspended_and_nothing_else_is_said() -> None:
    node = Node(2, {"suspend_processes": [DENIED]})
    node.report()
    assert len(node.client.parameters("put_metric_data")) == 1
    assert not any(RESUME in line for line in node.said)
    assert [record.suspended_at for record in node.written()] == [None]  # so that the next one tries again


@pytest.mark.parametrize(
    "answers",
    [
        {"complete_lifecycle_action": [NO_ACTION], "describe_auto_scaling_instances": [described("InService")]},
        {"complete_lifecycle_action": [DENIED]},
    ],
)
def test_a_node_whose_launch_cannot_be_abandoned_is_unhealthy(answers: dict[str, list[Any]]) -> None:
    node = Node(answers=answers)
    node.report()
    (unhealthy,) = node.client.parameters("set_instance_health")
    assert (unhealthy["InstanceId"], unhealthy["HealthStatus"]) == ("i-1", "Unhealthy")


def test_a_node_without_a_hook_is_unhealthy() -> None:
    node = Node()
    assert node.report(replace(PLACE, hook=None)).problems == ()
    assert node.client.called()[-1] == "set_instance_health"


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        (Place(region="us-east-1"), []),
        (Place(region="us-east-1", log_group="boots", bucket="records"), ["create_log_stream", "put_log_events"]),
        (Place(region="us-east-1", group="nodes", hook="ready"), ["complete_lifecycle_action"]),
    ],
)
def test_a_node_uses_only_what_it_has(place: Place, expected: list[str]) -> None:
    node = Node()
    node.report(place)
    assert node.client.called() == expected


def test_a_role_is_allowed_each_call_and_not_to_resume_launches() -> None:
    allowed = {
        *permissions.GROUP_ACTIONS,
        *permissions.DESCRIBE_ACTIONS,
        *permissions.METRIC_ACTIONS,
        *permissions.LOG_ACTIONS,
        *permissions.RECORD_ACTIONS,
    }
    over: dict[str, list[Any]] = {
        "complete_lifecycle_action": [NO_ACTION],
        "describe_auto_scaling_instances": [described("InService")],
    }
    third = Node(2, over)
    third.report()
    called = {"".join(word.capitalize() for word in operation.split("_")) for operation in third.client.called()}
    assert len(called) == 9
    assert called <= {action.partition(":")[2] for action in allowed}
    assert "autoscaling:RecordLifecycleActionHeartbeat" in allowed
    assert "autoscaling:ResumeProcesses" not in allowed


def test_the_record_is_among_the_objects_that_a_role_is_allowed() -> None:
    assert KEY.startswith(permissions.record_objects("train/").removesuffix("*"))
