"""Stands in for a command that cannot run here, or must not: a package manager, a mount, what asks the hardware.

    stand_in.py FOLDER NAME ARGUMENT...

FOLDER has `machine.json` (see `machine`), `state.json` (what commands have changed) and `calls.jsonl` (a line a call).
Whatever it does not know succeeds and says nothing, which is what most of these commands do. It runs by its path, with
nothing but the standard library and little of that (a boot starts it some sixty times), and takes turns with itself:
steps run at the same time.
"""

from __future__ import annotations

import fcntl
import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

_LOCAL, _EBS = "Amazon EC2 NVMe Instance Storage", "Amazon Elastic Block Store"
Answer = tuple[int, str]


class _Call(NamedTuple):
    """A call: whose it is, what the machine is, what commands have changed, and what this one is asked."""

    folder: Path
    machine: dict[str, Any]
    state: dict[str, Any]
    arguments: list[str]


def main(folder: Path, name: str, arguments: list[str]) -> int:
    """Answer a call, and return its exit code."""
    machine = json.loads((folder / "machine.json").read_text())
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with (folder / "calls.jsonl").open("a") as calls:
            calls.write(json.dumps([name, *arguments]) + "\n")
        path = folder / "state.json"
        state = json.loads(path.read_text()) if path.exists() else {}
        call = _Call(folder, machine, state, arguments)
        code, says = _fails(call, " ".join([name, *arguments])) or _COMMANDS.get(name, _succeeds)(call)
        path.write_text(json.dumps(state))
    if says:
        sys.stdout.write(f"{says}\n")
    return code


def _fails(call: _Call, words: str) -> Answer | None:
    for failing in call.machine["failing"]:
        seen = call.state.setdefault("failed", {}).get(failing["command"], 0)
        if words.startswith(failing["command"]) and (failing["times"] is None or seen < failing["times"]):
            call.state["failed"][failing["command"]] = seen + 1
            return failing["code"], failing["says"]
    return None


def _succeeds(_: _Call) -> Answer:
    return 0, ""


def _installs(call: _Call) -> Answer:
    call.state.setdefault("installed", []).extend(word for word in call.arguments if not word.startswith("-"))
    return 0, ""


def _lsblk(call: _Call) -> Answer:
    root = {"name": "nvme0n1p1", "type": "part", "mountpoints": ["/"]}
    disks = [
        {"name": "nvme0n1", "model": _EBS, "serial": "vol0", "type": "disk", "mountpoints": [None], "children": [root]}
    ]
    for number in range(1, call.machine["local_disks"] + 1):
        serial = f"AWS{number:017d}"
        disks.append(
            {"name": f"nvme{number}n1", "model": _LOCAL, "serial": serial, "type": "disk", "mountpoints": [None]}
        )
    return 0, json.dumps({"blockdevices": disks})


def _nvidia_smi(call: _Call) -> Answer:
    if not call.machine["gpus"]:
        return 6, "No devices were found"
    gpus = [f"GPU {index}: NVIDIA {call.machine['gpu']} (UUID: GPU-{index})" for index in range(call.machine["gpus"])]
    if call.arguments[:1] == ["-L"]:
        return 0, "\n".join(gpus)
    links = [f"\t Link {link}: 25 GB/s" for link in range(call.machine["nvlinks_per_gpu"])]
    return 0, "\n".join("\n".join([gpu, *links]) for gpu in gpus) if call.arguments[:1] == ["nvlink"] else ""


def _readlink(call: _Call) -> Answer:
    """Asked of /sys/class/infiniband alone."""
    return 0, "\n".join(["/sys/bus/pci/drivers/efa"] * call.machine["efa_interfaces"])


def _blkid(call: _Call) -> Answer:
    return (0 if call.arguments[-1] in call.state.get("formatted", []) else 2), ""


def _mkfs(call: _Call) -> Answer:
    call.state.setdefault("formatted", []).append(call.arguments[-1])
    return 0, ""


def _mdadm(call: _Call) -> Answer:
    if call.arguments[0] == "--create":
        call.state["array"] = True
    return (0 if call.state.get("array") else 1), ""


def _mount(call: _Call) -> Answer:
    call.state.setdefault("mounted", []).append(call.arguments[-1])
    return 0, ""


def _mountpoint(call: _Call) -> Answer:
    return (0 if call.arguments[-1] in call.state.get("mounted", []) else 32), ""


def _modinfo(call: _Call) -> Answer:
    return (0 if any("lustre" in word for word in call.state.get("installed", [])) else 1), ""


def _rpm(call: _Call) -> Answer:
    return (0 if call.arguments[0] == "-qa" or call.arguments[-1] in call.state.get("installed", []) else 1), ""


def _docker(call: _Call) -> Answer:
    """Only where it is called: few nodes have containers."""
    containers = runpy.run_path(str(Path(__file__).with_name("containers.py")))
    answer: Answer = containers["docker"](call.folder, call.state, call.arguments)
    return answer


def _chmod(call: _Call) -> Answer:
    """What the user data makes is there; mounted file systems are not."""
    mode, *paths = call.arguments
    for path in (Path(path) for path in paths if not path.startswith("-") and Path(path).exists()):
        path.chmod(int(mode, 8))
    return 0, ""


_COMMANDS: dict[str, Callable[[_Call], Answer]] = {
    "apt-get": _installs,
    "blkid": _blkid,
    "chmod": _chmod,
    "dnf": _installs,
    "docker": _docker,
    "lsblk": _lsblk,
    "mdadm": _mdadm,
    "mkfs.ext4": _mkfs,
    "modinfo": _modinfo,
    "mount": _mount,
    "mountpoint": _mountpoint,
    "nvidia-smi": _nvidia_smi,
    "readlink": _readlink,
    "rpm": _rpm,
}

# Those that an image brings, or does not: see `Machine`.
_OF_IMAGES = frozenset({"docker"})
NAMES = (
    *(name for name in _COMMANDS if name not in _OF_IMAGES),
    "apt-mark",
    "chronyc",
    "curl",
    "debconf-set-selections",
    "dkms",
    "dpkg",
    "ldconfig",
    "lctl",
    "modprobe",
    "mount.lustre",
    "sysctl",
    "systemctl",
    "udevadm",
)
"""The commands of the operating system that are stood in for; those of the image come on top."""

if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], sys.argv[3:]))
