from __future__ import annotations

import pytest

from gpu_constructs import Rollout, Scaling
from gpu_constructs.inference import rollout, scaling


@pytest.mark.parametrize("percent", [0, -1, 101])
def test_target_that_is_no_percentage_is_refused(percent: float) -> None:
    (problem,) = scaling.problems([Scaling.gpu_utilization(percent)])
    assert "scaling gpu-utilization must be more than 0 and at most 100 percent" in str(problem)


@pytest.mark.parametrize("percent", [0.5, 60, 100])
def test_target_is_accepted(percent: float) -> None:
    assert scaling.problems([Scaling.gpu_utilization(percent), Scaling.cpu_utilization(percent)]) == []


def test_measure_is_held_once() -> None:
    (problem,) = scaling.problems([Scaling.cpu_utilization(50), Scaling.cpu_utilization(60)])
    assert "scaling must be each measure once, got cpu-utilization more than once" in str(problem)


def test_group_that_cannot_grow_from_nothing_is_warned_of() -> None:
    assert "scaling-from-zero" in scaling.doubts(scaling.DEFAULT, min_capacity=0)
    assert scaling.doubts(scaling.DEFAULT, min_capacity=1) == {}
    assert scaling.doubts([], min_capacity=0) == {}


def test_target_that_leaves_no_room_is_warned_of() -> None:
    assert "scaling-target-high" in scaling.doubts([Scaling.gpu_utilization(95)], min_capacity=1)


def _problems(wanted: Rollout, *, minimum: int = 1, maximum: int = 4) -> str:
    found = rollout.problems(wanted, min_capacity=minimum, max_capacity=maximum, needed_seconds=1080)
    return "\n".join(map(str, found))


def test_rollout_that_has_no_room_for_a_new_node_is_refused() -> None:
    """CDK lets it pass, and CloudFormation refuses the update."""
    assert "max_capacity must be at least 3" in _problems(Rollout.rolling(), minimum=2, maximum=2)
    assert _problems(Rollout.rolling(), minimum=2, maximum=3) == ""
    assert _problems(Rollout.rolling(min_in_service=1), minimum=2, maximum=2) == ""


@pytest.mark.parametrize(("seconds", "right"), [(60, False), (1079, False), (1080, True), (3600, True), (3601, False)])
def test_pause_is_as_long_as_a_node_takes_and_cloudformation_waits(seconds: int, right: bool) -> None:
    assert (_problems(Rollout.rolling(pause_seconds=seconds)) == "") == right


def test_nodes_in_service_are_a_number() -> None:
    assert "rollout min_in_service must be a whole number of at least 0" in _problems(
        Rollout.rolling(min_in_service=-1)
    )
