"""Launching one instance of a group: from which template version, where, and as what."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from moto.autoscaling.models import ASG_NAME_TAG, FakeAutoScalingGroup
from moto.ec2.models.instances import Instance
from moto.ec2.models.launch_templates import LaunchTemplateVersion
from moto.ec2.utils import filter_iam_instance_profiles
from moto.utilities.utils import get_partition

from gpu_constructs.local.services.autoscaling.capacity import on_demand_wanted
from gpu_constructs.local.services.autoscaling.records import counted, everyone


@dataclass(frozen=True)
class Source:
    """What an instance is launched from: a launch template's version (None for a launch configuration) and a type."""

    version: LaunchTemplateVersion | None
    instance_type: str

    @property
    def data(self) -> dict[str, Any]:
        """The template's own properties."""
        return self.version.data if self.version else {}

    def described(self) -> dict[str, str] | None:
        """As DescribeAutoScalingInstances shows it: the number the version had, whatever becomes the default later."""
        if self.version is None:
            return None
        template = self.version.template
        return {
            "LaunchTemplateId": template.id,
            "LaunchTemplateName": template.name,
            "Version": str(self.version.number),
        }


def overrides(group: FakeAutoScalingGroup) -> list[dict[str, Any]]:
    """The overrides of a mixed instances policy, in the user's order of preference."""
    policy = group.mixed_instances_policy or {}
    return list(policy.get("LaunchTemplate", {}).get("Overrides") or [])


def weight(group: FakeAutoScalingGroup) -> int:
    """Capacity units an instance is worth; capacity is never short here, so the preferred type is always taken."""
    return max(1, int((overrides(group) or [{}])[0].get("WeightedCapacity") or 1))


def source(group: FakeAutoScalingGroup) -> Source:
    """What the group launches from at this moment."""
    preferred = (overrides(group) or [{}])[0]
    template, number = group.ec2_launch_template, getattr(group, "launch_template_version", "$Default")
    specification = preferred.get("LaunchTemplateSpecification")
    if specification:
        number = specification.get("Version") or "$Default"
        template = (
            group.ec2_backend.get_launch_template(specification["LaunchTemplateId"])
            if specification.get("LaunchTemplateId")
            else group.ec2_backend.get_launch_template_by_name(specification["LaunchTemplateName"])
        )
    version = template.get_version(number) if template else None
    base_type = version.instance_type if version else group.launch_config.instance_type
    return Source(version, preferred.get("InstanceType") or base_type)


def run_instance(group: FakeAutoScalingGroup) -> tuple[Instance, Source]:
    """Launch one EC2 instance.

    Raises:
        ServiceException: EC2 refuses; the group notes it as a failed activity.
    """
    launched_from = source(group)
    profile = launched_from.data.get("IamInstanceProfile") or {}
    if profile:
        # Refused before the launch, as EC2 does it, not after an instance is there.
        filter_iam_instance_profiles(
            group.account_id, get_partition(group.region), profile.get("Arn"), profile.get("Name")
        )
    reservation = group.ec2_backend.run_instances(**_arguments(group, launched_from))
    instance = reservation.instances[0]
    instance.placement.group_name = _placement_group(group, launched_from)
    if profile:
        group.ec2_backend.associate_iam_instance_profile(instance.id, profile.get("Name"), profile.get("Arn"))
    return instance, launched_from


def _arguments(group: FakeAutoScalingGroup, launched_from: Source) -> dict[str, Any]:
    version, config = launched_from.version, group.launch_config
    origin = version or config
    subnet_id, zone = _place(group)
    arguments: dict[str, Any] = {
        "image_id": origin.image_id,
        "count": 1,
        "user_data": origin.user_data,
        "security_group_names": origin.security_groups,
        "instance_type": launched_from.instance_type,
        "is_instance_type_default": False,
        "tags": {"instance": {**_template_tags(version), **group.get_propagated_tags(), ASG_NAME_TAG: group.name}},
        "placement": zone,
        "subnet_id": subnet_id,
        "lifecycle": _purchase_option(group, launched_from),
        "associate_public_ip": config.associate_public_ip_address if version is None else None,
    }
    if version is None:
        return {**arguments, "launch_config": config}
    arguments["launch_template"] = {"LaunchTemplateId": version.template.id, "Version": str(version.number)}
    arguments["metadata_options"] = version.data.get("MetadataOptions") or {}
    groups = _first_interface_groups(launched_from)
    return {**arguments, "security_group_ids": groups} if groups else arguments


def _template_tags(version: LaunchTemplateVersion | None) -> dict[str, str]:
    return version.instance_tags if version else {}


def _first_interface_groups(launched_from: Source) -> list[str]:
    """The primary interface's security groups, which become the instance's: moto gives each instance one interface."""
    for interface in launched_from.data.get("NetworkInterfaces") or []:
        if int(interface.get("DeviceIndex") or 0) == int(interface.get("NetworkCardIndex") or 0) == 0:
            return list(interface.get("Groups") or [])
    return []


def _placement_group(group: FakeAutoScalingGroup, launched_from: Source) -> str:
    placement = launched_from.data.get("Placement") or {}
    return group.placement_group or placement.get("GroupName") or ""


def _place(group: FakeAutoScalingGroup) -> tuple[str | None, str]:
    """The subnet and zone with the fewest of the group's instances; the first one listed when there is a tie."""
    zones = Counter(state.availability_zone for state in everyone(group))
    if not group.vpc_zone_identifier:
        return None, min(group.availability_zones, key=lambda zone: zones[zone])
    subnets = [group.ec2_backend.get_subnet(subnet_id) for subnet_id in group.vpc_zone_identifier.split(",")]
    subnet = min(subnets, key=lambda candidate: zones[candidate.availability_zone])
    return subnet.id, subnet.availability_zone


def _purchase_option(group: FakeAutoScalingGroup, launched_from: Source) -> str | None:
    """`spot`, `capacity-block`, or None for On-Demand, as DescribeInstances shows it in InstanceLifecycle."""
    market = (launched_from.data.get("InstanceMarketOptions") or {}).get("MarketType")
    if market or not group.mixed_instances_policy:
        return market
    distribution = group.mixed_instances_policy.get("InstancesDistribution") or {}
    there = [state.instance for state in counted(group)]
    wanted = on_demand_wanted(
        len(there) + 1,
        int(distribution.get("OnDemandBaseCapacity") or 0),
        int(distribution.get("OnDemandPercentageAboveBaseCapacity", 100)),
    )
    on_demand = sum(1 for instance in there if instance.lifecycle is None)
    return None if on_demand < wanted else "spot"
