"""A cluster beside the same resources in plain aws-cdk-lib, which `make bench` times: the same work, hardly more.

How often CDK is asked is counted, not how long it takes, so that the result is the same on each machine.
"""

from __future__ import annotations

from aws_cdk import Stack
from constructs import Construct

from tests.bench.crossings import crossings
from tests.bench.plain import PlainCluster
from tests.bench.same import resources, synthesised
from tests.conftest import warnings
from tests.training.made import make_cluster


def _plain(stack: Stack) -> Construct:
    return PlainCluster(stack, "Cluster")


def test_both_have_the_sameresources_and_no_warnings() -> None:
    ours, plain = synthesised(make_cluster), synthesised(_plain)
    assert resources(ours) == resources(plain)
    assert warnings(ours) == warnings(plain) == []


def test_cluster_asks_cdk_at_most_fifty_times_more_often() -> None:
    """Each question crosses into Node and back, some tenths of a millisecond: they are what checking costs."""
    ours, plain = crossings(lambda: synthesised(make_cluster)), crossings(lambda: synthesised(_plain))
    assert plain < ours <= plain + 50
