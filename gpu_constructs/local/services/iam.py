"""IAM of the local AWS: roles from CloudFormation get the managed policies that moto leaves off."""

from __future__ import annotations

from typing import Any

from moto.iam.models import Role, iam_backends
from moto.utilities.utils import get_partition

from gpu_constructs.local import extend


def install() -> None:
    """Have managed policies attached when a role is created or updated."""
    extend.extend_creation(Role, _attach_managed_policies)


def _attach_managed_policies(role: Role, properties: dict[str, Any], account_id: str, region: str) -> None:
    backend = iam_backends[account_id][get_partition(region)]
    wanted = set(properties.get("ManagedPolicyArns", []))
    for arn in set(role.managed_policies) - wanted:
        backend.detach_role_policy(arn, role.name)
    for arn in wanted - set(role.managed_policies):
        backend.attach_role_policy(arn, role.name)
