"""Any valid tier synthesises and lints clean; of an invalid one every wrong argument is named in one error."""

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
from gpu_constructs.testing import (
    assert_capacity_valid,
    assert_encrypted_volumes,
    assert_imdsv2,
    assert_no_public_address,
    assert_retained,
)
from tests.inference.random_tiers import SPOILED, Wish, valid
from tests.training.random_clusters import new_stack

SLOW = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
LONGEST_DELAY_OF_SPOT_SECONDS = 110


def _template(wish: Wish) -> dict[str, Any]:
    stack = new_stack()
    wish.make(stack)
    return dict(Template.from_stack(stack).to_json())


def _properties(template: dict[str, Any], type_name: str) -> list[dict[str, Any]]:
    return [one["Properties"] for one in template["Resources"].values() if one["Type"] == type_name]


def _check_group(template: dict[str, Any], wish: Wish) -> None:
    """A rollout has room, a node is not killed while it loads, and the group alone decides how large it is."""
    (group,) = [one for one in template["Resources"].values() if one["Type"] == "AWS::AutoScaling::AutoScalingGroup"]
    properties, rolling = group["Properties"], group["UpdatePolicy"]["AutoScalingRollingUpdate"]
    assert rolling["MinInstancesInService"] < int(properties["MaxSize"])
    assert "DesiredCapacity" not in properties
    hooks = [one["LifecycleTransition"] for one in properties["LifecycleHookSpecificationList"]]
    assert "autoscaling:EC2_INSTANCE_LAUNCHING" in hooks
    assert rolling["WaitOnResourceSignals"] is (wish.options["capacity"].market == "on-demand")
    assert ("CreationPolicy" in group) is (rolling["WaitOnResourceSignals"] and wish.options["min_capacity"] > 0)


def _check_front(template: dict[str, Any], wish: Wish) -> None:
    """Requests are under way no longer than their node is, and nobody may connect who was not named."""
    for target_group in _properties(template, "AWS::ElasticLoadBalancingV2::TargetGroup"):
        delay = {one["Key"]: one["Value"] for one in target_group["TargetGroupAttributes"]}
        if wish.options["capacity"].market == "spot":
            assert int(delay["deregistration_delay.timeout_seconds"]) <= LONGEST_DELAY_OF_SPOT_SECONDS
    for group in _properties(template, "AWS::EC2::SecurityGroup"):
        assert all("0.0.0.0/0" not in str(rule) for rule in group.get("SecurityGroupIngress", []))
    queues = _properties(template, "AWS::SQS::Queue")
    assert bool(queues) is not bool(_properties(template, "AWS::ElasticLoadBalancingV2::LoadBalancer"))


def _facing_the_internet(template: dict[str, Any]) -> list[str]:
    """The load balancers with a certificate that were not asked to be internal."""
    balancers = "AWS::ElasticLoadBalancingV2::LoadBalancer"
    found = {name: one for name, one in template["Resources"].items() if one["Type"] == balancers}
    https = [one for one in _properties(template, "AWS::ElasticLoadBalancingV2::Listener") if one.get("Certificates")]
    return [name for name in found if https]


@settings(SLOW, max_examples=30)
@given(wish=valid())
def test_every_valid_tier_synthesises_the_same_template_twice(wish: Wish) -> None:
    template = _template(wish)
    assert json.dumps(template) == json.dumps(_template(wish))
    assert_capacity_valid(template)
    assert_encrypted_volumes(template)
    assert_imdsv2(template)
    if not wish.own_vpc:  # those of a VPC are the business of its owner
        assert_no_public_address(template, but=_facing_the_internet(template))
    assert_retained(template, "AWS::S3::Bucket")
    _check_group(template, wish)
    _check_front(template, wish)


@settings(SLOW, max_examples=6)
@given(wish=valid())
def test_every_valid_tier_lints_clean(wish: Wish) -> None:
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
    spoiled = Wish(
        options,
        own_vpc=wish.own_vpc and "vpc_subnets" not in names,
        https=wish.https,
        stored=wish.stored,
        secret=wish.secret,
    )
    with pytest.raises(GpuConstructsError) as raised:
        spoiled.make(stack)
    for name in names:
        assert SPOILED[name][1] in str(raised.value), name
