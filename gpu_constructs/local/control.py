"""What one can ask of the local AWS itself, below `/_local_aws`: how it is, and to move its clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gpu_constructs.local.clock import clock
from gpu_constructs.local.services import cloudformation, elbv2
from gpu_constructs.local.services.cloudformation.signals import expect


class Control:
    """Answers the control paths.

    Args:
        facts: Who this server is: process id, port, account, Region.
    """

    def __init__(self, facts: dict[str, Any]) -> None:
        self._facts = facts
        self._answers: dict[tuple[str, str], Callable[[dict[str, Any]], dict[str, Any]]] = {
            ("GET", ""): self._status,
            ("POST", "clock"): self._advance_clock,
            ("POST", "target-health"): self._report_target_health,
            ("POST", "target-requests"): self._report_requests,
            ("POST", "signals"): self._expect_signals,
        }

    def __call__(self, method: str, path: str, asked: dict[str, Any]) -> dict[str, Any]:
        """Answer one request.

        Raises:
            ValueError: There is no such path.
        """
        if (method, path) not in self._answers:
            known = ", ".join(f"{m} /_local_aws/{p}".rstrip("/") for m, p in self._answers)
            raise ValueError(f"no {method} {path!r} here; there is {known}")
        return self._answers[method, path](asked)

    def _status(self, _: dict[str, Any]) -> dict[str, Any]:
        stacks = cloudformation.unfinished(self._facts["account"])
        return {**self._facts, "now": clock.now().isoformat(), "stacks": stacks}

    def _advance_clock(self, asked: dict[str, Any]) -> dict[str, Any]:
        clock.advance(float(asked["seconds"]))
        return {"now": clock.now().isoformat()}

    def _report_target_health(self, asked: dict[str, Any]) -> dict[str, Any]:
        """As a load balancer's health checks would find it: there is none here that probes."""
        elbv2.set_probe_result(asked["target_group_arn"], asked["target_id"], bool(asked["healthy"]))
        return {}

    def _report_requests(self, asked: dict[str, Any]) -> dict[str, Any]:
        elbv2.set_in_flight(asked["target_group_arn"], asked["target_id"], int(asked["in_flight"]))
        return {}

    def _expect_signals(self, asked: dict[str, Any]) -> dict[str, Any]:
        expect(nodes_boot=bool(asked["nodes_boot"]))
        return {}
