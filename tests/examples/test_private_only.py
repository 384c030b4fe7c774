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

from examples.private_only import stack as example
from examples.private_only.stack import PrivateTrainingStack
from gpu_constructs import GpuInstance
from gpu_constructs.instances import catalog
from gpu_constructs.testing import (
    assert_efa_valid,
    assert_encrypted_volumes,
    assert_imdsv2,
    assert_no_public_address,
    assert_retained,
    normalize,
)

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

README = Path(__file__).parents[2] / "examples" / "private_only" / "README.md"


def _app(context: dict[str, Any]) -> App:
    return App(
        context=context,
        analytics_reporting=False,
        default_stack_synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
    )


@pytest.fixture(scope="module")
def template(cdk_context: dict[str, Any]) -> dict[str, Any]:
    return dict(Template.from_stack(PrivateTrainingStack(_app(cdk_context), "PrivateTrainingStack")).to_json())


def test_template(template: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    assert normalize(template) == snapshot.use_extension(JSONSnapshotExtension)


def test_template_keeps_what_is_promised(template: dict[str, Any]) -> None:
    assert_efa_valid(template)
    assert_no_public_address(template)
    assert_imdsv2(template)
    assert_encrypted_volumes(template)
    assert_retained(template, "AWS::S3::Bucket")


def test_there_is_no_way_to_the_internet(template: dict[str, Any]) -> None:
    types = {resource["Type"] for resource in template["Resources"].values()}
    assert types & {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::EIP", "AWS::EC2::Route"} == set()


def test_stack_passes_validation_and_cdk_nag(cdk_context: dict[str, Any]) -> None:
    """With the strict validation of cdk.json `synth` raises for any finding."""
    app = _app(cdk_context)
    PrivateTrainingStack(app, "PrivateTrainingStack")
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    report = json.loads(Path(app.synth().directory, "validation-report.json").read_text(encoding="utf-8"))
    assert [plugin for plugin in report["pluginReports"] if plugin["summary"]["status"] != "success"] == []


@pytest.mark.parametrize("rule", example.ACKNOWLEDGED)
def test_acknowledgement_is_needed(cdk_context: dict[str, Any], monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    monkeypatch.delitem(example.ACKNOWLEDGED, rule)
    app = _app(cdk_context)
    PrivateTrainingStack(app, "PrivateTrainingStack")
    found = {violation.rule_name for violation in AwsSolutionsChecks(app).validate_scope(app).violations}
    assert found == {rule}


def test_template_passes_cfn_lint(template: dict[str, Any]) -> None:
    # W3010: zones by name, which is how a user asks for one.
    config = cfnlint.ManualArgs(regions=["us-east-1"], ignore_checks=["W3010"])
    found = cfnlint.lint(json.dumps(template), config=config)
    # The function with which CDK empties the default security group is CDK's own.
    assert [match for match in found if "CustomVpcRestrictDefaultSG" not in match.message] == []


def test_page_has_the_price_of_the_nodes_and_the_number_of_endpoints(template: dict[str, Any]) -> None:
    text = README.read_text(encoding="utf-8")
    price = GpuInstance.of("g5.8xlarge").usd_per_hour_us_east_1
    assert price is not None
    assert re.search(rf"\| 2 g5\.8xlarge[^|]* \| {2 * price:.2f} \|", text)
    assert f"read {catalog.sources()['prices_read']}" in text
    endpoints = [
        resource
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::EC2::VPCEndpoint" and resource["Properties"]["VpcEndpointType"] == "Interface"
    ]
    assert re.search(rf"\| {len(endpoints)} interface endpoints[^|]*\| {len(endpoints) * 0.01:.2f} \|", text)
