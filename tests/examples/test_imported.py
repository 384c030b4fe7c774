from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import App, DefaultStackSynthesizer, Validations
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from cfnlint import api as cfnlint  # type: ignore[import-untyped]
from syrupy.extensions.json import JSONSnapshotExtension

from examples.imported import stack as example
from examples.imported.stack import Existing, ImportedStack
from gpu_constructs import GpuInstance
from gpu_constructs.instances import catalog
from gpu_constructs.testing import normalize

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

ROOT = Path(__file__).parents[2]
EXISTING = Existing(
    vpc_id="vpc-0123456789abcdef0",
    subnet_id="subnet-0123456789abcdef0",
    availability_zone="us-east-1a",
    route_table_id="rtb-0123456789abcdef0",
    file_system_id="fs-0123456789abcdef0",
    mount_name="abcdefgh",
    security_group_id="sg-0123456789abcdef0",
)


def _stack(context: dict[str, Any]) -> tuple[App, ImportedStack]:
    app = App(
        context=context,
        analytics_reporting=False,
        default_stack_synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
    )
    return app, ImportedStack(app, "ImportedStack", existing=EXISTING)


@pytest.fixture(scope="module")
def template(cdk_context: dict[str, Any]) -> dict[str, Any]:
    return dict(Template.from_stack(_stack(cdk_context)[1]).to_json())


def test_template(template: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    assert normalize(template) == snapshot.use_extension(JSONSnapshotExtension)


def test_nothing_is_created_of_what_exists(template: dict[str, Any]) -> None:
    types = {resource["Type"] for resource in template["Resources"].values()}
    assert not types & {"AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::FSx::FileSystem"}


def test_stack_passes_validation_and_cdk_nag(cdk_context: dict[str, Any]) -> None:
    """With the strict validation of cdk.json `synth` raises for any finding."""
    app, _ = _stack(cdk_context)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    report = json.loads(Path(app.synth().directory, "validation-report.json").read_text(encoding="utf-8"))
    assert [plugin for plugin in report["pluginReports"] if plugin["summary"]["status"] != "success"] == []


@pytest.mark.parametrize("rule", example.ACKNOWLEDGED)
def test_acknowledgement_is_needed(cdk_context: dict[str, Any], monkeypatch: pytest.MonkeyPatch, rule: str) -> None:
    """One that is not hides a finding of tomorrow."""
    monkeypatch.delitem(example.ACKNOWLEDGED, rule)
    app, _ = _stack(cdk_context)
    found = {violation.rule_name for violation in AwsSolutionsChecks(app).validate_scope(app).violations}
    assert found == {rule}


def test_template_passes_cfn_lint(template: dict[str, Any]) -> None:
    config = cfnlint.ManualArgs(regions=["us-east-1"])
    assert cfnlint.lint(json.dumps(template), config=config) == []


def _run(context: dict[str, str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "examples.imported.app"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "CDK_OUTDIR": str(directory), "CDK_CONTEXT_JSON": json.dumps(context)},
    )


def test_app_takes_what_exists_from_the_context(tmp_path: Path) -> None:
    done = _run(asdict(EXISTING), tmp_path)
    assert done.returncode == 0, done.stderr
    assert EXISTING.subnet_id in (tmp_path / "ImportedStack.template.json").read_text(encoding="utf-8")


def test_app_says_what_is_missing(tmp_path: Path) -> None:
    done = _run({**asdict(EXISTING), "mount_name": None}, tmp_path)  # type: ignore[dict-item]
    assert done.returncode != 0
    assert "say what exists, by -c mount_name=..." in done.stderr


def test_page_has_the_price_and_its_day_from_the_catalogue() -> None:
    text = (ROOT / "examples" / "imported" / "README.md").read_text(encoding="utf-8")
    price = GpuInstance.of("g5.12xlarge").usd_per_hour_us_east_1
    assert price is not None
    assert re.search(rf"\| 2 g5\.12xlarge[^|]* \| {2 * price:.2f} \|", text)
    assert f"read {catalog.sources()['prices_read']}" in text
