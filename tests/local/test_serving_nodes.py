"""Nodes of a deployed NlbStack, booted for real: they copy their model, start their server and wait for its answer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.request import urlopen

import pytest

from gpu_constructs.local import CdkCli, LocalAws
from gpu_constructs.local.nodes import Machine, ModelServer, Node, Nodes
from tests.local.conftest import ROOT

pytestmark = [pytest.mark.allow_hosts(["127.0.0.0/8"]), pytest.mark.timeout(300)]

STACK = "NlbStack"
BUCKET = "team-models-of-nodes"
FILES = {"models/3/1/saved_model.pb": b"weights" * 1000, "models/3/1/variables/variables.index": b"index"}


@pytest.fixture(scope="module")
def resources(local_aws: LocalAws) -> Iterator[dict[str, str]]:
    """The physical ids of the stack by type, deployed once for all tests here, beside a bucket with a model."""
    s3 = local_aws.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    for key, content in FILES.items():
        s3.put_object(Bucket=BUCKET, Key=key, Body=content)
    cli = CdkCli(local_aws, ROOT, app="python -m examples.nlb.app")
    cli.deploy(STACK, context=(f"model_bucket={BUCKET}",))
    found = local_aws.client("cloudformation").describe_stack_resources(StackName=STACK)["StackResources"]
    yield {one["ResourceType"]: one["PhysicalResourceId"] for one in found}
    CdkCli(local_aws, ROOT, app=str(local_aws.directory / "cdk.out")).destroy(STACK)


@pytest.fixture
def group(local_aws: LocalAws, resources: dict[str, str]) -> Iterator[str]:
    """The group with one new node, as it is after a deployment."""
    name = resources["AWS::AutoScaling::AutoScalingGroup"]
    scaling = local_aws.client("autoscaling")
    scaling.update_auto_scaling_group(AutoScalingGroupName=name, MinSize=1, DesiredCapacity=1)
    yield name
    scaling.update_auto_scaling_group(AutoScalingGroupName=name, MinSize=0, DesiredCapacity=0)


def _done(node: Node) -> list[str]:
    return [event["step"] for event in node.journal if event["event"] == "done" and "step" in event]


def _targets(aws: LocalAws, resources: dict[str, str]) -> list[str]:
    arn = resources["AWS::ElasticLoadBalancingV2::TargetGroup"]
    health = aws.client("elbv2").describe_target_health(TargetGroupArn=arn)["TargetHealthDescriptions"]
    return [one["Target"]["Id"] for one in health]


def test_node_joins_the_load_balancer_once_its_model_answers(
    local_aws: LocalAws, resources: dict[str, str], group: str, tmp_path: Path
) -> None:
    with Nodes(local_aws, group, tmp_path) as nodes:
        (node,) = nodes.start()
        assert node.instance_id not in _targets(local_aws, resources)
        assert node.wait() == 0, node.console
        assert nodes.states() == {node.instance_id: "InService"}
        assert node.instance_id in _targets(local_aws, resources)
        done = _done(node)
        assert done.index("image") < done.index("server") < done.index("ready")
        assert done.index("model") < done.index("server")
        (told,) = [call for call in node.calls if call[:2] == ["docker", "run"]]
        assert "type=bind" in " ".join(told)
        assert told[-1] == "tensorflow/serving:2.20.0-gpu"
        copied = {path.name: path.read_bytes() for path in node.root.glob("var/lib/gpu-node/models/*/1/**/*.*")}
        assert copied == {"saved_model.pb": FILES["models/3/1/saved_model.pb"], "variables.index": b"index"}
        address, *_ = json.loads((node.folder / "container.json").read_text())
        with urlopen(f"http://{address}:8501/v1/models/ranker", timeout=5) as answer:
            assert "AVAILABLE" in answer.read().decode()


def test_second_boot_neither_pulls_nor_copies(local_aws: LocalAws, group: str, tmp_path: Path) -> None:
    with Nodes(local_aws, group, tmp_path) as nodes:
        (node,) = nodes.start()
        assert node.wait() == 0, node.console
        before = len(node.calls)
        assert node.boot().wait(60) == 0
        again = [call for call in node.calls[before:] if call[0] == "docker"]
    assert ["docker", "pull"] not in [call[:2] for call in again]
    assert ["docker", "run"] not in [call[:2] for call in again]


def test_server_that_ends_is_told_with_its_code_and_its_log(
    local_aws: LocalAws, resources: dict[str, str], group: str, tmp_path: Path
) -> None:
    broken = ModelServer(exit_code=1, says="Failed to load model ranker")

    def machine(whole: Machine, _: int) -> Machine:
        return replace(whole, server=broken)

    with Nodes(local_aws, group, tmp_path, machine=machine) as nodes:
        (node,) = nodes.start()
        assert node.wait() == 1
        reason = next(event["reason"] for event in node.journal if event["event"] == "failed" and event.get("reason"))
        assert node.instance_id not in _targets(local_aws, resources)
        assert node.instance_id not in [name for name, state in nodes.states().items() if state == "InService"]
    assert "has ended with code 1" in reason
    assert "Failed to load model ranker" in node.console
