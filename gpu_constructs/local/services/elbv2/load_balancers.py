"""AWS::ElasticLoadBalancingV2::LoadBalancer, application and network, and what moto forgets of either.

https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-elasticloadbalancingv2-loadbalancer.html
"""

from __future__ import annotations

from typing import Any

from moto.elbv2.exceptions import DuplicateLoadBalancerName
from moto.elbv2.models import ELBv2Backend, FakeLoadBalancer, elbv2_backends

from gpu_constructs.local.extend import replace_method
from gpu_constructs.local.services.cloudformation import LocalResource, refuse_replacement_of
from gpu_constructs.local.services.elbv2.checks import check_attributes, check_keys_for_type, refuse

_FEWEST_ZONES = 2
_REPLACING = ("Name", "Scheme", "Type")
_COMMON = {"deletion_protection.enabled": "false"}
_DEFAULTS = {
    "application": {
        "access_logs.s3.enabled": "false",
        "client_keep_alive.seconds": "3600",
        "idle_timeout.timeout_seconds": "60",
        "load_balancing.cross_zone.enabled": "true",
        "routing.http.desync_mitigation_mode": "defensive",
        "routing.http.drop_invalid_header_fields.enabled": "false",
        "routing.http.preserve_host_header.enabled": "false",
        "routing.http.xff_header_processing.mode": "append",
        "routing.http2.enabled": "true",
        "waf.fail_open.enabled": "false",
    },
    "network": {
        "access_logs.s3.enabled": "false",
        "dns_record.client_routing_policy": "any_availability_zone",
        "load_balancing.cross_zone.enabled": "false",
    },
}

_moto_create = ELBv2Backend.create_load_balancer
_moto_modify_attributes = ELBv2Backend.modify_load_balancer_attributes
_moto_delete = ELBv2Backend.delete_load_balancer


def install() -> None:
    """Put everything in place; may be called again."""
    replace_method(ELBv2Backend, _create, "create_load_balancer")
    replace_method(ELBv2Backend, _modify_attributes, "modify_load_balancer_attributes")
    replace_method(ELBv2Backend, _delete, "delete_load_balancer")


def full_name(arn: str) -> str:
    """The part of an ARN that metrics and policies name a load balancer by: `app/name/id`."""
    return arn.partition(":loadbalancer/")[2]


def _create(self: ELBv2Backend, name: str, security_groups: list[str], *args: Any, **kwargs: Any) -> FakeLoadBalancer:
    """Wraps moto's: one of a name, with security groups that exist, and network load balancers named as such."""
    if any(balancer.name == name for balancer in self.load_balancers.values()):
        raise DuplicateLoadBalancerName
    tags = kwargs.pop("tags", None)
    balancer = _moto_create(self, name, security_groups or [], *args, **kwargs)
    del self.load_balancers[balancer.arn]
    for group in security_groups or []:
        if self.ec2_backend.get_security_group_from_id(group) is None:
            raise refuse(f"The security group '{group}' does not exist", "InvalidSecurityGroup")
    unique, visible = balancer.arn.rpartition("/")[2], f"internal-{name}" if balancer.scheme == "internal" else name
    if balancer.type == "network":
        balancer.arn = balancer.arn.replace(":loadbalancer/app/", ":loadbalancer/net/")
        balancer.dns_name = f"{name}-{unique}.elb.{self.region_name}.amazonaws.com"
    else:
        balancer.dns_name = f"{visible}-{int(unique, 16) % 10**10}.{self.region_name}.elb.amazonaws.com"
    self.load_balancers[balancer.arn] = balancer
    self.tagging_service.tag_resource(balancer.arn, tags)
    return balancer


def _modify_attributes(self: ELBv2Backend, arn: str, attrs: dict[str, Any]) -> dict[str, Any]:
    """Wraps moto's, which takes any value."""
    check_attributes(attrs)
    if arn in self.load_balancers:
        check_keys_for_type(attrs, self.load_balancers[arn].type)
    return _moto_modify_attributes(self, arn, attrs)


def _delete(self: ELBv2Backend, arn: str) -> None:
    """Wraps moto's, which knows no deletion protection."""
    balancer = self.load_balancers.get(arn)
    if balancer and balancer.attrs.get("deletion_protection.enabled") == "true":
        raise refuse(
            f"Load balancer '{arn}' cannot be deleted because deletion protection is enabled", "OperationNotPermitted"
        )
    _moto_delete(self, arn)


class LoadBalancerResource(LocalResource):
    """A load balancer with its attributes."""

    TYPE = "AWS::ElasticLoadBalancingV2::LoadBalancer"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        kind, subnets = properties.get("Type") or "application", _subnets(properties)
        check_keys_for_type(_given(properties), kind)
        check_attributes(_given(properties))
        if kind == "application" and len(subnets) < _FEWEST_ZONES:
            raise refuse("At least two subnets in two different Availability Zones must be specified")
        self.name, self.properties = properties.get("Name", name), properties
        self.balancer = self._backend().create_load_balancer(
            self.name,
            self._security_groups(properties, subnets, kind),
            subnets,
            scheme=properties.get("Scheme") or "internet-facing",
            loadbalancer_type=kind,
            ip_address_type=properties.get("IpAddressType") or "ipv4",
        )
        self.physical_resource_id = self.balancer.arn
        self._apply(properties)

    def update(self, properties: dict[str, Any]) -> None:
        """In place, but for its name, its scheme and its type."""
        before = self.properties
        if any(properties.get(name) != before.get(name) for name in _REPLACING):
            refuse_replacement_of(before.get("Name"), properties.get("Name"))
            self.delete()
            self.create(self.name, properties)
            return
        backend, subnets = self._backend(), _subnets(properties)
        check_attributes(_given(properties))
        check_keys_for_type(_given(properties), self.balancer.type)
        groups = self._security_groups(properties, subnets, self.balancer.type)
        if groups != self.balancer.security_groups:
            if not self.balancer.security_groups or not groups:
                raise refuse(
                    "You cannot add security groups to a load balancer that was created without, or remove all of them",
                    "InvalidConfigurationRequest",
                )
            backend.set_security_groups(self.balancer.arn, groups)
        if subnets != _subnets(before):
            backend.set_subnets(self.balancer.arn, subnets, [])
        backend.set_ip_address_type(self.balancer.arn, properties.get("IpAddressType") or "ipv4")
        self.properties = properties
        self._apply(properties)

    def delete(self, *_: str) -> None:
        self._backend().delete_load_balancer(self.physical_resource_id)

    def attributes(self) -> dict[str, Any]:
        return {
            "CanonicalHostedZoneID": self.balancer.canonical_hosted_zone_id,
            "DNSName": self.balancer.dns_name,
            "LoadBalancerArn": self.balancer.arn,
            "LoadBalancerFullName": full_name(self.balancer.arn),
            "LoadBalancerName": self.balancer.name,
            "SecurityGroups": self.balancer.security_groups,
        }

    def _apply(self, properties: dict[str, Any]) -> None:
        """Attributes and tags, each as the template has it now: what it no longer says has its default again."""
        self.balancer.attrs.update({**_COMMON, **_DEFAULTS.get(self.balancer.type, {})})
        self._backend().modify_load_balancer_attributes(self.balancer.arn, _given(properties))
        self._backend().tagging_service.delete_all_tags_for_resource(self.balancer.arn)
        self._backend().tagging_service.tag_resource(self.balancer.arn, properties.get("Tags") or [])

    def _security_groups(self, properties: dict[str, Any], subnets: list[str], kind: str) -> list[str]:
        """Those given; an application load balancer without takes its network's default group."""
        groups = list(properties.get("SecurityGroups") or [])
        if groups or kind != "application":
            return groups
        ec2 = self._backend().ec2_backend
        default = ec2.get_security_group_from_name("default", ec2.get_subnet(subnets[0]).vpc_id)
        return [default.id] if default else []

    def _backend(self) -> ELBv2Backend:
        return elbv2_backends[self.account_id][self.region]


def _subnets(properties: dict[str, Any]) -> list[str]:
    mapped = [mapping["SubnetId"] for mapping in properties.get("SubnetMappings") or []]
    return [*(properties.get("Subnets") or []), *mapped]


def _given(properties: dict[str, Any]) -> dict[str, str]:
    return {entry["Key"]: str(entry["Value"]) for entry in properties.get("LoadBalancerAttributes") or []}
