"""Placement groups: the API operations and the CloudFormation type, both absent from moto."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from moto.core.responses import ActionResult, EmptyResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.models import ec2_backends
from moto.ec2.responses import EC2Response
from moto.ec2.utils import random_id

from gpu_constructs.local import extend
from gpu_constructs.local.services.cloudformation import LocalResource

_STRATEGIES = ("cluster", "spread", "partition")


@dataclass(frozen=True)
class PlacementGroup:
    """What DescribePlacementGroups tells of one."""

    name: str
    strategy: str
    partition_count: int | None = None
    tags: dict[str, str] = field(default_factory=dict)
    group_id: str = field(default_factory=lambda: random_id("pg"))

    def described(self, region: str, account_id: str) -> dict[str, Any]:
        """In the API's words."""
        return {
            "GroupName": self.name,
            "GroupId": self.group_id,
            "GroupArn": f"arn:aws:ec2:{region}:{account_id}:placement-group/{self.name}",
            "State": "available",
            "Strategy": self.strategy,
            "PartitionCount": self.partition_count,
            "Tags": [{"Key": key, "Value": value} for key, value in self.tags.items()],
        }


_groups: dict[tuple[str, str], dict[str, PlacementGroup]] = {}


def groups_of(account_id: str, region: str) -> dict[str, PlacementGroup]:
    """The placement groups of an account in a Region, by name."""
    return _groups.setdefault((account_id, region), {})


def install() -> None:
    """Add the API operations; the CloudFormation type is found by its name."""
    for operation in (create_placement_group, describe_placement_groups, delete_placement_group):
        extend.add_method(EC2Response, operation)


def create_placement_group(self: EC2Response) -> ActionResult:
    """CreatePlacementGroup."""
    tags = self._parse_tag_specification().get("placement-group", {})
    group = _create(
        self.current_account,
        self.region,
        PlacementGroup(
            name=self._get_param("GroupName") or random_id("pg"),
            strategy=self._get_param("Strategy") or "cluster",
            partition_count=self._get_int_param("PartitionCount"),
            tags=tags,
        ),
    )
    return ActionResult({"PlacementGroup": group.described(self.region, self.current_account)})


def describe_placement_groups(self: EC2Response) -> ActionResult:
    """DescribePlacementGroups."""
    groups = groups_of(self.current_account, self.region)
    names = self._get_param("GroupNames", [])
    for name in names:
        _existing(groups, name)
    chosen = [g for g in groups.values() if not names or g.name in names]
    return ActionResult({"PlacementGroups": [g.described(self.region, self.current_account) for g in chosen]})


def delete_placement_group(self: EC2Response) -> EmptyResult:
    """DeletePlacementGroup."""
    _delete(self.current_account, self.region, self._get_param("GroupName"))
    return EmptyResult()


class PlacementGroupResource(LocalResource):
    """AWS::EC2::PlacementGroup."""

    TYPE = "AWS::EC2::PlacementGroup"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.physical_resource_id = name
        tags = {tag["Key"]: tag["Value"] for tag in properties.get("Tags", [])}
        group = PlacementGroup(name, properties.get("Strategy", "cluster"), properties.get("PartitionCount"), tags)
        _create(self.account_id, self.region, group)

    def delete(self, *_: str) -> None:
        _delete(self.account_id, self.region, self.physical_resource_id)

    def attributes(self) -> dict[str, Any]:
        return {"GroupName": self.physical_resource_id}


def _create(account_id: str, region: str, group: PlacementGroup) -> PlacementGroup:
    groups = groups_of(account_id, region)
    if group.strategy not in _STRATEGIES:
        raise EC2ClientError("InvalidParameterValue", f"Invalid value '{group.strategy}' for strategy.")
    if group.name in groups:
        raise EC2ClientError("InvalidPlacementGroup.Duplicate", f"The Placement Group '{group.name}' already exists.")
    groups[group.name] = group
    return group


def _delete(account_id: str, region: str, name: str) -> None:
    groups = groups_of(account_id, region)
    _existing(groups, name)
    for instance in ec2_backends[account_id][region].all_instances():
        placed = getattr(instance.placement, "group_name", None) == name
        if placed and instance.state not in {"terminated", "shutting-down"}:
            raise EC2ClientError(
                "InvalidPlacementGroup.InUse", f"The placement group '{name}' is in use and may not be deleted."
            )
    del groups[name]


def _existing(groups: dict[str, PlacementGroup], name: str) -> PlacementGroup:
    if name not in groups:
        raise EC2ClientError("InvalidPlacementGroup.Unknown", f"The Placement Group '{name}' is unknown.")
    return groups[name]
