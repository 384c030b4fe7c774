from __future__ import annotations

import pytest

from gpu_constructs.on_node.boot import hold, packages
from tests.on_node.machine import Machine
from tests.on_node.made import facts

UBUNTU = facts("ubuntu-24.04", "g6.xlarge")
INSTALL = """
for name in nvidia-driver-580 lustre-client-modules-6.8 cuda-toolkit-13-0; do
  mkdir -p "/made/$name/DEBIAN"
  printf 'Package: %s\\nVersion: 1\\nArchitecture: all\\nMaintainer: me\\nDescription: none\\n' "$name" \\
    >"/made/$name/DEBIAN/control"
  dpkg-deb --build "/made/$name" "/made/$name.deb"
  dpkg --install "/made/$name.deb"
done
"""


@pytest.mark.machine("root", "overlay", "loop devices", "dpkg")
def test_driver_and_client_are_held_and_nothing_else(machine: Machine) -> None:
    machine.sh(INSTALL)
    for _ in range(2):
        for action in hold.step(UBUNTU).actions:
            action.perform(machine.host)
    held = set(machine.sh("apt-mark showhold").split())
    assert {"nvidia-driver-580", "lustre-client-modules-6.8"} <= held
    assert "cuda-toolkit-13-0" not in held
    assert "dpkg" not in held


@pytest.mark.machine("root", "overlay", "loop devices", "dpkg")
def test_package_that_is_there_is_not_installed_again(machine: Machine) -> None:
    machine.sh(INSTALL)
    for action in packages.install(UBUNTU, "nvidia-driver-580", "cuda-toolkit-13-0=1"):
        action.perform(machine.host)
    assert {words[0] for words in machine.ran} == {"dpkg"}


def test_prefixes_are_those_that_unattended_upgrades_passes_by() -> None:
    ((quiet,), held) = hold.quiet(UBUNTU), hold.step(UBUNTU)
    for prefix in ("linux-", "nvidia-", "libnvidia-", "cuda-drivers", "lustre-client"):
        assert f'"{prefix}";' in str(quiet.actions[1])
        assert prefix in str(held.actions[0])
    assert hold.quiet(facts("al2023", "g6.xlarge")) == []
