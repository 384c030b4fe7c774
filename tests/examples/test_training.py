from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import App, DefaultStackSynthesizer, Validations
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from cfnlint import api as cfnlint  # type: ignore[import-untyped]
from syrupy.extensions.json import JSONSnapshotExtension

from examples.training import stack as example
from examples.training.stack import TrainingStack
from gpu_constructs import GpuInstance
from gpu_constructs.instances import catalog
from gpu_constructs.testing import normalize

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

ROOT = Path(__file__).parents[2]


def _app(context: dict[str, Any]) -> App:
    return App(
        context=context,
        analytics_reporting=False,
        default_stack_synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
    )


@pytest.fixture(scope="module")
def template(cdk_context: dict[str, Any]) -> dict[str, Any]:
    return dict(Template.from_stack(TrainingStack(_app(cdk_context), "TrainingStack")).to_json())


def test_template(template: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    assert normalize(template) == snapshot.use_extension(JSONSnapshotExtension)


def test_logical_ids_that_hold_state_never_change(template: dict[str, Any]) -> None:
    """Another id is another resource: data, addresses and running nodes would be lost."""
    types = {"AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::VPC", "AWS::FSx::FileSystem", "AWS::S3::Bucket"}
    found = {name: resource["Type"] for name, resource in template["Resources"].items() if resource["Type"] in types}
    assert found == {
        "ClusterCheckpoints9B83C16A": "AWS::S3::Bucket",
        "ClusterFileSystemCC3072DE": "AWS::FSx::FileSystem",
        "ClusterNodesASG2FE6C426": "AWS::AutoScaling::AutoScalingGroup",
        "ClusterVpcFAA3CEDF": "AWS::EC2::VPC",
    }


def test_stack_passes_validation_and_cdk_nag(cdk_context: dict[str, Any]) -> None:
    """With the strict validation of cdk.json `synth` raises for any finding."""
    app = _app(cdk_context)
    TrainingStack(app, "TrainingStack")
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    report = json.loads(Path(app.synth().directory, "validation-report.json").read_text(encoding="utf-8"))
    assert [plugin for plugin in report["pluginReports"] if plugin["summary"]["status"] != "success"] == []


@pytest.mark.parametrize("rule", example.ACKNOWLEDGED)
def test_acknowledgement_is_needed(cdk_context: dict[str, Any], monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    """One that is not hides a finding of tomorrow."""
    monkeypatch.delitem(example.ACKNOWLEDGED, rule)
    app = _app(cdk_context)
    TrainingStack(app, "TrainingStack")
    found = {violation.rule_name for violation in AwsSolutionsChecks(app).validate_scope(app).violations}
    assert found == {rule}


def test_template_passes_cfn_lint(template: dict[str, Any]) -> None:
    # W3010: zones by name, which is how a user asks for one.
    config = cfnlint.ManualArgs(regions=["us-east-1"], ignore_checks=["W3010"])
    found = cfnlint.lint(json.dumps(template), config=config)
    # The function with which CDK empties the default security group is CDK's own.
    assert [match for match in found if "CustomVpcRestrictDefaultSG" not in match.message] == []


def _synthesise(directory: Path, **environment: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CDK_DEFAULT_")}
    variables = {**kept, "CDK_OUTDIR": str(directory), **environment}
    subprocess.run([sys.executable, "app.py"], check=True, cwd=ROOT, env=variables)
    return (directory / "TrainingStack.template.json").read_text(encoding="utf-8")


def test_template_is_the_same_bytes_in_every_run(tmp_path: Path) -> None:
    first = _synthesise(tmp_path / "one", PYTHONHASHSEED="1")
    second = _synthesise(
        tmp_path / "two", PYTHONHASHSEED="2", CDK_DEFAULT_ACCOUNT="111111111111", CDK_DEFAULT_REGION="eu-west-1"
    )
    assert first == second


@pytest.mark.parametrize("page", ["README.md", "examples/training/README.md"])
def test_pages_have_the_price_and_its_day_from_the_catalogue(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    price = GpuInstance.of("p4d.24xlarge").usd_per_hour_us_east_1
    assert price is not None
    assert re.search(rf"\| 2 p4d\.24xlarge[^|]* \| {2 * price:.2f} \|", text)
    assert f"read {catalog.sources()['prices_read']}" in text
