"""A machine to act on for real: the one that tests run on, under an overlay, its disks being loop devices."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from gpu_constructs.on_node.host import Finished, Host, run_command

_MIB = 1024 * 1024


class Machine:
    """An overlay over `/`, in which commands run by chroot.

    Args:
        folder: Where it is put.
    """

    def __init__(self, folder: Path) -> None:
        self._changes, self.root = folder / "changes", folder / "root"
        self._disks: list[str] = []
        self._folder = folder
        self.ran: list[list[str]] = []
        self.host = Host(root=self.root, run_command=self._run, wait=lambda _: None)

    def start(self) -> None:
        """Mount it."""
        for place in (self._changes, self.root):
            place.mkdir()
        _do("mount", "-t", "tmpfs", "none", str(self._changes))
        for name in ("upper", "work"):
            (self._changes / name).mkdir()
        layers = f"lowerdir=/,upperdir={self._changes}/upper,workdir={self._changes}/work"
        _do("mount", "-t", "overlay", "overlay", "-o", layers, str(self.root))
        for name in ("dev", "proc", "sys"):
            _do("mount", "--rbind", f"/{name}", str(self.root / name))
            # What is unmounted below it stays mounted where it came from.
            _do("mount", "--make-rslave", str(self.root / name))
        (self.root / "etc" / "fstab").write_text("")

    def stop(self) -> None:
        """Unmount it, and detach its disks."""
        for place in (self.root, self._changes):
            # Not lazily where it can be: a disk that is still mounted would be found by the next machine.
            if subprocess.run(["umount", "--recursive", str(place)], check=False, capture_output=True).returncode:
                subprocess.run(["umount", "--recursive", "--lazy", str(place)], check=False, capture_output=True)
        for device in self._disks:
            subprocess.run(["losetup", "--detach", device], check=False, capture_output=True)

    def disk(self, mib: int = 24) -> str:
        """Attach a blank disk and return its device."""
        file = self._folder / f"disk{len(self._disks)}"
        with file.open("wb") as opened:
            opened.truncate(mib * _MIB)
        device = _do("losetup", "--find", "--show", str(file)).strip()
        self._disks.append(device)
        return device

    def lose(self, device: str) -> None:
        """Do to a local disk what a stop of the instance does: it is blank again."""
        size = int(_do("blockdev", "--getsize64", device))
        with Path(device).open("wb") as opened:
            opened.write(bytes(size))

    def sh(self, script: str) -> str:
        """Run a shell script in it."""
        return _do("chroot", str(self.root), "sh", "-ec", script)

    def _run(self, argv: Sequence[str], timeout_seconds: float) -> Finished:
        words = [word.replace(str(self.root), "") for word in argv]
        self.ran.append(words)
        if words[0] == "udevadm":  # containers, in which tests may run, have no udev
            return Finished(0, "")
        return run_command(["chroot", str(self.root), *words], timeout_seconds)


def _do(*argv: str) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout
