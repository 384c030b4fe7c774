from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs.checks import UNKNOWN
from gpu_constructs.storage.lustre_rules import Lustre, problems
from tests.storage.judged import messages


@pytest.mark.parametrize("capacity", [1200, 2400, 4800, 24000])
@pytest.mark.parametrize("make", [Lustre.scratch, lambda capacity: Lustre.persistent(capacity, 125)])
def test_capacity_is_accepted(make: Any, capacity: int) -> None:
    assert messages(make(capacity)) == []


@pytest.mark.parametrize(
    ("capacity", "remedy"),
    [
        (1300, "use 1200 or 2400"),
        (3600, "use 2400 or 4800"),
        (1199, "use 1200"),
        (0, "use 1200"),
        (-2400, "use 1200"),
        (2400.5, "use 2400 or 4800"),
    ],
)
def test_capacity_is_refused_with_the_nearest_sizes(capacity: Any, remedy: str) -> None:
    (problem,) = messages(Lustre.scratch(capacity))
    assert f"must be 1200 or a multiple of 2400, got {capacity}; {remedy} (prevents" in problem


@given(capacity=st.integers(-10_000, 200_000))
def test_sizes_of_the_remedy_are_accepted(capacity: int) -> None:
    for problem in problems(deployment_type="SCRATCH_2", capacity_gib=capacity, throughput_mb_s_per_tib=None):
        sizes = [int(word) for word in problem.remedy.split() if word.isdigit()]
        assert sizes
        assert all(messages(Lustre.scratch(size)) == [] for size in sizes)


@pytest.mark.parametrize(
    ("throughput", "deployment_type"),
    [
        (50, "PERSISTENT_1"),
        (100, "PERSISTENT_1"),
        (200, "PERSISTENT_1"),
        (125, "PERSISTENT_2"),
        (250, "PERSISTENT_2"),
        (500, "PERSISTENT_2"),
        (1000, "PERSISTENT_2"),
    ],
)
def test_throughput_chooses_the_deployment_type(throughput: int, deployment_type: str) -> None:
    lustre = Lustre.persistent(1200, throughput)
    assert (lustre.deployment_type, messages(lustre)) == (deployment_type, [])


@pytest.mark.parametrize("throughput", [0, 126, 2000, None])
def test_throughput_is_refused(throughput: Any) -> None:
    (problem,) = messages(Lustre.persistent(1200, throughput))
    assert f"must be one of 50, 100, 125, 200, 250, 500, 1000, got {throughput}" in problem


def test_throughput_is_refused_for_scratch() -> None:
    (problem,) = problems(deployment_type="SCRATCH_2", capacity_gib=1200, throughput_mb_s_per_tib=125)
    assert "must be left out for scratch: it has 200 MB/s, got 125" in str(problem)


def test_both_mistakes_are_reported() -> None:
    assert len(messages(Lustre.persistent(1300, 126))) == 2


def test_unknown_values_are_not_judged() -> None:
    assert problems(deployment_type="PERSISTENT_2", capacity_gib=UNKNOWN, throughput_mb_s_per_tib=UNKNOWN) == []


def test_default_is_the_smallest_scratch_file_system() -> None:
    assert Lustre.scratch() == Lustre.scratch(1200)
    assert messages(Lustre.none()) == []
