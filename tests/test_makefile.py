"""`make demo` and `make test` on a machine that lacks something: one line that says what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TOOLS = ("make", "sh", "sed", "mkdir", "touch", "find", "rm", "tail", "env", "test", "echo", "uname")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a fresh clone has of the files that set it up."""
    for name in ("Makefile", "pyproject.toml", "package.json", "package-lock.json"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "requirements", tmp_path / "requirements")
    return tmp_path


@pytest.fixture
def bare_path(tmp_path: Path) -> Path:
    """A PATH with make and the few tools it uses: no Python, no Node."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        if found:
            (folder / tool).symlink_to(found)
    return folder


def _program(folder: Path, name: str, body: str) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path


def _make(checkout: Path, *arguments: str, path: Path, **environment: str) -> str:
    """Run make, which must fail; its one line on the error stream that is not make's own."""
    make = shutil.which("make")
    assert make
    done = subprocess.run(
        [make, *arguments],
        cwd=checkout,
        env={"PATH": str(path), "HOME": str(checkout), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    (line,) = [line for line in done.stderr.splitlines() if not line.startswith("make")]
    return line


def test_without_a_python_it_says_which_is_needed_and_how_to_name_one(checkout: Path, bare_path: Path) -> None:
    assert _make(checkout, "demo", path=bare_path) == (
        "error: Python 3.10 or newer is needed and none is on PATH; install one, or name it: "
        "make PYTHON=/path/to/python3 ..."
    )


def test_a_python_that_is_too_old_is_not_taken(checkout: Path, bare_path: Path) -> None:
    _program(bare_path, "python3", "exit 1")  # what the check of its version comes to

    assert "Python 3.10 or newer is needed" in _make(checkout, "test", path=bare_path)
    assert _make(checkout, "test", "PYTHON=python3", path=bare_path).startswith("error: python3 is not Python 3.10")


def test_a_newer_python_beside_an_old_one_is_taken(checkout: Path, bare_path: Path) -> None:
    _program(bare_path, "python3", "exit 1")
    # Passes the check of its version, and lacks venv as on a bare Debian.
    _program(bare_path, "python3.12", 'case "$2" in *ensurepip*) exit 1;; esac')

    assert _make(checkout, "demo", path=bare_path) == (
        "error: python3.12 lacks its venv module; install it (on Debian and Ubuntu: apt install python3-venv)"
    )


def test_without_network_it_says_so_and_where_the_details_are(checkout: Path, bare_path: Path) -> None:
    nowhere = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0", "PIP_CONFIG_FILE": os.devnull}

    line = _make(checkout, "demo", f"PYTHON={sys.executable}", path=bare_path, PIP_NO_CACHE_DIR="1", **nowhere)

    assert line == (
        "error: packages could not be installed; check the network, or name another package index in pip's "
        "configuration (details: .venv/install.log)"
    )
    assert "127.0.0.1" in (checkout / ".venv" / "install.log").read_text()


def test_help_lists_every_command(checkout: Path) -> None:
    make = shutil.which("make")
    assert make
    shown = subprocess.run([make, "help"], cwd=checkout, capture_output=True, text=True, check=True).stdout

    for command in ("demo", "test", "lint", "synth", "snapshot-update", "bench", "clean"):
        assert f"make {command} " in shown
