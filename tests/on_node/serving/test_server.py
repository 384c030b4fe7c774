"""The container: started as it is meant to be, once, and made anew where it would be another one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.config import Serving
from gpu_constructs.on_node.host import Finished
from gpu_constructs.on_node.serving.server import Serve, arguments
from tests.on_node.serving.made import SERVING, Machine, inspected

ABSENT = Finished(1, "Error: No such container: gpu-node-server")
SERVE = Serve(arguments=arguments(SERVING, "/data/models/1"))


def after(words: tuple[str, ...], name: str) -> list[str]:
    return [words[number + 1] for number, word in enumerate(words) if word == name]


def specification(tmp_path: Path, serve: Serve = SERVE) -> str:
    """The label that the container gets, as Docker is told."""
    machine = Machine(tmp_path, {"container inspect": [ABSENT]})
    serve.perform(machine.host)
    (label,) = after(tuple(machine.calls[-1]), "--label")
    return label.partition("=")[2]


def test_container_gets_all_that_the_server_needs_and_no_more() -> None:
    words = arguments(SERVING, "/data/models/1")
    assert after(words, "--gpus") == ["all"]
    assert after(words, "--publish") == ["8000:8000", "8001:8001", "8002:8002"]
    assert after(words, "--env") == ["LOG=1", "TOKENS=a b"]
    assert after(words, "--mount") == ["type=bind,source=/data/models/1,target=/models,readonly"]
    assert after(words, "--shm-size") == ["1024m"]
    assert after(words, "--ulimit") == ["memlock=-1", "stack=67108864"]
    assert after(words, "--stop-timeout") == ["60"]
    assert after(words, "--restart") == ["unless-stopped"]
    assert after(words, "--log-opt") == ["max-size=100m", "max-file=3"]
    assert words[-3:] == (SERVING.image, "tritonserver", "--model-repository=/models")


def test_server_without_gpus_model_and_ports_gets_none() -> None:
    words = arguments(replace(SERVING, gpus=False, ports=(), shm_size_gib=0.5), None)
    assert {"--gpus", "--mount", "--publish"} & set(words) == set()
    assert after(words, "--shm-size") == ["512m"]


def test_container_is_started_with_its_model_where_the_node_has_it(tmp_path: Path) -> None:
    machine = Machine(tmp_path, {"container inspect": [ABSENT]})
    SERVE.perform(machine.host)
    *_, run = machine.calls
    assert run[:4] == ["docker", "run", "--detach", "--label"]
    assert after(tuple(run), "--mount") == [f"type=bind,source={tmp_path}/data/models/1,target=/models,readonly"]


def test_container_that_is_there_is_only_started(tmp_path: Path) -> None:
    same = inspected("exited", label=specification(tmp_path))
    machine = Machine(tmp_path, {"container inspect": [same]})
    SERVE.perform(machine.host)
    assert machine.calls[1:] == [["docker", "start", "gpu-node-server"]]


@pytest.mark.parametrize(
    "other",
    [
        replace(SERVING, image="nvcr.io/nvidia/tritonserver:26.06-py3"),
        replace(SERVING, environment={"LOG": "2"}),
        replace(SERVING, command=("tritonserver",)),
        replace(SERVING, ports=(8000,)),
    ],
)
def test_container_that_would_be_another_one_is_made_anew(tmp_path: Path, other: Serving) -> None:
    old = inspected("running", label=specification(tmp_path))
    machine = Machine(tmp_path, {"container inspect": [old]})
    Serve(arguments=arguments(other, "/data/models/1")).perform(machine.host)
    assert [call[1] for call in machine.calls] == ["container", "rm", "run"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ('could not select device driver "" with capabilities: [[gpu]]', "has no NVIDIA container toolkit$"),
        ("nvidia-container-cli: requirement error: unsatisfied condition: cuda>=13.0", "too old for the image"),
        ("Bind for 0.0.0.0:8000 failed: port is already allocated", "another container of the image of the node"),
        ("listen tcp4 0.0.0.0:8000: bind: address already in use", "give the server other ports$"),
        ('exec: "tritonserve": executable file not found in $PATH', "the image has no such command: see command$"),
        ("something else", "something else$"),
    ],
)
def test_refusal_of_docker_says_what_to_do(tmp_path: Path, said: str, reason: str) -> None:
    output = f"docker: Error response from daemon: {said}\n\nRun 'docker run --help' for more information"
    machine = Machine(tmp_path, {"container inspect": [ABSENT], "run": [Finished(125, output)]})
    with pytest.raises(ActionError, match=rf"^the container gpu-node-server cannot be started: .*{reason}") as raised:
        SERVE.perform(machine.host)
    assert "TOKENS" not in str(raised.value)
    assert raised.value.tail == output


def test_container_that_cannot_be_removed_is_said(tmp_path: Path) -> None:
    stuck = Finished(1, "Error response from daemon: removal of container is already in progress")
    machine = Machine(tmp_path, {"container inspect": [inspected("dead")], "rm": [stuck]})
    with pytest.raises(ActionError, match=r"cannot be removed: .*already in progress$"):
        SERVE.perform(machine.host)
    assert machine.called("run") == []
