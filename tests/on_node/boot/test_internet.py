from __future__ import annotations

import re

import pytest

from gpu_constructs.on_node.boot import plan
from gpu_constructs.on_node.boot.internet import internet_hosts
from tests.on_node.made import HARDWARE, config, facts

SYSTEMS = ("al2023", "ubuntu-22.04", "ubuntu-24.04")
# What is reached through a gateway endpoint for S3, or inside the VPC.
IN_THE_REGION = re.compile(r"amazoncloudwatch-agent-us-east-1\.s3\.us-east-1\.amazonaws\.com")


def test_nothing_in_the_internet_is_needed_where_amazon_linux_has_all() -> None:
    assert internet_hosts(system="al2023", install_cuda=False, lustre=True, efa=True) == ()


def test_ubuntu_needs_its_mirrors_and_those_of_fsx_for_lustre() -> None:
    hosts = internet_hosts(system="ubuntu-24.04", install_cuda=False, lustre=True)
    assert {"archive.ubuntu.com", "fsx-lustre-client-repo.s3.amazonaws.com"} < set(hosts)
    assert internet_hosts(system="ubuntu-24.04", install_cuda=False, lustre=False) == ()


def test_cuda_by_hand_needs_nvidia_and_pytorch() -> None:
    hosts = internet_hosts(system="al2023", install_cuda=True, lustre=False)
    assert {"developer.download.nvidia.com", "nvidia.github.io", "download.pytorch.org"} < set(hosts)
    assert "efa-installer.amazonaws.com" not in hosts


@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("by_hand", [False, True])
@pytest.mark.parametrize("lustre", [False, True])
@pytest.mark.parametrize("instance_type", HARDWARE)
def test_every_host_in_a_command_is_in_the_table(system: str, by_hand: bool, lustre: bool, instance_type: str) -> None:
    steps = plan(config(by_hand=by_hand, lustre=lustre), facts(system, instance_type, dlami=not by_hand))
    # Remedies name pages, which nobody fetches; they are not in the text.
    text = "\n".join(str(action) for step in steps for action in step.actions)
    efa = HARDWARE[instance_type].efa_interfaces > 0
    hosts = internet_hosts(system=system, install_cuda=by_hand, lustre=lustre, efa=efa)
    fetched = {host for host in re.findall(r"https?://([\w.-]+)", text) if not IN_THE_REGION.fullmatch(host)}
    assert fetched <= set(hosts)
