"""A node and its group in the local AWS: hooks, heartbeats, the warm pool, health."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gpu_constructs.local import LocalAws
from gpu_constructs.on_node.heartbeat import Heartbeat
from gpu_constructs.on_node.lifecycle import WAITS, Completion, Duty, Membership, duty, set_unhealthy
from tests.local.conftest import StackUnderTest
from tests.local.nodes import HOOK_SECONDS, Nodes

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1", "::1"]), pytest.mark.usefixtures("on_the_node")]


@pytest.fixture
def make_nodes(a_stack: StackUnderTest) -> Callable[..., Nodes]:
    return lambda desired=1, **more: Nodes.create(a_stack, desired, **more)


def state(nodes: Nodes, node: str) -> str:
    found = nodes.membership(node)
    assert found
    return found.state


def test_a_node_that_completes_its_launch_hook_goes_into_service(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes()
    node = nodes.group.only("Pending:Wait")
    found = nodes.membership(node)
    assert found == Membership(group=nodes.group.name, state="Pending:Wait", health="Healthy")
    assert duty(found.state) is Duty.SERVE
    assert nodes.hooks(node).complete("boot", "CONTINUE") is Completion.DONE
    assert nodes.group.states() == {node: "InService"}
    assert nodes.hooks(node).complete("boot", "CONTINUE") is Completion.OVER


def test_an_instance_of_no_group_has_no_membership(make_nodes: Callable[..., Nodes]) -> None:
    assert make_nodes(0).membership("i-0123456789abcdef0") is None


def test_an_abandoned_launch_is_terminated_and_replaced(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes()
    node = nodes.group.only("Pending:Wait")
    assert nodes.hooks(node).complete("boot", "ABANDON") is Completion.DONE
    assert nodes.group.ec2_state(node) == "terminated"
    assert nodes.group.only("Pending:Wait") != node
    assert nodes.hooks(node).complete("boot", "ABANDON") is Completion.NOT_YET  # of an instance in no group


class Clockwork:
    """Lets the time of the local AWS go by instead of waiting."""

    def __init__(self, aws: LocalAws, times: int) -> None:
        self.aws, self.left = aws, times

    def wait(self, timeout: float) -> bool:
        self.aws.advance_clock(timeout)
        self.left -= 1
        return self.is_set()

    def set(self) -> None:
        self.left = 0

    def is_set(self) -> bool:
        return self.left <= 0


def test_heartbeats_hold_the_hook_for_many_times_its_timeout(make_nodes: Callable[..., Nodes]) -> None:
    nodes, said = make_nodes(), list[str]()
    node, aws = nodes.group.only("Pending:Wait"), nodes.aws
    hooks, ten_timeouts = nodes.hooks(node), Clockwork(aws, 30)
    Heartbeat(
        lambda: hooks.heartbeat("boot"), timeout_seconds=HOOK_SECONDS, say=said.append, stopped=ten_timeouts
    ).run()
    assert nodes.group.states() == {node: "Pending:Wait"}
    assert said == []
    aws.advance_clock(HOOK_SECONDS + 1)
    assert node not in nodes.group.states()
    assert hooks.heartbeat("boot") is False


def test_a_node_that_leaves_completes_the_termination_hook(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes()
    node = nodes.group.only("Pending:Wait")
    nodes.hooks(node).complete("boot", "CONTINUE")
    nodes.group.resize(0)
    assert duty(state(nodes, node), "Terminated") is Duty.LEAVE
    assert state(nodes, node) == "Terminating:Wait"
    assert nodes.hooks(node).heartbeat("drain") is True
    assert nodes.hooks(node).complete("drain", "CONTINUE") is Completion.DONE
    assert nodes.membership(node) is None
    assert nodes.group.ec2_state(node) == "terminated"


def test_a_node_is_prepared_in_the_warm_pool_serves_and_goes_back(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes(0, pool={"MaxGroupPreparedCapacity": 1, "InstanceReusePolicy": {"ReuseOnScaleIn": True}})
    (node,) = nodes.group.warm_ids()
    hooks = nodes.hooks(node)

    assert (state(nodes, node), duty(state(nodes, node), "Warmed:Stopped")) == ("Warmed:Pending:Wait", Duty.PREPARE)
    assert hooks.complete("boot", "CONTINUE") is Completion.DONE
    assert state(nodes, node) == "Warmed:Stopped"

    nodes.group.resize(1)
    assert (state(nodes, node), duty(state(nodes, node), "InService")) == ("Pending:Wait", Duty.SERVE)
    assert hooks.complete("boot", "CONTINUE") is Completion.DONE
    assert state(nodes, node) == "InService"

    nodes.group.resize(0)
    assert (state(nodes, node), duty(state(nodes, node), "Warmed:Stopped")) == ("Warmed:Pending:Wait", Duty.PREPARE)
    # On the way back it is the termination hook that holds it.
    assert len(WAITS[state(nodes, node)]) == 2
    assert hooks.complete("boot", "CONTINUE") is Completion.OVER
    assert hooks.complete("drain", "CONTINUE") is Completion.DONE
    assert state(nodes, node) == "Warmed:Stopped"


def test_a_node_that_leaves_the_pool_for_good_completes_the_termination_hook(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes(0, pool={"MaxGroupPreparedCapacity": 1})
    (node,) = nodes.group.warm_ids()
    nodes.hooks(node).complete("boot", "CONTINUE")
    nodes.client("autoscaling").put_warm_pool(AutoScalingGroupName=nodes.group.name, MaxGroupPreparedCapacity=0)
    assert (state(nodes, node), duty(state(nodes, node))) == ("Warmed:Terminating:Wait", Duty.LEAVE)
    assert nodes.hooks(node).complete("drain", "CONTINUE") is Completion.DONE
    assert nodes.group.warm_ids() == []


def test_a_node_that_breaks_in_service_is_replaced_within_its_grace_period(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes(HealthCheckGracePeriod=3600)
    node = nodes.group.only("Pending:Wait")
    nodes.hooks(node).complete("boot", "CONTINUE")
    set_unhealthy(nodes.client("autoscaling"), node)
    assert nodes.membership(node) == Membership(group=nodes.group.name, state="Terminating:Wait", health="Unhealthy")
    nodes.hooks(node).complete("drain", "CONTINUE")
    assert nodes.group.ec2_state(node) == "terminated"
    assert nodes.group.only("Pending:Wait") != node


def test_a_node_that_breaks_in_the_warm_pool_is_replaced(make_nodes: Callable[..., Nodes]) -> None:
    nodes = make_nodes(0, pool={"MaxGroupPreparedCapacity": 1, "PoolState": "Running"})
    (node,) = nodes.group.warm_ids()
    nodes.hooks(node).complete("boot", "CONTINUE")
    set_unhealthy(nodes.client("autoscaling"), node)
    assert state(nodes, node) == "Warmed:Terminating:Wait"
    nodes.hooks(node).complete("drain", "CONTINUE")
    (replacement,) = nodes.group.warm_ids()
    assert replacement != node
