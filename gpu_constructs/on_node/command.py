"""The `gpu-node` command: `gpu-node boot` makes an instance a node, at its first start and at each later one.

The launch hook of the group is completed only when every step is done. Whatever goes wrong is said on the console, in
the log group and in the record of the group, and the instance is replaced.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, closing, nullcontext, suppress
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from gpu_constructs.on_node import aws, facts, lifecycle, steps
from gpu_constructs.on_node.boot.plan import plan
from gpu_constructs.on_node.config import NodeConfig
from gpu_constructs.on_node.failure_report import Clients, Place, report_boot_failure
from gpu_constructs.on_node.failures import BootFailure
from gpu_constructs.on_node.heartbeat import Heartbeat
from gpu_constructs.on_node.host import Host
from gpu_constructs.on_node.imds import Identity, Imds, ImdsUnavailable
from gpu_constructs.on_node.journal import Journal
from gpu_constructs.on_node.lifecycle import Duty, Hooks, Membership
from gpu_constructs.on_node.serving import signals
from gpu_constructs.on_node.steps import BootError

CONFIG = "/opt/gpu-node/config.json"
JOURNAL = "/var/log/gpu-node/boot.jsonl"
_CONSOLE = Path("/dev/console")
# Without it there is no node; the launch hook waits longer.
_IDENTITY_SECONDS = 300
_TO_BOOT = frozenset({Duty.SERVE, Duty.PREPARE})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0 if all went well, 1 if not."""
    parser = argparse.ArgumentParser(prog="gpu-node", description="Makes an instance a node of a cluster.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("boot", help="set the machine up and complete the launch hook")
    parser.parse_args(arguments)
    # A drill says what part of the pauses between two tries it takes.
    part = float(os.environ.get("GPU_NODE_PAUSES", "1"))
    host = Host(root=Path(os.environ.get("GPU_NODE_ROOT") or "/"), wait=lambda seconds: time.sleep(part * seconds))
    journal = Journal(host.path(JOURNAL), say)
    try:
        return _Boot(host, journal).run()
    except Exception as error:
        # Nobody knows yet which node this is, or of which group: its hook ends by itself, and it is replaced.
        journal.event(event="failed", reason=f"{type(error).__name__}: {error}")
        return 1


def say(line: str) -> None:
    """Say a line where people look: in the system log of the instance, and in that of cloud-init or systemd."""
    print(line, file=sys.stderr, flush=True)  # noqa: T201
    if os.environ.get("GPU_NODE_ROOT"):
        return
    with suppress(OSError), _CONSOLE.open("w") as console:  # not every machine has one, or lets us
        console.write(line + "\n")


@dataclass(frozen=True)
class _Boot:
    host: Host
    journal: Journal
    now: Callable[[], datetime] = lambda: datetime.now(timezone.utc)

    def run(self) -> int:
        config = NodeConfig.from_json(self.host.read(CONFIG))
        with closing(Imds()) as imds:
            identity = imds.identity(budget_seconds=_IDENTITY_SECONDS)
            target = _target_state(imds)
        autoscaling = aws.client("autoscaling", identity.region)
        member = lifecycle.membership(autoscaling, identity.instance_id)
        duty = lifecycle.duty(member.state, target) if member else Duty.SERVE
        self.journal.event(event="started", instance_id=identity.instance_id, duty=duty.name)
        if duty not in _TO_BOOT:
            return 0
        instance_id = identity.instance_id
        hooks = Hooks(autoscaling=autoscaling, group=member.group, instance_id=instance_id) if member else None
        began = self.host.clock()
        try:
            with _kept_waiting(hooks, config):
                self._take_steps(config, identity, duty)
        except Exception as error:
            failed = steps.as_boot_error("facts", error)
            self.journal.event(event="failed", reason=str(failed))
            # Before the report, at whose end the machine goes.
            self._signal("FAILURE", config, identity, duty)
            self._report(failed, config, identity, member)
            return 1
        if hooks and config.launch_hook:
            completion = hooks.complete(config.launch_hook, "CONTINUE")
            self.journal.event(step="launch hook", event=completion.name.lower().replace("_", " "))
        self._signal("SUCCESS", config, identity, duty)
        self.journal.event(event="done", seconds=round(self.host.clock() - began, 3))
        return 0

    def _take_steps(self, config: NodeConfig, identity: Identity, duty: Duty) -> None:
        found = facts.find(
            self.host, instance_type=identity.instance_type, region=identity.region, address=identity.private_ip
        )
        steps.run(plan(config, found, serve=duty is Duty.SERVE), self.host, self.journal)

    def _signal(self, status: signals.Status, config: NodeConfig, identity: Identity, duty: Duty) -> None:
        """Tell the stack that waits for the node; it waits for none that goes into the warm pool."""
        serving = config.serving
        if serving is None or duty is not Duty.SERVE or not signals.wanted(serving):
            return
        cloudformation = aws.client("cloudformation", identity.region)
        signals.send(
            serving, status, instance_id=identity.instance_id, cloudformation=cloudformation, journal=self.journal
        )

    def _report(self, failed: BootError, config: NodeConfig, identity: Identity, member: Membership | None) -> None:
        failure = BootFailure(
            instance_id=identity.instance_id,
            at=self.now(),
            step=failed.step,
            reason=failed.reason,
            tail=self.journal.tail(),
        )
        place = Place(
            region=identity.region,
            group=member.group if member else None,
            hook=config.launch_hook,
            log_group=config.log_group,
            bucket=config.record_bucket,
            prefix=config.record_prefix,
        )
        clients = Clients(**{name: aws.client(name, identity.region) for name in Clients.__dataclass_fields__})
        report_boot_failure(failure, place, clients, say=say, now=self.now)


def _target_state(imds: Imds) -> str | None:
    """What the instance is to become; the API says what it is, so that nothing depends on it."""
    try:
        return imds.target_lifecycle_state()
    except ImdsUnavailable:
        return None


def _kept_waiting(hooks: Hooks | None, config: NodeConfig) -> AbstractContextManager[object]:
    """Prolong the launch hook for as long as the steps take."""
    if hooks is None or config.launch_hook is None:
        return nullcontext()
    hook = config.launch_hook
    return Heartbeat(lambda: hooks.heartbeat(hook), timeout_seconds=config.launch_hook_seconds, say=say)
