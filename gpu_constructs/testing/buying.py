"""Reads out of a template how its groups buy their nodes."""

from __future__ import annotations

from typing import Any

from gpu_constructs.checks import UNKNOWN, Unknown
from gpu_constructs.node_group.market_rules import Bought
from gpu_constructs.testing.resources import Properties, of_type

_GROUP = "AWS::AutoScaling::AutoScalingGroup"
_WARM_POOL = "AWS::AutoScaling::WarmPool"


def ways_to_buy(template: Properties) -> dict[str, Bought]:
    """Return how nodes are bought, by the logical ids of each launch template and the group that uses it, if any."""
    groups = of_type(template, _GROUP)
    found = {}
    for name, properties in of_type(template, "AWS::EC2::LaunchTemplate").items():
        users = {group: stated for group, stated in groups.items() if name in _templates_of(stated)}
        for group, stated in (users or {"": {}}).items():
            what = f"{name} in {group}" if group else name
            found[what] = _bought(properties.get("LaunchTemplateData", {}), stated, pool=_has_pool(template, group))
    return found


def _bought(data: Properties, group: Properties, *, pool: bool) -> Bought:
    market = data.get("InstanceMarketOptions", {})
    reservation = data.get("CapacityReservationSpecification", {})
    placement = data.get("Placement", {})
    policy = group.get("MixedInstancesPolicy")
    return Bought(
        market=_text(market.get("MarketType")),
        interruption=_text(market.get("SpotOptions", {}).get("InstanceInterruptionBehavior")),
        targeted="CapacityReservationTarget" in reservation,
        preference=_text(reservation.get("CapacityReservationPreference")),
        tenancy=_text(placement.get("Tenancy")),
        placed=bool({"GroupName", "GroupId"} & set(placement)) or "PlacementGroup" in group,
        mixed=policy is not None,
        segments=bool((policy or {}).get("InstancesDistribution", {}).get("DistributionSegments")),
        warm_pool=pool,
    )


def _templates_of(group: Properties) -> list[Any]:
    mixed = group.get("MixedInstancesPolicy", {}).get("LaunchTemplate", {}).get("LaunchTemplateSpecification", {})
    stated = (group.get("LaunchTemplate", {}), mixed)
    return [_name(one.get("LaunchTemplateId")) for one in stated]


def _has_pool(template: Properties, group: str) -> bool:
    pools = of_type(template, _WARM_POOL).values()
    return bool(group) and any(_name(pool.get("AutoScalingGroupName")) == group for pool in pools)


def _name(reference: Any) -> Any:
    return reference.get("Ref") if isinstance(reference, dict) else None


def _text(value: Any) -> str | Unknown | None:
    return value if value is None or isinstance(value, str) else UNKNOWN
