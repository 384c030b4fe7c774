"""Counts how often a program asks the CDK, which runs in Node: each question crosses into that process and back."""

from __future__ import annotations

from collections.abc import Callable
from unittest.mock import patch

# Not jsii's public interface, which has no word for it.
from jsii._kernel.providers.process import _NodeProcess


def crossings(work: Callable[[], object]) -> int:
    """Return how many messages were sent to Node for a piece of work."""
    with patch.object(_NodeProcess, "send", autospec=True, side_effect=_NodeProcess.send) as send:
        work()
    return send.call_count
