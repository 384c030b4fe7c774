"""A boot that is killed and begun again ends as one that was not: at each of its steps, in the process of a boot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_constructs.on_node import steps
from gpu_constructs.on_node.actions import Run
from gpu_constructs.on_node.boot import plan
from gpu_constructs.on_node.host import Host
from tests.on_node.made import NODES, Played, played

KILLED = 9
MOMENTS = [(node, step.name) for node in ("V100 by hand", "H100", "L4") for step in plan(*NODES[node])]


class _Kill:
    """An action in whose midst the process dies."""

    def perform(self, _: Host) -> None:
        os._exit(KILLED)

    def __str__(self) -> str:
        return "die"


def boot_and_die(folder: str, node: str, name: str) -> None:
    """Boot until half of a step is done, then die as a process does that the kernel kills."""
    machine = played(Path(folder), NODES[node])
    todo = [
        replace(step, actions=(*step.actions[: len(step.actions) // 2], _Kill())) if step.name == name else step
        for step in machine.steps
    ]
    steps.run(todo, machine.host, machine.journal)


def _events(machine: Played, event: str) -> list[str]:
    said = map(json.loads, (machine.root / "var/log/gpu-node/boot.jsonl").read_text().splitlines())
    return sorted(one["step"] for one in said if one["event"] == event)


@pytest.mark.parametrize(("node", "name"), MOMENTS)
def test_boot_that_was_killed_goes_on(tmp_path: Path, node: str, name: str) -> None:
    whole = played(tmp_path / "whole", NODES[node])
    steps.run(whole.steps, whole.host, whole.journal)

    code = "import sys; from tests.on_node.boot.test_resume import boot_and_die; boot_and_die(*sys.argv[1:])"
    killed_in = tmp_path / "killed"
    died = subprocess.run(
        [sys.executable, "-c", code, str(killed_in), node, name],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=False,
    )
    assert died.returncode == KILLED, died.stderr
    again = played(killed_in, NODES[node])
    marked = again.marks()
    assert name not in marked

    steps.run(again.steps, again.host, again.journal)
    assert _events(again, "skipped") == marked
    assert again.marks() == sorted(step.name for step in again.steps)
    assert again.files() == whole.files()  # none is half there
    assert set(again.commands) == set(whole.commands)


@pytest.mark.parametrize("node", NODES)
def test_boot_that_is_done_is_not_done_again(tmp_path: Path, node: str) -> None:
    machine = played(tmp_path / "node", NODES[node])
    for _ in range(2):
        steps.run(machine.steps, machine.host, machine.journal)
    everything = sorted(step.name for step in machine.steps)
    assert _events(machine, "done") == _events(machine, "skipped") == everything


@pytest.mark.parametrize("node", NODES)
def test_machine_that_starts_again_does_every_step_and_finds_its_work_done(tmp_path: Path, node: str) -> None:
    machine = played(tmp_path / "node", NODES[node])
    steps.run(machine.steps, machine.host, machine.journal)
    files, first = machine.files(), len(machine.commands)
    machine.start_machine("second")
    steps.run(machine.steps, machine.host, machine.journal)

    assert _events(machine, "skipped") == []
    assert machine.files() == files
    runs = [action for step in machine.steps for action in step.actions if isinstance(action, Run)]
    always = {run.argv for run in runs if not run.unless} - {run.unless for run in runs}
    counted = len([action for step in machine.steps for action in step.actions if not isinstance(action, Run)])
    assert 0 < len(machine.commands) - first <= len(always) + counted
    assert not [line for line in machine.commands[first:] if "install" in line or "mkfs" in line or "mount /" in line]
