"""What a node finds out about itself before it boots."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.host import Host

AL2023, UBUNTU_22, UBUNTU_24 = "al2023", "ubuntu-22.04", "ubuntu-24.04"
_SYSTEMS = {("amzn", "2023"): AL2023, ("ubuntu", "22.04"): UBUNTU_22, ("ubuntu", "24.04"): UBUNTU_24}
_LOCAL, _EBS = "Amazon EC2 NVMe Instance Storage", "Amazon Elastic Block Store"
_COMMANDS = ("docker", "nvidia-ctk", "nvidia-smi", "mount.lustre", "amazon-cloudwatch-agent-ctl")
_MOUNTS_LOCAL_DISKS = "dlami-nvme.service"

SCRATCH = "/scratch"
"""Where the boot mounts the local disks."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a node finds out about itself.

    Args:
        system: "al2023", "ubuntu-22.04" or "ubuntu-24.04".
        kernel: The release of its kernel.
        architecture: "x86_64" or "aarch64".
        instance_type: Its type.
        region: Its Region.
        address: The private address at which others reach it.
        local_disks: Its local NVMe disks, by a name that stays theirs.
        data_disks: Its EBS volumes but the root volume, by a name that stays theirs.
        local_mount: Where the image, not an earlier boot, has already mounted the local disks.
        commands: Those commands of ours that it has.
    """

    system: str
    kernel: str
    architecture: str
    instance_type: str
    region: str
    address: str = "127.0.0.1"
    local_disks: tuple[str, ...] = ()
    data_disks: tuple[str, ...] = ()
    local_mount: str | None = None
    commands: frozenset[str] = frozenset()

    @property
    def ubuntu(self) -> bool:
        """Whether it is an Ubuntu."""
        return self.system.startswith("ubuntu")


def find(host: Host, *, instance_type: str, region: str, address: str = "127.0.0.1") -> Facts:
    """Ask the machine.

    Raises:
        ActionError: If it is not one of the known systems.
    """
    # The Deep Learning AMI's own service formats and mounts local disks: until it has. Elsewhere there is none.
    host.run(("systemctl", "start", _MOUNTS_LOCAL_DISKS))
    disks = _disks(host)
    local = [disk for disk in disks if disk.get("model") == _LOCAL]
    return Facts(
        system=_system(host),
        kernel=host.run(("uname", "-r")).output.strip(),
        architecture=host.run(("uname", "-m")).output.strip(),
        instance_type=instance_type,
        region=region,
        address=address,
        local_disks=tuple(sorted(_by_id(disk) for disk in local)),
        data_disks=tuple(sorted(_by_id(disk) for disk in disks if disk.get("model") == _EBS and not _is_root(disk))),
        local_mount=next((place for disk in local for place in _mounts(disk) if place != SCRATCH), None),
        commands=frozenset(name for name in _COMMANDS if host.run(("sh", "-c", f"command -v {name}")).code == 0),
    )


def _system(host: Host) -> str:
    words = (line.partition("=") for line in host.read("/etc/os-release").splitlines())
    release = {name: "".join(shlex.split(value)) for name, _, value in words}
    found = release.get("ID", ""), release.get("VERSION_ID", "")
    if found not in _SYSTEMS:
        raise ActionError(
            f"the image is {' '.join(found).strip() or 'unknown'}; {', '.join(_SYSTEMS.values())} are those that boot"
        )
    return _SYSTEMS[found]


def _disks(host: Host) -> list[dict[str, Any]]:
    done = host.run(("lsblk", "--json", "--output", "NAME,MODEL,SERIAL,TYPE,MOUNTPOINTS"))
    found = json.loads(done.output)["blockdevices"] if done.code == 0 else []
    return [disk for disk in found if disk.get("type") == "disk"]


def _by_id(disk: dict[str, Any]) -> str:
    """The name that udev gives: NVMe disks change theirs from boot to boot, and the root volume may be any of them."""
    return f"/dev/disk/by-id/nvme-{disk['model'].replace(' ', '_')}_{disk['serial']}"


def _mounts(disk: dict[str, Any]) -> list[str]:
    own = [place for place in disk.get("mountpoints") or [] if place]
    return own + [place for child in disk.get("children", []) for place in _mounts(child)]


def _is_root(disk: dict[str, Any]) -> bool:
    return "/" in _mounts(disk)
