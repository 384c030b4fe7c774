"""The first request, which no user waits for, with real HTTP."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.config import ConfigError
from gpu_constructs.on_node.host import Finished
from gpu_constructs.on_node.serving import warm_up
from gpu_constructs.on_node.serving.budget import Budget
from gpu_constructs.on_node.serving.warm_up import WarmUp
from tests.on_node.serving.made import FACTS, SERVING, Machine, Server, inspected

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

BODY = '{"instances": [[1]]}'


def request(port: int, *, body: str = BODY, seconds: float = 100) -> WarmUp:
    return WarmUp(address="127.0.0.1", port=port, path="/infer", body=body, budget=Budget(seconds))


def running(tmp_path: Path, *states: Finished) -> Machine:
    found = list(states or (inspected("running"),))
    return Machine(tmp_path, {"container inspect": list(found), "logs": [Finished(0, "a log")]})


@pytest.mark.parametrize(("body", "method"), [(BODY, "POST"), ("", "GET")])
def test_request_is_made_once_where_it_is_answered(tmp_path: Path, body: str, method: str) -> None:
    machine = running(tmp_path)
    with Server((204, "")) as server:
        request(server.port, body=body).perform(machine.host)
    assert server.asked == [(method, "/infer", body)]
    assert machine.waited == []


def test_server_that_is_busy_is_asked_again(tmp_path: Path) -> None:
    machine = running(tmp_path)
    with Server((503, "busy"), (200, "{}")) as server:
        request(server.port).perform(machine.host)
    assert machine.waited == [5]


@pytest.mark.parametrize(("code", "asked"), [(400, 1), (404, 1), (422, 1), (301, 3), (500, 3)])
def test_request_that_is_wrong_is_not_made_again(tmp_path: Path, code: int, asked: int) -> None:
    with Server((code, "unexpected shape")) as server:
        said = rf"^the warm-up request POST http://127.0.0.1:\d+/infer answered {code}: unexpected shape; it must"
        with pytest.raises(ActionError, match=said) as raised:
            request(server.port).perform(running(tmp_path).host)
    assert len(server.asked) == asked
    assert raised.value.tail == "a log"


def test_request_that_ends_the_server_says_that_first(tmp_path: Path) -> None:
    machine = running(tmp_path, inspected("exited", 139))
    with Server((500, "")) as server, pytest.raises(ActionError, match="the server has ended with code 139"):
        request(server.port).perform(machine.host)
    assert len(server.asked) == 1


def test_request_that_no_time_is_left_for_says_so(tmp_path: Path) -> None:
    machine = running(tmp_path)
    with Server((503, "busy")) as server, pytest.raises(ActionError, match="was not answered within the 4 s"):
        request(server.port, seconds=4).perform(machine.host)


def test_step_is_there_only_where_a_request_is_to_be_made() -> None:
    assert warm_up.step(SERVING, FACTS, Budget(1)) == []
    (step,) = warm_up.step(replace(SERVING, warm_up_path="/infer", warm_up_body=BODY), FACTS, Budget(1))
    assert step.after == ("ready",)
    assert str(step.actions[0]) == f"POST port 8000 /infer with {BODY}, to be answered with 2xx"


def test_request_without_a_port_is_refused() -> None:
    serving = replace(SERVING, warm_up_path="/infer", ready_port=None)
    with pytest.raises(ConfigError, match="a warm-up request needs the port"):
        warm_up.step(serving, FACTS, Budget(1))
