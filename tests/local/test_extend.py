"""moto changes: what is added or replaced says when it no longer fits."""

from __future__ import annotations

import pytest

from gpu_constructs.local.extend import add_method, replace_method


class Responses:
    def describe(self) -> str:
        return "moto's"


def describe(_: Responses) -> str:
    return "ours"


def complete(_: Responses) -> str:
    return "ours"


def test_an_operation_that_moto_has_by_now_is_not_hidden_by_ours() -> None:
    with pytest.raises(RuntimeError, match=r"moto now has Responses\.describe; remove the local AWS's own"):
        add_method(Responses, describe)


def test_an_operation_may_be_added_twice() -> None:
    for _ in range(2):
        add_method(Responses, complete)

    assert Responses().complete() == "ours"  # type: ignore[attr-defined]  # added while it runs


def test_a_method_that_moto_has_no_more_is_not_replaced_in_silence() -> None:
    with pytest.raises(RuntimeError, match=r"moto has no Responses\.gone any more; the local AWS must be adapted"):
        replace_method(Responses, describe, "gone")
