from __future__ import annotations

from typing import Any

import pytest

from gpu_constructs.checks import UNKNOWN
from gpu_constructs.node_group.hook_rules import LAUNCHING, Hook, problems


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"name": "a/b_c-1"},
        {"heartbeat_timeout_seconds": 30},
        {"heartbeat_timeout_seconds": 7200},
        {"default_result": "CONTINUE"},
        {"metadata": "x" * 4000},
        {"has_target": True},
        {"has_target": True, "has_role": True},
        {"name": UNKNOWN, "transition": UNKNOWN, "heartbeat_timeout_seconds": UNKNOWN, "default_result": UNKNOWN},
    ],
)
def test_hook_is_accepted(options: dict[str, Any]) -> None:
    assert problems([Hook(**{"name": "booted", "transition": LAUNCHING, **options})]) == []


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"name": ""}, "lifecycle_hook_name must be 1 to 255 letters"),
        ({"name": "a b"}, "got 'a b'"),
        ({"heartbeat_timeout_seconds": 29}, "heartbeat_timeout must be whole seconds from 30 to 7200, got 29"),
        ({"heartbeat_timeout_seconds": 7201}, "got 7201"),
        ({"heartbeat_timeout_seconds": 30.5}, "got 30.5"),
        ({"default_result": "continue"}, "got 'continue'"),
        ({"metadata": "é"}, "notification_metadata must be 1 to 4000 printable ASCII characters"),
        ({"metadata": "x" * 4001}, "notification_metadata"),
        (
            {"has_role": True},
            "role_arn must be left out, or beside a topic or queue that is notified, got one, without",
        ),
    ],
)
def test_hook_is_refused(options: dict[str, Any], text: str) -> None:
    (problem,) = problems([Hook(**{"name": "booted", "transition": LAUNCHING, **options})])
    assert text in str(problem)


def test_names_are_unique_as_far_as_they_are_known() -> None:
    same, other = Hook(name="a", transition=LAUNCHING), Hook(name=UNKNOWN, transition=LAUNCHING)
    assert problems([same, other, other]) == []
    (problem,) = problems([same, same])
    assert "'a' more than once" in str(problem)
