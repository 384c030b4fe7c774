"""What holds for one example alone; TrainingStack has a file of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from aws_cdk.assertions import Template

from gpu_constructs import GpuInstance
from gpu_constructs.instances import catalog
from tests.conftest import warnings
from tests.examples.registry import EXAMPLES, EXISTING

ROOT = Path(__file__).parents[2]


@pytest.fixture
def resources(cdk_context: dict[str, Any]) -> Callable[[str, str], list[dict[str, Any]]]:
    """The resources of a type in the stack of an example."""

    def find(folder: str, type_name: str) -> list[dict[str, Any]]:
        (example,) = [example for example in EXAMPLES if example.folder == folder]
        template = Template.from_stack(example.build(cdk_context)[1]).to_json()
        return [found for found in template["Resources"].values() if found["Type"].startswith(type_name)]

    return find


def _page(folder: str) -> str:
    return (ROOT / "examples" / folder / "README.md").read_text(encoding="utf-8")


def test_capacity_block_page_has_the_moments_of_the_calendar(
    resources: Callable[[str, str], list[dict[str, Any]]],
) -> None:
    actions = resources("capacity_block", "AWS::AutoScaling::ScheduledAction")
    assert len(actions) == 2
    assert all(action["Properties"]["StartTime"] in _page("capacity_block") for action in actions)


def test_imported_creates_nothing_of_what_exists(resources: Callable[[str, str], list[dict[str, Any]]]) -> None:
    types = {found["Type"] for found in resources("imported", "AWS::")}
    assert not types & {"AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::FSx::FileSystem"}


def _run_imported(context: dict[str, Any], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "examples.imported.app"],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "CDK_OUTDIR": str(directory), "CDK_CONTEXT_JSON": json.dumps(context)},
    )


def test_imported_takes_what_exists_from_the_context(tmp_path: Path) -> None:
    done = _run_imported(asdict(EXISTING), tmp_path)
    assert done.returncode == 0, done.stderr
    assert EXISTING.subnet_id in (tmp_path / "ImportedStack.template.json").read_text(encoding="utf-8")


def test_imported_says_what_is_missing(tmp_path: Path) -> None:
    done = _run_imported({**asdict(EXISTING), "mount_name": None}, tmp_path)
    assert done.returncode != 0
    assert "say what exists, by -c mount_name=..." in done.stderr


def test_p3dn_warns_of_its_type_and_its_page_has_the_price(cdk_context: dict[str, Any]) -> None:
    (example,) = [example for example in EXAMPLES if example.folder == "p3dn"]
    (warning,) = warnings(example.build(cdk_context)[1])
    assert "EC2 still describes p3dn.24xlarge" in warning
    price = GpuInstance.of("p3dn.24xlarge").usd_per_hour_us_east_1
    assert price is not None
    assert f"{2 * price:.2f} USD an hour for 2 p3dn.24xlarge" in _page("p3dn")
    assert f"read {catalog.sources()['prices_read']}" in _page("p3dn")


def test_p6_b300_has_an_ordinary_card_0_and_16_that_are_efa_only(
    resources: Callable[[str, str], list[dict[str, Any]]],
) -> None:
    (nodes,) = resources("p6_b300", "AWS::EC2::LaunchTemplate")
    nics = nodes["Properties"]["LaunchTemplateData"]["NetworkInterfaces"]
    assert [(nic["NetworkCardIndex"], nic["DeviceIndex"], nic.get("InterfaceType")) for nic in nics] == [
        (0, 0, None),
        *((card, 0, "efa-only") for card in range(1, 17)),
    ]


def test_private_only_has_no_way_to_the_internet(resources: Callable[[str, str], list[dict[str, Any]]]) -> None:
    types = {found["Type"] for found in resources("private_only", "AWS::EC2::")}
    assert types & {"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::EIP", "AWS::EC2::Route"} == set()


def test_private_only_page_has_the_number_of_endpoints_and_their_price(
    resources: Callable[[str, str], list[dict[str, Any]]],
) -> None:
    endpoints = resources("private_only", "AWS::EC2::VPCEndpoint")
    count = sum(found["Properties"]["VpcEndpointType"] == "Interface" for found in endpoints)
    assert re.search(rf"\| {count} interface endpoints[^|]*\| {count * 0.01:.2f} \|", _page("private_only"))
