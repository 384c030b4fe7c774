"""What EC2 and Auto Scaling announce through the fake metadata service, by script and by hand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.local.imds.asking import MovedClock, fake, read_meta

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])

ACTION, TERMINATION = "spot/instance-action", "spot/termination-time"
REBALANCE = "events/recommendations/rebalance"
SCHEDULED, HISTORY = "events/maintenance/scheduled", "events/maintenance/history"
STATE = "autoscaling/target-lifecycle-state"


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


def test_nothing_is_announced_at_first(clock: MovedClock) -> None:
    with fake((), clock) as imds:
        for path in (ACTION, TERMINATION, REBALANCE, STATE):
            assert read_meta(imds, path) is None
        assert read_meta(imds, SCHEDULED) == read_meta(imds, HISTORY) == "[]"


def test_a_notice_comes_when_the_script_says_and_its_time_stays(clock: MovedClock) -> None:
    with fake([{"at": 30, "do": "notice", "in": 120}], clock) as imds:
        clock.seconds += 29.9
        assert read_meta(imds, ACTION) is None
        for _ in range(3):
            clock.seconds += 50
            assert json.loads(read_meta(imds, ACTION) or "") == {"action": "terminate", "time": "2026-03-01T12:02:30Z"}
            assert read_meta(imds, TERMINATION) == "2026-03-01T12:02:30Z"


@pytest.mark.parametrize("action", ["stop", "hibernate"])
def test_the_older_place_tells_of_terminations_only(action: str, clock: MovedClock) -> None:
    with fake((), clock) as imds:
        imds.notice(in_seconds=60, action=action)
        assert json.loads(read_meta(imds, ACTION) or "") == {"action": action, "time": "2026-03-01T12:01:00Z"}
        assert read_meta(imds, TERMINATION) is None


@pytest.mark.parametrize(("told", "untold"), [(ACTION, TERMINATION), (TERMINATION, ACTION)])
@pytest.mark.parametrize("do", ["notice", "past_time"])
def test_a_notice_may_be_told_in_one_place_only(do: str, told: str, untold: str, clock: MovedClock) -> None:
    with fake([{"at": 0, "do": do, "path": told}], clock) as imds:
        assert read_meta(imds, told)
        assert read_meta(imds, untold) is None


def test_a_later_notice_takes_the_place_of_an_earlier_one(clock: MovedClock) -> None:
    script = [{"at": 2, "do": "notice", "in": 10}, {"at": 1, "do": "notice", "in": 120, "action": "stop"}]
    with fake(script, clock) as imds:
        clock.seconds += 1
        assert '"stop"' in (read_meta(imds, ACTION) or "")
        clock.seconds += 1
        assert json.loads(read_meta(imds, ACTION) or "") == {"action": "terminate", "time": "2026-03-01T12:00:12Z"}


def test_a_time_that_has_passed_stays_where_ec2_failed(clock: MovedClock) -> None:
    with fake([{"at": 0, "do": "notice", "action": "stop"}, {"at": 90, "do": "past_time", "by": 5}], clock) as imds:
        clock.seconds += 100
        assert json.loads(read_meta(imds, ACTION) or "") == {"action": "stop", "time": "2026-03-01T12:01:25Z"}
        assert read_meta(imds, TERMINATION) == "2026-03-01T12:01:25Z"


@pytest.mark.parametrize(
    ("path", "left"),
    [
        (None, [REBALANCE, SCHEDULED, STATE]),
        (TERMINATION, [ACTION, REBALANCE, SCHEDULED, STATE]),
        (REBALANCE, [ACTION, TERMINATION, SCHEDULED, STATE]),
        (SCHEDULED, [ACTION, TERMINATION, REBALANCE, STATE]),
        (STATE, [ACTION, TERMINATION, REBALANCE, SCHEDULED]),
        ("*", []),
    ],
)
def test_what_is_withdrawn_is_gone_and_nothing_else(path: str | None, left: list[str], clock: MovedClock) -> None:
    script: list[dict[str, Any]] = [
        {"at": 0, "do": "notice"},
        {"at": 0, "do": "rebalance"},
        {"at": 0, "do": "scheduled_event"},
        {"at": 0, "do": "lifecycle_state", "state": "InService"},
        {"at": 5, "do": "withdraw"} if path is None else {"at": 5, "do": "withdraw", "path": path},
    ]
    with fake(script, clock) as imds:
        everything = [ACTION, TERMINATION, REBALANCE, SCHEDULED, STATE]
        assert [one for one in everything if read_meta(imds, one) in (None, "[]")] == []
        clock.seconds += 5
        assert [one for one in everything if read_meta(imds, one) not in (None, "[]")] == left


def test_a_rebalance_recommendation_says_when_it_was_made(clock: MovedClock) -> None:
    with fake([{"at": 7, "do": "rebalance"}], clock) as imds:
        clock.seconds += 60
        assert json.loads(read_meta(imds, REBALANCE) or "") == {"noticeTime": "2026-03-01T12:00:07Z"}


def test_a_scheduled_event_has_ec2s_own_way_to_write_times(clock: MovedClock) -> None:
    event = {"at": 0, "do": "scheduled_event", "code": "instance-retirement", "in": 86400, "lasts": 60, "id": "e-1"}
    with fake([event], clock) as imds:
        assert json.loads(read_meta(imds, SCHEDULED) or "") == [
            {
                "NotBefore": "2 Mar 2026 12:00:00 GMT",
                "Code": "instance-retirement",
                "Description": "scheduled",
                "EventId": "e-1",
                "NotAfter": "2 Mar 2026 12:01:00 GMT",
                "State": "active",
            }
        ]


def test_an_event_that_is_over_moves_to_the_history_and_others_stay(clock: MovedClock) -> None:
    script: list[dict[str, Any]] = [
        {"at": 0, "do": "scheduled_event", "id": "e-1"},
        {"at": 0, "do": "scheduled_event", "id": "e-2"},
        {"at": 9, "do": "scheduled_event", "id": "e-1", "state": "canceled", "description": "The reboot"},
    ]
    with fake(script, clock) as imds:
        clock.seconds += 9
        assert [one["EventId"] for one in json.loads(read_meta(imds, SCHEDULED) or "")] == ["e-2"]
        (over,) = json.loads(read_meta(imds, HISTORY) or "")
        assert (over["EventId"], over["State"]) == ("e-1", "canceled")
        assert over["Description"] == "[Canceled] The reboot"


def test_the_lifecycle_state_can_be_set_by_script_and_by_hand(clock: MovedClock) -> None:
    with fake([{"at": 5, "do": "lifecycle_state", "state": "Terminated"}], clock) as imds:
        imds.set_lifecycle_state("InService")
        assert read_meta(imds, STATE) == "InService"
        clock.seconds += 5
        assert read_meta(imds, STATE) == "Terminated"
        imds.set_lifecycle_state("Standby")
        assert read_meta(imds, STATE) == "Standby"


def test_what_is_told_before_the_start_holds_at_the_start(clock: MovedClock) -> None:
    imds = fake((), clock)
    clock.seconds += 500
    imds.set_lifecycle_state("Warmed:Stopped")
    with imds:
        assert read_meta(imds, STATE) == "Warmed:Stopped"


def test_what_is_told_by_hand_is_checked_as_a_script_is(clock: MovedClock) -> None:
    with fake((), clock) as imds:
        with pytest.raises(ValueError, match=r"state must be Detached, .* or Warmed:Terminated, got 'Gone'"):
            imds.set_lifecycle_state("Gone")
        with pytest.raises(ValueError, match="in must be at least 0, got -1"):
            imds.notice(in_seconds=-1)
