"""What EC2 and Auto Scaling refuse about how the nodes of a template are bought. Imports no aws_cdk.

The values are those of a template that anybody may have written; what only the deployment knows is `UNKNOWN`, and not
judged. The constructs cannot write any of this, since `Capacity` has no such combination; an override past them can.
Sources:
https://docs.aws.amazon.com/autoscaling/ec2/userguide/launch-template-capacity-blocks.html,
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/limitations-placement-groups.html and the API reference of
LaunchTemplateCapacityReservationSpecificationRequest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from gpu_constructs.checks import Problem, Unknown

_WITH_POLICY: Final = (
    "Incompatible launch template: You cannot use a launch template that is set to request Spot Instances "
    "(InstanceMarketOptions) when you configure an Auto Scaling group with a mixed instances policy"
)
_NO_MARKET: Final = "InvalidParameterValue: The market type (purchasing) option is not valid"


@dataclass(frozen=True, kw_only=True)
class Bought:
    """How a launch template, and a group that uses it, buy nodes.

    Args:
        market: MarketType; `None` where it is left out.
        interruption: InstanceInterruptionBehavior of spot; `None` where it is left out.
        targeted: Whether a reservation, block or resource group is targeted.
        preference: CapacityReservationPreference; `None` where it is left out.
        tenancy: Tenancy of the placement; `None` where it is left out.
        placed: Whether there is a placement group.
        mixed: Whether the group has a mixed instances policy.
        segments: Whether that has DistributionSegments, which can mix blocks with other capacity.
        warm_pool: Whether the group has a warm pool.
    """

    market: str | Unknown | None = None
    interruption: str | Unknown | None = None
    targeted: bool = False
    preference: str | Unknown | None = None
    tenancy: str | Unknown | None = None
    placed: bool = False
    mixed: bool = False
    segments: bool = False
    warm_pool: bool = False


def problems(bought: Bought) -> list[Problem]:
    """Say what would be refused; nothing if nothing is known to be."""
    checks = [
        (bought.market == "spot" and bought.mixed, _spot_beside_a_policy()),
        (
            bought.market == "spot" and bought.placed and bought.interruption in {"stop", "hibernate"},
            _problem(
                "InstanceInterruptionBehavior",
                f"{bought.interruption} with a placement group",
                "terminate for spot in a placement group",
                "leave it out, or leave the placement group out",
            ),
        ),
        (
            bought.tenancy == "host" and bought.placed,
            _problem(
                "Tenancy",
                "host with a placement group",
                "default or dedicated in a placement group",
                "leave Tenancy out, or leave the placement group out",
            ),
        ),
        (
            bought.targeted and bought.preference in {"open", "none"},
            _problem(
                "CapacityReservationPreference",
                f"{bought.preference} beside a target",
                "left out, or capacity-reservations-only, beside CapacityReservationTarget",
                "leave it out",
            ),
        ),
    ]
    found = [problem for wrong, problem in checks if wrong]
    return [*found, *_block_problems(bought)] if bought.market == "capacity-block" else found


def _block_problems(bought: Bought) -> list[Problem]:
    checks = [
        (
            not bought.targeted,
            _problem(
                "CapacityReservationTarget",
                "none, with the market type capacity-block",
                "the id of the Capacity Block",
                "state CapacityReservationId, as Capacity.capacity_block(...) does",
                _NO_MARKET,
            ),
        ),
        (
            bought.mixed and not bought.segments,
            _problem(
                "MixedInstancesPolicy",
                "one with a Capacity Block",
                "left out, or one with DistributionSegments",
                "make a group for the block alone",
            ),
        ),
        (
            bought.warm_pool,
            _problem("warm pool", "one with a Capacity Block", "left out with a Capacity Block", "remove it"),
        ),
        (
            bought.tenancy in {"dedicated", "host"},
            _problem(
                "Tenancy", f"{bought.tenancy} with a Capacity Block", "default with a Capacity Block", "leave it out"
            ),
        ),
    ]
    return [problem for wrong, problem in checks if wrong]


def _spot_beside_a_policy() -> Problem:
    return _problem(
        "InstanceMarketOptions",
        "spot in the launch template of a group with a mixed instances policy",
        "left out there: the policy asks for spot",
        "use Capacity.spot(...), which sets OnDemandPercentageAboveBaseCapacity of the policy alone",
        _WITH_POLICY,
    )


def _problem(what: str, given: str, allowed: str, remedy: str, prevents: str | None = None) -> Problem:
    return Problem(what=what, given=given, allowed=allowed, remedy=remedy, prevents=prevents)
