"""What went wrong with the nodes of a stack, read back as a person would look for it: why is where it was left."""

from __future__ import annotations

import json
import re
from collections.abc import Container, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gpu_constructs.local.process import LocalAws

_RECORDS = "control/boot-failures/"


def of_stack(aws: LocalAws, stack: str, region: str | None = None) -> list[str]:
    """Return what went wrong in a stack, one sentence each; nothing if nothing did.

    Boots that failed (from the record in the bucket), nodes that their hooks gave up and that did not say why, launches
    that are suspended, and alarms that are on.
    """
    found = aws.client("cloudformation", region).describe_stack_resources(StackName=stack)["StackResources"]
    ids: dict[str, list[str]] = {}
    for one in found:
        ids.setdefault(one["ResourceType"], []).append(one["PhysicalResourceId"])
    groups = ids.get("AWS::AutoScaling::AutoScalingGroup", [])
    recorded = dict(_records(aws.client("s3", region), ids.get("AWS::S3::Bucket", []), groups))
    return [
        *(f"{instance_id} could not boot, {reason}" for instance_id, reason in recorded.items()),
        *_groups(aws.client("autoscaling", region), groups, said_why=recorded),
        *_alarms(aws.client("cloudwatch", region), ids.get("AWS::CloudWatch::Alarm", [])),
    ]


def _records(s3: Any, buckets: list[str], groups: list[str]) -> Iterator[tuple[str, str]]:
    for bucket in buckets:
        keys = [one["Key"] for one in s3.list_objects_v2(Bucket=bucket).get("Contents", [])]
        for key in keys:
            if _RECORDS in key and any(group in key for group in groups):
                record = json.loads(s3.get_object(Bucket=bucket, Key=key)["Body"].read())
                for one in record["failures"]:
                    yield one["instance_id"], f"{one['step']} failed: {one['reason']}"


def _groups(autoscaling: Any, groups: list[str], *, said_why: Container[str]) -> Iterator[str]:
    if not groups:
        return
    for group in autoscaling.describe_auto_scaling_groups(AutoScalingGroupNames=groups)["AutoScalingGroups"]:
        name = group["AutoScalingGroupName"]
        for activity in autoscaling.describe_scaling_activities(AutoScalingGroupName=name)["Activities"]:
            found = re.search(r"\bi-[0-9a-f]+", activity["Description"])
            if activity["StatusCode"] == "Failed" and not (found and found[0] in said_why):
                yield f"{activity['Description']}: {activity.get('StatusMessage', 'failed')}"
        suspended = ", ".join(process["ProcessName"] for process in group["SuspendedProcesses"])
        if suspended:
            yield f"{name} is suspended ({suspended}); aws autoscaling resume-processes goes on"


def _alarms(cloudwatch: Any, names: list[str]) -> Iterator[str]:
    if not names:
        return
    for alarm in cloudwatch.describe_alarms(AlarmNames=names)["MetricAlarms"]:
        if alarm["StateValue"] == "ALARM":
            yield f"ALARM {alarm['AlarmName']}: {alarm.get('AlarmDescription', alarm['StateReason'])}"
