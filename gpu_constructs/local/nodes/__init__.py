"""Nodes of a group in the local AWS, as processes of this machine, booted by the user data of their template.

    with LocalAws.start() as aws, Nodes(aws, group, folder) as nodes:
        for node in nodes.start():
            assert node.wait() == 0

Linux only: each node has a loopback address of its own.
"""

from __future__ import annotations

from gpu_constructs.local.nodes.harness import Node, Nodes
from gpu_constructs.local.nodes.machine import Failing, Machine, ModelServer
from gpu_constructs.local.nodes.waterfall import Span, spans

__all__ = ["Failing", "Machine", "ModelServer", "Node", "Nodes", "Span", "spans"]
