"""What Elastic Load Balancing refuses about a listener and a server behind it. Imports no aws_cdk.

https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-target-groups.html
https://docs.aws.amazon.com/elasticloadbalancing/latest/application/edit-target-group-attributes.html
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gpu_constructs.checks import Problem
from gpu_constructs.inference.runtime import KEEP_ALIVE_MARGIN_SECONDS

if TYPE_CHECKING:
    from gpu_constructs.capacity import Capacity
    from gpu_constructs.inference.listener import Listener, ListenerKind, Routing
    from gpu_constructs.inference.runtime import ServingRuntime
    from gpu_constructs.network.subnets import Subnet
    from gpu_constructs.observability.dimensions import Series

_NAME = re.compile(r"(\*\.)?([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z0-9-]+", re.IGNORECASE)
_IDLE: Final = {"https": (1, 4000), "internal-http": (1, 4000), "nlb": (60, 6000)}
_SLOW_START: Final = (30, 900)
_LEAST_IDLE_SECONDS: Final = 60
_NLB_IDLE_SECONDS: Final = 350
_LONGEST_DEREGISTRATION: Final = 3600
# EC2 takes a spot node back two minutes after it has said so.
_LONGEST_DEREGISTRATION_OF_SPOT: Final = 110
_PORTS = range(1, 65536)


def idle_seconds(listener: Listener, runtime: ServingRuntime) -> int:
    """Return how long a connection may be silent: as long as an answer takes."""
    if listener.idle_timeout_seconds is not None:
        return listener.idle_timeout_seconds
    return _NLB_IDLE_SECONDS if listener.kind == "nlb" else max(_LEAST_IDLE_SECONDS, runtime.request_seconds)


def deregistration_seconds(runtime: ServingRuntime, capacity: Capacity) -> int:
    """Return how long requests under way may take on a node that leaves; of spot not longer than EC2 waits."""
    longest = _LONGEST_DEREGISTRATION_OF_SPOT if capacity.market == "spot" else _LONGEST_DEREGISTRATION
    return min(runtime.request_seconds, longest)


def routing(listener: Listener, runtime: ServingRuntime) -> Routing:
    """Return how a node is chosen."""
    if listener.routing is not None:
        return listener.routing
    return "least_outstanding_requests" if runtime.slots and not listener.slow_start_seconds else "round_robin"


def keep_alive_environment(listener: Listener, runtime: ServingRuntime) -> dict[str, str]:
    """Return the variables by which a server keeps connections longer than the load balancer."""
    if not listener.application or runtime.keep_alive_variable is None:
        return {}
    return {runtime.keep_alive_variable: str(idle_seconds(listener, runtime) + KEEP_ALIVE_MARGIN_SECONDS)}


def problems(listener: Listener, runtime: ServingRuntime) -> list[Problem]:
    """Say what would be refused about a listener and the server behind it; nothing if nothing is known to be."""
    if not listener.takes_requests:
        return _worker_problems(runtime)
    return [
        *_port_problems(listener, runtime),
        *_name_problems(listener),
        *_grpc_problems(listener, runtime),
        *_timeout_problems(listener, runtime),
    ]


def doubts(listener: Listener, runtime: ServingRuntime) -> dict[str, str]:
    """Say what looks wrong about a listener, by the code of the warning."""
    found = {}
    if listener.kind == "internal-http":
        found["requests-not-encrypted"] = (
            "requests reach the load balancer as plain HTTP, from within the VPC; use Listener.https(certificate, "
            "domain_name) where they are to be encrypted, or to come from elsewhere"
        )
    if listener.kind == "nlb" and runtime.grpc:
        found["grpc-by-connection"] = (
            "clients of gRPC keep one connection, and a Network Load Balancer sends all of it to one node, so that "
            "nodes are used unevenly; use Listener.https(...), which knows each request"
        )
    return found


def log_doubts() -> dict[str, str]:
    """Say that requests are not logged, by the code of the warning."""
    return {
        "access-logs-off": "requests are not logged: only the deployment knows the Region, and the account that writes "
        "the logs follows from it; give the stack an env with a region, or pass access_logs=False"
    }


def metric_problems(kind: ListenerKind, series: Series) -> list[Problem]:
    """Say that nothing publishes a series of load balancers for a listener; nothing if one does."""
    published = {"nlb": "AWS/NetworkELB", "none": ""}.get(kind, "AWS/ApplicationELB")
    if series.namespace == published:
        return []
    return [
        Problem(
            what=f"metric {series.name}",
            given="one of a tier without an Application Load Balancer",
            allowed="Listener.https(...) or Listener.internal_http(...): others know no requests",
            remedy="use a metric of the group or of the queue, or another listener",
            prevents="an alarm that stays in INSUFFICIENT_DATA",
        )
    ]


def bucket_problems(*, encrypted_by_key: bool) -> list[Problem]:
    """Say why access logs cannot go to a bucket; nothing if they can."""
    if not encrypted_by_key:
        return []
    return [
        Problem(
            what="access_logs",
            given="a bucket that is encrypted with a KMS key",
            allowed="a bucket that is encrypted with S3's own keys",
            remedy="pass another bucket, or True for one of the tier's own",
            prevents="Access Denied for bucket. Please check S3bucket permission",
        )
    ]


def subnet_problems(listener: Listener, subnets: Sequence[Subnet], what: str = "vpc_subnets") -> list[Problem]:
    """Say why a load balancer cannot be in subnets; nothing if it can.

    Args:
        listener: The listener.
        subnets: Its subnets.
        what: The argument that they follow from.
    """
    if not listener.takes_requests:
        return []
    zones = list(dict.fromkeys(str(subnet.zone) for subnet in subnets))
    found = []
    if listener.application and len(zones) < 2:  # noqa: PLR2004
        kind = "private" if listener.internal else "public"
        found.append(
            Problem(
                what=what,
                given=f"{kind} subnets in {', '.join(zones) or 'no zone'}",
                allowed=f"{kind} subnets in at least two zones, for an Application Load Balancer",
                remedy="use a VPC with subnets in two zones, or Listener.nlb(...), which takes one",
                prevents="At least two subnets in two different Availability Zones must be specified",
            )
        )
    addresses = len(listener.allocation_ids)
    if addresses and addresses != len(subnets):
        found.append(
            Problem(
                what="allocation_ids",
                given=f"{addresses} for {len(subnets)} subnets",
                allowed="one elastic address for each subnet of the load balancer",
                remedy="pass as many as the VPC has public subnets",
            )
        )
    return found


def _worker_problems(runtime: ServingRuntime) -> list[Problem]:
    if not runtime.ports:
        return []
    return [
        Problem(
            what="listener",
            given=f"Listener.none() for a server that takes requests on port {runtime.ports[0]}",
            allowed="a load balancer, or a worker without a port",
            remedy="use ServingRuntime.container(image) for a worker, or another listener",
        )
    ]


def _port_problems(listener: Listener, runtime: ServingRuntime) -> list[Problem]:
    found = []
    if runtime.port is None and runtime.grpc is None:
        found.append(
            Problem(
                what="listener",
                given=f"a load balancer in front of {runtime.image}, which has no port",
                allowed="Listener.none() for a worker",
                remedy="pass the port of the server, or listener=Listener.none()",
            )
        )
    if listener.port not in _PORTS:
        found.append(
            Problem(what="listener port", given=repr(listener.port), allowed="1 to 65535", remedy="pass another one")
        )
    return found


def _name_problems(listener: Listener) -> list[Problem]:
    if listener.kind != "https":
        return []
    found = []
    if listener.certificate is None:
        found.append(
            Problem(
                what="certificate",
                given="none",
                allowed="a certificate of AWS Certificate Manager",
                remedy="pass one, or use Listener.internal_http(...) within the VPC",
                prevents="A certificate must be specified for HTTPS listeners",
            )
        )
    if not _NAME.fullmatch(str(listener.domain_name)):
        found.append(
            Problem(
                what="domain_name",
                given=repr(listener.domain_name),
                allowed="the name that clients use, without https:// and path",
                remedy='pass it as in "api.example.com"',
            )
        )
    return found


def _grpc_problems(listener: Listener, runtime: ServingRuntime) -> list[Problem]:
    if listener.kind != "internal-http" or runtime.grpc is None:
        return []
    return [
        Problem(
            what="listener",
            given="gRPC without a certificate",
            allowed="Listener.https(certificate, domain_name): a load balancer takes gRPC by HTTPS alone",
            remedy="pass a certificate, or use Listener.nlb(...)",
            prevents="Listener protocol 'HTTP' is not supported with a target group with the protocol-version 'GRPC'",
        )
    ]


def _timeout_problems(listener: Listener, runtime: ServingRuntime) -> list[Problem]:
    least, most = _IDLE[listener.kind]
    idle, keep, slow = idle_seconds(listener, runtime), runtime.keep_alive_seconds, listener.slow_start_seconds
    checks = [
        (
            least <= idle <= most,
            "idle_timeout_seconds",
            idle,
            f"{least} to {most} s",
            "let the server stream its answer, or answer later, where it takes longer",
        ),
        (
            keep is None or not listener.application or keep > idle,
            "keep_alive_seconds",
            f"{keep} s, with an idle timeout of {idle} s",
            "longer than the idle timeout of the load balancer: who closes first must not be the server (502)",
            f"set it to {idle + KEEP_ALIVE_MARGIN_SECONDS} in the server, or lower idle_timeout_seconds",
        ),
        (
            slow == 0 or _SLOW_START[0] <= slow <= _SLOW_START[1],
            "slow_start_seconds",
            slow,
            f"0, or {_SLOW_START[0]} to {_SLOW_START[1]} s",
            "leave it out: nodes are warmed up before they are counted",
        ),
        (
            slow == 0 or listener.routing != "least_outstanding_requests",
            "routing",
            "least_outstanding_requests with slow_start_seconds",
            "round_robin with a slow start",
            "leave one of them out",
        ),
    ]
    return [
        Problem(what=what, given=str(given), allowed=allowed, remedy=remedy, prevents="ValidationError")
        for right, what, given, allowed, remedy in checks
        if not right
    ]
