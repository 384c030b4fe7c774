"""Actions of listeners and rules, in the form in which the service describes them: pure functions over plain values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gpu_constructs.local.services.elbv2.checks import refuse

_REDIRECT_DEFAULTS = {
    "Protocol": "#{protocol}",
    "Port": "#{port}",
    "Host": "#{host}",
    "Path": "/#{path}",
    "Query": "#{query}",
}
_MOST_WEIGHT = 999


def completed(actions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Actions of a template, with what the service adds: weights, stickiness, the parts that a redirect keeps.

    Raises:
        ELBClientError: A weight is out of 0-999, or a redirect leads to itself.
    """
    return [_completed(action) for action in actions]


def _completed(action: dict[str, Any]) -> dict[str, Any]:
    if action.get("Type") == "forward":
        return {**action, **_forward(action)}
    if action.get("Type") == "redirect":
        return {**action, "RedirectConfig": _redirect(action.get("RedirectConfig") or {})}
    return action


def _forward(action: dict[str, Any]) -> dict[str, Any]:
    """One target group is described both ways, several only with their weights."""
    config = action.get("ForwardConfig") or {"TargetGroups": [{"TargetGroupArn": action["TargetGroupArn"]}]}
    groups = [{**group, "Weight": int(group.get("Weight", 1))} for group in config.get("TargetGroups") or []]
    for group in groups:
        if not 0 <= group["Weight"] <= _MOST_WEIGHT:
            raise refuse(f"Target group weight '{group['Weight']}' must be between '0-{_MOST_WEIGHT}' inclusive")
    sticky = config.get("TargetGroupStickinessConfig") or {"Enabled": False}
    described: dict[str, Any] = {"ForwardConfig": {"TargetGroups": groups, "TargetGroupStickinessConfig": sticky}}
    if len(groups) == 1:
        described["TargetGroupArn"] = groups[0]["TargetGroupArn"]
    return described


def _redirect(config: dict[str, Any]) -> dict[str, Any]:
    whole = {**_REDIRECT_DEFAULTS, **config}
    if all(whole[name] == kept for name, kept in _REDIRECT_DEFAULTS.items() if name != "Query"):
        raise refuse("The redirect configuration is not valid because it creates a loop", "InvalidLoadBalancerAction")
    return whole


def completed_condition(condition: dict[str, Any]) -> dict[str, Any]:
    """A condition with its values both ways, where the service describes them so."""
    name = {"path-pattern": "PathPatternConfig", "host-header": "HostHeaderConfig"}.get(condition.get("Field", ""))
    if name is None:
        return condition
    values = (condition.get(name) or {}).get("Values") or condition.get("Values") or []
    return {"Field": condition["Field"], name: {"Values": values}}
