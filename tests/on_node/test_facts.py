from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpu_constructs.on_node import facts
from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.host import Finished, Host

LOCAL, EBS = "Amazon EC2 NVMe Instance Storage", "Amazon Elastic Block Store"
ROOT = {
    "name": "nvme1n1",  # the root volume is not always the first disk
    "model": EBS,
    "serial": "vol0root",
    "type": "disk",
    "mountpoints": [None],
    "children": [{"name": "nvme1n1p1", "type": "part", "mountpoints": ["/"]}],
}
DATA = {"name": "nvme0n1", "model": EBS, "serial": "vol0data", "type": "disk", "mountpoints": [None]}
AL2023 = 'NAME="Amazon Linux"\nVERSION="2023"\nID="amzn"\nVERSION_ID="2023"\n'


def _disk(number: int, **more: Any) -> dict[str, Any]:
    serial = f"AWS{number:017d}"
    return {"name": f"nvme{number}n1", "model": LOCAL, "serial": serial, "type": "disk", "mountpoints": [None], **more}


def _find(tmp_path: Path, *, release: str = AL2023, disks: Sequence[dict[str, Any]] = (), has: str = "") -> Facts:
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "os-release").write_text(release)

    def run(argv: Sequence[str], _: float) -> Finished:
        match list(argv):
            case ["uname", "-r"]:
                return Finished(0, "6.1.0-1.amzn2023.x86_64\n")
            case ["uname", "-m"]:
                return Finished(0, "x86_64\n")
            case ["systemctl", "start", "dlami-nvme.service"]:
                return Finished(5, "Failed to start dlami-nvme.service: Unit dlami-nvme.service not found.")
            case ["lsblk", *_]:
                return Finished(0, json.dumps({"blockdevices": list(disks)}))
            case ["sh", "-c", command]:
                return Finished(0 if command.split()[-1] in has.split() else 127, "")
        raise AssertionError(argv)

    return facts.find(Host(root=tmp_path, run_command=run), instance_type="p4d.24xlarge", region="us-east-1")


@pytest.mark.parametrize(
    ("release", "system"),
    [
        (AL2023, "al2023"),
        ('ID=ubuntu\nVERSION_ID="22.04"\n', "ubuntu-22.04"),
        ('ID=ubuntu\nVERSION_ID="24.04"\n', "ubuntu-24.04"),
    ],
)
def test_system_is_known_by_its_release(tmp_path: Path, release: str, system: str) -> None:
    found = _find(tmp_path, release=release)
    assert (found.system, found.ubuntu) == (system, system != "al2023")
    assert (found.kernel, found.architecture) == ("6.1.0-1.amzn2023.x86_64", "x86_64")


@pytest.mark.parametrize(
    ("release", "words"), [('ID="amzn"\nVERSION_ID="2"\n', "the image is amzn 2; al2023"), ("", "is unknown")]
)
def test_other_systems_are_refused(tmp_path: Path, release: str, words: str) -> None:
    with pytest.raises(ActionError, match=words):
        _find(tmp_path, release=release)


def test_local_disks_are_those_of_the_instance_by_names_that_stay(tmp_path: Path) -> None:
    found = _find(tmp_path, disks=[_disk(3), ROOT, _disk(2), DATA])
    assert found.local_disks == tuple(
        f"/dev/disk/by-id/nvme-Amazon_EC2_NVMe_Instance_Storage_AWS{number:017d}" for number in (2, 3)
    )
    assert found.local_mount is None


def test_root_volume_is_never_a_disk_for_data(tmp_path: Path) -> None:
    found = _find(tmp_path, disks=[ROOT, DATA])
    assert found.data_disks == ("/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0data",)
    assert found.local_disks == ()


def test_disks_that_the_image_has_mounted_are_seen(tmp_path: Path) -> None:
    volume = {"name": "vg-lv", "type": "lvm", "mountpoints": ["/opt/dlami/nvme"]}
    assert _find(tmp_path, disks=[ROOT, _disk(2, children=[volume])]).local_mount == "/opt/dlami/nvme"


def test_commands_are_those_of_ours_that_are_there(tmp_path: Path) -> None:
    assert _find(tmp_path, has="docker nvidia-smi vim").commands == {"docker", "nvidia-smi"}
