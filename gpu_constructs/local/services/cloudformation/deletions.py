"""Deletion of the types that moto's CloudFormation creates and then leaves behind without a word."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moto.ec2.models import EC2Backend, ec2_backends
from moto.iam.models import iam_backends
from moto.s3.exceptions import BucketNotEmpty
from moto.s3.models import s3_backends

_Deletion = Callable[[str, str, Any], None]
"""(account id, Region, moto's resource) to nothing; raises what the service would say."""


def delete(account_id: str, region: str, resource: Any, definition: dict[str, Any]) -> bool:
    """Delete a resource, if moto or this module knows how; whether one did.

    Args:
        account_id: Whose it is.
        region: Where it is.
        resource: moto's object.
        definition: As it was applied last, references resolved.
    """
    by_name: Any = type(resource).delete_from_cloudformation_json
    if definition["Type"] in _DELETIONS:
        _DELETIONS[definition["Type"]](account_id, region, resource)
    elif hasattr(resource, "delete"):
        resource.delete(account_id, region)
    elif not hasattr(by_name, "__isabstractmethod__"):
        by_name(resource.physical_resource_id, definition, account_id, region)
    else:
        return False
    return True


def _ec2(delete: Callable[[EC2Backend, Any], Any]) -> _Deletion:
    def deletion(account_id: str, region: str, resource: Any) -> None:
        delete(ec2_backends[account_id][region], resource)

    return deletion


def _release_address(backend: EC2Backend, address: Any) -> None:
    """A NAT gateway that is gone does not give its address back in moto."""
    if address.association_id:
        backend.disassociate_address(association_id=address.association_id)
    backend.release_address(allocation_id=address.allocation_id)


def _detach_gateway(backend: EC2Backend, attachment: Any) -> None:
    if attachment.gateway_id in backend.internet_gateways:
        backend.detach_internet_gateway(attachment.gateway_id, attachment.vpc_id)


def _delete_route(backend: EC2Backend, route: Any) -> None:
    backend.delete_route(route.route_table.id, route.destination_cidr_block)


def _delete_managed_policy(account_id: str, region: str, policy: Any) -> None:
    del region
    backend = iam_backends[account_id]["aws"]
    for role in backend.roles.values():
        role.managed_policies.pop(policy.arn, None)
    backend.delete_policy(policy.arn)


def _delete_role(account_id: str, region: str, role: Any) -> None:
    """With the policies that were put on it by its own definition, as CloudFormation takes them off first."""
    del region
    backend = iam_backends[account_id]["aws"]
    for arn in list(role.managed_policies):
        backend.detach_role_policy(arn, role.name)
    for name in list(role.policies):
        backend.delete_role_policy(role.name, name)
    backend.delete_role(role.name)


def _delete_bucket(account_id: str, region: str, bucket: Any) -> None:
    """Moto leaves a bucket that is not empty without a word."""
    del region
    if bucket.keys:
        raise BucketNotEmpty(bucket.name)
    s3_backends[account_id]["aws"].delete_bucket(bucket.name)


def _nothing(account_id: str, region: str, resource: Any) -> None:
    """Goes with what it belongs to (a permission or a version with its function)."""


_DELETIONS: dict[str, _Deletion] = {
    "AWS::EC2::EIP": _ec2(_release_address),
    "AWS::EC2::FlowLog": _ec2(lambda backend, log: backend.delete_flow_logs([log.id])),
    "AWS::EC2::InternetGateway": _ec2(lambda backend, gateway: backend.delete_internet_gateway(gateway.id)),
    "AWS::EC2::NatGateway": _ec2(lambda backend, gateway: backend.delete_nat_gateway(gateway.id)),
    "AWS::EC2::Route": _ec2(_delete_route),
    "AWS::EC2::RouteTable": _ec2(lambda backend, table: backend.delete_route_table(table.id)),
    "AWS::EC2::VPCEndpoint": _ec2(lambda backend, endpoint: backend.delete_vpc_endpoints([endpoint.id])),
    "AWS::EC2::VPCGatewayAttachment": _ec2(_detach_gateway),
    "AWS::IAM::ManagedPolicy": _delete_managed_policy,
    "AWS::IAM::Role": _delete_role,
    "AWS::Lambda::Permission": _nothing,
    "AWS::Lambda::Version": _nothing,
    "AWS::S3::Bucket": _delete_bucket,
}
