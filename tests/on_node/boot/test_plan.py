"""The whole boot as text, for each system and GPU generation, and what holds in every one."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from gpu_constructs.on_node.actions import Run, Write
from gpu_constructs.on_node.boot import plan
from gpu_constructs.on_node.config import ConfigError, NodeConfig
from gpu_constructs.on_node.facts import Facts
from tests.on_node.made import DATA_DISK, KERNELS, before, config, facts, shown

KERNEL_612 = "6.12.74-98.124.amzn2023.x86_64"
BY_HAND, DLAMI = config(by_hand=True), config()
NODES = {
    "al2023-v100-by-hand": (BY_HAND, facts("al2023", "p3dn.24xlarge", dlami=False)),
    "al2023-a100-dlami": (DLAMI, facts("al2023", "p4d.24xlarge")),
    "al2023-h100-dlami": (DLAMI, facts("al2023", "p5.48xlarge")),
    "al2023-h100-by-hand-kernel-6.12": (BY_HAND, facts("al2023", "p5.48xlarge", dlami=False, kernel=KERNEL_612)),
    "al2023-b200-dlami": (DLAMI, facts("al2023", "p6-b200.48xlarge")),
    "al2023-b200-by-hand": (BY_HAND, facts("al2023", "p6-b200.48xlarge", dlami=False)),
    "al2023-t4-dlami": (config(lustre=False), facts("al2023", "g4dn.xlarge")),
    "al2023-l4-dlami-data-volume": (config(lustre=False, data_volume=True), facts("al2023", "g6.xlarge")),
    "ubuntu-22.04-v100-by-hand": (BY_HAND, facts("ubuntu-22.04", "p3dn.24xlarge", dlami=False)),
    "ubuntu-22.04-a100-dlami": (DLAMI, facts("ubuntu-22.04", "p4d.24xlarge", mounted=True)),
    "ubuntu-24.04-h100-dlami": (DLAMI, facts("ubuntu-24.04", "p5.48xlarge", mounted=True)),
    "ubuntu-24.04-b200-by-hand": (BY_HAND, facts("ubuntu-24.04", "p6-b200.48xlarge", dlami=False)),
    "ubuntu-24.04-l4-dlami-data-volume": (config(lustre=False, data_volume=True), facts("ubuntu-24.04", "g6.xlarge")),
}
_INSTALLS = re.compile(
    r"(dnf (install|config-manager|module|versionlock)|apt-get|dpkg -i|dpkg --configure|apt-mark|efa_installer)"
)


@pytest.fixture(params=NODES.values(), ids=list(NODES))
def node(request: pytest.FixtureRequest) -> tuple[NodeConfig, Facts]:
    found: tuple[NodeConfig, Facts] = request.param
    return found


def test_boot_is_as_it_was(node: tuple[NodeConfig, Facts], text_snapshot: SnapshotAssertion) -> None:
    assert shown(plan(*node)) == text_snapshot


def test_one_package_manager_runs_at_a_time(node: tuple[NodeConfig, Facts]) -> None:
    steps = plan(*node)
    installing = [step.name for step in steps if any(_INSTALLS.search(str(action)) for action in step.actions)]
    assert installing[-1] == "hold"
    for number, name in enumerate(installing):
        assert before(steps, name) >= set(installing[:number])


def test_plan_is_the_same_when_all_is_installed(node: tuple[NodeConfig, Facts]) -> None:
    # Else a boot that goes on after a kill would have other steps than the one that began.
    mine, found = node
    installed = replace(found, commands=found.commands | {"nvidia-smi", "mount.lustre", "amazon-cloudwatch-agent-ctl"})
    if mine.install_cuda:
        installed = replace(installed, commands=installed.commands | {"docker", "nvidia-ctk"})
    assert plan(mine, installed) == plan(mine, found)


def test_deep_learning_images_get_no_driver_toolkit_or_docker() -> None:
    for name, (mine, found) in NODES.items():
        if not mine.install_cuda:
            text = shown(plan(mine, found))
            assert not re.search(r"install.*(nvidia-(?!ctk)|cuda|docker|torch|efa)", text), name


def test_driver_and_wheels_are_those_that_still_know_volta() -> None:
    for system, flavour in (("al2023", "nvidia-driver:580-dkms"), ("ubuntu-22.04", "cuda-drivers-580")):
        text = shown(plan(BY_HAND, facts(system, "p3dn.24xlarge", dlami=False)))
        assert flavour in text
        assert "cuda-toolkit-12-9" in text
        assert "9.10.2.21-1" in text
        assert "whl/cu126" in text
        assert "open" not in re.findall(r"kmod-nvidia-\w+-dkms|nvidia-open", text)


@pytest.mark.parametrize(
    ("kernel", "names"),
    [
        (KERNELS["al2023"], "kernel-devel-6.1.164-196.303.amzn2023.x86_64"),
        (KERNEL_612, f"kernel6.12-devel-{KERNEL_612} kernel6.12-headers-{KERNEL_612} kernel6.12-modules-extra-"),
        ("6.18.15-14.217.amzn2023.x86_64", "kernel6.18-devel-6.18.15-14.217.amzn2023.x86_64"),
    ],
)
def test_kernel_packages_are_those_of_the_running_kernel(kernel: str, names: str) -> None:
    text = shown(plan(BY_HAND, facts("al2023", "p5.48xlarge", dlami=False, kernel=kernel)))
    assert f"dnf install -y --allowerasing {names}" in text


@pytest.mark.parametrize("system", KERNELS)
def test_module_options_are_there_before_the_first_mount(system: str) -> None:
    steps = plan(DLAMI, facts(system, "p5.48xlarge"))
    options = next(step for step in steps if step.name == "lustre-client").actions[0]
    assert isinstance(options, Write)
    assert options.path.startswith("/etc/modprobe.d/")
    assert "lustre-client" in before(steps, "lustre-mount")


def test_systemd_reads_everything_again_before_docker_starts(node: tuple[NodeConfig, Facts]) -> None:
    steps = plan(*node)
    docker = next(step for step in steps if step.name == "docker")
    commands = [action.argv for action in docker.actions if isinstance(action, Run)]
    assert commands.index(("systemctl", "daemon-reload")) < commands.index(("systemctl", "restart", "docker"))
    assert {"limits", "service"} <= before(steps, "docker")


def test_disks_are_named_by_what_stays_theirs(node: tuple[NodeConfig, Facts]) -> None:
    assert not re.search(r"/dev/(nvme\d|sd[a-z]|xvd)", shown(plan(*node)))


@pytest.mark.parametrize(
    ("data_volume", "place"), [(True, '"data-root": "/data/docker"'), (False, '"data-root": "/scratch/docker"')]
)
def test_docker_lies_on_the_data_volume_else_on_the_local_disks(data_volume: bool, place: str) -> None:
    assert place in shown(plan(config(data_volume=data_volume), facts("al2023", "g6.xlarge")))


def test_docker_stays_where_it_was_without_either() -> None:
    found = replace(facts("al2023", "g6.xlarge"), local_disks=())
    assert "data-root" not in shown(plan(config(), found))


def test_no_docker_is_configured_where_there_is_none() -> None:
    steps = plan(config(), facts("al2023", "g6.xlarge", dlami=False))
    assert "docker" not in {step.name for step in steps}


@pytest.mark.parametrize(
    ("disks", "words"), [((), "the node has none"), ((DATA_DISK, "/dev/x"), f"the node has {DATA_DISK}, /dev/x;")]
)
def test_data_volume_must_be_one(disks: tuple[str, ...], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        plan(config(data_volume=True), replace(facts("al2023", "g6.xlarge"), data_disks=disks))


def test_type_that_the_configuration_does_not_know_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"the node is p2\.xlarge, and its configuration knows g4dn\.xlarge, g6"):
        plan(config(), replace(facts("al2023", "g6.xlarge"), instance_type="p2.xlarge"))
