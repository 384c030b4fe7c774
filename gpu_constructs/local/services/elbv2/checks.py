"""What Elastic Load Balancing refuses, where moto takes whatever it is given: pure functions over plain values."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from typing import Any

from moto.elbv2.exceptions import ELBClientError

_BOOLEAN = ("true", "false")
_RANGES = {
    "idle_timeout.timeout_seconds": (1, 4000),
    "client_keep_alive.seconds": (60, 604800),
    "deregistration_delay.timeout_seconds": (0, 3600),
    "stickiness.lb_cookie.duration_seconds": (1, 604800),
    "stickiness.app_cookie.duration_seconds": (1, 604800),
}
_CHOICES = {
    "deletion_protection.enabled": _BOOLEAN,
    "load_balancing.cross_zone.enabled": (*_BOOLEAN, "use_load_balancer_configuration"),
    "routing.http2.enabled": _BOOLEAN,
    "routing.http.drop_invalid_header_fields.enabled": _BOOLEAN,
    "routing.http.desync_mitigation_mode": ("monitor", "defensive", "strictest"),
    "routing.http.xff_header_processing.mode": ("append", "preserve", "remove"),
    "stickiness.enabled": _BOOLEAN,
    "load_balancing.algorithm.type": ("round_robin", "least_outstanding_requests", "weighted_random"),
}
_ONLY_APPLICATION = ("idle_timeout.", "client_keep_alive.", "routing.", "waf.", "connection_logs.")
_PRIORITIES = (1, 50000)
_MOST_CONDITION_VALUES = 5
_HEALTH_CHECK_RANGES = {
    "HealthCheckIntervalSeconds": (5, 300),
    "HealthCheckTimeoutSeconds": (2, 120),
    "HealthyThresholdCount": (2, 10),
    "UnhealthyThresholdCount": (2, 10),
}
_GRPC_CODES = range(100)


def refuse(message: str, code: str = "ValidationError") -> ELBClientError:
    """An error to raise, as the service would answer."""
    return ELBClientError(code, message)


def check_attributes(attributes: Mapping[str, str]) -> None:
    """Check attributes of load balancers and of target groups.

    Raises:
        ELBClientError: A value is out of its range, or none of those there are.
    """
    for key, value in attributes.items():
        if key in _RANGES:
            _check_range(f"attribute '{key}'", value, _RANGES[key])
        if key in _CHOICES and value not in _CHOICES[key]:
            raise refuse(f"'{key}' value '{value}' must be one of [{', '.join(_CHOICES[key])}]")
    slow_start = attributes.get("slow_start.duration_seconds", "0")
    if slow_start != "0":
        _check_range("attribute 'slow_start.duration_seconds'", slow_start, (30, 900))
        if attributes.get("load_balancing.algorithm.type", "round_robin") != "round_robin":
            raise refuse(
                "You cannot enable both slow start and the load balancing algorithm "
                f"'{attributes['load_balancing.algorithm.type']}'",
                "InvalidConfigurationRequest",
            )


def check_keys_for_type(attributes: Iterable[str], load_balancer_type: str) -> None:
    """Check that a load balancer of this type has these attributes.

    Raises:
        ELBClientError: It has not.
    """
    for key in attributes:
        if load_balancer_type != "application" and key.startswith(_ONLY_APPLICATION):
            raise refuse(
                f"Load balancer attribute key '{key}' is not supported on load balancers with type "
                f"'{load_balancer_type}'",
                "InvalidConfigurationRequest",
            )


def check_target_group(properties: Mapping[str, Any]) -> None:
    """Check a target group's protocol version, its matcher and the numbers of its health check.

    Raises:
        ELBClientError: The service refuses it.
    """
    version, matcher = properties.get("ProtocolVersion"), properties.get("Matcher") or {}
    if version and version not in {"HTTP1", "HTTP2", "GRPC"}:
        raise refuse(f"Protocol version '{version}' must be one of [HTTP1, HTTP2, GRPC]")
    if version and properties.get("Protocol") not in {"HTTP", "HTTPS"}:
        raise refuse("A protocol version can be specified only for target groups with the HTTP or HTTPS protocol")
    if version == "GRPC" and "HttpCode" in matcher:
        raise refuse("You cannot specify an HTTP code for a target group with protocol version 'GRPC'; use a gRPC code")
    if version != "GRPC" and "GrpcCode" in matcher:
        raise refuse("You can specify a gRPC code only for a target group with protocol version 'GRPC'")
    if "GrpcCode" in matcher:
        _check_grpc_codes(str(matcher["GrpcCode"]))
    for name, limits in _HEALTH_CHECK_RANGES.items():
        if properties.get(name) is not None:
            _check_range(name, properties[name], limits)


def check_rule(priority: int, conditions: Iterable[Mapping[str, Any]]) -> None:
    """Check what moto does not: the priority, the ranges of addresses, how many values there are.

    Raises:
        ELBClientError: The service refuses it.
    """
    _check_range("priority", priority, _PRIORITIES)
    values = [value for condition in conditions for value in _values(condition)]
    if len(values) > _MOST_CONDITION_VALUES:
        raise refuse(f"A rule can only have '{_MOST_CONDITION_VALUES}' condition values", "TooManyRules")
    for condition in conditions:
        for cidr in condition.get("SourceIpConfig", {}).get("Values", []):
            try:
                ipaddress.ip_network(cidr)
            except ValueError:
                raise refuse(f"The 'source-ip' value '{cidr}' is not a valid CIDR block") from None


def _values(condition: Mapping[str, Any]) -> list[Any]:
    configs = (value for key, value in condition.items() if key.endswith("Config"))
    return [*condition.get("Values", []), *(value for config in configs for value in config.get("Values", []))]


def _check_grpc_codes(codes: str) -> None:
    for code in codes.replace("-", ",").split(","):
        if not code.isdigit() or int(code) not in _GRPC_CODES:
            raise refuse(f"gRPC code '{codes}' must be values or ranges between 0 and {_GRPC_CODES[-1]}")


def _check_range(what: str, value: Any, limits: tuple[int, int]) -> None:
    lowest, highest = limits
    if not str(value).isdigit() or not lowest <= int(value) <= highest:
        raise refuse(f"{what} value '{value}' must be between '{lowest}-{highest}' inclusive")
