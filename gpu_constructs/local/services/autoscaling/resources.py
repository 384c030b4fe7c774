"""CloudFormation types: AWS::AutoScaling::LifecycleHook, ScheduledAction and WarmPool."""

from __future__ import annotations

from typing import Any

from moto.autoscaling.models import AutoScalingBackend, FakeAutoScalingGroup, autoscaling_backends

from gpu_constructs.local.services.autoscaling import warm_pool
from gpu_constructs.local.services.autoscaling.groups import find_group
from gpu_constructs.local.services.autoscaling.hooks import put_hook
from gpu_constructs.local.services.cloudformation import LocalResource


class OfGroup(LocalResource):
    """What belongs to a group that its properties name."""

    group_name = ""

    @property
    def backend(self) -> AutoScalingBackend:
        """Moto's own."""
        return autoscaling_backends[self.account_id][self.region]

    def group_of(self, properties: dict[str, Any]) -> FakeAutoScalingGroup:
        """The group that the properties name."""
        group = find_group(self.backend, properties["AutoScalingGroupName"])
        self.group_name = group.name
        return group


class LifecycleHookResource(OfGroup):
    """A hook of its own, put after the group exists: the group's first instances do not meet it."""

    TYPE = "AWS::AutoScaling::LifecycleHook"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id = properties.get("LifecycleHookName", name)
        hook = {**properties, "LifecycleHookName": self.physical_resource_id}
        put_hook(self.backend, self.group_of(properties).name, hook)

    def delete(self, *_: str) -> None:
        self.backend.delete_lifecycle_hook(self.group_name, self.physical_resource_id)


class ScheduledActionResource(OfGroup):
    """A change of a group's size at a time; moto keeps it, and it never fires."""

    TYPE = "AWS::AutoScaling::ScheduledAction"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id = name
        self.backend.put_scheduled_update_group_action(
            name=self.group_of(properties).name,
            scheduled_action_name=name,
            desired_capacity=properties.get("DesiredCapacity"),
            max_size=properties.get("MaxSize"),
            min_size=properties.get("MinSize"),
            start_time=properties.get("StartTime"),
            end_time=properties.get("EndTime"),
            recurrence=properties.get("Recurrence"),
            timezone=properties.get("TimeZone"),
        )

    def delete(self, *_: str) -> None:
        self.backend.delete_scheduled_action(self.group_name, self.physical_resource_id)

    def attributes(self) -> dict[str, Any]:
        return {"ScheduledActionName": self.physical_resource_id}


class WarmPoolResource(OfGroup):
    """A group's warm pool; what the template does not say has its default."""

    TYPE = "AWS::AutoScaling::WarmPool"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        defaults = {"MaxGroupPreparedCapacity": -1, "MinSize": 0, "PoolState": "Stopped", "InstanceReusePolicy": None}
        group = self.group_of(properties)
        warm_pool.put(group, {**defaults, **properties})
        self.physical_resource_id = group.name

    def update(self, properties: dict[str, Any]) -> None:
        """In place; a pool of another group is another pool."""
        if properties["AutoScalingGroupName"] != self.group_name:
            self.delete()
        self.create(self.physical_resource_id, properties)

    def delete(self, *_: str) -> None:
        group = self.backend.autoscaling_groups.get(self.group_name)
        if group and group.warm_pool:
            warm_pool.delete(group, force=True)
