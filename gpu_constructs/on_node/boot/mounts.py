"""File systems of the node's own disks: made where a disk is blank, named in fstab, mounted.

They are ext4, which every image can make (xfs needs xfsprogs, which not all have).
"""

from __future__ import annotations

from gpu_constructs.on_node.actions import Action, Folder, Line, Run

_MKFS = ("mkfs.ext4", "-q", "-m", "0", "-E", "nodiscard,lazy_itable_init=1,lazy_journal_init=1")
_NOTHING_FOUND = 2  # what blkid(8) answers for a device without a signature; 8 if it finds several


def make_where_blank(device: str, label: str) -> Run:
    """Return what makes a file system on a device, unless there is anything on it."""
    return Run(
        argv=(*_MKFS, "-L", label, device),
        unless=("sh", "-c", f'blkid -p "$1"; test $? -ne {_NOTHING_FOUND}', "sh", device),
        timeout_seconds=1800,
        remedy="see lsblk -f",
    )


def mounted(source: str, path: str, options: str, remedy: str) -> tuple[Action, ...]:
    """Return what mounts a file system now, and at each start of the machine, which starts without it too."""
    return (
        Folder(path=path),
        Line(
            path="/etc/fstab", text=f"{source} {path} auto {options},nofail,x-systemd.device-timeout=10 0 0", key=source
        ),
        # /dev/disk/by-label has a new file system only when udev has seen it.
        Run(argv=("udevadm", "settle", "--timeout=30")),
        Run(
            # With nofail, mount says nothing, and succeeds, where it does not find the file system.
            argv=("sh", "-c", 'mount "$1" && mountpoint "$1"', "sh", path),
            unless=("mountpoint", "-q", path),
            tries=3,
            pause_seconds=2,
            remedy=remedy,
        ),
        Run(argv=("chmod", "1777", path)),
    )


def mounted_too(source: str, path: str) -> tuple[Action, ...]:
    """Return what shows a mounted file system at another place too."""
    return (
        Folder(path=path),
        Run(argv=("mount", "--bind", source, path), unless=("mountpoint", "-q", path)),
        Run(argv=("chmod", "1777", path)),
    )
