"""The sections of a report on what serves requests: load balancers, target groups, scaling, queues."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

Client = Callable[[str], Any]
Rows = Iterable[tuple[str, ...]]


def load_balancers(client: Client, ids: list[str]) -> Rows:
    """Each with its type, where it is reached from, and its idle time-out."""
    elb = client("elbv2")
    for found in elb.describe_load_balancers(LoadBalancerArns=ids)["LoadBalancers"]:
        attributes = elb.describe_load_balancer_attributes(LoadBalancerArn=found["LoadBalancerArn"])["Attributes"]
        said = {one["Key"]: one["Value"] for one in attributes}
        idle = said.get("idle_timeout.timeout_seconds")
        yield found["DNSName"], found["Type"], found["Scheme"], f"{idle} s" if idle else ""


def listeners(client: Client, ids: list[str]) -> Rows:
    """Each listener with its certificate, and below it its rules in their order."""
    elb = client("elbv2")
    for found in elb.describe_listeners(ListenerArns=ids)["Listeners"]:
        certificates = [one["CertificateArn"].rpartition("/")[2] for one in found.get("Certificates", [])]
        yield f"{found['Protocol']} {found['Port']}", "certificate", ", ".join(certificates) or "none"
        for rule in elb.describe_rules(ListenerArn=found["ListenerArn"])["Rules"]:
            when = " and ".join(_condition(one) for one in rule["Conditions"]) or "otherwise"
            yield f"rule {rule['Priority']}", when, ", ".join(_action(one) for one in rule["Actions"])


def _condition(condition: dict[str, Any]) -> str:
    config: dict[str, Any] = next((one for name, one in condition.items() if name.endswith("Config")), {})
    name = config.get("HttpHeaderName", condition["Field"])
    values = config.get("Values") or condition.get("Values", [])
    return f"{name} {', '.join(str(value) for value in values)}"


def _action(action: dict[str, Any]) -> str:
    kind = action["Type"]
    if kind == "forward":
        groups = action.get("ForwardConfig", {}).get("TargetGroups") or [action]
        weighted = len(groups) > 1
        return " + ".join(
            f"{group['TargetGroupArn'].split('/')[1]}" + (f" ({group['Weight']})" if weighted else "")
            for group in groups
        )
    if kind == "redirect":
        return f"to {action['RedirectConfig']['Protocol']} {action['RedirectConfig']['Port']}"
    if kind == "fixed-response":
        return f"answers {action['FixedResponseConfig']['StatusCode']}"
    return str(kind)


def target_groups(client: Client, ids: list[str]) -> Rows:
    """Each with its protocol, its health check, and how many targets are in which state."""
    elb = client("elbv2")
    for found in elb.describe_target_groups(TargetGroupArns=ids)["TargetGroups"]:
        health = elb.describe_target_health(TargetGroupArn=found["TargetGroupArn"])["TargetHealthDescriptions"]
        states = Counter(one["TargetHealth"]["State"] for one in health)
        version = found.get("ProtocolVersion", "")
        codes = ", ".join(str(code) for code in found.get("Matcher", {}).values())
        check = " ".join(
            part for part in (found.get("HealthCheckPath", found.get("HealthCheckProtocol", "")), codes) if part
        )
        yield (
            found["TargetGroupName"],
            f"{found['Protocol']} {found['Port']} {version}".strip(),
            f"{check} every {found['HealthCheckIntervalSeconds']} s",
            ", ".join(f"{number} {state}" for state, number in sorted(states.items())) or "none",
        )


def policies(client: Client, ids: list[str]) -> Rows:
    """Each with its metric and its target, or with its steps."""
    scaling = client("autoscaling")
    pages = scaling.get_paginator("describe_policies").paginate()
    for found in (policy for page in pages for policy in page["ScalingPolicies"] if policy["PolicyARN"] in ids):
        tracking = found.get("TargetTrackingConfiguration")
        if tracking:
            yield found["PolicyName"], found["PolicyType"], _metric(tracking), f"{tracking['TargetValue']:g}"
        else:
            alarms = ", ".join(alarm["AlarmName"] for alarm in found.get("Alarms", []))
            steps = [step["ScalingAdjustment"] for step in found.get("StepAdjustments", [])]
            yield (
                found["PolicyName"],
                found["PolicyType"],
                alarms or "no alarm",
                ", ".join(f"{one:+d}" for one in steps),
            )


def _metric(tracking: dict[str, Any]) -> str:
    if "PredefinedMetricSpecification" in tracking:
        return str(tracking["PredefinedMetricSpecification"]["PredefinedMetricType"])
    metric = tracking["CustomizedMetricSpecification"]
    if metric.get("MetricName"):
        return f"{metric['Namespace']} {metric['MetricName']}"
    metrics: list[dict[str, Any]] = metric.get("Metrics", [])
    shown = next((one for one in metrics if one.get("ReturnData", True)), {})
    return str(shown.get("Label") or shown.get("Expression") or shown.get("Id", ""))


def warm_pools(client: Client, ids: list[str]) -> Rows:
    """Each group's pool with its size and its instances by state."""
    for group in ids:
        found = client("autoscaling").describe_warm_pool(AutoScalingGroupName=group)
        pool, states = found.get("WarmPoolConfiguration", {}), Counter(i["LifecycleState"] for i in found["Instances"])
        most = pool.get("MaxGroupPreparedCapacity")
        size = f"{pool.get('MinSize', 0)} at least" + ("" if most is None else f", {most} prepared with the group")
        held = ", ".join(f"{number} {state}" for state, number in sorted(states.items())) or "empty"
        yield group, pool.get("PoolState", "Stopped"), size, held


def queues(client: Client, ids: list[str]) -> Rows:
    """Each with its encryption, and where messages go that fail."""
    for url in ids:
        said = client("sqs").get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
        key = said.get("KmsMasterKeyId") or ("SSE-SQS" if said.get("SqsManagedSseEnabled") == "true" else "none")
        yield url.rpartition("/")[2], f"{said['ApproximateNumberOfMessages']} waiting", key, _redrive(said)


def _redrive(said: dict[str, str]) -> str:
    policy = json.loads(said.get("RedrivePolicy") or "{}")
    if not policy:
        return ""
    return f"{policy['deadLetterTargetArn'].rpartition(':')[2]} after {policy['maxReceiveCount']}"


_ELB = "AWS::ElasticLoadBalancingV2"
SECTIONS: tuple[tuple[str, str, tuple[str, ...], Callable[[Client, list[str]], Rows]], ...] = (
    (f"{_ELB}::LoadBalancer", "Load balancers", ("name", "type", "scheme", "idle time-out"), load_balancers),
    (f"{_ELB}::Listener", "Listeners", ("listener or rule", "when", "what"), listeners),
    (f"{_ELB}::TargetGroup", "Target groups", ("name", "protocol", "health check", "targets"), target_groups),
    ("AWS::AutoScaling::ScalingPolicy", "Scaling policies", ("name", "type", "metric or alarm", "target"), policies),
    ("AWS::AutoScaling::WarmPool", "Warm pool", ("group", "state", "size", "instances"), warm_pools),
    ("AWS::SQS::Queue", "Queues", ("name", "messages", "encryption", "dead letters to"), queues),
)
