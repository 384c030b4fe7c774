"""A group, asked and told in the words of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mypy_boto3_autoscaling.client import AutoScalingClient
    from mypy_boto3_ec2.client import EC2Client


class Group:
    def __init__(self, scaling: AutoScalingClient, ec2: EC2Client, name: str) -> None:
        self.scaling = scaling
        self.ec2 = ec2
        self.name = name

    def described(self) -> Any:
        return self.scaling.describe_auto_scaling_groups(AutoScalingGroupNames=[self.name])["AutoScalingGroups"][0]

    def states(self) -> dict[str, str]:
        """Lifecycle state by instance id; warm instances are not among them."""
        return {i["InstanceId"]: i["LifecycleState"] for i in self.described()["Instances"]}

    def summary(self) -> list[str]:
        return sorted(self.states().values())

    def ids(self, state: str) -> list[str]:
        return [instance_id for instance_id, found in self.states().items() if found == state]

    def only(self, state: str) -> str:
        [instance_id] = self.ids(state)
        return instance_id

    def warm(self) -> list[str]:
        pool = self.scaling.describe_warm_pool(AutoScalingGroupName=self.name)
        return sorted(instance["LifecycleState"] for instance in pool["Instances"])

    def warm_ids(self) -> list[str]:
        pool = self.scaling.describe_warm_pool(AutoScalingGroupName=self.name)
        return [instance["InstanceId"] for instance in pool["Instances"]]

    def complete(self, instance_id: str, hook: str = "boot", result: str = "CONTINUE") -> None:
        self.scaling.complete_lifecycle_action(
            AutoScalingGroupName=self.name,
            LifecycleHookName=hook,
            InstanceId=instance_id,
            LifecycleActionResult=result,
        )

    def heartbeat(self, instance_id: str, hook: str = "boot") -> None:
        self.scaling.record_lifecycle_action_heartbeat(
            AutoScalingGroupName=self.name, LifecycleHookName=hook, InstanceId=instance_id
        )

    def resize(self, desired: int) -> None:
        self.scaling.set_desired_capacity(AutoScalingGroupName=self.name, DesiredCapacity=desired)

    def suspend(self, *processes: str) -> None:
        self.scaling.suspend_processes(AutoScalingGroupName=self.name, ScalingProcesses=list(processes))

    def resume(self, *processes: str) -> None:
        self.scaling.resume_processes(AutoScalingGroupName=self.name, ScalingProcesses=list(processes))

    def activities(self) -> list[Any]:
        return list(self.scaling.describe_scaling_activities(AutoScalingGroupName=self.name)["Activities"])

    def ec2_state(self, instance_id: str) -> str:
        return str(self.instance(instance_id)["State"]["Name"])

    def instance(self, instance_id: str) -> Any:
        return self.ec2.describe_instances(InstanceIds=[instance_id])["Reservations"][0]["Instances"][0]
