"""What holds for every example alike."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from aws_cdk import Validations
from aws_cdk.assertions import Template
from cdk_nag import AwsSolutionsChecks
from cfnlint import api as cfnlint  # type: ignore[import-untyped]
from syrupy.extensions.json import JSONSnapshotExtension

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
from tests.examples.registry import EXAMPLES, Example

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

ROOT = Path(__file__).parents[2]


def _name(example: Example) -> str:
    return example.folder


@pytest.fixture(scope="module", params=EXAMPLES, ids=_name)
def example(request: pytest.FixtureRequest) -> Example:
    found: Example = request.param
    return found


@pytest.fixture(scope="module")
def template(example: Example, cdk_context: dict[str, Any]) -> dict[str, Any]:
    return dict(Template.from_stack(example.build(cdk_context)[1]).to_json())


def test_template(template: dict[str, Any], snapshot: SnapshotAssertion) -> None:
    assert normalize(template) == snapshot.use_extension(JSONSnapshotExtension)


def test_template_keeps_what_is_promised(example: Example, template: dict[str, Any]) -> None:
    assert_efa_valid(template)
    assert_no_public_address(template, but=example.public)
    assert_imdsv2(template)
    assert_encrypted_volumes(template)
    assert_retained(template, "AWS::S3::Bucket")


def test_template_passes_cfn_lint(example: Example, template: dict[str, Any]) -> None:
    # W3010: zones by name, which is how a user asks for one.
    config = cfnlint.ManualArgs(regions=[example.region], ignore_checks=["W3010"])
    found = cfnlint.lint(json.dumps(template), config=config)
    # The function with which CDK empties the default security group is CDK's own.
    assert [match for match in found if "CustomVpcRestrictDefaultSG" not in match.message] == []


def test_stack_passes_validation_and_cdk_nag(example: Example, cdk_context: dict[str, Any]) -> None:
    """With the strict validation of cdk.json `synth` raises for any finding."""
    app, _ = example.build(cdk_context)
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    report = json.loads(Path(app.synth().directory, "validation-report.json").read_text(encoding="utf-8"))
    # A plugin that found nothing at all is reported in another shape than one that did, or acknowledged something.
    ended = {plugin.get("conclusion") or plugin["summary"]["status"] for plugin in report["pluginReports"]}
    assert ended <= {"success"}
    found = [violation["ruleName"] for plugin in report["pluginReports"] for violation in plugin["violations"]]
    assert found == list(example.warnings)


def test_every_acknowledgement_is_needed(
    example: Example, cdk_context: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that is not hides a finding of tomorrow."""
    rules = set(example.module.ACKNOWLEDGED)
    monkeypatch.setattr(example.module, "ACKNOWLEDGED", {})
    app, _ = example.build(cdk_context)
    assert {violation.rule_name for violation in AwsSolutionsChecks(app).validate_scope(app).violations} == rules


@pytest.mark.parametrize("example", [e for e in EXAMPLES if e.nodes], ids=_name)
def test_page_has_the_price_of_the_nodes_and_its_day_from_the_catalogue(example: Example) -> None:
    assert example.nodes
    count, name = example.nodes
    text = (ROOT / "examples" / example.folder / "README.md").read_text(encoding="utf-8")
    price = GpuInstance.of(name).usd_per_hour_us_east_1
    assert price is not None
    assert re.search(rf"\| {count} {re.escape(name)}[^|]* \| {count * price:.2f} \|", text)
    assert f"read {catalog.sources()['prices_read']}" in text


def test_every_folder_with_a_stack_is_an_example() -> None:
    assert {path.parent.name for path in ROOT.glob("examples/*/stack.py")} == {e.folder for e in EXAMPLES}
