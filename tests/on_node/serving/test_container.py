"""What is said of a container that does not run."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.host import Finished
from gpu_constructs.on_node.serving import container
from tests.on_node.serving.made import Machine, inspected

LOG = Finished(0, "loading\nerror: failed to load model ranker\n\n")


def machine(tmp_path: Path, found: Finished, log: Finished = LOG, events: str = "") -> Machine:
    answers = {"container inspect": [found], "logs": [log], "events": [Finished(0, events)]}
    return Machine(tmp_path, {name: list(one) for name, one in answers.items()})


def test_container_that_has_run_ever_since_is_well(tmp_path: Path) -> None:
    played = machine(tmp_path, inspected("running"))
    container.check(played.host)
    assert [call[1] for call in played.calls] == ["container"]


@pytest.mark.parametrize(
    ("found", "says"),
    [
        (
            inspected("exited", 1),
            r"^the server has ended with code 1; see its log: error: failed to load",
        ),
        (inspected("restarting", 134, restarts=2), "has ended with code 134; see"),
        (inspected("exited", 137), r"code 137 \(killed; by the kernel, if memory was short: see dmesg\)"),
        (inspected("exited", 137, oom=True), "code 137: the instance has too little memory for it"),
        (inspected("dead", 1), "has ended with code 1"),
        (inspected("created"), "^the server does not run, it is created; see its log"),
        (inspected("paused"), "does not run, it is paused"),
    ],
)
def test_state_is_said_with_the_end_of_the_log(tmp_path: Path, found: Finished, says: str) -> None:
    with pytest.raises(ActionError, match=says) as raised:
        container.check(machine(tmp_path, found).host)
    assert raised.value.tail == LOG.output.strip()


@pytest.mark.parametrize(
    ("events", "says"),
    [
        (
            '{"Actor": {"Attributes": {"exitCode": "1"}}}\n{"Actor": {"Attributes": {"exitCode": "139"}}}\n',
            "has ended with code 139; see",
        ),
        ("", "the server has ended; see"),
    ],
)
def test_container_that_docker_has_started_again_has_ended_all_the_same(tmp_path: Path, events: str, says: str) -> None:
    # While it runs again, its own exit code is 0.
    with pytest.raises(ActionError, match=says):
        container.check(machine(tmp_path, inspected("running", restarts=1), events=events).host)


def test_container_without_a_log_says_that_it_is_empty(tmp_path: Path) -> None:
    with pytest.raises(ActionError, match=r"see its log: it is empty$"):
        container.check(machine(tmp_path, inspected("exited", 1), log=Finished(0, "\n")).host)


def test_container_that_is_gone_is_named(tmp_path: Path) -> None:
    gone = Finished(1, "Error: No such container: gpu-node-server")
    with pytest.raises(ActionError, match=r"^there is no container gpu-node-server any more$"):
        container.check(machine(tmp_path, gone).host)


def test_warning_before_the_answer_of_docker_is_no_trouble(tmp_path: Path) -> None:
    answer = inspected("running")
    container.check(machine(tmp_path, Finished(0, f"WARNING: Error loading config file\n{answer.output}")).host)
