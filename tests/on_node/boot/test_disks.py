"""Disks for real: file systems on loop devices, fstab, mounts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.boot import data_volume, local_disks
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.steps import Step
from tests.on_node.machine import Machine
from tests.on_node.made import config, facts

pytestmark = pytest.mark.machine("root", "loop devices", "overlay", "ext4")


def _node(local: tuple[str, ...] = (), data: tuple[str, ...] = (), mounted: str | None = None) -> Facts:
    found = facts("al2023", "g6.xlarge")
    return replace(found, local_disks=local, data_disks=data, local_mount=mounted)


def _perform(machine: Machine, steps: list[Step]) -> None:
    for step in steps:
        for action in step.actions:
            action.perform(machine.host)


def _scratch(machine: Machine, disk: str) -> None:
    _perform(machine, local_disks.steps(_node(local=(disk,))))


def _data(machine: Machine, disk: str) -> None:
    _perform(machine, data_volume.steps(config(data_volume=True), _node(data=(disk,))))


def _made(machine: Machine) -> int:
    return len([words for words in machine.ran if words[0] == "mkfs.ext4"])


def test_blank_disk_becomes_scratch(machine: Machine) -> None:
    disk = machine.disk()
    _scratch(machine, disk)
    assert machine.sh("findmnt -n -o SOURCE,FSTYPE,OPTIONS /scratch").split() == [disk, "ext4", "rw,noatime"]
    assert machine.sh("stat -c %a /scratch") == "1777\n"
    assert machine.sh("cat /etc/fstab") == (
        "LABEL=gpu-scratch /scratch auto defaults,noatime,nofail,x-systemd.device-timeout=10 0 0\n"
    )


def test_fstab_is_one_that_mount_understands(machine: Machine) -> None:
    _scratch(machine, machine.disk())
    _data(machine, machine.disk())
    verify = "findmnt --verify >/dev/null && echo right || echo wrong"
    assert machine.sh(verify) == "right\n"
    assert machine.sh(f"sed -i 's/LABEL=/LABLE=/' /etc/fstab; {verify}") == "wrong\n"


def test_step_that_is_done_again_keeps_what_is_on_the_disk(machine: Machine) -> None:
    disk = machine.disk()
    _scratch(machine, disk)
    machine.sh("echo mine >/scratch/file")
    _scratch(machine, disk)
    assert machine.sh("cat /scratch/file") == "mine\n"
    assert _made(machine) == 1
    assert machine.sh("grep -c scratch /etc/fstab") == "1\n"


def test_machine_that_starts_again_has_scratch_by_its_label(machine: Machine) -> None:
    disk = machine.disk()
    _scratch(machine, disk)
    machine.sh("echo mine >/scratch/file; umount /scratch")
    machine.sh("mount /scratch")  # as systemd does, by fstab alone
    assert machine.sh("cat /scratch/file") == "mine\n"


def test_disk_that_a_stop_has_made_blank_is_formatted_again(machine: Machine) -> None:
    disk = machine.disk()
    _scratch(machine, disk)
    machine.sh("echo mine >/scratch/file; umount /scratch")
    machine.lose(disk)
    _scratch(machine, disk)
    assert machine.sh("ls /scratch") == "lost+found\n"
    assert _made(machine) == 2


def test_local_disk_with_something_on_it_is_not_overwritten(machine: Machine) -> None:
    disk = machine.disk()
    machine.sh(f"mkfs.ext4 -q -L other {disk}")
    with pytest.raises(ActionError, match=r"/scratch is not a mountpoint; a local disk holds something"):
        _scratch(machine, disk)
    assert machine.sh(f"blkid -p -o value -s LABEL {disk}") == "other\n"


def test_data_volume_is_formatted_once(machine: Machine) -> None:
    disk = machine.disk()
    for _ in range(2):
        _data(machine, disk)
    assert _made(machine) == 1
    assert machine.sh("findmnt -n -o SOURCE --target /data") == f"{disk}\n"


def test_data_volume_from_a_snapshot_keeps_what_it_holds(machine: Machine) -> None:
    disk = machine.disk()
    machine.sh(f"mkfs.ext4 -q -L theirs {disk}; mkdir /was; mount {disk} /was; echo data >/was/file; umount /was")
    _data(machine, disk)
    assert machine.sh("cat /data/file") == "data\n"
    assert _made(machine) == 0


def test_data_volume_with_two_signatures_is_left_alone(machine: Machine) -> None:
    disk = machine.disk()
    # The magic number of squashfs and its version, where ext4 has nothing.
    machine.sh(f"mkfs.ext4 -q {disk}; printf hsqs | dd of={disk} conv=notrunc status=none")
    machine.sh(f"printf '\\004' | dd of={disk} bs=1 seek=28 conv=notrunc status=none")
    assert machine.sh(f"blkid -p {disk} || echo $?").endswith("8\n")
    with pytest.raises(ActionError, match="cannot be mounted: see lsblk -f"):
        _data(machine, disk)
    assert _made(machine) == 0


def test_data_volume_with_partitions_is_left_alone(machine: Machine) -> None:
    disk = machine.disk()
    # The signature of a partition table.
    machine.sh(f"printf '\\125\\252' | dd of={disk} bs=1 seek=510 conv=notrunc status=none")
    machine.sh(f"printf '\\001\\000\\000\\203\\000\\000\\000\\010\\000\\000\\000\\100\\000\\000' "
               f"| dd of={disk} bs=1 seek=447 conv=notrunc status=none")  # fmt: skip
    with pytest.raises(ActionError, match="a volume with partitions is not supported"):
        _data(machine, disk)
    assert _made(machine) == 0


def test_disks_that_the_image_has_mounted_are_shown_at_scratch(machine: Machine) -> None:
    disk = machine.disk()
    machine.sh(
        f"mkfs.ext4 -q {disk}; mkdir -p /opt/dlami/nvme; mount {disk} /opt/dlami/nvme; echo x >/opt/dlami/nvme/f"
    )
    for _ in range(2):
        _perform(machine, local_disks.steps(_node(local=(disk,), mounted="/opt/dlami/nvme")))
    assert machine.sh("cat /scratch/f") == "x\n"
    assert machine.sh("findmnt -n /scratch | wc -l") == "1\n"
    assert machine.sh("cat /etc/fstab") == ""
