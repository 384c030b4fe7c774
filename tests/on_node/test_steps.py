from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from gpu_constructs.on_node import steps
from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.host import Host
from gpu_constructs.on_node.journal import Journal
from gpu_constructs.on_node.steps import BootError, Step

PATIENCE = 60  # seconds for another thread to come, which it does at once


@dataclass(frozen=True)
class Do:
    """An action that calls what it is told."""

    name: str
    call: Callable[[], object] = field(compare=False)

    def perform(self, _: Host) -> None:
        self.call()

    def __str__(self) -> str:
        return self.name


def _fail() -> None:
    raise ActionError("mkfs ended with code 1: no space", "the tail")


class Boot:
    """Steps that say when they ran, and a machine."""

    def __init__(self, root: Path) -> None:
        self.ran: list[str] = []
        self.root = root
        self.start("first")

    def start(self, boot_id: str) -> None:
        place = self.root / "proc/sys/kernel/random/boot_id"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{boot_id}\n")

    def step(self, name: str, *after: str, call: Callable[[], object] | None = None) -> Step:
        return Step(name=name, actions=(Do(name, call or (lambda: self.ran.append(name))),), after=after)

    def run(self, *todo: Step) -> None:
        steps.run(todo, Host(root=self.root), Journal(self.root / "boot.jsonl", lambda _: None))

    def said(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in (self.root / "boot.jsonl").read_text().splitlines()]


@pytest.fixture
def boot(tmp_path: Path) -> Boot:
    return Boot(tmp_path)


def test_step_waits_for_those_it_names(boot: Boot) -> None:
    boot.run(boot.step("a"), boot.step("b", "a"), boot.step("c", "b"), boot.step("d", "a", "c"))
    assert boot.ran == ["a", "b", "c", "d"]


def test_independent_steps_run_at_once(boot: Boot) -> None:
    # One after the other, none would get past the barrier.
    together = threading.Barrier(3)
    boot.run(*(boot.step(name, call=lambda: together.wait(PATIENCE)) for name in "abc"))
    assert [event["event"] for event in boot.said()].count("done") == 3


def test_step_begins_when_its_own_are_done_whatever_else_runs(boot: Boot) -> None:
    begun = threading.Event()

    def wait() -> None:
        assert begun.wait(PATIENCE)

    boot.run(boot.step("slow", call=wait), boot.step("a"), boot.step("b", "a", call=begun.set))
    assert boot.ran == ["a"]


def test_failure_names_its_step_and_no_step_begins_after_it(boot: Boot) -> None:
    with pytest.raises(BootError, match=r"^disk: mkfs ended with code 1: no space$") as raised:
        boot.run(boot.step("disk", call=_fail), boot.step("mount", "disk"), boot.step("docker", "mount"))
    assert (raised.value.step, raised.value.tail) == ("disk", "the tail")
    assert boot.ran == []
    assert boot.said()[-1] | {"at": None, "seconds": None} == {
        "at": None,
        "seconds": None,
        "step": "disk",
        "event": "failed",
        "reason": "mkfs ended with code 1: no space",
        "tail": "the tail",
    }


def test_step_that_runs_when_another_fails_is_waited_for_and_marked(boot: Boot) -> None:
    failed = threading.Event()

    def fail() -> None:
        failed.set()
        _fail()

    def go_on() -> None:
        assert failed.wait(PATIENCE)
        boot.ran.append("slow")

    slow = boot.step("slow", call=go_on)
    with pytest.raises(BootError, match=r"^bad:"):
        boot.run(slow, boot.step("bad", call=fail), boot.step("next", "slow"))
    assert boot.ran == ["slow"]
    boot.run(slow)
    assert boot.said()[-1]["event"] == "skipped"


def test_error_of_our_own_fails_the_step_too(boot: Boot) -> None:
    with pytest.raises(BootError, match=r"^a: KeyError: 'B'$"):
        boot.run(boot.step("a", call=lambda: os.environ["B"]))


@pytest.mark.parametrize(
    ("after", "words"),
    [(("b",), "step a waits for b, not a step before it"), (("a",), "step a waits for a")],
)
def test_steps_that_would_wait_for_ever_are_refused(boot: Boot, after: tuple[str, ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        boot.run(boot.step("a", *after), boot.step("b"))
    assert boot.ran == []


def test_two_steps_of_one_name_are_refused(boot: Boot) -> None:
    with pytest.raises(ValueError, match="two steps are named a"):
        boot.run(boot.step("a"), boot.step("a"))


def test_done_steps_are_skipped_until_the_machine_starts_again(boot: Boot) -> None:
    both = boot.step("a"), boot.step("b", "a")
    boot.run(*both)
    boot.run(*both)
    assert boot.ran == ["a", "b"]
    boot.start("second")
    boot.run(*both)
    assert boot.ran == ["a", "b", "a", "b"]


def test_step_that_does_other_work_than_when_it_was_marked_runs_again(boot: Boot) -> None:
    boot.run(boot.step("a"))
    other = Step(name="a", actions=(Do("other work", lambda: boot.ran.append("other")),))
    boot.run(other)
    assert boot.ran == ["a", "other"]


def test_failed_step_is_run_again(boot: Boot) -> None:
    with pytest.raises(BootError):
        boot.run(boot.step("a", call=_fail))
    boot.run(boot.step("a"))
    assert boot.ran == ["a"]


def test_steps_are_timed_and_said(boot: Boot) -> None:
    seconds = iter([10.0, 12.5])
    lines: list[str] = []
    host = Host(root=boot.root, clock=lambda: next(seconds))
    steps.run([boot.step("a")], host, Journal(boot.root / "boot.jsonl", lines.append))
    assert [(event["step"], event["event"], event.get("seconds")) for event in boot.said()] == [
        ("a", "started", None),
        ("a", "done", 2.5),
    ]
    assert lines == ["gpu-node: a started", "gpu-node: a done in 2.5 s"]
