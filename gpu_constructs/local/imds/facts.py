"""The instance that a fake metadata service speaks of."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_args, get_type_hints

from gpu_constructs.local.access import ACCESS_KEY_ID, SECRET_ACCESS_KEY


@dataclass(frozen=True, kw_only=True)
class Interface:
    """A network interface.

    Args:
        mac: Its MAC address.
        device_number: Its index on its network card.
        network_card: The index of its card.
        private_ip: Its address; an EFA-only interface has none.
    """

    mac: str = "02:00:0a:00:01:05"
    device_number: int = 0
    network_card: int = 0
    private_ip: str | None = None

    @property
    def interface_id(self) -> str:
        """An id, made from the MAC address."""
        return f"eni-0{self.mac.replace(':', ''):0>16}"


@dataclass(frozen=True, kw_only=True)
class InstanceFacts:
    """The instance that a fake metadata service speaks of.

    Args:
        instance_id: Its id.
        instance_type: Its type.
        region: Its Region.
        availability_zone: Its zone; by default the Region's first.
        availability_zone_id: The id of its zone.
        image_id: Its AMI.
        private_ip: Its primary private address.
        architecture: "x86_64" or "arm64".
        account: The account that it is in.
        life_cycle: "on-demand" or "spot".
        placement_group: The name of its placement group.
        role: The name of the role in its instance profile; None if it has no profile.
        access_key_id: The key that its role gives; by default the local AWS's.
        secret_access_key: The secret key.
        tags: Its tags, as `InstanceMetadataTags: enabled` shows them; None if they are not shown.
        user_data: Its user data; None if it has none.
        vpc_id: Its VPC.
        subnet_id: Its subnet.
        security_group_ids: Its security groups.
        interfaces: Its network interfaces, the primary one first.
    """

    instance_id: str = "i-0123456789abcdef0"
    instance_type: str = "p4d.24xlarge"
    region: str = "us-east-1"
    availability_zone: str = ""
    availability_zone_id: str = "use1-az1"
    image_id: str = "ami-0123456789abcdef0"
    private_ip: str = "10.0.1.5"
    architecture: str = "x86_64"
    account: str = "123456789012"
    life_cycle: str = "on-demand"
    placement_group: str | None = None
    role: str | None = "node"
    access_key_id: str = ACCESS_KEY_ID
    secret_access_key: str = field(default=SECRET_ACCESS_KEY, repr=False)
    tags: Mapping[str, str] | None = field(default_factory=dict)
    user_data: str | None = None
    vpc_id: str = "vpc-0123456789abcdef0"
    subnet_id: str = "subnet-0123456789abcdef0"
    security_group_ids: tuple[str, ...] = ("sg-0123456789abcdef0",)
    interfaces: tuple[Interface, ...] = (Interface(),)

    def __post_init__(self) -> None:
        if not self.interfaces:
            raise ValueError("an instance has at least one network interface, got none")
        if not self.availability_zone:
            object.__setattr__(self, "availability_zone", f"{self.region}a")
        primary = self.interfaces[0]
        if primary.private_ip is None:
            first = Interface(
                mac=primary.mac,
                device_number=primary.device_number,
                network_card=primary.network_card,
                private_ip=self.private_ip,
            )
            object.__setattr__(self, "interfaces", (first, *self.interfaces[1:]))

    @classmethod
    def from_json(cls, text: str) -> InstanceFacts:
        """Read what a facts file says, by the names above.

        Raises:
            ValueError: It is no JSON object, or has a name or a value that is none of an instance.
        """
        given = _object("the facts", json.loads(text))
        if isinstance(given.get("interfaces"), list):
            found = (_object("an interface", one) for one in given["interfaces"])
            given["interfaces"] = tuple(Interface(**_known("an interface", Interface, one)) for one in found)
        if isinstance(given.get("security_group_ids"), list):
            given["security_group_ids"] = tuple(given["security_group_ids"])
        return cls(**_known("the facts", cls, given))


def _object(what: str, given: Any) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"{what} must be a JSON object, got {given!r}")
    return dict(given)


def _known(what: str, kind: type, given: dict[str, Any]) -> dict[str, Any]:
    allowed = {one.name for one in fields(kind)}
    unknown = sorted(given.keys() - allowed)
    if unknown:
        raise ValueError(f"{what} must not have {', '.join(unknown)}; there are {', '.join(sorted(allowed))}")
    hints = get_type_hints(kind)
    for name, value in given.items():
        if not isinstance(value, _plain(hints[name])) or isinstance(value, bool):
            raise ValueError(f"{name} of {what} must not be {value!r}")
    return given


def _plain(hint: Any) -> tuple[type, ...]:
    """The classes of a type hint, without what is in brackets."""
    members = get_args(hint) if isinstance(hint, types.UnionType) else (hint,)
    return tuple(getattr(member, "__origin__", member) for member in members)
