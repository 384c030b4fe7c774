from __future__ import annotations

import copy
import importlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gpu_constructs.on_node.boot import cloudwatch_agent
from gpu_constructs.on_node.config import NodeConfig
from tests.on_node.made import HARDWARE, config, facts

SCHEMA = json.loads((Path(__file__).parent / "data" / "cloudwatch_agent_schema.json").read_text())
CONFIGS = [config(), config(lustre=False, data_volume=True), NodeConfig(hardware=HARDWARE)]


def _errors(configuration: dict[str, Any]) -> list[str]:
    validator = importlib.import_module("jsonschema").Draft4Validator(SCHEMA)  # it has no types
    return [error.message for error in validator.iter_errors(configuration)]


@pytest.mark.parametrize("mine", CONFIGS)
def test_configuration_is_one_that_the_agent_takes(mine: NodeConfig) -> None:
    assert _errors(cloudwatch_agent.configuration(mine)) == []


def test_schema_refuses_what_the_agent_would() -> None:
    wrong = copy.deepcopy(cloudwatch_agent.configuration(config()))
    wrong["logs"]["logs_collected"]["files"]["collect_list"][0]["log_grup_name"] = "x"
    wrong["agent"]["metrics_collection_interval"] = "often"
    assert len(_errors(wrong)) == 2


def test_disks_are_those_of_the_node() -> None:
    disks = [cloudwatch_agent.configuration(mine)["metrics"]["metrics_collected"]["disk"] for mine in CONFIGS]
    assert [disk["resources"] for disk in disks] == [
        ["/", "/scratch", "/fsx"],
        ["/", "/scratch", "/data"],
        ["/", "/scratch"],
    ]


def test_logs_of_the_boot_go_to_the_group_of_the_node_if_it_has_one() -> None:
    files = cloudwatch_agent.configuration(config())["logs"]["logs_collected"]["files"]["collect_list"]
    assert {file["file_path"]: file["log_group_name"] for file in files} == {
        "/var/log/gpu-node/boot.jsonl": "/gpu/boot",
        "/var/log/cloud-init-output.log": "/gpu/boot",
    }
    assert "logs" not in cloudwatch_agent.configuration(NodeConfig(hardware=HARDWARE))


@pytest.mark.parametrize(
    ("region", "architecture", "url"),
    [
        (
            "eu-west-1",
            "x86_64",
            "https://amazoncloudwatch-agent-eu-west-1.s3.eu-west-1.amazonaws.com/ubuntu/amd64/latest/",
        ),
        ("cn-north-1", "aarch64", "agent-cn-north-1.s3.cn-north-1.amazonaws.com.cn/ubuntu/arm64/latest/"),
    ],
)
def test_agent_for_ubuntu_comes_from_a_bucket_of_the_region(region: str, architecture: str, url: str) -> None:
    found = replace(facts("ubuntu-24.04", "g6.xlarge"), region=region, architecture=architecture)
    assert url in str(cloudwatch_agent.package(found).actions[0])
