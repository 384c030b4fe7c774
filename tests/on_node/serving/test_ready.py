"""Waiting until the server answers, with real HTTP; time passes only in waits."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.host import Finished
from gpu_constructs.on_node.serving.budget import Budget
from gpu_constructs.on_node.serving.ready import AwaitReady
from tests.on_node.serving.made import Machine, Server, inspected

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

LOADING, READY = (503, '{"error": "loading"}'), (200, '{"state": "AVAILABLE"}')


def waiting(
    port: int | None,
    *,
    path: str | None = "/ready",
    pattern: str = "",
    seconds: float = 100,
) -> AwaitReady:
    return AwaitReady(address="127.0.0.1", port=port, path=path, pattern=pattern, budget=Budget(seconds))


def running(tmp_path: Path, *states: Finished) -> Machine:
    states = states or (inspected("running"),)
    return Machine(tmp_path, {"container inspect": list(states), "logs": [Finished(0, "loading\nstill loading")]})


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port: int = taken.getsockname()[1]
    return port


def test_server_is_ready_when_it_answers_200(tmp_path: Path) -> None:
    machine = running(tmp_path)
    with Server(LOADING, LOADING, READY) as server:
        waiting(server.port).perform(machine.host)
    assert server.asked == [("GET", "/ready", "")] * 3
    assert machine.waited == [2, 2]


def test_answer_must_hold_the_pattern_too(tmp_path: Path) -> None:
    machine = running(tmp_path)
    with Server((200, '{"state": "LOADING"}'), READY) as server:
        waiting(server.port, pattern="AVAILABLE").perform(machine.host)
    assert machine.waited == [2]


def test_server_that_ends_while_it_is_waited_for_is_told_at_once(tmp_path: Path) -> None:
    machine = running(tmp_path, inspected("running"), inspected("restarting", 1, restarts=1))
    with (
        Server(LOADING) as server,
        pytest.raises(ActionError, match=r"has ended with code 1; see its log: still loading"),
    ):
        waiting(server.port).perform(machine.host)
    assert machine.waited == [2]


@pytest.mark.parametrize(
    ("answer", "pattern", "says"),
    [
        (LOADING, "", r'/ready answered 503: {"error": "loading"}; if it needs longer, raise ready_seconds$'),
        ((404, "no such path"), "", "answered 404: no such path"),
        ((200, '{"state": "END"}'), "AVAILABLE", r'answered 200: {"state": "END"}, which has not AVAILABLE'),
    ],
)
def test_time_that_is_over_says_what_was_answered_last(
    tmp_path: Path, answer: tuple[int, str], pattern: str, says: str
) -> None:
    machine = running(tmp_path)
    with Server(answer) as server, pytest.raises(ActionError, match=r"^the server was not ready within 7 s") as raised:
        waiting(server.port, pattern=pattern, seconds=7).perform(machine.host)
    assert raised.match(says)
    assert raised.value.tail == "loading\nstill loading"
    assert machine.waited == [2, 2, 2, 1]


def test_port_that_nobody_listens_on_is_said(tmp_path: Path) -> None:
    with pytest.raises(ActionError, match=r"answered ConnectionRefusedError: .*refused"):
        waiting(free_port(), seconds=3).perform(running(tmp_path).host)


def test_port_without_http_is_ready_when_it_takes_a_connection(tmp_path: Path) -> None:
    machine = running(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        waiting(listening.getsockname()[1], path=None).perform(machine.host)
    assert machine.waited == []
    with pytest.raises(ActionError, match=r"takes no connection, ConnectionRefusedError"):
        waiting(free_port(), path=None, seconds=3).perform(machine.host)


def test_answer_that_is_no_http_is_said(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        listening.setblocking(False)

        def answer(_: object) -> Finished:
            return inspected("running")

        machine = Machine(tmp_path, {"container inspect": [answer], "logs": [Finished(0, "")]})
        # It takes the connection and says nothing.
        with pytest.raises(ActionError, match=r"no answer within 5 s"):
            waiting(port, seconds=0).perform(machine.host)


def test_worker_without_a_port_is_ready_when_it_has_kept_running(tmp_path: Path) -> None:
    machine = running(tmp_path)
    waiting(None).perform(machine.host)
    assert machine.waited == [2, 2, 2]
    ends = running(tmp_path, inspected("running"), inspected("running"), inspected("exited", 2))
    with pytest.raises(ActionError, match="has ended with code 2"):
        waiting(None).perform(ends.host)


def test_proxy_of_the_environment_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    with Server(READY) as server:
        waiting(server.port).perform(running(tmp_path).host)


@pytest.mark.parametrize(
    ("action", "says"),
    [
        (waiting(8000), "wait until port 8000 answers /ready with 200"),
        (waiting(8000, pattern="AVAILABLE"), "wait until port 8000 answers /ready with 200 with AVAILABLE"),
        (waiting(8000, path=None), "wait until port 8000 takes a connection"),
        (waiting(None), "wait until the container has been seen running 4 times"),
    ],
)
def test_action_says_what_it_waits_for(action: AwaitReady, says: str) -> None:
    assert str(action) == says
