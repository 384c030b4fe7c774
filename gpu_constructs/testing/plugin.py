"""Fixtures for tests of CDK apps; pytest finds them by itself. aws_cdk is loaded by the fixtures that need it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from aws_cdk import App, Stack


@pytest.fixture(scope="session")
def gpu_context(pytestconfig: pytest.Config) -> dict[str, Any]:
    """The context in cdk.json beside pytest's configuration; empty where there is no such file.

    It holds the feature flags above all, which only the CDK command line reads by itself.
    """
    path = pytestconfig.rootpath / "cdk.json"
    context: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")).get("context", {}) if path.exists() else {}
    return context


@pytest.fixture
def gpu_app(gpu_context: dict[str, Any]) -> App:
    """An app with the context of cdk.json, whose stacks check no bootstrap version and report no usage."""
    from aws_cdk import App, DefaultStackSynthesizer

    return App(
        context=gpu_context,
        analytics_reporting=False,
        default_stack_synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
    )


@pytest.fixture
def gpu_template() -> Callable[[Stack], dict[str, Any]]:
    """A function that returns the template of a stack, normalized for comparison with a snapshot."""
    from aws_cdk.assertions import Template

    from gpu_constructs.testing import normalize

    def template(stack: Stack) -> dict[str, Any]:
        return normalize(Template.from_stack(stack))

    return template
