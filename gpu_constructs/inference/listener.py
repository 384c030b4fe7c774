"""What stands in front of the nodes.

    Listener.https(certificate, "api.example.com", allowed_peers=[ec2.Peer.prefix_list("pl-0123456789abcdef0")])
    Listener.none()  # workers, fed by a queue

Imports no aws_cdk.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from aws_cdk import aws_certificatemanager as acm
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_s3 as s3
    from aws_cdk import aws_sqs as sqs

ListenerKind = Literal["https", "internal-http", "nlb", "none"]
Routing = Literal["round_robin", "least_outstanding_requests"]


@dataclass(frozen=True, kw_only=True)
class Listener:
    """What stands in front of the nodes; made by the methods below, not by hand.

    Args:
        kind: Which of them.
        certificate: The certificate, if there is one.
        domain_name: The name that it is for.
        internal: Whether it is reached from within the VPC alone.
        port: The port that it listens on.
        allowed_peers: Who may connect; by default nobody.
        waf_acl: The ARN of a web ACL, if there is one.
        access_logs: Whether, or in which bucket, requests are logged.
        idle_timeout_seconds: How long a connection may be silent; by default as long as an answer of the server takes.
        slow_start_seconds: How long a new node's share grows; 0 for at once.
        routing: How a node is chosen; by default by what the server says of its slots.
        allocation_ids: The elastic addresses of a network load balancer, one a subnet.
        queue: The queue that feeds workers; by default one is created.
    """

    kind: ListenerKind
    certificate: acm.ICertificate | None = None
    domain_name: str | None = None
    internal: bool = True
    port: int = 443
    allowed_peers: tuple[ec2.IPeer, ...] = ()
    waf_acl: str | None = None
    access_logs: bool | s3.IBucket = False
    idle_timeout_seconds: int | None = None
    slow_start_seconds: int = 0
    routing: Routing | None = None
    allocation_ids: tuple[str, ...] = ()
    queue: sqs.IQueue | None = None

    @classmethod
    def https(
        cls,
        certificate: acm.ICertificate,
        domain_name: str,
        allowed_peers: Sequence[ec2.IPeer] = (),
        waf_acl: str | None = None,
        access_logs: bool | s3.IBucket = True,
        *,
        internal: bool = False,
        idle_timeout_seconds: int | None = None,
        slow_start_seconds: int = 0,
        routing: Routing | None = None,
    ) -> Listener:
        """An Application Load Balancer with HTTPS (TLS 1.2 and 1.3) on 443; HTTP is redirected there.

        Requests for another name than `domain_name` get a 404. A server that speaks gRPC gets a second target group:
        its requests are told by their content type. About 0.0225 USD an hour in us-east-1, and what is served
        (https://aws.amazon.com/elasticloadbalancing/pricing/).

        Args:
            certificate: The certificate of `domain_name`, of AWS Certificate Manager, in the stack's Region.
            domain_name: The name that clients use: an alias record for it is yours to create.
            allowed_peers: Who may connect, such as `ec2.Peer.ipv4("198.51.100.0/24")`, a prefix list or a security
                group. By default nobody; `load_balancer.connections` lets others in.
            waf_acl: The ARN of a web ACL of AWS WAF. It reads the first 8 KB of a body unless it says otherwise.
            access_logs: Whether requests are logged, to a bucket of the tier's own for 90 days, or to a bucket of
                yours; AWS takes none that is encrypted with a KMS key. Not where only the deployment knows the Region.
            internal: Whether it is reached from within the VPC alone, and in private subnets.
            idle_timeout_seconds: 1 to 4000. By default the longest that an answer of the server takes, and at least 60.
            slow_start_seconds: 30 to 900: how long a new node's share of requests grows. By default it has it at once,
                since it has been warmed up.
            routing: "round_robin" or "least_outstanding_requests". By default the second for a server whose slots are
                known.
        """
        return cls(
            kind="https",
            certificate=certificate,
            domain_name=domain_name,
            internal=internal,
            allowed_peers=tuple(allowed_peers),
            waf_acl=waf_acl,
            access_logs=access_logs,
            idle_timeout_seconds=idle_timeout_seconds,
            slow_start_seconds=slow_start_seconds,
            routing=routing,
        )

    @classmethod
    def internal_http(
        cls,
        allowed_peers: Sequence[ec2.IPeer] = (),
        *,
        idle_timeout_seconds: int | None = None,
        slow_start_seconds: int = 0,
        routing: Routing | None = None,
    ) -> Listener:
        """An Application Load Balancer within the VPC, with HTTP on port 80: requests are not encrypted.

        Args:
            allowed_peers: As of `https`.
            idle_timeout_seconds: As of `https`.
            slow_start_seconds: As of `https`.
            routing: As of `https`.
        """
        return cls(
            kind="internal-http",
            port=80,
            allowed_peers=tuple(allowed_peers),
            idle_timeout_seconds=idle_timeout_seconds,
            slow_start_seconds=slow_start_seconds,
            routing=routing,
        )

    @classmethod
    def nlb(
        cls,
        port: int = 443,
        allowed_peers: Sequence[ec2.IPeer] = (),
        *,
        certificate: acm.ICertificate | None = None,
        allocation_ids: Sequence[str] = (),
        internal: bool | None = None,
        idle_timeout_seconds: int | None = None,
    ) -> Listener:
        """A Network Load Balancer: raw TCP, addresses that stay, and clients' own addresses at the node.

        It knows connections, not requests: a client that keeps one connection, as those of gRPC do, stays with one
        node. There is no scaling by its requests and no redirect.

        Args:
            port: The port that it listens on.
            allowed_peers: As of `https`.
            certificate: A certificate: it then speaks TLS. By default bytes pass as they are.
            allocation_ids: Elastic addresses, "eipalloc-...", one for each subnet, with which it is reached from the
                internet. By default it is internal, with private addresses.
            internal: Whether it is reached from within the VPC alone. By default it is, without `allocation_ids`.
            idle_timeout_seconds: 60 to 6000. By default 350.
        """
        return cls(
            kind="nlb",
            port=port,
            allowed_peers=tuple(allowed_peers),
            certificate=certificate,
            allocation_ids=tuple(allocation_ids),
            internal=not allocation_ids if internal is None else internal,
            idle_timeout_seconds=idle_timeout_seconds,
        )

    @classmethod
    def none(cls, queue: sqs.IQueue | None = None) -> Listener:
        """No load balancer: nodes take their work from an SQS queue, for jobs that may wait.

        The container finds the URL of the queue in QUEUE_URL and its Region in AWS_REGION, and its node may receive and
        delete messages.

        Args:
            queue: The queue. By default one is created, encrypted, whose messages are invisible to others for six times
                as long as one takes, and go to a dead-letter queue after the third try.
        """
        return cls(kind="none", queue=queue)

    @property
    def takes_requests(self) -> bool:
        """Whether there is a load balancer."""
        return self.kind != "none"

    @property
    def application(self) -> bool:
        """Whether that is an Application Load Balancer, which knows requests."""
        return self.kind in {"https", "internal-http"}
