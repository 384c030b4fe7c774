from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from aws_cdk.assertions import Template

from gpu_constructs import GpuInstance
from tests.examples.registry import EXAMPLES

ROOT = Path(__file__).parents[2]


def test_logical_ids_that_hold_state_never_change(cdk_context: dict[str, Any]) -> None:
    """Another id is another resource: data, addresses and running nodes would be lost."""
    (example,) = [example for example in EXAMPLES if example.folder == "training"]
    template = Template.from_stack(example.build(cdk_context)[1]).to_json()
    types = {"AWS::AutoScaling::AutoScalingGroup", "AWS::EC2::VPC", "AWS::FSx::FileSystem", "AWS::S3::Bucket"}
    found = {name: resource["Type"] for name, resource in template["Resources"].items() if resource["Type"] in types}
    assert found == {
        "ClusterCheckpoints9B83C16A": "AWS::S3::Bucket",
        "ClusterFileSystemCC3072DE": "AWS::FSx::FileSystem",
        "ClusterNodesASG2FE6C426": "AWS::AutoScaling::AutoScalingGroup",
        "ClusterVpcFAA3CEDF": "AWS::EC2::VPC",
    }


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


def test_readme_has_the_price_too() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    price = GpuInstance.of("p4d.24xlarge").usd_per_hour_us_east_1
    assert price is not None
    assert re.search(rf"\| 2 p4d\.24xlarge \| {2 * price:.2f} \|", text)
