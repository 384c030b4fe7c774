"""The examples of how nodes are bought."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import App, DefaultStackSynthesizer, Stack, Validations
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from cfnlint import api as cfnlint  # type: ignore[import-untyped]
from syrupy.extensions.json import JSONSnapshotExtension

from examples.capacity_block import stack as capacity_block
from examples.spot import stack as spot
from gpu_constructs import GpuInstance
from gpu_constructs.instances import catalog
from gpu_constructs.testing import normalize

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

ROOT = Path(__file__).parents[2]
NAMES = ["CapacityBlockStack", "SpotStack"]


def _build(name: str, context: dict[str, Any]) -> Stack:
    app = App(
        context=context,
        analytics_reporting=False,
        default_stack_synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
    )
    if name == "SpotStack":
        return spot.SpotStack(app, name)
    return capacity_block.CapacityBlockStack(
        app, name, reservation_id="cr-0123456789abcdef0", availability_zone="us-east-1a"
    )


@pytest.fixture(scope="module", params=NAMES)
def template(request: pytest.FixtureRequest, cdk_context: dict[str, Any]) -> dict[str, Any]:
    return dict(Template.from_stack(_build(request.param, cdk_context)).to_json())


def test_template(template: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    assert normalize(template) == snapshot.use_extension(JSONSnapshotExtension)


def test_template_passes_cfn_lint(template: dict[str, Any]) -> None:
    # W3010: zones by name, which is how a user asks for one.
    config = cfnlint.ManualArgs(regions=["us-east-1"], ignore_checks=["W3010"])
    found = cfnlint.lint(json.dumps(template), config=config)
    # The function with which CDK empties the default security group is CDK's own.
    assert [match for match in found if "CustomVpcRestrictDefaultSG" not in match.message] == []


@pytest.mark.parametrize("name", NAMES)
def test_stack_passes_validation_and_cdk_nag(cdk_context: dict[str, Any], name: str) -> None:
    """With the strict validation of cdk.json `synth` raises for any finding."""
    app = _build(name, cdk_context).node.root
    assert isinstance(app, App)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    report = json.loads(Path(app.synth().directory, "validation-report.json").read_text(encoding="utf-8"))
    # The report of a plugin of which something is acknowledged has another shape.
    found = [plugin.get("conclusion") or plugin["summary"]["status"] for plugin in report["pluginReports"]]
    assert set(found) <= {"success"}


@pytest.mark.parametrize(
    ("name", "module"), [("CapacityBlockStack", capacity_block), ("SpotStack", spot)], ids=["block", "spot"]
)
def test_acknowledgements_are_all_needed(
    cdk_context: dict[str, Any], monkeypatch: pytest.MonkeyPatch, name: str, module: Any
) -> None:
    rules = set(module.ACKNOWLEDGED)
    monkeypatch.setattr(module, "ACKNOWLEDGED", {})
    app = _build(name, cdk_context).node.root
    assert {violation.rule_name for violation in AwsSolutionsChecks(app).validate_scope(app).violations} == rules


def test_page_has_the_price_and_its_day_from_the_catalogue() -> None:
    text = (ROOT / "examples/spot/README.md").read_text(encoding="utf-8")
    price = GpuInstance.of("g5.12xlarge").usd_per_hour_us_east_1
    assert price is not None
    assert re.search(rf"\| 2 g5\.12xlarge[^|]* \| {2 * price:.2f} \|", text)
    assert f"read {catalog.sources()['prices_read']}" in text


def test_page_has_the_moments_of_the_calendar(cdk_context: dict[str, Any]) -> None:
    text = (ROOT / "examples/capacity_block/README.md").read_text(encoding="utf-8")
    found = Template.from_stack(_build("CapacityBlockStack", cdk_context)).find_resources(
        "AWS::AutoScaling::ScheduledAction"
    )
    assert len(found) == 2
    assert all(action["Properties"]["StartTime"] in text for action in found.values())
