"""The values behind lifecycle hooks, whatever happens in whatever order."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from itertools import count

from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from gpu_constructs.local.services.autoscaling.capacity import (
    Candidate,
    adjusted_capacity,
    chosen_for_scale_in,
    on_demand_wanted,
    step_adjustment,
    warm_pool_size,
)
from gpu_constructs.local.services.autoscaling.lifecycle import Hook, Result, Wait, begin, global_timeout

START = datetime(2026, 1, 1, tzinfo=timezone.utc)
HOOKS = (Hook("boot", 60, "ABANDON"), Hook("model", 30, "CONTINUE"), Hook("warm", 600, "ABANDON"))


class Waiting(RuleBasedStateMachine):
    """An instance with three hooks: completed, abandoned, extended or forgotten, in any order."""

    def __init__(self) -> None:
        super().__init__()
        numbers = count()
        self.now = START
        self.wait: Wait = begin(HOOKS, START, lambda: f"token-{next(numbers)}")
        self.given: dict[str, Result] = {}

    @rule(hook=st.sampled_from(HOOKS), result=st.sampled_from(["CONTINUE", "ABANDON"]))
    def complete(self, hook: Hook, result: Result) -> None:
        action = self.wait.find(hook.name)
        if action and self.wait.outcome is None:
            self.wait = self.wait.completed(action, result)
            self.given[hook.name] = result

    @rule(hook=st.sampled_from(HOOKS))
    def heartbeat(self, hook: Hook) -> None:
        action = self.wait.find(hook.name)
        if action and self.wait.outcome is None:
            self.wait = self.wait.extended(action, self.now)

    @rule(seconds=st.integers(0, 700))
    def pass_time(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        before = self.wait
        if before.outcome is None:
            self.wait = before.expired(self.now)
            for action in self.wait.actions:
                if action.timed_out:
                    self.given.setdefault(action.hook.name, action.hook.default_result)

    @invariant()
    def goes_on_only_when_every_hook_continued(self) -> None:
        everyone_continued = [self.given.get(hook.name) for hook in HOOKS] == ["CONTINUE"] * len(HOOKS)
        assert (self.wait.outcome == "CONTINUE") == everyone_continued

    @invariant()
    def is_abandoned_as_soon_as_one_hook_was(self) -> None:
        assert (self.wait.outcome == "ABANDON") == ("ABANDON" in self.given.values())

    @invariant()
    def never_waits_past_a_hooks_global_timeout(self) -> None:
        for action in self.wait.actions:
            assert action.deadline <= START + timedelta(seconds=global_timeout(action.hook.heartbeat_timeout))

    @invariant()
    def never_stays_open_past_its_deadline(self) -> None:
        if self.wait.outcome is None:
            assert all(action.deadline > self.now for action in self.wait.actions if action.open)


TestWaiting = Waiting.TestCase


def test_an_action_is_found_by_its_own_token_only() -> None:
    wait = begin(HOOKS[:1], START, lambda: "mine")
    assert wait.find("boot", "mine") is not None
    assert wait.find("boot", "another") is None


def test_an_instance_without_hooks_goes_on() -> None:
    assert begin((), START, lambda: "").outcome == "CONTINUE"


@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 100))
def test_a_mixed_groups_on_demand_part_is_at_least_its_base_and_at_most_everything(
    instances: int, base: int, percent: int
) -> None:
    assert min(base, instances) <= on_demand_wanted(instances, base, percent) <= instances


def test_on_demand_is_rounded_up() -> None:
    assert on_demand_wanted(3, 0, 50) == 2


def test_a_warm_pool_makes_up_the_difference_to_what_is_prepared() -> None:
    assert warm_pool_size(max_size=10, desired=4) == 6
    assert warm_pool_size(max_size=10, desired=4, max_prepared=5) == 1
    assert warm_pool_size(max_size=10, desired=8, max_prepared=5) == 0
    assert warm_pool_size(max_size=10, desired=8, max_prepared=5, min_size=2) == 2


def test_percentages_are_rounded_towards_zero_but_move_at_least_one() -> None:
    assert adjusted_capacity(10, "PercentChangeInCapacity", 67) == 16
    assert adjusted_capacity(10, "PercentChangeInCapacity", -67) == 4
    assert adjusted_capacity(10, "PercentChangeInCapacity", 5) == 11
    assert adjusted_capacity(10, "PercentChangeInCapacity", -5) == 9
    assert adjusted_capacity(10, "PercentChangeInCapacity", 5, min_magnitude=3) == 13
    assert adjusted_capacity(10, "ChangeInCapacity", -2) == 8
    assert adjusted_capacity(10, "ExactCapacity", 2) == 2


def test_a_step_is_chosen_by_the_distance_from_the_threshold() -> None:
    out = [
        {"MetricIntervalLowerBound": 0, "MetricIntervalUpperBound": 10, "ScalingAdjustment": 1},
        {"MetricIntervalLowerBound": 10, "ScalingAdjustment": 3},
    ]
    assert [step_adjustment(out, breach) for breach in (0, 9.9, 10, 1000, -1)] == [1, 1, 3, 3, None]
    back = [
        {"MetricIntervalUpperBound": 0, "MetricIntervalLowerBound": -10, "ScalingAdjustment": -1},
        {"MetricIntervalUpperBound": -10, "ScalingAdjustment": -2},
    ]
    assert [step_adjustment(back, breach) for breach in (-1, -10, -11)] == [-1, -2, -2]


def test_scale_in_takes_from_the_fullest_zone_the_oldest_template_first() -> None:
    def node(name: str, zone: str, version: int, minute: int) -> Candidate:
        return Candidate(name, zone, version, START + timedelta(minutes=minute))

    nodes = [node("new", "a", 2, 1), node("old", "a", 1, 3), node("alone", "b", 1, 0)]
    assert chosen_for_scale_in(nodes, 1, ["Default"]) == ["old"]
    assert chosen_for_scale_in(nodes, 1, ["OldestInstance"]) == ["new"]
    assert chosen_for_scale_in(nodes, 1, ["NewestInstance"]) == ["old"]
    assert len(chosen_for_scale_in(nodes, 9, ["Default"])) == 3
