"""A tier beside the same resources in plain aws-cdk-lib, which `make bench` times: the same work, hardly more.

How often CDK is asked is counted, not how long it takes, so that the result is the same on each machine.
"""

from __future__ import annotations

from aws_cdk import Stack
from constructs import Construct

from gpu_constructs import InferenceTier, ServingRuntime
from tests.bench.crossings import crossings
from tests.bench.plain_tier import IMAGE, PlainTier
from tests.bench.same import resources, synthesised
from tests.conftest import warnings


def _ours(stack: Stack) -> Construct:
    return InferenceTier(stack, "Tier", instance_types=["g5.xlarge"], runtime=ServingRuntime.triton(IMAGE))


def _plain(stack: Stack) -> Construct:
    return PlainTier(stack, "Tier")


def test_both_have_the_same_resources_and_one_of_them_a_warning() -> None:
    ours, plain = synthesised(_ours), synthesised(_plain)
    assert resources(ours) == resources(plain)
    assert warnings(plain) == []
    (said,) = warnings(ours)
    assert "gpu-constructs:requests-not-encrypted" in said


def test_tier_asks_cdk_at_most_fifty_times_more_often() -> None:
    """Each question crosses into Node and back, some tenths of a millisecond: they are what checking costs."""
    ours, plain = crossings(lambda: synthesised(_ours)), crossings(lambda: synthesised(_plain))
    assert plain < ours <= plain + 50
