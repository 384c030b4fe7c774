"""What must hold in every template with GPU nodes; each `AssertionError` lists all that is wrong."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from gpu_constructs.network import interface_rules
from gpu_constructs.node_group import market_rules
from gpu_constructs.testing import resources
from gpu_constructs.testing.buying import ways_to_buy
from gpu_constructs.testing.normalize import AnyTemplate, as_dict

_KEPT = ("Retain", "RetainExceptOnCreate")


def assert_efa_valid(template: AnyTemplate) -> None:
    """Assert that EC2 takes the network interfaces of all launch templates, and that EFA works between the nodes.

    That is: a primary interface at card 0 and device 0 which is not EFA-only; places of their own for all; one EFA
    interface a card at most; no more of them, and on no other cards and devices, than the instance type has; security
    groups on each interface and none beside them; deletion with the instance; no public address where there are
    several interfaces; and, on each EFA interface, a security group that lets all traffic in from itself and out to
    itself. Types that are not in the catalogue, and groups that the template does not create, are not judged.

    Args:
        template: The template.

    Raises:
        AssertionError: If something is wrong, or if no launch template states its interfaces.
    """
    plain = as_dict(template)
    templates = {
        name: properties.get("LaunchTemplateData", {})
        for name, properties in resources.of_type(plain, "AWS::EC2::LaunchTemplate").items()
    }
    if not any(data.get("NetworkInterfaces") for data in templates.values()):
        _report("nothing to check", ["no AWS::EC2::LaunchTemplate with NetworkInterfaces"])
    wrong = [f"{name}: {found}" for name, data in templates.items() for found in _launch_template(plain, data)]
    _report("EFA is not valid", wrong)


def assert_capacity_valid(template: AnyTemplate) -> None:
    """Assert that nodes can be bought as launch templates and Auto Scaling groups say.

    That is: spot is asked for by the launch template or by the mixed instances policy of the group, not by both; a
    Capacity Block is named, and has no mixed instances, warm pool or tenancy that it does not take; a targeted
    reservation has no preference that contradicts it; and nodes in a placement group are neither on Dedicated Hosts nor
    stopped when spot is interrupted.

    Args:
        template: The template.

    Raises:
        AssertionError: If something is wrong, or if there is no launch template.
    """
    found = ways_to_buy(as_dict(template))
    if not found:
        _report("nothing to check", ["no AWS::EC2::LaunchTemplate"])
    wrong = [f"{name}: {problem}" for name, bought in found.items() for problem in market_rules.problems(bought)]
    _report("nodes cannot be bought", wrong)


def assert_no_public_address(template: AnyTemplate, *, but: Collection[str] = ()) -> None:
    """Assert that no instance and no load balancer can get a public address. NAT gateways may.

    Args:
        template: The template.
        but: The logical ids of load balancers that are to be reached from the internet.

    Raises:
        AssertionError: If one can.
    """
    plain = as_dict(template)
    wrong = [
        f"{name}: AssociatePublicIpAddress is {resources.shown(interface['AssociatePublicIpAddress'])}"
        for name, data in _launches(plain).items()
        for interface in resources.stated_interfaces(data)
        if interface.get("AssociatePublicIpAddress", False) is not False
    ]
    wrong += [
        f"{name}: MapPublicIpOnLaunch is {resources.shown(subnet['MapPublicIpOnLaunch'])}"
        for name, subnet in resources.of_type(plain, "AWS::EC2::Subnet").items()
        if subnet.get("MapPublicIpOnLaunch", False) is not False
    ]
    wrong += [
        f"{name}: an Elastic IP address for an instance"
        for name, address in resources.of_type(plain, "AWS::EC2::EIP", "AWS::EC2::EIPAssociation").items()
        if "InstanceId" in address or "NetworkInterfaceId" in address
    ]
    wrong += [
        f"{name}: an internet-facing load balancer"
        for name, balancer in resources.of_type(plain, "AWS::ElasticLoadBalancingV2::LoadBalancer").items()
        if name not in but and balancer.get("Scheme", "internet-facing") != "internal"
    ]
    _report("there are public addresses", wrong)


def assert_imdsv2(template: AnyTemplate) -> None:
    """Assert that instances answer metadata requests by IMDSv2 only.

    Args:
        template: The template.

    Raises:
        AssertionError: If one may answer others, or if there is no launch template and no instance.
    """
    launches = _launches(as_dict(template))
    if not launches:
        _report("nothing to check", ["no AWS::EC2::LaunchTemplate and no AWS::EC2::Instance"])
    wrong = [
        f"{name}: HttpTokens is {resources.shown(data.get('MetadataOptions', {}).get('HttpTokens', 'left out'))}"
        for name, data in launches.items()
        if data.get("MetadataOptions", {}).get("HttpTokens") != "required"
        # An instance takes the options of its launch template.
        and "LaunchTemplate" not in data
    ]
    _report("IMDSv1 is answered", wrong)


def assert_encrypted_volumes(template: AnyTemplate) -> None:
    """Assert that every EBS volume that the template states is encrypted.

    Args:
        template: The template.

    Raises:
        AssertionError: If one is not.
    """
    plain = as_dict(template)
    wrong = [
        f"{name}: {resources.shown(mapping.get('DeviceName', 'a volume'))} is not encrypted"
        for name, data in _launches(plain).items()
        for mapping in data.get("BlockDeviceMappings", [])
        if "Ebs" in mapping and mapping["Ebs"].get("Encrypted") is not True
    ]
    wrong += [
        f"{name}: not encrypted"
        for name, volume in resources.of_type(plain, "AWS::EC2::Volume").items()
        if volume.get("Encrypted") is not True
    ]
    _report("there are volumes in the clear", wrong)


def assert_retained(template: AnyTemplate, type_name: str) -> None:
    """Assert that resources of a type outlive the stack and their own replacement.

    Args:
        template: The template.
        type_name: The type, such as "AWS::S3::Bucket".

    Raises:
        AssertionError: If one does not, or if there is none.
    """
    found = {
        name: resource
        for name, resource in as_dict(template).get("Resources", {}).items()
        if resource.get("Type") == type_name
    }
    if not found:
        _report("nothing to check", [f"no {type_name}"])
    wrong = [
        f"{name}: {policy} is {resource.get(policy, 'left out')}"
        for name, resource in found.items()
        for policy in ("DeletionPolicy", "UpdateReplacePolicy")
        if resource.get(policy) not in _KEPT
    ]
    _report(f"{type_name} is not kept", wrong)


def _launches(template: dict[str, Any]) -> dict[str, dict[str, Any]]:
    templates = resources.of_type(template, "AWS::EC2::LaunchTemplate")
    return {
        **{name: properties.get("LaunchTemplateData", {}) for name, properties in templates.items()},
        **resources.of_type(template, "AWS::EC2::Instance"),
    }


def _launch_template(template: dict[str, Any], data: dict[str, Any]) -> list[str]:
    if resources.is_no_list(data.get("NetworkInterfaces")):
        # https://docs.aws.amazon.com/cdk/v2/guide/cfn-layer.html
        return ["NetworkInterfaces is no list; CDK makes a mapping of it where an override names an index in it"]
    stated = resources.stated_interfaces(data)
    found = interface_rules.problems(
        resources.interfaces(data),
        instance=resources.instance(data),
        groups_beside=bool(stated) and ("SecurityGroupIds" in data or "SecurityGroups" in data),
    )
    staying = [number for number, nic in enumerate(stated) if nic.get("DeleteOnTermination") is not True]
    left = [f"NetworkInterfaces {staying} stay when the instance ends"] if staying else []
    return [*map(str, found), *left, *_unreachable(template, stated)]


def _unreachable(template: dict[str, Any], stated: list[dict[str, Any]]) -> list[str]:
    lists = [nic["Groups"] for nic in stated if nic.get("InterfaceType") in ("efa", "efa-only") and nic.get("Groups")]
    wrong = []
    for groups in lists:
        created = [resources.group_of(template, group) for group in groups] if isinstance(groups, list) else [None]
        missing = {
            name: [way for way in ("Ingress", "Egress") if not resources.has_rule_to_itself(template, name, way)]
            for name in created
            if name is not None
        }
        # One group with both rules is enough, and a group that is not seen may be that one.
        if None not in created and all(missing.values()):
            wrong += [
                f"{name} has no rule of all traffic with itself: {', '.join(ways)}" for name, ways in missing.items()
            ]
    return list(dict.fromkeys(wrong))


def _report(what: str, wrong: list[str]) -> None:
    if wrong:
        raise AssertionError("\n".join([f"{what}:", *(f"  - {line}" for line in wrong)]))
