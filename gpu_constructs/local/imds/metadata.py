"""The paths below /latest/ and what is there. Pure.

See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-metadata.html
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from email.utils import formatdate

from gpu_constructs.local.imds import state as places
from gpu_constructs.local.imds.facts import InstanceFacts, Interface
from gpu_constructs.local.imds.state import ScheduledEvent, State

_CREDENTIALS_LAST, _CREDENTIALS_RENEWED_SECONDS = timedelta(hours=6), 3600

WallClock = Callable[[float], datetime]
"""The time of day, in UTC, at a number of seconds since the service started."""


def leaves(facts: InstanceFacts, state: State, elapsed: float, wall: WallClock) -> dict[str, str]:
    """Return all paths below /latest/ that have a value, with it."""
    found = {
        "dynamic/instance-identity/document": _identity_document(facts, wall),
        "user-data": facts.user_data,
        **_under("meta-data", _about(facts)),
        **_under("meta-data/iam", _iam(facts, elapsed, wall)),
        **_under("meta-data/tags/instance", facts.tags or {}),
        **_announced(state, wall),
    }
    for interface in facts.interfaces:
        found |= _under(f"meta-data/network/interfaces/macs/{interface.mac}", _interface(facts, interface))
    return {path: value for path, value in found.items() if value is not None}


def look_up(found: Mapping[str, str], path: str) -> str | None:
    """Return a value or, for a folder, the list of what is in it; None if there is neither."""
    if path in found:
        return found[path]
    start = f"{path}/" if path else ""
    below = {leaf.removeprefix(start) for leaf in found if leaf.startswith(start)}
    names = {name.split("/")[0] + ("/" if "/" in name else "") for name in below}
    return "\n".join(sorted(names)) if names else None


def known_paths(facts: InstanceFacts) -> set[str]:
    """Return all paths that may ever have a value, and the folders of them."""
    some_time = datetime.fromtimestamp(0, timezone.utc)
    everything = State(action=("terminate", 0), termination_time=0, rebalance=0, lifecycle_state="InService")
    values = {*leaves(facts, everything, 0, lambda _: some_time), places.TOKEN}
    return {part for value in values for part in _with_folders(value)}


def _with_folders(path: str) -> Iterator[str]:
    while path:
        yield path
        path = path.rpartition("/")[0]


def _under(folder: str, values: Mapping[str, str | None]) -> dict[str, str | None]:
    return {f"{folder}/{name}": value for name, value in values.items()}


def iso(when: datetime) -> str:
    """Return a time as EC2 writes it."""
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")


def _host_name(facts: InstanceFacts) -> str:
    domain = "ec2.internal" if facts.region == "us-east-1" else f"{facts.region}.compute.internal"
    return f"ip-{facts.private_ip.replace('.', '-')}.{domain}"


def _about(facts: InstanceFacts) -> dict[str, str | None]:
    return {
        "ami-id": facts.image_id,
        "ami-launch-index": "0",
        "hostname": _host_name(facts),
        "instance-action": "none",
        "instance-id": facts.instance_id,
        "instance-life-cycle": facts.life_cycle,
        "instance-type": facts.instance_type,
        "local-hostname": _host_name(facts),
        "local-ipv4": facts.private_ip,
        "mac": facts.interfaces[0].mac,
        "placement/availability-zone": facts.availability_zone,
        "placement/availability-zone-id": facts.availability_zone_id,
        "placement/group-name": facts.placement_group,
        "placement/region": facts.region,
        "security-groups": "\n".join(facts.security_group_ids),
        "services/domain": "amazonaws.com",
        "services/partition": "aws",
    }


def _identity_document(facts: InstanceFacts, wall: WallClock) -> str:
    document = {
        "accountId": facts.account,
        "architecture": facts.architecture,
        "availabilityZone": facts.availability_zone,
        "billingProducts": None,
        "devpayProductCodes": None,
        "marketplaceProductCodes": None,
        "imageId": facts.image_id,
        "instanceId": facts.instance_id,
        "instanceType": facts.instance_type,
        "kernelId": None,
        "pendingTime": iso(wall(0)),
        "privateIp": facts.private_ip,
        "ramdiskId": None,
        "region": facts.region,
        "version": "2017-09-30",
    }
    return json.dumps(document, indent=2)


def _iam(facts: InstanceFacts, elapsed: float, wall: WallClock) -> dict[str, str | None]:
    if facts.role is None:
        return {}
    given = wall(elapsed // _CREDENTIALS_RENEWED_SECONDS * _CREDENTIALS_RENEWED_SECONDS)
    info = {
        "Code": "Success",
        "LastUpdated": iso(given),
        "InstanceProfileArn": f"arn:aws:iam::{facts.account}:instance-profile/{facts.role}",
        "InstanceProfileId": "AIPA0123456789ABCDEF0",
    }
    credentials = {
        "Code": "Success",
        "LastUpdated": iso(given),
        "Type": "AWS-HMAC",
        "AccessKeyId": facts.access_key_id,
        "SecretAccessKey": facts.secret_access_key,
        "Token": f"session-of-{facts.instance_id}",
        "Expiration": iso(given + _CREDENTIALS_LAST),
    }
    return {
        "info": json.dumps(info, indent=2),
        f"security-credentials/{facts.role}": json.dumps(credentials, indent=2),
    }


def _interface(facts: InstanceFacts, interface: Interface) -> dict[str, str | None]:
    return {
        "device-number": str(interface.device_number),
        "interface-id": interface.interface_id,
        "local-hostname": _host_name(facts),
        "local-ipv4s": interface.private_ip,
        "mac": interface.mac,
        "network-card": str(interface.network_card),
        "owner-id": facts.account,
        "security-group-ids": "\n".join(facts.security_group_ids),
        "security-groups": "\n".join(facts.security_group_ids),
        "subnet-id": facts.subnet_id,
        "vpc-id": facts.vpc_id,
    }


def _announced(state: State, wall: WallClock) -> dict[str, str | None]:
    active = [event for event in state.events.values() if event.state == "active"]
    over = [event for event in state.events.values() if event.state != "active"]
    found: dict[str, str | None] = {
        places.LIFECYCLE_STATE: state.lifecycle_state,
        places.SCHEDULED: _events(active, wall),
        places.HISTORY: _events(over, wall),
    }
    if state.action is not None:
        action, when = state.action
        found[places.INSTANCE_ACTION] = json.dumps({"action": action, "time": iso(wall(when))})
    if state.termination_time is not None:
        found[places.TERMINATION_TIME] = iso(wall(state.termination_time))
    if state.rebalance is not None:
        found[places.REBALANCE] = json.dumps({"noticeTime": iso(wall(state.rebalance))})
    return found


def _events(events: Iterable[ScheduledEvent], wall: WallClock) -> str:
    return json.dumps(
        [
            {
                "NotBefore": _event_time(wall(event.at + event.in_seconds)),
                "Code": event.code,
                "Description": _description(event),
                "EventId": event.event_id,
                "NotAfter": _event_time(wall(event.at + event.in_seconds + event.lasts_seconds)),
                "State": event.state,
            }
            for event in events
        ]
    )


def _description(event: ScheduledEvent) -> str:
    """What is over says so in its description, too."""
    return event.description if event.state == "active" else f"[{event.state.capitalize()}] {event.description}"


def _event_time(when: datetime) -> str:
    """Not as all other times are written: "21 Jan 2019 09:00:43 GMT", the day without a zero."""
    _, day, month, year, time_of_day, _ = formatdate(when.timestamp(), usegmt=True).split()  # strftime asks the locale
    return f"{int(day)} {month} {year} {time_of_day} GMT"
