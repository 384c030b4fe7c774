"""The shell in the steps: what `sh -c` runs, on the node by dash or bash."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpu_constructs.on_node.actions import Count, Run
from gpu_constructs.on_node.boot import plan
from tests.on_node.boot.test_plan import NODES


def _scripts() -> list[str]:
    actions = [action for node in NODES.values() for step in plan(*node) for action in step.actions]
    commands = [words for action in actions if isinstance(action, Run) for words in (action.argv, action.unless)]
    commands += [action.argv for action in actions if isinstance(action, Count)]
    return sorted({words[2] for words in commands if words[:2] == ("sh", "-c")})


SCRIPTS = _scripts()


def _check(folder: Path, script: str) -> subprocess.CompletedProcess[str]:
    file = folder / "script.sh"
    file.write_text(f"#!/bin/sh\n{script}\n")
    return subprocess.run(["shellcheck", str(file)], capture_output=True, text=True, check=False)


@pytest.mark.machine("shellcheck")
@pytest.mark.parametrize("script", SCRIPTS)
def test_shellcheck_has_nothing_to_say(tmp_path: Path, script: str) -> None:
    done = _check(tmp_path, script)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.machine("shellcheck")
def test_shellcheck_finds_mistakes(tmp_path: Path) -> None:
    assert "SC2086" in _check(tmp_path, "rm $1").stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_shell_reads_it(script: str) -> None:
    assert subprocess.run(["sh", "-n", "-c", script], capture_output=True, check=False).stderr == b""
