"""How the fake metadata service fails when its script says so, seen from the socket."""

from __future__ import annotations

import http.client
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from gpu_constructs.local.imds import FakeImds
from tests.local.imds.asking import MovedClock, ask, fake, read_meta, token

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ID = "/latest/meta-data/instance-id"
FOUND = "i-0123456789abcdef0"


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


def _status(imds: FakeImds, given: str, path: str = ID) -> int:
    return ask(imds, path, X_aws_ec2_metadata_token=given).status


def _faults(imds: FakeImds) -> list[str | None]:
    return [one.fault for one in imds.requests]


def _when_asked(imds: FakeImds, fault: str) -> None:
    """Wait until a request has met a fault."""
    met = threading.Event()
    while fault not in _faults(imds):
        met.wait(0.01)


def test_a_status_is_answered_for_a_time(clock: MovedClock) -> None:
    with fake([{"at": 1, "do": "status", "code": 503, "for": 2}], clock) as imds:
        given = token(imds)
        seen = []
        for _ in range(4):
            seen.append(_status(imds, given))
            clock.seconds += 1
        assert seen == [200, 503, 503, 200]


def test_without_a_time_a_fault_is_for_one_request_and_each_entry_is_one(clock: MovedClock) -> None:
    with fake(
        [{"at": 0, "do": "status", "code": code, "path": "instance-id"} for code in (500, 500, 429)], clock
    ) as imds:
        given = token(imds)
        assert [_status(imds, given) for _ in range(4)] == [500, 500, 429, 200]


def test_a_fault_of_a_path_leaves_others_alone(clock: MovedClock) -> None:
    with fake([{"at": 0, "do": "status", "code": 503, "path": "spot/instance-action", "for": 9}], clock) as imds:
        given = token(imds)
        assert _status(imds, given) == 200
        assert _status(imds, given, "/latest/meta-data/spot/instance-action") == 503
        assert _status(imds, given, "/latest/meta-data/spot/instance-action/") == 503
        assert _status(imds, given, "/latest/meta-data/spot/termination-time") == 404


@pytest.mark.parametrize("order", [1, -1])
def test_of_two_faults_at_once_the_one_that_began_last_is_met(order: int, clock: MovedClock) -> None:
    script = [{"at": 1, "do": "status", "code": 500, "for": 1}, {"at": 0, "do": "status", "code": 503, "for": 3}]
    with fake(script[::order], clock) as imds:
        seen = []
        for _ in range(4):
            seen.append(ask(imds, ID).status)
            clock.seconds += 1
        assert seen == [503, 500, 503, 401]


def test_a_reset_connection_is_reset_and_not_closed_in_peace(clock: MovedClock) -> None:
    with fake([{"at": 0, "do": "rst"}], clock) as imds:
        with pytest.raises(ConnectionResetError) as raised:
            ask(imds, ID)
        assert not isinstance(raised.value, http.client.RemoteDisconnected)
        assert read_meta(imds, "instance-id") == FOUND


def test_a_truncated_answer_has_half_of_what_it_promises(clock: MovedClock) -> None:
    with fake([{"at": 0, "do": "truncate", "path": "instance-id"}], clock) as imds:
        with pytest.raises(http.client.IncompleteRead) as raised:
            read_meta(imds, "instance-id")
        assert raised.value.partial == FOUND[:9].encode()
        assert read_meta(imds, "instance-id") == FOUND
        assert _faults(imds) == [None, "truncate", None, None]


def test_forgotten_tokens_are_refused_and_new_ones_taken(clock: MovedClock) -> None:
    with fake([{"at": 5, "do": "expire_tokens"}], clock) as imds:
        old = token(imds)
        clock.seconds += 5
        new = token(imds)
        assert [_status(imds, one) for one in (old, new)] == [401, 200]
        imds.happen(do="expire_tokens")  # in the same moment
        assert _status(imds, new) == 401
        assert _status(imds, token(imds)) == 200


def _in_background(question: Callable[[], Any], imds: FakeImds, fault: str, end: Callable[[], None]) -> Any:
    """Ask, end what the question met once it has met it, and return what came of it."""
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(question)
        _when_asked(imds, fault)
        assert not asked.done()
        end()
        return asked.exception(timeout=30) or asked.result()


def test_a_hang_ends_with_its_time_and_then_the_answer_comes(clock: MovedClock) -> None:
    with fake([{"at": 0, "do": "hang", "path": "instance-id", "for": 3}], clock) as imds:
        assert _in_background(lambda: read_meta(imds, "instance-id"), imds, "hang", lambda: clock.wait(3)) == FOUND


@pytest.mark.parametrize("entry", [{"do": "hang"}, {"do": "hang", "for": 99}, {"do": "hop_limit", "value": 1}])
def test_a_hang_ends_with_the_service_and_no_answer_comes(entry: dict[str, Any], clock: MovedClock) -> None:
    with fake([{"at": 0, **entry}], clock) as imds:
        came = _in_background(lambda: token(imds), imds, entry["do"], imds.close)
    assert isinstance(came, http.client.RemoteDisconnected)


def test_a_hang_does_not_outlive_who_asked(clock: MovedClock) -> None:
    before = threading.active_count()
    with fake([{"at": 0, "do": "hang"}], clock) as imds:
        connection = http.client.HTTPConnection("127.0.0.1", int(imds.endpoint.rpartition(":")[2]))
        connection.request("GET", ID)
        _when_asked(imds, "hang")
        connection.close()
        pause = threading.Event()
        while threading.active_count() > before + 1:  # the one that listens
            pause.wait(0.01)


def test_with_a_hop_limit_of_one_no_token_gets_into_a_container(clock: MovedClock) -> None:
    with fake((), clock) as imds:
        given = token(imds)
        imds.happen(do="hop_limit", value=1)
        assert _status(imds, given) == 200  # only the answer to a token request counts its hops

        def raise_it() -> None:
            imds.happen(do="hop_limit", value=2)

        assert len(_in_background(lambda: token(imds), imds, "hop_limit", raise_it)) == 56


def test_faults_and_announcements_combine(clock: MovedClock) -> None:
    script = [
        {"at": 1, "do": "notice", "in": 120},
        {"at": 1, "do": "expire_tokens"},
        {"at": 1, "do": "status", "code": 503, "for": 2, "path": "spot/instance-action"},
        {"at": 3, "do": "rst", "path": "api/token"},
    ]
    path = "/latest/meta-data/spot/instance-action"
    with fake(script, clock) as imds:
        old = token(imds)
        assert _status(imds, old, path) == 404
        clock.seconds += 1
        assert (_status(imds, old, path), _status(imds, old)) == (503, 401)
        clock.seconds += 2
        with pytest.raises(ConnectionResetError):
            token(imds)
        assert read_meta(imds, "spot/instance-action") == '{"action": "terminate", "time": "2026-03-01T12:02:01Z"}'


def test_each_request_is_remembered_with_what_came_of_it(clock: MovedClock) -> None:
    with fake([{"at": 2, "do": "status", "code": 500}, {"at": 2, "do": "rst"}], clock) as imds:
        ask(imds, f"{ID}?x=1")
        clock.seconds += 2.5
        ask(imds, ID, "HEAD")
        with pytest.raises(ConnectionResetError):
            ask(imds, "/latest/api/token", "PUT")
        assert [(one.at, one.method, one.path, one.status, one.fault, one.connection) for one in imds.requests] == [
            (0, "GET", "meta-data/instance-id", 401, None, 1),
            (2.5, "HEAD", "meta-data/instance-id", 500, "status", 2),
            (2.5, "PUT", "api/token", None, "rst", 3),
        ]
