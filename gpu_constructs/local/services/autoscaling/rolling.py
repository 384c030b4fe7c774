"""CloudFormation's rolling update of a group: instances of an old launch template version replaced in batches.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-updatepolicy.html
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from moto.autoscaling.models import FakeAutoScalingGroup, InstanceState

from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.autoscaling import transitions
from gpu_constructs.local.services.autoscaling.launch import overrides, source
from gpu_constructs.local.services.autoscaling.reconcile import reconcile
from gpu_constructs.local.services.autoscaling.records import counted, member, record, suspended, timestamp
from gpu_constructs.local.services.cloudformation import progress, signals

_LONGEST_PAUSE_SECONDS = 3600


@dataclass(frozen=True)
class Policy:
    """UpdatePolicy.AutoScalingRollingUpdate, with its defaults."""

    min_in_service: int
    max_batch: int
    pause: str
    wait_on_signals: bool
    percent: int
    suspend: tuple[str, ...]

    @classmethod
    def of(cls, definition: dict[str, Any]) -> Policy | None:
        """The policy of a resource, if it has one."""
        said = (definition.get("UpdatePolicy") or {}).get("AutoScalingRollingUpdate")
        if said is None:
            return None
        wait = said.get("WaitOnResourceSignals") in {True, "true"}
        return cls(
            min_in_service=int(said.get("MinInstancesInService", 0)),
            max_batch=int(said.get("MaxBatchSize", 1)),
            pause=said.get("PauseTime") or ("PT5M" if wait else "PT0S"),
            wait_on_signals=wait,
            percent=int(said.get("MinSuccessfulInstancesPercent", 100)),
            suspend=tuple(said.get("SuspendProcesses") or ()),
        )


def obsolete(group: FakeAutoScalingGroup) -> list[InstanceState]:
    """Instances that the group would not launch like this today, of its warm pool too."""
    wanted, types = source(group), {one.get("InstanceType") for one in overrides(group)}
    subnets = set((group.vpc_zone_identifier or "").split(",")) - {""}

    def outdated(state: InstanceState) -> bool:
        instance = state.instance
        return (
            member(state).launch_template != wanted.described()
            or instance.instance_type not in (types or {wanted.instance_type})
            or bool(subnets and instance.subnet_id not in subnets)
        )

    return [state for state in [*counted(group), *record(group).warm] if outdated(state)]


def roll(change: progress.Change) -> Iterator[None]:
    """Replace what is obsolete, if the template says how; without a policy instances stay as they are.

    Raises:
        SignalsError: The policy cannot be met, or too many new instances failed.
    """
    policy, group = Policy.of(change.definition), change.resource
    if change.before is None or policy is None or not obsolete(group):
        return
    _check(policy, group)
    own = [process for process in policy.suspend if not suspended(group, process)]
    group.suspended_processes = [*(one["ProcessName"] for one in group.suspended_processes), *own]
    desired = group.desired_capacity or 0
    try:
        yield from _Update(change, policy, group, desired).steps()
    finally:
        group.suspended_processes = [
            one["ProcessName"] for one in group.suspended_processes if one["ProcessName"] not in own
        ]
        group.desired_capacity = desired
        if group.name in group.autoscaling_backend.autoscaling_groups:  # it may have been deleted meanwhile
            reconcile(group)


def _check(policy: Policy, group: FakeAutoScalingGroup) -> None:
    if policy.min_in_service >= (group.max_size or 0):
        raise signals.SignalsError("MinInstancesInService must be less than the autoscaling group's MaxSize")
    if policy.max_batch < 1:
        raise signals.SignalsError("MaxBatchSize must be at least 1")
    if signals.seconds(policy.pause) > _LONGEST_PAUSE_SECONDS:
        raise signals.SignalsError("PauseTime must not be longer than 1 hour")


class _Update:
    """One rolling update of one group."""

    def __init__(self, change: progress.Change, policy: Policy, group: FakeAutoScalingGroup, desired: int) -> None:
        self.change, self.policy, self.group, self.desired = change, policy, group, desired
        warm = record(group).warm
        self.old = [state for state in obsolete(group) if state not in warm]
        self.seen = {state.instance_id for state in counted(group)}
        self.tally = signals.Tally(max(len(self.old), 1), policy.percent)
        for state in [state for state in obsolete(group) if state in warm]:
            transitions.terminate(group, state, self._cause(state))  # else scale-out would take what is obsolete

    def steps(self) -> Iterator[None]:
        policy, note, total = self.policy, self.change.note, len(self.old)
        note(
            f"Rolling update initiated. Terminating {total} obsolete instance(s) in batches of {policy.max_batch}, "
            f"while keeping at least {policy.min_in_service} instance(s) in service."
            + (f" Waiting on resource signals with a timeout of {policy.pause}." if policy.wait_on_signals else "")
        )
        most = min(policy.min_in_service + min(policy.max_batch, total), self.group.max_size or 0)
        if total and most > self.desired:
            note(f"Temporarily setting autoscaling group MinSize and DesiredCapacity to {most}.")
            yield from self._launch(most)
        while self.old:
            room = max(len(counted(self.group)) - policy.min_in_service, 1)
            batch = self.old[: min(policy.max_batch, room)]
            yield from self._replace(batch, total)

    def _replace(self, batch: list[InstanceState], total: int) -> Iterator[None]:
        self.old = self.old[len(batch) :]
        new = len(counted(self.group)) - len(self.old) - len(batch)
        launches = min(len(batch), max(self.desired - new - len(self.old), 0))
        names = ",".join(state.instance_id for state in batch)
        self.change.note(f"Terminating instance(s) [{names}]; replacing with {launches} new instance(s).")
        capacity = len(self.old) + new + launches
        self.group.desired_capacity = capacity  # before anything goes, so that no more comes in its place
        for state in batch:
            transitions.terminate(self.group, state, self._cause(state))
        # While nobody boots nodes, nobody completes a termination hook either: then it runs out behind the update.
        while signals.expectation.nodes_boot and any(state in self.group.instance_states for state in batch):
            yield
        done = 100 * (total - len(self.old)) // total
        self.change.note(f"Successfully terminated instance(s) [{names}] (Progress {done}%).")
        yield from self._launch(capacity)

    def _launch(self, capacity: int) -> Iterator[None]:
        """Bring the group to this capacity, and wait for what that has launched."""
        self.group.desired_capacity = capacity
        reconcile(self.group)
        launched = [state.instance_id for state in counted(self.group) if state.instance_id not in self.seen]
        self.seen.update(launched)
        pause = signals.seconds(self.policy.pause)
        if launched and self.policy.wait_on_signals:
            self.change.note(
                f"New instance(s) added to autoscaling group - Waiting on {len(launched)} resource signal(s) with a "
                f"timeout of {self.policy.pause}."
            )
            yield from signals.wait_for(self.change.signals, len(launched), pause, self.tally, self.change.note)
        elif launched and signals.expectation.nodes_boot:
            until = clock.now() + timedelta(seconds=pause)
            while clock.now() < until:
                yield

    def _cause(self, state: InstanceState) -> str:
        return f"At {timestamp()} instance {state.instance_id} was taken out of service in response to a user request."
