"""Capacity Reservations and Capacity Blocks: kept and described, so that a cluster that names one can be deployed."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from moto.core.responses import ActionResult
from moto.ec2.exceptions import EC2ClientError
from moto.ec2.responses import EC2Response
from moto.ec2.utils import random_id

from gpu_constructs.local import extend
from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.cloudformation import LocalResource


@dataclass(frozen=True)
class CapacityReservation:
    """What DescribeCapacityReservations tells of one."""

    instance_type: str
    availability_zone: str
    instance_count: int
    platform: str = "Linux/UNIX"
    tenancy: str = "default"
    instance_match_criteria: str = "open"
    placement_group_arn: str | None = None
    end_date: str | None = None
    reservation_type: str = "default"
    state: str = "active"
    tags: dict[str, str] = field(default_factory=dict)
    reservation_id: str = field(default_factory=lambda: random_id("cr"))
    created: datetime = field(default_factory=clock.now)

    def described(self, region: str, account_id: str) -> dict[str, Any]:
        """In the API's words."""
        return {
            "CapacityReservationId": self.reservation_id,
            "CapacityReservationArn": f"arn:aws:ec2:{region}:{account_id}:capacity-reservation/{self.reservation_id}",
            "OwnerId": account_id,
            "InstanceType": self.instance_type,
            "InstancePlatform": self.platform,
            "AvailabilityZone": self.availability_zone,
            "Tenancy": self.tenancy,
            "TotalInstanceCount": self.instance_count,
            "AvailableInstanceCount": self.instance_count if self.state == "active" else 0,
            "State": self.state,
            "StartDate": self.created,
            "CreateDate": self.created,
            "EndDate": self.end_date,
            "EndDateType": "limited" if self.end_date else "unlimited",
            "InstanceMatchCriteria": self.instance_match_criteria,
            "PlacementGroupArn": self.placement_group_arn,
            "ReservationType": self.reservation_type,
            "Tags": [{"Key": key, "Value": value} for key, value in self.tags.items()],
        }


_reservations: dict[tuple[str, str], dict[str, CapacityReservation]] = {}


def reservations_of(account_id: str, region: str) -> dict[str, CapacityReservation]:
    """The reservations of an account in a Region, by id."""
    return _reservations.setdefault((account_id, region), {})


def install() -> None:
    """Add the API operations; the CloudFormation type is found by its name."""
    for operation in (create_capacity_reservation, describe_capacity_reservations, cancel_capacity_reservation):
        extend.add_method(EC2Response, operation)


def create_capacity_reservation(self: EC2Response) -> ActionResult:
    """CreateCapacityReservation."""
    asked = {
        "instance_type": self._get_param("InstanceType"),
        "availability_zone": self._get_param("AvailabilityZone"),
        "instance_count": self._get_int_param("InstanceCount"),
        "platform": self._get_param("InstancePlatform"),
        "tenancy": self._get_param("Tenancy"),
        "instance_match_criteria": self._get_param("InstanceMatchCriteria"),
        "placement_group_arn": self._get_param("PlacementGroupArn"),
        "end_date": self._get_param("EndDate"),
        "tags": self._parse_tag_specification().get("capacity-reservation"),
    }
    reservation = CapacityReservation(**{key: value for key, value in asked.items() if value is not None})
    reservations_of(self.current_account, self.region)[reservation.reservation_id] = reservation
    return ActionResult({"CapacityReservation": reservation.described(self.region, self.current_account)})


def describe_capacity_reservations(self: EC2Response) -> ActionResult:
    """DescribeCapacityReservations."""
    reservations = reservations_of(self.current_account, self.region)
    ids = self._get_param("CapacityReservationIds", [])
    chosen = [_existing(reservations, i) for i in ids] if ids else list(reservations.values())
    return ActionResult({"CapacityReservations": [r.described(self.region, self.current_account) for r in chosen]})


def cancel_capacity_reservation(self: EC2Response) -> ActionResult:
    """CancelCapacityReservation."""
    _cancel(self.current_account, self.region, self._get_param("CapacityReservationId"))
    return ActionResult({"Return": True})


class CapacityReservationResource(LocalResource):
    """AWS::EC2::CapacityReservation."""

    TYPE = "AWS::EC2::CapacityReservation"

    def create(self, name: str, properties: dict[str, Any]) -> None:
        del name
        tags = [t for spec in properties.get("TagSpecifications", []) for t in spec.get("Tags", [])]
        reservation = CapacityReservation(
            instance_type=properties["InstanceType"],
            availability_zone=properties["AvailabilityZone"],
            instance_count=int(properties["InstanceCount"]),
            platform=properties["InstancePlatform"],
            tenancy=properties.get("Tenancy", "default"),
            instance_match_criteria=properties.get("InstanceMatchCriteria", "open"),
            placement_group_arn=properties.get("PlacementGroupArn"),
            end_date=properties.get("EndDate"),
            tags={tag["Key"]: tag["Value"] for tag in tags},
        )
        self.physical_resource_id = reservation.reservation_id
        reservations_of(self.account_id, self.region)[reservation.reservation_id] = reservation

    def delete(self, *_: str) -> None:
        _cancel(self.account_id, self.region, self.physical_resource_id)

    def attributes(self) -> dict[str, Any]:
        described = reservations_of(self.account_id, self.region)[self.physical_resource_id].described(
            self.region, self.account_id
        )
        names = ("AvailabilityZone", "InstanceType", "Tenancy", "TotalInstanceCount", "AvailableInstanceCount")
        return {"Id": self.physical_resource_id, **{name: described[name] for name in names}}


def _cancel(account_id: str, region: str, reservation_id: str) -> None:
    reservations = reservations_of(account_id, region)
    reservations[reservation_id] = replace(_existing(reservations, reservation_id), state="cancelled")


def _existing(reservations: dict[str, CapacityReservation], reservation_id: str) -> CapacityReservation:
    if reservation_id not in reservations:
        raise EC2ClientError(
            "InvalidCapacityReservationId.NotFound",
            f"The Capacity Reservation ID '{reservation_id}' does not exist",
        )
    return reservations[reservation_id]
