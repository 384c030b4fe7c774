"""What the launch template and the group say about how nodes are bought."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from aws_cdk import Token
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2

from gpu_constructs.capacity import Capacity, Reservation, price
from gpu_constructs.checks import UNKNOWN, Unknown
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network.vpc import as_zone
from gpu_constructs.tokens import is_token, known


def plain(capacity: Capacity) -> Capacity:
    """Return what the rules may judge: tokens become `UNKNOWN`, a resource becomes what synth knows about it."""
    target = capacity.target
    return replace(
        capacity,
        target=_facts(target) if isinstance(target, ec2.CfnCapacityReservation) else known(target),
        on_demand_base=known(capacity.on_demand_base),
        max_price=known(capacity.max_price),
    )


def availability_zone(capacity: Capacity) -> str | None:
    """Return the zone that follows from the capacity: that of a reservation of the same app which names one."""
    target = capacity.target
    return target.availability_zone if isinstance(target, ec2.CfnCapacityReservation) else None


def set_capacity(template: ec2.CfnLaunchTemplate, capacity: Capacity) -> None:
    """Let a launch template target a reservation or block; spot is asked for by the group.

    A block needs its market type beside its id: "The market type (purchasing) option is not valid" is what EC2 answers
    to one without the other. The L2 knows neither.
    """
    if capacity.market == "capacity-block":
        template.add_property_override("LaunchTemplateData.InstanceMarketOptions.MarketType", "capacity-block")
    if capacity.target is not None:
        key = (
            "CapacityReservationResourceGroupArn" if capacity.market == "reservation-group" else "CapacityReservationId"
        )
        template.add_property_override(
            "LaunchTemplateData.CapacityReservationSpecification.CapacityReservationTarget", {key: target_id(capacity)}
        )


def target_id(capacity: Capacity) -> str:
    """Return the id or ARN of what is targeted."""
    target = capacity.target
    if isinstance(target, ec2.CfnCapacityReservation):
        return target.attr_id
    assert isinstance(target, str)
    return target


def mixed_instances_policy(
    template: ec2.ILaunchTemplate, capacity: Capacity, types: Sequence[GpuInstance]
) -> autoscaling.MixedInstancesPolicy | None:
    """Return the policy of a group that buys spot or mixes types; nothing for one that needs none."""
    spot = capacity.market == "spot"
    if not spot and not types:
        return None
    overrides = [
        autoscaling.LaunchTemplateOverrides(instance_type=ec2.InstanceType(instance.name)) for instance in types
    ]
    return autoscaling.MixedInstancesPolicy(
        launch_template=template,
        launch_template_overrides=overrides or None,
        instances_distribution=_spot_distribution(capacity) if spot else _on_demand_distribution(),
    )


def _facts(reservation: ec2.CfnCapacityReservation) -> Reservation:
    zone = reservation.availability_zone
    return Reservation(
        instance_type=known(reservation.instance_type),
        zone=None if zone is None else as_zone(zone),
        tenancy=known(reservation.tenancy or "default"),
        instance_count=_whole(reservation.instance_count),
        in_placement_group=reservation.placement_group_arn is not None,
        platform=known(reservation.instance_platform),
    )


def _whole(count: float) -> int | Unknown:
    number = known(count)
    return number if number is UNKNOWN else int(number)


def _spot_distribution(capacity: Capacity) -> autoscaling.InstancesDistribution:
    assert not isinstance(capacity.on_demand_base, Unknown)
    return autoscaling.InstancesDistribution(
        on_demand_base_capacity=capacity.on_demand_base,
        # Left out, it is 100: no spot at all.
        on_demand_percentage_above_base_capacity=0,
        on_demand_allocation_strategy=autoscaling.OnDemandAllocationStrategy.PRIORITIZED,
        # Left out, it is lowest-price, which is interrupted most.
        spot_allocation_strategy=autoscaling.SpotAllocationStrategy.PRICE_CAPACITY_OPTIMIZED,
        spot_max_price=_max_price(capacity),
    )


def _max_price(capacity: Capacity) -> str | None:
    value = capacity.max_price
    assert not isinstance(value, Unknown)
    if value is None:
        return None
    return Token.as_string(value) if is_token(value) else price(value)


def _on_demand_distribution() -> autoscaling.InstancesDistribution:
    return autoscaling.InstancesDistribution(
        on_demand_percentage_above_base_capacity=100,
        on_demand_allocation_strategy=autoscaling.OnDemandAllocationStrategy.PRIORITIZED,
    )
