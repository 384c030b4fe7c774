from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs import GpuInstance
from gpu_constructs.instances import catalog
from gpu_constructs.network import efa
from gpu_constructs.node_group import mixed

NAMES = st.sampled_from(catalog.names())


def _problems(name: str, *others: str) -> list[str]:
    instance = GpuInstance.of(name)
    found = mixed.problems(instance, efa.Efa.AUTO, [GpuInstance.of(other) for other in others])
    return [str(problem) for problem in found]


@pytest.mark.parametrize(
    ("name", "others"),
    [
        ("g5.xlarge", ["g5.2xlarge", "g6.xlarge", "g6e.48xlarge", "p4d.24xlarge"]),
        ("p4d.24xlarge", ["p4de.24xlarge", "p4d.24xlarge", "p5.48xlarge"]),
        ("g5g.xlarge", ["g5g.2xlarge"]),
        ("p5.48xlarge", []),
    ],
)
def test_types_are_mixed(name: str, others: list[str]) -> None:
    assert _problems(name, *others) == []


def test_types_of_another_architecture_are_refused() -> None:
    (problem,) = _problems("g5.xlarge", "g6.xlarge", "g5g.xlarge")
    assert "instance_types must be types of the launch template's architecture, which is x86_64" in problem
    assert "got 'g5g.xlarge' (arm64)" in problem


def test_type_without_room_for_the_interfaces_is_refused() -> None:
    (problem,) = _problems("p5.48xlarge", "p5e.48xlarge", "p4d.24xlarge")
    assert "got 'p4d.24xlarge', which has no room for the 33 network interfaces" in problem


def test_type_without_efa_is_refused_where_the_template_has_it() -> None:
    assert len(_problems("g5.8xlarge", "g5.xlarge")) == 1
    assert _problems("g5.xlarge", "g5.8xlarge") == []


@given(NAMES, NAMES)
def test_types_that_take_each_others_place_have_the_same_interfaces(one: str, other: str) -> None:
    if not _problems(one, other) and not _problems(other, one):
        assert efa.interfaces(GpuInstance.of(one)) == efa.interfaces(GpuInstance.of(other))


def test_more_than_forty_types_are_refused() -> None:
    names = [name for name in catalog.names() if GpuInstance.of(name).architecture == "x86_64"]
    assert _problems("g5.xlarge", *names[:40]) == []
    (problem,) = _problems("g5.xlarge", *names[:41])
    assert "instance_types must be up to 40, got 41 types" in problem
