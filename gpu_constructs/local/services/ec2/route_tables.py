"""Route tables and their subnets: moto's CloudFormation notes an association without making it."""

from __future__ import annotations

from typing import Any

from moto.ec2.models import ec2_backends

from gpu_constructs.local.services.cloudformation import LocalResource


class SubnetRouteTableAssociationResource(LocalResource):
    """AWS::EC2::SubnetRouteTableAssociation."""

    TYPE = "AWS::EC2::SubnetRouteTableAssociation"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        backend = ec2_backends[self.account_id][self.region]
        self.physical_resource_id = backend.associate_route_table(
            route_table_id=properties["RouteTableId"], subnet_id=properties["SubnetId"]
        )

    def delete(self, *_: str) -> None:
        ec2_backends[self.account_id][self.region].disassociate_route_table(self.physical_resource_id)

    def attributes(self) -> dict[str, Any]:
        return {"Id": self.physical_resource_id}
