"""InferenceStack with the real CDK command line: deploy, nodes that serve, another image node by node, destroy."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from gpu_constructs.local import CdkCli, LocalAws, report, troubles
from gpu_constructs.local.errors import LocalAwsError
from gpu_constructs.local.nodes import Machine, ModelServer, Node, Nodes
from tests.local.deployed import check_that_nothing_is_left, outputs, replace, rows

pytestmark = [pytest.mark.allow_hosts(["127.0.0.0/8"]), pytest.mark.timeout(300)]

STACK, IMAGE = "InferenceStack", "vllm/vllm-openai:v0.29.0"


def _check_what_was_created(found: report.StackReport) -> None:
    assert found.status == "CREATE_COMPLETE"
    ((_, kind, scheme, idle),) = rows(found, "Load balancers")
    assert (kind, scheme, idle) == ("application", "internal", "300 s")
    listener, *_ = rows(found, "Listeners")
    assert listener[0] == "HTTP 80"
    ((_, protocol, check, targets),) = rows(found, "Target groups")
    assert (protocol, check, targets) == ("HTTP 8000 HTTP1", "/health 200 every 15 s", "none")
    group, node = rows(found, "Auto Scaling group")
    assert group[1] == "1 to 4, 1 wanted"
    assert (node[1], node[3]) == ("g5.xlarge", "Pending:Wait")
    assert set(found.unfinished) <= {"not_run"}


def _image(node: Node) -> list[str]:
    return [call[-1] for call in node.calls if call[:2] == ["docker", "pull"]]


def test_deploy_another_image_one_that_fails_and_destroy(project: Path, local_home: Path, tmp_path: Path) -> None:
    del local_home
    broken = ModelServer(exit_code=1, says="no kernel image is available for execution on the device")

    def machine(whole: Machine, number: int) -> Machine:
        return dataclasses.replace(whole, server=broken) if number == 2 else whole

    with LocalAws.start() as aws:
        cli = CdkCli(aws, project)
        cli.deploy(STACK)
        _check_what_was_created(report.read(aws, STACK))

        with Nodes(aws, outputs(aws, STACK)["AutoScalingGroupName"], tmp_path / "nodes", machine=machine) as nodes:
            (first,) = nodes.start()
            assert first.wait() == 0, first.console
            assert nodes.states() == {first.instance_id: "InService"}
            aws.advance_clock(60)  # of the health checks of the load balancer
            assert rows(report.read(aws, STACK), "Target groups")[0][3] == "1 healthy"

            # Another image: the new node serves before the old one goes.
            stack = project / "examples" / "inference" / "stack.py"
            replace(stack, IMAGE, "vllm/vllm-openai:v0.30.0")
            aws.expect_signals(nodes_boot=True)
            with nodes.follow():
                cli.deploy(STACK)
            second = nodes.nodes[-1]
            assert nodes.states() == {second.instance_id: "InService"}
            assert [_image(node) for node in nodes.nodes] == [[IMAGE], ["vllm/vllm-openai:v0.30.0"]]
            assert first.gone

            # One that cannot serve: the update is taken back, and what serves is as before.
            replace(stack, "vllm/vllm-openai:v0.30.0", "vllm/vllm-openai:broken")
            with nodes.follow(), pytest.raises(LocalAwsError, match="FAILURE signal"):
                cli.deploy(STACK)
            assert report.read(aws, STACK).status == "UPDATE_ROLLBACK_COMPLETE"
            serving = [node for node in nodes.nodes if nodes.states().get(node.instance_id) == "InService"]
            assert [_image(node) for node in serving] == [["vllm/vllm-openai:v0.30.0"]]
            assert "the server has ended with code 1" in " ".join(troubles.of_stack(aws, STACK))

        cli.destroy(STACK)
        check_that_nothing_is_left(aws)
