"""What tests ask of a stack that the real CDK command line has deployed."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from gpu_constructs.local import LocalAws, report


def replace(path: Path, old: str, new: str) -> None:
    """Change a file at the one place that a test means."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def rows(found: report.StackReport, title: str) -> list[tuple[str, ...]]:
    return next(section.rows for section in found.sections if section.title == title)


def outputs(aws: LocalAws, stack: str) -> dict[str, str]:
    described: dict[str, Any] = aws.client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    return {one["OutputKey"]: one["OutputValue"] for one in described["Outputs"]}


def check_that_nothing_is_left(aws: LocalAws) -> None:
    ec2 = aws.client("ec2")
    assert all(vpc["IsDefault"] for vpc in ec2.describe_vpcs()["Vpcs"])
    assert ec2.describe_addresses()["Addresses"] == []
    assert ec2.describe_launch_templates()["LaunchTemplates"] == []
    assert ec2.describe_placement_groups()["PlacementGroups"] == []
    instances = [i for r in ec2.describe_instances()["Reservations"] for i in r["Instances"]]
    assert {instance["State"]["Name"] for instance in instances} == {"terminated"}
    assert aws.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"] == []
    assert aws.client("fsx").describe_file_systems()["FileSystems"] == []
    names = [role["RoleName"] for role in aws.client("iam").list_roles()["Roles"]]
    assert [name for name in names if not re.match(r"cdk-hnb659fds-|AWSServiceRole", name)] == []
    assert aws.client("cloudformation").list_stacks(StackStatusFilter=["CREATE_COMPLETE"])["StackSummaries"][1:] == []
