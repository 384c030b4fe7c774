"""Fixtures of all tests.

CDK validates each template it synthesises, which takes most of a test's time. `CDK_VALIDATION=false` in the environment
switches it off and must be there before Node starts, so it is set by whoever starts pytest, not here:

    CDK_VALIDATION=false pytest tests --ignore tests/examples --ignore tests/local
    pytest tests/examples
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Annotations, Match, Template
from constructs import Construct

pytest_plugins = ["gpu_constructs.testing.plugin"]  # by name, for checkouts that are not installed

ENV = Environment(account="111111111111", region="us-east-1")


@pytest.fixture
def stack() -> Stack:
    """A stack of a bare app, so that nothing can depend on the feature flags in cdk.json."""
    return Stack(App(), "Stack", env=ENV)


@pytest.fixture
def vpc(stack: Stack) -> ec2.Vpc:
    """A VPC in two zones, with public and private subnets."""
    return ec2.Vpc(stack, "Vpc", availability_zones=["us-east-1a", "us-east-1b"], nat_gateways=1)


@pytest.fixture(scope="session")
def cdk_context() -> dict[str, Any]:
    """The context in cdk.json, which only the command line reads: the feature flags above all."""
    text = (Path(__file__).parents[1] / "cdk.json").read_text(encoding="utf-8")
    context: dict[str, Any] = json.loads(text)["context"]
    return context


def resources(scope: Construct, type_name: str) -> dict[str, dict[str, Any]]:
    """Return the resources of a type in a stack, by logical id."""
    found = Template.from_stack(Stack.of(scope)).find_resources(type_name)
    return cast("dict[str, dict[str, Any]]", found)


def only(scope: Construct, type_name: str) -> dict[str, Any]:
    """Return the one resource of a type in a stack."""
    (resource,) = resources(scope, type_name).values()
    return resource


def warnings(stack: Stack) -> list[str]:
    """Return the warnings of a stack."""
    return [str(found.entry.data) for found in Annotations.from_stack(stack).find_warning("*", Match.any_value())]
