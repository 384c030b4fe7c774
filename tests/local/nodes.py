"""A group as a stack, and its nodes: each talks to the local AWS with the clients that it would have on an instance."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cache
from typing import Any

from gpu_constructs.local import LocalAws
from gpu_constructs.on_node import aws, lifecycle
from gpu_constructs.on_node.aws import Patience
from gpu_constructs.on_node.failure_report import Clients, Place, Report, report_boot_failure
from gpu_constructs.on_node.failures import BootFailure, Record, RecordStore
from gpu_constructs.on_node.lifecycle import Hooks, Membership
from gpu_constructs.on_node.names import failures_key
from tests.local.conftest import StackUnderTest
from tests.local.services.group import Group

REGION = "us-east-1"
HOOK_SECONDS = 60
AT_ONCE = Patience(tries=2, wait=lambda _: None)
# Eight nodes write at most 16 times, so that one of them is overtaken at most 16 times.
UNTIL_WRITTEN = Patience(tries=20, wait=lambda _: None)


@cache
def client(service: str, port: int) -> Any:
    """One client a service and local AWS, which is in the environment; making one is slow."""
    del port
    return aws.client(service, REGION)


@dataclass(frozen=True)
class Nodes:
    """A group with the launch hook `boot` and the termination hook `drain`, a log group, and a bucket of records."""

    aws: LocalAws
    group: Group
    place: Place

    @classmethod
    def create(cls, stack: StackUnderTest, desired: int, *, pool: dict[str, Any] | None = None, **more: Any) -> Nodes:
        template = {"LaunchTemplateData": {"ImageId": "ami-12c6146b", "InstanceType": "g5.xlarge"}}
        properties = {
            "MinSize": "0",
            "MaxSize": "8",
            "DesiredCapacity": str(desired),
            "AvailabilityZones": ["us-east-1a"],
            "LaunchTemplate": {"LaunchTemplateId": {"Ref": "Template"}, "Version": "1"},
            "LifecycleHookSpecificationList": [
                _hook("boot", lifecycle.LAUNCHING),
                _hook("drain", lifecycle.TERMINATING),
            ],
            **more,
        }
        resources = {
            "Template": {"Type": "AWS::EC2::LaunchTemplate", "Properties": template},
            "Group": {"Type": "AWS::AutoScaling::AutoScalingGroup", "Properties": properties},
            "Bucket": {"Type": "AWS::S3::Bucket"},
            "Log": {"Type": "AWS::Logs::LogGroup"},
        }
        if pool is not None:
            pool = {"AutoScalingGroupName": {"Ref": "Group"}, **pool}
            resources["Pool"] = {"Type": "AWS::AutoScaling::WarmPool", "Properties": pool}
        stack.create(resources)
        scaling, ec2 = (client(service, stack.aws.port) for service in ("autoscaling", "ec2"))
        group = Group(scaling, ec2, stack.physical_id("Group"))
        place = Place(
            region=REGION,
            group=group.name,
            hook="boot",
            log_group=stack.physical_id("Log"),
            bucket=stack.physical_id("Bucket"),
            prefix="train/",
        )
        return cls(stack.aws, group, place)

    def client(self, service: str) -> Any:
        return client(service, self.aws.port)

    def hooks(self, node: str) -> Hooks:
        return Hooks(autoscaling=self.client("autoscaling"), group=self.group.name, instance_id=node, patience=AT_ONCE)

    def membership(self, node: str) -> Membership | None:
        return lifecycle.membership(self.client("autoscaling"), node, AT_ONCE)

    def fail(self, node: str, said: list[str] | None = None, place: Place | None = None) -> Report:
        """A node cannot boot, and reports it."""
        clients = Clients(**{name: self.client(name) for name in ("autoscaling", "s3", "logs", "cloudwatch")})
        now = datetime.now(timezone.utc)
        failure = BootFailure(
            instance_id=node, at=now, step="driver", reason="0 GPUs instead of 1", tail="loading\nno GPU"
        )
        say = (list[str]() if said is None else said).append
        return report_boot_failure(
            failure,
            place or self.place,
            clients,
            say=say,
            now=lambda: datetime.now(timezone.utc),
            patience=AT_ONCE,
            stubborn=UNTIL_WRITTEN,
        )

    @property
    def store(self) -> RecordStore:
        bucket, key = self.place.bucket, failures_key(self.place.prefix, self.group.name)
        assert bucket
        return RecordStore(s3=self.client("s3"), bucket=bucket, key=key, patience=UNTIL_WRITTEN)

    def record(self) -> Record:
        found = self.client("s3").get_object(Bucket=self.store.bucket, Key=self.store.key)
        return Record.from_json(found["Body"].read().decode())


def _hook(name: str, transition: str) -> dict[str, Any]:
    return {"LifecycleHookName": name, "LifecycleTransition": transition, "HeartbeatTimeout": HOOK_SECONDS}
