"""AWS::ElasticLoadBalancingV2::TargetGroup: protocol versions, matchers and attributes, which moto loses.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-elasticloadbalancingv2-targetgroup.html
"""

from __future__ import annotations

from typing import Any

from moto.cloudformation.utils import random_suffix
from moto.core.responses import ActionResult
from moto.elbv2.models import ELBv2Backend, FakeTargetGroup, elbv2_backends
from moto.elbv2.responses import ELBV2Response

from gpu_constructs.local.extend import add_method, replace_method
from gpu_constructs.local.services.cloudformation import LocalResource, refuse_replacement_of, whole_number
from gpu_constructs.local.services.elbv2.checks import check_attributes, check_target_group

_REPLACING = ("Name", "Port", "Protocol", "ProtocolVersion", "TargetType", "VpcId")
_HTTP = ("HTTP", "HTTPS")
_GRPC_PATH, _GRPC_CODE = "/AWS.ALB/healthcheck", "12"

_moto_create = ELBv2Backend.create_target_group
_moto_modify = ELBv2Backend.modify_target_group
_moto_modify_attributes = ELBv2Backend.modify_target_group_attributes


def install() -> None:
    """Put everything in place; may be called again."""
    add_method(FakeTargetGroup, _LOAD_BALANCER_ARNS, "load_balancer_arns")
    replace_method(ELBv2Backend, _create, "create_target_group")
    replace_method(ELBv2Backend, _modify_attributes, "modify_target_group_attributes")
    replace_method(ELBV2Response, _modify, "modify_target_group")


def _load_balancers_of(self: FakeTargetGroup) -> list[str]:
    """Those with a listener or a rule that forwards to it now; moto only ever adds to a list."""
    backend = elbv2_backends[self.account_id][self.region_name]
    return [balancer.arn for balancer in backend.load_balancers.values() if _forwards(backend, balancer, self.arn)]


def _forwards(backend: ELBv2Backend, balancer: Any, target_group_arn: str) -> bool:
    return any(
        target_group_arn in backend._get_target_group_arns_from(action_data=action.data)
        for listener in balancer.listeners.values()
        for rule in listener.rules.values()
        for action in rule.actions
    )


# With a setter that does nothing, because moto sets the list when it makes the target group.
_LOAD_BALANCER_ARNS = property(_load_balancers_of, lambda _self, _value: None)


def _create(self: ELBv2Backend, name: str, **settings: Any) -> FakeTargetGroup:
    """Wraps moto's, whose health checks know no gRPC."""
    check_target_group(
        {
            "Protocol": settings.get("protocol"),
            "ProtocolVersion": settings.get("protocol_version"),
            "Matcher": settings.get("matcher"),
            "HealthCheckIntervalSeconds": settings.get("healthcheck_interval_seconds"),
            "HealthCheckTimeoutSeconds": settings.get("healthcheck_timeout_seconds"),
            "HealthyThresholdCount": settings.get("healthy_threshold_count"),
            "UnhealthyThresholdCount": settings.get("unhealthy_threshold_count"),
        }
    )
    if settings.get("protocol_version") == "GRPC":
        settings["healthcheck_path"] = settings.get("healthcheck_path") or _GRPC_PATH
        settings["matcher"] = settings.get("matcher") or {"GrpcCode": _GRPC_CODE}
    elif settings.get("protocol") not in _HTTP and settings.get("healthcheck_protocol") in _HTTP:
        settings["healthcheck_path"] = settings.get("healthcheck_path") or "/"
        settings["matcher"] = settings.get("matcher") or {"HttpCode": "200-399"}
        settings["healthcheck_timeout_seconds"] = settings.get("healthcheck_timeout_seconds") or 6
    return _moto_create(self, name, **settings)


def _modify(self: ELBV2Response) -> Any:
    """Replaces moto's operation, which keeps HTTP codes only."""
    group = self.elbv2_backend.describe_target_groups(None, [self._get_param("TargetGroupArn")], None)
    [changed] = list(group)
    settings = {name: self._get_param(name) for name in (*_HEALTH_CHECK, "Matcher")}
    _apply_health_check(self.elbv2_backend, changed, {name: one for name, one in settings.items() if one is not None})
    return ActionResult({"TargetGroups": [changed]})


def _modify_attributes(self: ELBv2Backend, target_group_arn: str, attributes: dict[str, Any]) -> None:
    """Wraps moto's, which takes almost any value, and no delay of an hour."""
    group = self.target_groups.get(target_group_arn)
    check_attributes({**{key: str(value) for key, value in (group.attributes if group else {}).items()}, **attributes})
    delay = attributes.get("deregistration_delay.timeout_seconds")
    rest = {key: value for key, value in attributes.items() if key != "deregistration_delay.timeout_seconds"}
    _moto_modify_attributes(self, target_group_arn, rest if delay == "3600" else attributes)
    if group and delay:
        group.attributes["deregistration_delay.timeout_seconds"] = delay


_HEALTH_CHECK = {
    "HealthCheckEnabled": "health_check_enabled",
    "HealthCheckIntervalSeconds": "health_check_interval",
    "HealthCheckPath": "health_check_path",
    "HealthCheckPort": "health_check_port",
    "HealthCheckProtocol": "health_check_proto",
    "HealthCheckTimeoutSeconds": "health_check_timeout",
    "HealthyThresholdCount": "healthy_threshold_count",
    "UnhealthyThresholdCount": "unhealthy_threshold_count",
}


def _apply_health_check(backend: ELBv2Backend, group: FakeTargetGroup, settings: dict[str, Any]) -> None:
    check_target_group({"Protocol": group.protocol, "ProtocolVersion": group.protocol_version, **settings})
    named = {_HEALTH_CHECK[name]: value for name, value in settings.items() if name in _HEALTH_CHECK}
    _moto_modify(backend, group.arn, **named)
    if settings.get("Matcher"):
        group.matcher = dict(settings["Matcher"])


class TargetGroupResource(LocalResource):
    """A target group with its health check, its attributes and the targets that its template names."""

    TYPE = "AWS::ElasticLoadBalancingV2::TargetGroup"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        attributes = _given(properties)
        check_attributes(attributes)
        self.name, self.properties = properties.get("Name", name), properties
        enabled = properties.get("HealthCheckEnabled")
        self.group = self._backend().create_target_group(
            self.name,
            vpc_id=properties.get("VpcId"),
            protocol=properties.get("Protocol"),
            protocol_version=properties.get("ProtocolVersion"),
            port=whole_number(properties.get("Port")),
            healthcheck_protocol=properties.get("HealthCheckProtocol"),
            healthcheck_port=properties.get("HealthCheckPort"),
            healthcheck_path=properties.get("HealthCheckPath"),
            healthcheck_interval_seconds=whole_number(properties.get("HealthCheckIntervalSeconds")),
            healthcheck_timeout_seconds=whole_number(properties.get("HealthCheckTimeoutSeconds")),
            healthcheck_enabled=None if enabled is None else str(enabled).lower(),
            healthy_threshold_count=whole_number(properties.get("HealthyThresholdCount")),
            unhealthy_threshold_count=whole_number(properties.get("UnhealthyThresholdCount")),
            matcher=properties.get("Matcher"),
            target_type=properties.get("TargetType") or "instance",
            ip_address_type=properties.get("IpAddressType"),
            tags=properties.get("Tags"),
        )
        self.physical_resource_id = self.group.arn
        self.defaults = dict(self.group.attributes)
        self._backend().modify_target_group_attributes(self.group.arn, attributes)
        if properties.get("Targets"):
            self.group.register(properties["Targets"])

    def update(self, properties: dict[str, Any]) -> None:
        """In place, but for what makes it another target group; that one is there before this one goes."""
        before = self.properties
        if any(properties.get(name) != before.get(name) for name in _REPLACING):
            refuse_replacement_of(before.get("Name"), properties.get("Name"))
            # Listeners still name the old one, until they are updated in their turn.
            del self._backend().target_groups[self.group.arn]
            self.create(f"{self.name.rpartition('-')[0]}-{random_suffix()}", properties)
            return
        _apply_health_check(self._backend(), self.group, {**_health_defaults(self.group), **properties})
        self.group.attributes.update(self.defaults)
        self._backend().modify_target_group_attributes(self.group.arn, _given(properties))
        self._update_targets(properties, before)
        self._backend().tagging_service.delete_all_tags_for_resource(self.group.arn)
        self._backend().tagging_service.tag_resource(self.group.arn, properties.get("Tags") or [])
        self.properties = properties

    def delete(self, *_: str) -> None:
        self._backend().delete_target_group(self.group.arn)

    def attributes(self) -> dict[str, Any]:
        return {
            "LoadBalancerArns": self.group.load_balancer_arns,
            "TargetGroupArn": self.group.arn,
            "TargetGroupFullName": self.group.arn.rpartition(":")[2],
            "TargetGroupName": self.group.name,
        }

    def _update_targets(self, properties: dict[str, Any], before: dict[str, Any]) -> None:
        old, new = before.get("Targets") or [], properties.get("Targets") or []
        self.group.deregister([target for target in old if target not in new and target["Id"] in self.group.targets])
        self.group.register([target for target in new if target not in old])

    def _backend(self) -> ELBv2Backend:
        return elbv2_backends[self.account_id][self.region]


def _health_defaults(group: FakeTargetGroup) -> dict[str, Any]:
    """What a health check has that a template does not describe."""
    http, grpc = group.protocol in _HTTP, group.protocol_version == "GRPC"
    defaults: dict[str, Any] = {
        "HealthCheckIntervalSeconds": 30,
        "HealthCheckTimeoutSeconds": 5 if http else 10,
        "HealthyThresholdCount": 5,
        "UnhealthyThresholdCount": 2,
        "HealthCheckPort": "traffic-port",
    }
    if http:
        defaults["HealthCheckPath"] = _GRPC_PATH if grpc else "/"
        defaults["Matcher"] = {"GrpcCode": _GRPC_CODE} if grpc else {"HttpCode": "200"}
    return defaults


def _given(properties: dict[str, Any]) -> dict[str, str]:
    return {entry["Key"]: str(entry["Value"]) for entry in properties.get("TargetGroupAttributes") or []}
