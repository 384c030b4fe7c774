from __future__ import annotations

import pytest

from gpu_constructs.inference import load_budget
from gpu_constructs.inference.load_budget import LoadBudget


def test_budget_is_the_sum_of_pull_copy_and_load_doubled() -> None:
    # pull: 20 GiB at half their size by the network (40.96 s), then unpacked at 100 MiB/s (204.8 s); copy: 10 GiB at
    # 250 MiB/s (40.96 s); load: 10 GiB at 400 MiB/s (25.6 s) and a minute. 372.32 s, doubled and rounded up to minutes.
    budget = load_budget.estimate(image_gib=20, model_gib=10, ebs_mib_s=400)
    assert budget.ready_seconds == 780


def test_slower_volume_takes_longer() -> None:
    fast, slow = (load_budget.estimate(image_gib=20, model_gib=100, ebs_mib_s=speed) for speed in (500, 125))
    assert fast.ready_seconds < slow.ready_seconds


@pytest.mark.parametrize("ready_seconds", [60, 780, 2700, 5000])
def test_timeouts_do_not_contradict_each_other(ready_seconds: int) -> None:
    budget = LoadBudget(ready_seconds=ready_seconds)
    assert budget.heartbeat_seconds < budget.hook_seconds
    assert budget.signal_seconds <= 3600
    # A deployment must not give up before the node itself does.
    waited = load_budget.BOOT_SECONDS + ready_seconds
    assert budget.signal_seconds >= min(waited, 3600)
    assert (load_budget.problems(budget, waits=True) == []) == (waited <= 3600)


def test_budget_for_which_cloudformation_does_not_wait_is_refused() -> None:
    (problem,) = load_budget.problems(LoadBudget(ready_seconds=5000), waits=True)
    assert "got 5300 s until a node serves (300 s to boot, 5000 s to load)" in str(problem)
    assert "Received 0 SUCCESS signal(s) out of 1" in str(problem)
    assert load_budget.problems(LoadBudget(ready_seconds=5000), waits=False) == []


def test_stated_budget_is_at_least_the_start_of_a_server() -> None:
    assert load_budget.stated(60) == LoadBudget(ready_seconds=60)
    assert "load_seconds must be at least 60 s" in str(load_budget.stated(59))
