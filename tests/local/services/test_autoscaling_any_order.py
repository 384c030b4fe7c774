"""A whole group, whatever nodes, operators and time do to it, in whatever order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_constructs.local.clock import clock
from tests.local.services.group import Group

HOOKS = ("boot", "model")
LARGEST = 4

STEPS = st.one_of(
    st.tuples(st.just("complete"), st.integers(0, 3), st.sampled_from(HOOKS), st.sampled_from(["CONTINUE", "ABANDON"])),
    st.tuples(st.just("complete"), st.integers(0, 3), st.sampled_from(HOOKS), st.just("CONTINUE")),
    st.tuples(st.just("heartbeat"), st.integers(0, 3), st.sampled_from(HOOKS)),
    st.tuples(st.just("wait"), st.integers(1, 70)),
    st.tuples(st.just("resize"), st.integers(0, LARGEST)),
    st.tuples(st.just("reclaim"), st.integers(0, 3)),
)


class Story:
    """Does the steps, and remembers which hooks each instance has continued."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self.desired = 2
        self.continued: set[tuple[str, str]] = set()

    def do(self, step: tuple[Any, ...]) -> None:
        name, *arguments = step
        getattr(self, name)(*arguments)

    def complete(self, number: int, hook: str, result: str) -> None:
        waiting = [i for i in self.group.ids("Pending:Wait") if (i, hook) not in self.continued]
        if waiting:
            node = waiting[number % len(waiting)]
            self.group.complete(node, hook, result)
            if result == "CONTINUE":
                self.continued.add((node, hook))

    def heartbeat(self, number: int, hook: str) -> None:
        waiting = [i for i in self.group.ids("Pending:Wait") if (i, hook) not in self.continued]
        if waiting:
            self.group.heartbeat(waiting[number % len(waiting)], hook)

    def wait(self, seconds: int) -> None:
        clock.advance(seconds)

    def resize(self, desired: int) -> None:
        self.desired = desired
        self.group.resize(desired)

    def reclaim(self, number: int) -> None:
        nodes = list(self.group.states())
        if nodes:
            self.group.ec2.terminate_instances(InstanceIds=[nodes[number % len(nodes)]])

    def check(self) -> None:
        states = self.group.states()
        assert len(states) == self.desired, "no more and no fewer nodes are launched than are wanted"
        for node, state in states.items():
            ready = all((node, hook) in self.continued for hook in HOOKS)
            assert (state == "InService") == ready, "a node is in service exactly when all its hooks continued"


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=5, max_size=15))
def test_no_node_serves_before_its_hooks_continued_and_no_node_is_launched_too_many(
    steps: list[tuple[Any, ...]], make_group: Callable[..., Group]
) -> None:
    hooks = [
        {"LifecycleHookName": name, "LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING", "HeartbeatTimeout": 60}
        for name in HOOKS
    ]
    group = make_group(2, LifecycleHookSpecificationList=hooks)
    story = Story(group)
    try:
        for step in steps:
            story.do(step)
            story.check()
    finally:
        # The next example makes a group of the same name.
        group.scaling.delete_auto_scaling_group(AutoScalingGroupName=group.name, ForceDelete=True)
