"""The examples about networks with the real CDK command line: nothing that they use is missing from the local AWS."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from gpu_constructs.local import CdkCli, LocalAws
from tests.local.conftest import ROOT

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.timeout(300)]


@pytest.mark.parametrize(
    ("module", "stack", "nodes"), [("private_only", "PrivateTrainingStack", 2), ("p6_b300", "B300Stack", 2)]
)
def test_example_is_deployed_as_its_page_says_and_destroyed(
    local_aws: LocalAws, tmp_path: Path, module: str, stack: str, nodes: int
) -> None:
    settings = json.loads((ROOT / "cdk.json").read_text())
    (tmp_path / "cdk.json").write_text(json.dumps({**settings, "app": f"python -m examples.{module}"}))
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for name in ("gpu_constructs", "node_modules"):
        (tmp_path / name).symlink_to(ROOT / name)
    cdk = CdkCli(local_aws, tmp_path)

    cdk.deploy(stack)

    assert local_aws.status()["stacks"][stack]["not_created"] == {}
    resources = local_aws.client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
    (group,) = [
        found["PhysicalResourceId"] for found in resources if found["ResourceType"].endswith("AutoScalingGroup")
    ]
    described = local_aws.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[group])
    assert len(described["AutoScalingGroups"][0]["Instances"]) == nodes

    cdk.destroy(stack)
