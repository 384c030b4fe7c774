"""Any valid cluster synthesises and lints clean; of an invalid one every wrong argument is named in one error."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template
from cfnlint import api as cfnlint  # type: ignore[import-untyped]
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_constructs import GpuConstructsError
from gpu_constructs.testing import assert_capacity_valid, assert_efa_valid, assert_encrypted_volumes, assert_imdsv2
from tests.training.random_clusters import SPOILED, Wish, new_stack, valid

SLOW = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
INVARIANTS = (
    assert_capacity_valid,
    assert_efa_valid,
    assert_encrypted_volumes,
    assert_imdsv2,
)


def _template(wish: Wish) -> dict[str, Any]:
    stack = new_stack()
    wish.make(stack)
    return dict(Template.from_stack(stack).to_json())


@settings(SLOW, max_examples=40)
@given(wish=valid())
def test_every_valid_cluster_synthesises_the_same_template_twice(wish: Wish) -> None:
    template = _template(wish)
    assert json.dumps(template) == json.dumps(_template(wish))
    for invariant in INVARIANTS:
        invariant(template)


@settings(SLOW, max_examples=6)
@given(wish=valid())
def test_every_valid_cluster_lints_clean(wish: Wish) -> None:
    config = cfnlint.ManualArgs(regions=["us-east-1"], ignore_checks=["W3010"])
    found = cfnlint.lint(json.dumps(_template(wish)), config=config)
    assert [match for match in found if "CustomVpcRestrictDefaultSG" not in match.message] == []


@settings(SLOW, max_examples=40)
@given(wish=valid(), names=st.sets(st.sampled_from(sorted(SPOILED)), min_size=1))
def test_every_wrong_argument_is_named(wish: Wish, names: set[str]) -> None:
    stack = new_stack()
    options = dict(wish.options)
    for name in names:
        options |= SPOILED[name][0]
    if "security_groups" in names:
        groups = [f"sg-{number:017x}" for number in range(16)]
        options["security_groups"] = [ec2.SecurityGroup.from_security_group_id(stack, group, group) for group in groups]
    with pytest.raises(GpuConstructsError) as raised:
        Wish(options, own_vpc=wish.own_vpc and "vpc_subnets" not in names).make(stack)
    for name in names:
        assert SPOILED[name][1] in str(raised.value), name
