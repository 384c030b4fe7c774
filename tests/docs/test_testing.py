"""The examples of docs/testing.md, run as a user runs them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def _run(*arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_test_of_a_stack_passes() -> None:
    assert "1 passed" in _run(
        "-m", "pytest", "-p", "gpu_constructs.testing.plugin", "-q", "examples/testing/test_my_stack.py"
    )


def test_the_comparison_prints_what_the_page_says() -> None:
    path = "import runpy, sys; sys.path.insert(0, '.'); runpy.run_path('examples/testing/compare_templates.py')"
    assert _run("-c", path).splitlines() == ["True", "{'Key': '<asset>.zip', 'Runtime': '<nodejs>'}"]
