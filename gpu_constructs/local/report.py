"""What a stack created, read back from the local AWS by boto3 as any client would: values, no printing."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from gpu_constructs.local import report_serving
from gpu_constructs.local.process import LocalAws

Rows = list[tuple[str, ...]]


@dataclass(frozen=True)
class Section:
    """One kind of thing that was created."""

    title: str
    columns: tuple[str, ...]
    rows: Rows


@dataclass(frozen=True)
class StackReport:
    """What a stack created, and what its template holds that was not created."""

    stack: str
    status: str
    sections: tuple[Section, ...] = ()
    unfinished: dict[str, dict[str, str]] = field(default_factory=dict)
    """Kind ("not_created", "not_run", "not_updated"), then logical id to type."""


def read(aws: LocalAws, stack: str, region: str | None = None) -> StackReport:
    """Read back what `stack` created.

    Args:
        aws: The local AWS it is deployed to.
        stack: Its name.
        region: Where it is; by default the local AWS's default Region.
    """

    def client(service: str) -> Any:
        return aws.client(service, region)

    described = client("cloudformation").describe_stacks(StackName=stack)["Stacks"][0]
    ids: dict[str, list[str]] = {}
    for page in client("cloudformation").get_paginator("list_stack_resources").paginate(StackName=stack):
        for resource in page["StackResourceSummaries"]:
            ids.setdefault(resource["ResourceType"], []).append(resource["PhysicalResourceId"])
    sections = [
        Section(title, columns, list(rows(client, ids[resource_type])))
        for resource_type, title, columns, rows in _SECTIONS
        if resource_type in ids
    ]
    outputs = [(o["OutputKey"], o["OutputValue"]) for o in described.get("Outputs", [])]
    if outputs:
        sections.append(Section("Outputs", ("name", "value"), list(outputs)))
    unfinished = {kind: found for kind, found in aws.status()["stacks"].get(stack, {}).items() if found}
    return StackReport(stack, described["StackStatus"], tuple(sections), unfinished)


Client = Callable[[str], Any]


def _networks(client: Client, ids: list[str]) -> Iterable[tuple[str, ...]]:
    for vpc in client("ec2").describe_vpcs(VpcIds=ids)["Vpcs"]:
        yield "VPC", vpc["VpcId"], vpc["CidrBlock"], ""
        only_this = [{"Name": "vpc-id", "Values": [vpc["VpcId"]]}]
        tables = client("ec2").describe_route_tables(Filters=only_this)["RouteTables"]
        for subnet in sorted(client("ec2").describe_subnets(Filters=only_this)["Subnets"], key=itemgetter("CidrBlock")):
            kind = "public" if _routed_to_internet(tables, subnet["SubnetId"]) else "private"
            yield f"{kind} subnet", subnet["SubnetId"], subnet["CidrBlock"], subnet["AvailabilityZone"]
        for gateway in client("ec2").describe_nat_gateways(Filters=only_this)["NatGateways"]:
            yield "NAT gateway", gateway["NatGatewayId"], "", gateway["State"]
        for endpoint in client("ec2").describe_vpc_endpoints(Filters=only_this)["VpcEndpoints"]:
            yield f"{endpoint['VpcEndpointType']} endpoint", endpoint["VpcEndpointId"], endpoint["ServiceName"], ""


def _routed_to_internet(tables: list[dict[str, Any]], subnet_id: str) -> bool:
    """Whether the route table of a subnet leads to an internet gateway, which is what makes it public."""
    return any(
        route.get("GatewayId", "").startswith("igw-")
        for table in tables
        if any(a.get("SubnetId") == subnet_id for a in table["Associations"])
        for route in table["Routes"]
    )


def _security_groups(client: Client, ids: list[str]) -> Iterable[tuple[str, ...]]:
    for group in client("ec2").describe_security_groups(GroupIds=ids)["SecurityGroups"]:
        for direction, rules in (("in", group["IpPermissions"]), ("out", group["IpPermissionsEgress"])):
            for rule in rules:
                for peer in _peers(rule, group["GroupId"]):
                    yield group["GroupId"], group["Description"], direction, _ports(rule), peer


def _peers(rule: dict[str, Any], own_id: str) -> Iterable[str]:
    for pair in rule.get("UserIdGroupPairs", []):
        yield "itself" if pair["GroupId"] == own_id else pair["GroupId"]
    yield from (r["CidrIp"] for r in rule.get("IpRanges", []))
    yield from (r["CidrIpv6"] for r in rule.get("Ipv6Ranges", []))


def _ports(rule: dict[str, Any]) -> str:
    if rule["IpProtocol"] == "-1":
        return "all traffic"
    first, last = rule["FromPort"], rule["ToPort"]
    return f"{rule['IpProtocol']} {first}" if first == last else f"{rule['IpProtocol']} {first}-{last}"


def _launch_templates(client: Client, ids: list[str]) -> Iterable[tuple[str, ...]]:
    for template_id in ids:
        versions = client("ec2").describe_launch_template_versions(LaunchTemplateId=template_id, Versions=["$Latest"])
        data = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]
        yield template_id, data["InstanceType"], "image", data["ImageId"]
        for interface in data.get("NetworkInterfaces", []):
            kind = {"efa-only": "EFA", "efa": "EFA + ENA"}.get(interface.get("InterfaceType", ""), "ENA")
            yield (
                template_id,
                data["InstanceType"],
                f"card {interface.get('NetworkCardIndex', 0)} device {interface['DeviceIndex']}",
                kind,
            )


def _groups(client: Client, ids: list[str]) -> Iterable[tuple[str, ...]]:
    found = client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=ids)["AutoScalingGroups"]
    for group in found:
        size = f"{group['MinSize']} to {group['MaxSize']}, {group['DesiredCapacity']} wanted"
        yield group["AutoScalingGroupName"], size, "", ""
        for node in group["Instances"]:
            yield node["InstanceId"], node["InstanceType"], node["AvailabilityZone"], node["LifecycleState"]


def _placement_groups(client: Client, ids: list[str]) -> Iterable[tuple[str, ...]]:
    for group in client("ec2").describe_placement_groups(GroupNames=ids)["PlacementGroups"]:
        yield group["GroupName"], group["Strategy"], group["State"]


def _file_systems(client: Client, ids: list[str]) -> Iterable[tuple[str, ...]]:
    for found in client("fsx").describe_file_systems(FileSystemIds=ids)["FileSystems"]:
        lustre = found.get("LustreConfiguration", {})
        # Intelligent-Tiering grows and shrinks with what it holds, and has no capacity.
        capacity = f"{found['StorageCapacity']} GiB" if found.get("StorageCapacity") else "elastic"
        yield (
            found["FileSystemId"],
            str(lustre.get("DeploymentType", found["FileSystemType"])),
            capacity,
            f"{found['DNSName']}@tcp:/{lustre.get('MountName', '')}",
        )


def _roles(client: Client, ids: list[str]) -> Iterable[tuple[str, ...]]:
    for name in ids:
        attached = client("iam").list_attached_role_policies(RoleName=name)["AttachedPolicies"]
        inline = client("iam").list_role_policies(RoleName=name)["PolicyNames"]
        policies = [policy["PolicyName"] for policy in attached]
        yield name, ", ".join(policies) or "none", ", ".join(inline) or "none"


def _buckets(client: Client, ids: list[str]) -> Iterable[tuple[str, ...]]:
    for name in ids:
        rules = client("s3").get_bucket_encryption(Bucket=name)["ServerSideEncryptionConfiguration"]["Rules"]
        encryption = rules[0]["ApplyServerSideEncryptionByDefault"]["SSEAlgorithm"]
        yield name, encryption


_SECTIONS: tuple[tuple[str, str, tuple[str, ...], Callable[[Client, list[str]], Iterable[tuple[str, ...]]]], ...] = (
    ("AWS::EC2::VPC", "Network", ("what", "id", "range or service", "zone or state"), _networks),
    ("AWS::EC2::SecurityGroup", "Security groups", ("group", "for", "way", "traffic", "peer"), _security_groups),
    ("AWS::EC2::LaunchTemplate", "Launch template", ("id", "type", "part", "what"), _launch_templates),
    ("AWS::EC2::PlacementGroup", "Placement group", ("name", "strategy", "state"), _placement_groups),
    (
        "AWS::AutoScaling::AutoScalingGroup",
        "Auto Scaling group",
        ("name or node", "size or type", "zone", "state"),
        _groups,
    ),
    *report_serving.SECTIONS,
    ("AWS::FSx::FileSystem", "File system", ("id", "type", "capacity", "mounted from"), _file_systems),
    ("AWS::S3::Bucket", "Buckets", ("name", "encryption"), _buckets),
    ("AWS::IAM::Role", "Roles", ("name", "managed policies", "own policies"), _roles),
)
