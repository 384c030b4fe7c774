from __future__ import annotations

import pickle

import pytest

from gpu_constructs.checks import UNKNOWN, Problem, raise_all, whole_number
from gpu_constructs.errors import GpuConstructsError

SMALL = Problem(what="size", given="1300", allowed="1200 or 2400", remedy="use 1200 or 2400", prevents="BadRequest")
MANY = Problem(what="count", given="0", allowed="at least 1", remedy="pass 1")


def test_no_problem_raises_nothing() -> None:
    raise_all([])


def test_one_problem_says_given_allowed_remedy_and_the_aws_error_it_prevents() -> None:
    with pytest.raises(GpuConstructsError) as raised:
        raise_all([SMALL], "Stack/Cluster")
    assert str(raised.value) == (
        'Stack/Cluster: size must be 1200 or 2400, got 1300; use 1200 or 2400 (prevents "BadRequest")'
    )


def test_several_problems_are_raised_in_one_message() -> None:
    with pytest.raises(GpuConstructsError) as raised:
        raise_all(iter([SMALL, MANY]), "Stack/Cluster")
    assert str(raised.value).splitlines() == [
        "Stack/Cluster: 2 problems",
        '  1. size must be 1200 or 2400, got 1300; use 1200 or 2400 (prevents "BadRequest")',
        "  2. count must be at least 1, got 0; pass 1",
    ]
    assert raised.value.problems == (SMALL, MANY)


def test_error_is_a_value_error_and_survives_pickling() -> None:
    error = GpuConstructsError([SMALL, MANY], "Stack")
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(error, ValueError)
    assert (str(again), again.problems) == (str(error), error.problems)


@pytest.mark.parametrize("value", [1, 7, UNKNOWN])
def test_whole_number_accepts(value: object) -> None:
    assert whole_number("n", value, minimum=1, remedy="pass one") == []


@pytest.mark.parametrize("value", [0, -1, 1.5, 2.0, True, "2", None])
def test_whole_number_refuses(value: object) -> None:
    (problem,) = whole_number("n", value, minimum=1, remedy="pass one")
    assert str(problem) == f"n must be a whole number of at least 1, got {value!r}; pass one"
