from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import App, DefaultStackSynthesizer, Validations
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from cfnlint import api as cfnlint  # type: ignore[import-untyped]
from syrupy.extensions.json import JSONSnapshotExtension

from examples.p6_b300 import stack as example
from examples.p6_b300.stack import B300Stack
from gpu_constructs import GpuInstance
from gpu_constructs.instances import catalog
from gpu_constructs.testing import assert_efa_valid, assert_imdsv2, assert_no_public_address, normalize

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

README = Path(__file__).parents[2] / "examples" / "p6_b300" / "README.md"


def _app(context: dict[str, Any]) -> App:
    return App(
        context=context,
        analytics_reporting=False,
        default_stack_synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
    )


@pytest.fixture(scope="module")
def template(cdk_context: dict[str, Any]) -> dict[str, Any]:
    return dict(Template.from_stack(B300Stack(_app(cdk_context), "B300Stack")).to_json())


def test_template(template: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    assert normalize(template) == snapshot.use_extension(JSONSnapshotExtension)


def test_template_keeps_what_is_promised(template: dict[str, Any]) -> None:
    assert_efa_valid(template)
    assert_no_public_address(template)
    assert_imdsv2(template)


def test_card_0_is_ordinary_and_the_16_others_are_efa_only(template: dict[str, Any]) -> None:
    (nodes,) = [found for found in template["Resources"].values() if found["Type"] == "AWS::EC2::LaunchTemplate"]
    nics = nodes["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]
    assert [(nic["NetworkCardIndex"], nic["DeviceIndex"], nic.get("InterfaceType")) for nic in nics] == [
        (0, 0, None),
        *((card, 0, "efa-only") for card in range(1, 17)),
    ]


def test_stack_passes_validation_and_cdk_nag(cdk_context: dict[str, Any]) -> None:
    app = _app(cdk_context)
    B300Stack(app, "B300Stack")
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    report = json.loads(Path(app.synth().directory, "validation-report.json").read_text(encoding="utf-8"))
    assert [plugin for plugin in report["pluginReports"] if plugin["summary"]["status"] != "success"] == []


@pytest.mark.parametrize("rule", example.ACKNOWLEDGED)
def test_acknowledgement_is_needed(cdk_context: dict[str, Any], monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    monkeypatch.delitem(example.ACKNOWLEDGED, rule)
    app = _app(cdk_context)
    B300Stack(app, "B300Stack")
    found = {violation.rule_name for violation in AwsSolutionsChecks(app).validate_scope(app).violations}
    assert found == {rule}


def test_template_passes_cfn_lint(template: dict[str, Any]) -> None:
    # W3010: zones by name, which is how a user asks for one.
    config = cfnlint.ManualArgs(regions=["us-west-2"], ignore_checks=["W3010"])
    found = cfnlint.lint(json.dumps(template), config=config)
    # The function with which CDK empties the default security group is CDK's own.
    assert [match for match in found if "CustomVpcRestrictDefaultSG" not in match.message] == []


def test_page_has_the_price_of_the_nodes() -> None:
    text = README.read_text(encoding="utf-8")
    price = GpuInstance.of("p6-b300.48xlarge").usd_per_hour_us_east_1
    assert price is not None
    assert re.search(rf"\| 2 p6-b300\.48xlarge[^|]* \| {2 * price:.2f} \|", text)
    assert f"read {catalog.sources()['prices_read']}" in text
