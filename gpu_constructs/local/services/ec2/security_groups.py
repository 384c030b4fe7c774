"""Security groups from CloudFormation, with all their rules: moto's read no egress and no rule for all ports."""

from __future__ import annotations

from typing import Any

from moto.ec2.models import EC2Backend, ec2_backends
from moto.ec2.models.security_groups import SecurityGroup

from gpu_constructs.local import extend
from gpu_constructs.local.services.cloudformation import LocalResource

_ALLOW_ALL = {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0"}


def install() -> None:
    """Have security groups created with their rules; the rule types are found by their names."""
    extend.replace_method(SecurityGroup, classmethod(_create_group), "create_from_cloudformation_json")
    extend.replace_method(SecurityGroup, classmethod(_update_group), "update_from_cloudformation_json")


class _Rule(LocalResource):
    """A rule that is a resource of its own. Its direction is in the name of its type."""

    def create(self, name: str, properties: dict[str, Any]) -> None:
        self.properties = properties
        backend = ec2_backends[self.account_id][self.region]
        self._change("authorize", backend)
        rules = _rules_of(backend, properties["GroupId"], self._direction())
        self.physical_resource_id = rules[-1].id

    def delete(self, *_: str) -> None:
        backend = ec2_backends[self.account_id][self.region]
        if self.properties["GroupId"] in {group.id for group in backend.describe_security_groups()}:
            self._change("revoke", backend)

    def attributes(self) -> dict[str, Any]:
        return {"Id": self.physical_resource_id}

    def _direction(self) -> str:
        return self.TYPE.removeprefix("AWS::EC2::SecurityGroup").lower()

    def _change(self, verb: str, backend: EC2Backend) -> None:
        _change_rule(backend, f"{verb}_security_group_{self._direction()}", self.properties["GroupId"], self.properties)


class SecurityGroupIngress(_Rule):
    """AWS::EC2::SecurityGroupIngress."""

    TYPE = "AWS::EC2::SecurityGroupIngress"


class SecurityGroupEgress(_Rule):
    """AWS::EC2::SecurityGroupEgress: the first of a group takes away the default "allow all" that EC2 gave it."""

    TYPE = "AWS::EC2::SecurityGroupEgress"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        backend = ec2_backends[self.account_id][self.region]
        group_id = properties["GroupId"]
        if group_id in _with_default_egress:
            _with_default_egress.discard(group_id)
            _change_rule(backend, "revoke_security_group_egress", group_id, _ALLOW_ALL)
        super().create(name, properties)


_with_default_egress: set[str] = set()


def _create_group(
    _cls: type[SecurityGroup],
    /,
    resource_name: str,
    cloudformation_json: dict[str, Any],
    account_id: str,
    region_name: str,
    **_: Any,
) -> SecurityGroup:
    properties = cloudformation_json["Properties"]
    backend = ec2_backends[account_id][region_name]
    group = backend.create_security_group(
        name=properties.get("GroupName", resource_name),
        description=properties["GroupDescription"],
        vpc_id=properties.get("VpcId"),
    )
    _set_rules_and_tags(backend, group, properties)
    return group


def _update_group(
    _cls: type[SecurityGroup],
    /,
    original_resource: SecurityGroup,
    new_resource_name: str,
    cloudformation_json: dict[str, Any],
    account_id: str,
    region_name: str,
) -> SecurityGroup:
    """In place, as AWS changes rules and tags: nodes and rules of others go on referring to the group."""
    backend = ec2_backends[account_id][region_name]
    inline = getattr(original_resource, "inline_rules", {})
    for direction, rules in inline.items():
        for rule in rules:
            _change_rule(backend, f"revoke_security_group_{direction}", original_resource.id, rule)
    _set_rules_and_tags(backend, original_resource, cloudformation_json["Properties"])
    return original_resource


def _set_rules_and_tags(backend: EC2Backend, group: SecurityGroup, properties: dict[str, Any]) -> None:
    for tag in properties.get("Tags", []):
        group.add_tag(tag["Key"], tag["Value"])
    inline = {
        "ingress": properties.get("SecurityGroupIngress", []),
        "egress": properties.get("SecurityGroupEgress", []),
    }
    if not inline["egress"]:
        _with_default_egress.add(group.id)
    elif _has_rule(group, _ALLOW_ALL):
        _change_rule(backend, "revoke_security_group_egress", group.id, _ALLOW_ALL)
    for direction, rules in inline.items():
        for rule in rules:
            _change_rule(backend, f"authorize_security_group_{direction}", group.id, rule)
    group.inline_rules = inline  # type: ignore[attr-defined]  # ours, to know at an update what the template had put


def _has_rule(group: SecurityGroup, rule: dict[str, Any]) -> bool:
    return any(
        found.ip_protocol == rule["IpProtocol"] and (found.ip_range or {}).get("CidrIp") == rule["CidrIp"]
        for found in group.egress_rules
    )


def _rules_of(backend: EC2Backend, group_id: str, direction: str) -> list[Any]:
    group = backend.describe_security_groups(group_ids=[group_id])[0]
    rules: list[Any] = group.ingress_rules if direction == "ingress" else group.egress_rules
    return rules


def _change_rule(backend: EC2Backend, operation: str, group_id: str, rule: dict[str, Any]) -> None:
    """Authorize or revoke one rule, written as CloudFormation writes it."""
    described = {"Description": rule["Description"]} if "Description" in rule else {}
    ranges = [{"CidrIp": rule["CidrIp"], **described}] if "CidrIp" in rule else []
    ranges += [{"CidrIpv6": rule["CidrIpv6"], **described}] if "CidrIpv6" in rule else []
    peer = rule.get("SourceSecurityGroupId") or rule.get("DestinationSecurityGroupId")
    prefix_list = rule.get("SourcePrefixListId") or rule.get("DestinationPrefixListId")
    getattr(backend, operation)(
        group_name_or_id=group_id,
        ip_protocol=str(rule["IpProtocol"]),
        from_port=rule.get("FromPort"),
        to_port=rule.get("ToPort"),
        ip_ranges=ranges,
        source_groups=[{"GroupId": peer, **described}] if peer else [],
        prefix_list_ids=[{"PrefixListId": prefix_list}] if prefix_list else [],
    )
