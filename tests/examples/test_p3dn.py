from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import App, DefaultStackSynthesizer, Validations
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from cfnlint import api as cfnlint  # type: ignore[import-untyped]
from syrupy.extensions.json import JSONSnapshotExtension

from examples.p3dn.stack import P3dnStack
from gpu_constructs import GpuInstance
from gpu_constructs.instances import catalog
from gpu_constructs.testing import normalize
from tests.conftest import warnings

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

ROOT = Path(__file__).parents[2]
AMI = "ami-0123456789abcdef0"


def _stack(context: dict[str, Any]) -> P3dnStack:
    app = App(
        context=context,
        analytics_reporting=False,
        default_stack_synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
    )
    return P3dnStack(app, "P3dnStack", ami_id=AMI)


@pytest.fixture(scope="module")
def template(cdk_context: dict[str, Any]) -> dict[str, Any]:
    return dict(Template.from_stack(_stack(cdk_context)).to_json())


def test_template(template: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    assert normalize(template) == snapshot.use_extension(JSONSnapshotExtension)


def test_stack_passes_validation_and_cdk_nag_and_warns_of_the_type(cdk_context: dict[str, Any]) -> None:
    stack = _stack(cdk_context)
    app = stack.node.root
    assert isinstance(app, App)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    report = json.loads(Path(app.synth().directory, "validation-report.json").read_text(encoding="utf-8"))
    assert {plugin["conclusion"] for plugin in report["pluginReports"]} == {"success"}
    found = [violation["ruleName"] for plugin in report["pluginReports"] for violation in plugin["violations"]]
    assert found == ["Annotation::gpu-constructs:instance-type-in-doubt"]
    (warning,) = warnings(stack)
    assert "EC2 still describes p3dn.24xlarge" in warning


def test_template_passes_cfn_lint(template: dict[str, Any]) -> None:
    # W3010: zones by name, which is how a user asks for one.
    config = cfnlint.ManualArgs(regions=["us-east-1"], ignore_checks=["W3010"])
    found = cfnlint.lint(json.dumps(template), config=config)
    # The function with which CDK empties the default security group is CDK's own.
    assert [match for match in found if "CustomVpcRestrictDefaultSG" not in match.message] == []


def test_page_has_the_price_and_its_day_from_the_catalogue() -> None:
    text = (ROOT / "examples/p3dn/README.md").read_text(encoding="utf-8")
    price = GpuInstance.of("p3dn.24xlarge").usd_per_hour_us_east_1
    assert price is not None
    assert f"{2 * price:.2f} USD an hour for 2 p3dn.24xlarge" in text
    assert f"read {catalog.sources()['prices_read']}" in text
