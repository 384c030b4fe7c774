"""The wheel has the libraries of the nodes, which are not in the repository, and builds the same bundle."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from gpu_constructs.bundle import builder

ROOT = Path(__file__).parents[2]


def test_wheel_brings_the_libraries_and_builds_the_same_bundle(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(installed)
    there = builder.build(tmp_path / "wheel.zip", installed / "gpu_constructs" / "on_node")
    assert there.sha256 == builder.build(tmp_path / "checkout.zip").sha256
