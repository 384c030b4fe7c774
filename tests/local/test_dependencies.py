from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs.local.services.cloudformation.dependencies import (
    CircularDependencyError,
    creation_order,
    references,
)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"Ref": "Vpc"}, ["Vpc"]),
        ({"Fn::GetAtt": ["Group", "GroupId"]}, ["Group"]),
        ({"Fn::GetAtt": "Group.GroupId"}, ["Group"]),
        ({"Fn::Sub": "${Bucket}/${Role.Arn}/${!Literal}"}, ["Bucket", "Role"]),
        ({"Fn::Sub": ["${a}-${Bucket}", {"a": {"Ref": "Vpc"}}]}, ["Bucket", "Vpc"]),
        ({"Fn::Join": ["", ["x", {"Ref": "Vpc"}, [{"Ref": "Subnet"}]]]}, ["Vpc", "Subnet"]),
        ({"Fn::If": ["Condition", {"Ref": "A"}, {"Ref": "B"}]}, ["A", "B"]),
        ("Vpc", []),
    ],
)
def test_references_are_found_wherever_cloudformation_allows_them(value: object, expected: list[str]) -> None:
    assert list(references(value)) == expected


def test_what_is_needed_comes_first() -> None:
    resources: dict[str, dict[str, Any]] = {
        "Group": {"Properties": {"Template": {"Ref": "Template"}}},
        "Template": {"DependsOn": ["Role"]},
        "Role": {},
    }

    assert creation_order(resources) == ["Role", "Template", "Group"]


def test_a_parameter_is_no_resource_to_wait_for() -> None:
    assert creation_order({"Template": {"Properties": {"ImageId": {"Ref": "AmiParameter"}}}}) == ["Template"]


def test_resources_that_need_each_other_are_named() -> None:
    resources: dict[str, dict[str, Any]] = {"A": {"DependsOn": "B"}, "B": {"Properties": {"x": {"Ref": "A"}}}, "C": {}}

    with pytest.raises(CircularDependencyError, match=r"Circular dependency between resources: \[A, B\]"):
        creation_order(resources)


@given(st.dictionaries(st.integers(0, 30), st.sets(st.integers(0, 30), max_size=4), max_size=20))
def test_every_resource_is_created_once_and_after_all_it_depends_on(graph: dict[int, set[int]]) -> None:
    # Only what has a smaller number is depended on, so there is no circle.
    resources = {f"R{n}": {"DependsOn": [f"R{m}" for m in needed if m < n]} for n, needed in graph.items()}

    order = creation_order(resources)

    assert sorted(order) == sorted(resources)
    for name in order:
        for needed in resources[name]["DependsOn"]:
            assert needed not in resources or order.index(needed) < order.index(name)
