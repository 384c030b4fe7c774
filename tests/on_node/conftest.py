"""What tests of the node need of the machine that they run on.

A test marked `@pytest.mark.machine("root", "loop devices")` does for real what a node does: it makes file systems,
mounts them, has units checked by systemd. Where the machine lacks something, the test is skipped, and the reason names
it. With `CI=true` in the environment such a skip is a failure: else nobody would see that these tests never run. A
machine that is known to lack something says so: `MACHINE_LACKS="loop devices,overlay"`.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from tests.on_node.machine import Machine

_NEEDS: dict[str, Callable[[], bool]] = {
    "root": lambda: os.geteuid() == 0,
    "loop devices": lambda: Path("/dev/loop-control").exists() and _runs("losetup", "--find"),
    "ext4": lambda: shutil.which("mkfs.ext4") is not None,
    "overlay": lambda: "overlay" in Path("/proc/filesystems").read_text(),
    "systemd-analyze": lambda: shutil.which("systemd-analyze") is not None,
    "dpkg": lambda: shutil.which("dpkg-deb") is not None and shutil.which("apt-mark") is not None,
    "shellcheck": lambda: shutil.which("shellcheck") is not None,
}


def _runs(*argv: str) -> bool:
    return subprocess.run(argv, capture_output=True, check=False).returncode == 0


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "machine(*needs): does for real what a node does; see tests/on_node/conftest.py")


def pytest_runtest_setup(item: pytest.Item) -> None:
    for marker in item.iter_markers("machine"):
        lacking = [need for need in marker.args if not _NEEDS[need]()]
        if not lacking:
            continue
        reason = f"this machine has not: {', '.join(lacking)}"
        known = {need.strip() for need in os.environ.get("MACHINE_LACKS", "").split(",")}
        if os.environ.get("CI") == "true" and not known.issuperset(lacking):
            pytest.fail(f"{reason}; where that is as it should be, say so in MACHINE_LACKS", pytrace=False)
        pytest.skip(reason)


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose changes are thrown away. One at a time: file systems are found by their labels."""
    with (Path(tempfile.gettempdir()) / "gpu-constructs-machine.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = Machine(tmp_path)
        try:
            made.start()
            yield made
        finally:
            made.stop()


class _Text(SingleFileSnapshotExtension):
    """A text that people read, each in a file of its own."""

    _write_mode = WriteMode.TEXT
    file_extension = "txt"


@pytest.fixture
def text_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(_Text)
