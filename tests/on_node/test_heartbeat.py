"""Heartbeats: at once, three times a timeout, whatever fails, and no longer than they are wanted."""

from __future__ import annotations

import threading

import pytest

from gpu_constructs.on_node.heartbeat import Heartbeat
from tests.on_node.aws_fakes import DENIED, THROTTLED, Scripted


class Waits:
    """Lets so many waits run out, and then is set."""

    def __init__(self, times: int) -> None:
        self.left, self.waited = times, list[float]()

    def wait(self, timeout: float) -> bool:
        self.waited.append(timeout)
        self.left -= 1
        return self.is_set()

    def set(self) -> None:
        self.left = -1

    def is_set(self) -> bool:
        return self.left < 0


def test_it_beats_at_once_and_then_three_times_a_timeout() -> None:
    client, waits = Scripted(), Waits(2)
    Heartbeat(client.beat, timeout_seconds=600, say=print, stopped=waits).run()
    assert client.called() == ["beat"] * 3
    assert waits.waited == [200, 200, 200]


def test_a_lost_beat_is_said_and_the_next_one_follows() -> None:
    client, said = Scripted(beat=[THROTTLED, DENIED, {}]), list[str]()
    Heartbeat(client.beat, timeout_seconds=90, say=said.append, stopped=Waits(2)).run()
    assert client.called() == ["beat"] * 3
    assert [line.partition(", the next one is in 30 s: ")[0] for line in said] == ["gpu-node: a heartbeat was lost"] * 2
    assert "Rate exceeded" in said[0]
    assert "is not authorized" in said[1]


def test_leaving_stops_it_at_once_even_while_a_beat_hangs() -> None:
    under_way, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    said: list[str] = []

    def hang() -> None:
        under_way.set()
        go_on.wait(60)
        ended.set()
        raise OSError("too late")

    beats = Heartbeat(hang, timeout_seconds=30, say=said.append)
    with beats:
        assert under_way.wait(60)
    assert not ended.is_set()  # it was not waited for
    (thread,) = [one for one in threading.enumerate() if one.name == "heartbeat"]
    go_on.set()
    thread.join(60)
    assert not thread.is_alive()
    assert ended.is_set()
    assert said == []  # nobody wants to hear of it any more


def test_a_failure_inside_stops_it_and_goes_on() -> None:
    stopped = threading.Event()
    with (
        pytest.raises(KeyError, match="boot"),
        Heartbeat(Scripted().beat, timeout_seconds=30, say=print, stopped=stopped),
    ):
        raise KeyError("boot")
    assert stopped.is_set()
