"""The intrinsic functions of templates, where moto's differ from CloudFormation's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from moto.cloudformation.parsing import ResourceMap
from moto.ec2.models import ec2_backends

Resolve = Callable[[Any, ResourceMap], Any]


def resolving_zones(moto: Resolve) -> Resolve:
    """Moto's resolution of references, with the zones of the stack's own Region.

    moto takes `{"Fn::GetAZs": ""}`, which CDK writes for "the zones here", for those of us-east-1.
    """

    def clean_json(resource_json: Any, resources_map: ResourceMap) -> Any:
        if not isinstance(resource_json, dict) or "Fn::GetAZs" not in resource_json:
            return moto(resource_json, resources_map)
        region = moto(resource_json["Fn::GetAZs"], resources_map) or resources_map._region_name
        zones = ec2_backends[resources_map._account_id][region].describe_availability_zones()
        return [zone.name for zone in zones]

    return clean_json
