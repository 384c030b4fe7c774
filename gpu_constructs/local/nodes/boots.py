"""Boots the nodes of a group that is deployed, and tells how each did."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from gpu_constructs.local import LocalAws
from gpu_constructs.local.nodes.harness import Node, Nodes
from gpu_constructs.local.nodes.waterfall import Span, spans


@dataclass(frozen=True, kw_only=True)
class BootedNode:
    """How a node booted.

    Args:
        instance_id: Its instance.
        state: Its lifecycle state then; "gone" if it has been replaced.
        seconds: From the start of its user data to its end, after the launch hook.
        reason: Why it could not boot; nothing if it could.
        steps: What it did.
    """

    instance_id: str
    state: str
    seconds: float
    reason: str
    steps: list[Span]

    @property
    def in_service(self) -> bool:
        """Whether it came into service."""
        return self.state == "InService"


def boot(aws: LocalAws, group: str, folder: Path, say: Callable[[str], None]) -> list[BootedNode]:
    """Boot the nodes that a group has, all at the same time, and return how each did.

    Args:
        aws: The local AWS.
        group: The name of the group.
        folder: Where the nodes have their files.
        say: Told what is being done.
    """
    with Nodes(aws, group, folder) as nodes:
        began = time.monotonic()
        started = nodes.start()
        say(f"Booting {len(started)} nodes of {group}")
        ended: dict[str, float] = {}
        for node in started:
            node.wait()
            ended[node.instance_id] = time.monotonic() - began
            say(f"{node.instance_id} has ended its boot")
        states = nodes.states()
        return [_told(node, states.get(node.instance_id, "gone"), ended[node.instance_id]) for node in started]


def _told(node: Node, state: str, seconds: float) -> BootedNode:
    failed = [event["reason"] for event in node.journal if event["event"] == "failed" and event.get("reason")]
    last = node.console.strip().splitlines()[-1:] if node.process.returncode and not failed else []
    return BootedNode(
        instance_id=node.instance_id,
        state=state,
        seconds=round(seconds, 2),
        reason=(failed or last or [""])[0],
        steps=spans(node.journal),
    )
