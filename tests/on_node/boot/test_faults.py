"""What each step says when it fails: its name, the words of the command, what to do."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from gpu_constructs.on_node import steps
from gpu_constructs.on_node.boot import plan
from gpu_constructs.on_node.host import Finished
from gpu_constructs.on_node.steps import BootError
from tests.on_node.boot.faults import FAULTS, Fault
from tests.on_node.made import NODES, Played, played


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_fault_says_the_step_the_words_and_the_remedy(tmp_path: Path, fault: Fault) -> None:
    alone = [replace(step, after=()) for step in plan(*NODES[fault.node]) if step.name == fault.step]
    machine = Played(tmp_path, alone, {fault.command: Finished(fault.code, fault.says)})
    with pytest.raises(BootError) as raised:
        steps.run(alone, machine.host, machine.journal)
    assert raised.value.step == fault.step
    assert re.search(fault.reason, raised.value.reason), raised.value.reason
    assert raised.value.tail == fault.says
    assert sum(machine.waited) == fault.waits


def test_file_that_cannot_be_written_fails_its_step(tmp_path: Path) -> None:
    (tmp_path / "etc").write_text("a file where a folder should be")
    quiet = plan(*NODES["L4"])[2]
    machine = Played(tmp_path, [replace(quiet, after=())])
    with pytest.raises(BootError, match=r"^quiet-upgrades: NotADirectoryError: .*/etc/"):
        steps.run(machine.steps, machine.host, machine.journal)


def test_each_step_that_runs_commands_has_a_fault() -> None:
    every = {step.name for node in NODES.values() for step in plan(*node)}
    assert {fault.step for fault in FAULTS} == every - {"quiet-upgrades"}


def test_steps_after_one_that_failed_are_not_begun(tmp_path: Path) -> None:
    machine = played(tmp_path, NODES["A100"], {"nvidia-smi -L": Finished(6, "No devices were found")})
    with pytest.raises(BootError, match=r"^gpus: "):
        steps.run(machine.steps, machine.host, machine.journal)
    assert not any("fabricmanager" in command for command in machine.commands)
