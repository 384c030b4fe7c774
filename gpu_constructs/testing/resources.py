"""Reads the values that the rules judge out of a template, whoever wrote it."""

from __future__ import annotations

import json
from typing import Any

from gpu_constructs.checks import UNKNOWN, Problem, Unknown
from gpu_constructs.instances import catalog
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network.interface_rules import ABOUT_ADDRESSES, Interface

Properties = dict[str, Any]


def of_type(template: Properties, *types: str) -> dict[str, Properties]:
    """Return the properties of all resources of some types, by logical id."""
    resources = template.get("Resources", {})
    return {name: found.get("Properties", {}) for name, found in resources.items() if found.get("Type") in types}


def interfaces(data: Properties) -> list[Interface]:
    """Return the interfaces of launch template data."""
    return [
        Interface(
            network_card_index=_number(stated.get("NetworkCardIndex", 0)),
            device_index=_number(stated["DeviceIndex"]) if "DeviceIndex" in stated else None,
            interface_type=_text(stated.get("InterfaceType", "interface")),
            group_count=_count(stated),
            public_address=_flag(stated.get("AssociatePublicIpAddress")),
            about_addresses=tuple(name for name in ABOUT_ADDRESSES if name in stated),
        )
        for stated in stated_interfaces(data)
    ]


def stated_interfaces(data: Properties) -> list[Properties]:
    """Return the interfaces of launch template data as stated; none of a list that only the deployment knows."""
    stated = data.get("NetworkInterfaces", [])
    return stated if isinstance(stated, list) else []


def is_no_list(value: Any) -> bool:
    """Return whether there is a mapping in the place of a list, and not a function that may give one."""
    return isinstance(value, dict) and not any(key == "Ref" or key.startswith("Fn::") for key in value)


def instance(data: Properties) -> GpuInstance | Unknown:
    """Return the facts about the type of launch template data, if it is in the catalogue."""
    name = data.get("InstanceType")
    found = catalog.find(name) if isinstance(name, str) and name in catalog.names() else UNKNOWN
    return UNKNOWN if isinstance(found, Problem) else found


def has_rule_to_itself(template: Properties, group: str, direction: str) -> bool:
    """Return whether a security group lets all traffic in from itself, or out to itself.

    Args:
        template: The template.
        group: The logical id of the group.
        direction: "Ingress" or "Egress".
    """
    peer = "SourceSecurityGroupId" if direction == "Ingress" else "DestinationSecurityGroupId"
    inline = template["Resources"][group].get("Properties", {}).get(f"SecurityGroup{direction}", [])
    separate = [
        rule
        for rule in of_type(template, f"AWS::EC2::SecurityGroup{direction}").values()
        if group_of(template, rule.get("GroupId")) == group
    ]
    rules = [*(inline if isinstance(inline, list) else []), *separate]
    return any(str(rule.get("IpProtocol")) == "-1" and group_of(template, rule.get(peer)) == group for rule in rules)


def group_of(template: Properties, reference: Any) -> str | None:
    """Return the logical id of the security group of this template to which a value refers; `None` for any other."""
    if not isinstance(reference, dict):
        return None
    attribute = reference.get("Fn::GetAtt")
    name = reference.get("Ref") or (attribute.split(".")[0] if isinstance(attribute, str) else (attribute or [None])[0])
    return name if isinstance(name, str) and name in of_type(template, "AWS::EC2::SecurityGroup") else None


def shown(value: Any) -> str:
    """Return a value of a template as text for a message."""
    return value if isinstance(value, str) else json.dumps(value)


def _count(stated: Properties) -> int | Unknown:
    # An interface that exists already has groups of its own.
    groups = stated.get("Groups", UNKNOWN if "NetworkInterfaceId" in stated else [])
    return len(groups) if isinstance(groups, list) else UNKNOWN


def _number(value: Any) -> int | Unknown:
    text = str(value)
    return int(text) if text.isdecimal() else UNKNOWN


def _text(value: Any) -> str | Unknown:
    return value if isinstance(value, str) else UNKNOWN


def _flag(value: Any) -> bool | Unknown | None:
    if value is None or isinstance(value, bool):
        return value
    return {"true": True, "false": False}.get(str(value).lower(), UNKNOWN)
