"""Resources of a template with a load balancer, each with what a test says of it."""

from __future__ import annotations

from typing import Any

_ELB = "AWS::ElasticLoadBalancingV2"


def balancer(subnets: list[str], attributes: dict[str, str] | None = None, **properties: Any) -> dict[str, Any]:
    given = [{"Key": key, "Value": value} for key, value in (attributes or {}).items()]
    return {
        "Type": f"{_ELB}::LoadBalancer",
        "Properties": {"Subnets": subnets, "Scheme": "internal", "LoadBalancerAttributes": given, **properties},
    }


def target_group(vpc: str, attributes: dict[str, str] | None = None, **properties: Any) -> dict[str, Any]:
    given = [{"Key": key, "Value": value} for key, value in (attributes or {}).items()]
    asked = {"VpcId": vpc, "Port": 8000, "Protocol": "HTTP", "TargetType": "instance", **properties}
    return {"Type": f"{_ELB}::TargetGroup", "Properties": {**asked, "TargetGroupAttributes": given}}


def forward(*weighted: tuple[str, int]) -> list[dict[str, Any]]:
    """A forward action to target groups, by their logical ids."""
    if len(weighted) == 1:
        return [{"Type": "forward", "TargetGroupArn": {"Ref": weighted[0][0]}}]
    groups = [{"TargetGroupArn": {"Ref": name}, "Weight": weight} for name, weight in weighted]
    return [{"Type": "forward", "ForwardConfig": {"TargetGroups": groups}}]


def listener(actions: list[dict[str, Any]], **properties: Any) -> dict[str, Any]:
    asked = {"LoadBalancerArn": {"Ref": "Balancer"}, "Port": 80, "Protocol": "HTTP", **properties}
    return {"Type": f"{_ELB}::Listener", "Properties": {**asked, "DefaultActions": actions}}


def rule(
    priority: int, conditions: list[dict[str, Any]], actions: list[dict[str, Any]], **properties: Any
) -> dict[str, Any]:
    asked = {"ListenerArn": {"Ref": "Listener"}, "Priority": priority, "Conditions": conditions, "Actions": actions}
    return {"Type": f"{_ELB}::ListenerRule", "Properties": {**asked, **properties}}


FIXED = [{"Type": "fixed-response", "FixedResponseConfig": {"StatusCode": "503", "ContentType": "text/plain"}}]
TO_HTTPS = [{"Type": "redirect", "RedirectConfig": {"Protocol": "HTTPS", "Port": "443", "StatusCode": "HTTP_301"}}]
