"""A cluster beside the same resources in plain aws-cdk-lib, which `make bench` times: the same work, hardly more.

How often CDK is asked is counted, not how long it takes, so that the result is the same on each machine.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from aws_cdk import App, Stack
from aws_cdk.assertions import Template
from constructs import Construct

from tests.bench.crossings import crossings
from tests.bench.plain import PlainCluster
from tests.conftest import warnings
from tests.training.made import make_cluster


def _plain(stack: Stack) -> Construct:
    return PlainCluster(stack, "Cluster")


def _resources(stack: Stack) -> list[str]:
    """Return the resources of a stack in an order of their own, with types in the place of their ids."""
    template: Mapping[str, Any] = Template.from_stack(stack).to_json()
    text = json.dumps(list(template["Resources"].values()), sort_keys=True)
    for name, resource in template["Resources"].items():
        text = text.replace(f'"{name}"', json.dumps(resource["Type"]))
    text = re.sub(r"ASG[0-9A-F]{8}-", "ASG-", text)  # the id of the group, in the policy that may not refer to it
    return sorted(json.dumps(resource, sort_keys=True) for resource in json.loads(text))


def _synthesised(create: Callable[[Stack], Construct]) -> Stack:
    stack = Stack(App(), "Stack")
    create(stack)
    return stack


def test_both_have_the_same_resources_and_no_warnings() -> None:
    ours, plain = _synthesised(make_cluster), _synthesised(_plain)
    assert _resources(ours) == _resources(plain)
    assert warnings(ours) == warnings(plain) == []


def test_cluster_asks_cdk_at_most_fifty_times_more_often() -> None:
    """Each question crosses into Node and back, some tenths of a millisecond: they are what checking costs."""
    ours, plain = crossings(lambda: _synthesised(make_cluster)), crossings(lambda: _synthesised(_plain))
    assert plain < ours <= plain + 50
