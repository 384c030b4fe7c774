"""A test that needs what the machine lacks says so, and cannot pass unseen in CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEST = """
import pytest

@pytest.mark.machine("shellcheck", "overlay")
def test_real() -> None:
    pass
"""


def _run(folder: Path, **environment: str) -> str:
    """Run a test that needs a program, on a machine without programs."""
    root = Path(__file__).parents[2]
    (folder / "test_it.py").write_text(TEST)
    (folder / "conftest.py").write_text("from tests.on_node.conftest import *\n")
    clean = {name: value for name, value in os.environ.items() if name not in {"CI", "MACHINE_LACKS", "PATH"}}
    argv = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:benchmark",
        "-q",
        "-rs",
        "--rootdir",
        ".",
    ]
    done = subprocess.run(
        [*argv, "."],
        cwd=folder,
        env={**clean, "PATH": "/nowhere", "PYTHONPATH": str(root), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + done.stderr


def test_skip_names_what_the_machine_has_not(tmp_path: Path) -> None:
    assert "this machine has not: shellcheck" in _run(tmp_path)


def test_skip_is_a_failure_in_ci(tmp_path: Path) -> None:
    said = _run(tmp_path, CI="true")
    assert "this machine has not: shellcheck; where that is as it should be, say so in MACHINE_LACKS" in said
    assert "1 error" in said


@pytest.mark.parametrize("lacks", ["shellcheck", "overlay, shellcheck"])
def test_what_ci_is_known_to_lack_is_skipped(tmp_path: Path, lacks: str) -> None:
    assert "1 skipped" in _run(tmp_path, CI="true", MACHINE_LACKS=lacks)
