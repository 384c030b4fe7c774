"""A Network Load Balancer in front of a group, as a `Listener` says it."""

from __future__ import annotations

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from constructs import Construct

from gpu_constructs.inference import listener_rules
from gpu_constructs.inference.front import Front


class NetworkFront(Construct):
    """The load balancer, and for each port of the server a listener and a target group.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        front: What it stands in front of, and where.

    Attributes:
        load_balancer: The L2 load balancer.
        listener: The L2 listener that takes requests.
        target_group: The L2 target group of that.
    """

    def __init__(self, scope: Construct, id: str, *, front: Front) -> None:
        super().__init__(scope, id)
        self._front, self._wanted, self._runtime = front, front.listener, front.runtime
        # One that has none at first can never get one.
        self._security_group = ec2.SecurityGroup(
            self, "SecurityGroup", vpc=front.vpc, description="Load balancer of model servers", allow_all_outbound=False
        )
        self.load_balancer = self._create_load_balancer()
        grpc = front.runtime.grpc.port if front.runtime.grpc else None
        first = front.runtime.port or grpc
        assert first is not None
        self.listener, self.target_group = self._create_listener("Listener", self._wanted.port, first)
        if grpc is not None and grpc != first:
            self._create_listener("Grpc", grpc, grpc)

    def _create_load_balancer(self) -> elbv2.NetworkLoadBalancer:
        subnets, ids = self._front.subnets, self._wanted.allocation_ids
        mappings = [
            elbv2.SubnetMapping(subnet=subnet, allocation_id=one) for subnet, one in zip(subnets, ids, strict=False)
        ]
        return elbv2.NetworkLoadBalancer(
            self,
            "Resource",
            vpc=self._front.vpc,
            vpc_subnets=None if mappings else ec2.SubnetSelection(subnets=subnets),
            subnet_mappings=mappings or None,
            internet_facing=not self._wanted.internal,
            # A zone may have one node, or none.
            cross_zone_enabled=True,
            security_groups=[self._security_group],
        )

    def _create_listener(self, id: str, port: int, to: int) -> tuple[elbv2.NetworkListener, elbv2.NetworkTargetGroup]:
        target_group = elbv2.NetworkTargetGroup(
            self,
            f"{id}Targets",
            vpc=self._front.vpc,
            port=to,
            protocol=elbv2.Protocol.TCP,
            targets=[self._front.group],
            deregistration_delay=self._front.deregistration,
            # A connection that stays open would keep the node; after the delay it ends.
            connection_termination=True,
            health_check=self._health_check(),
        )
        certificate = self._wanted.certificate
        listener = self.load_balancer.add_listener(
            id,
            port=port,
            protocol=elbv2.Protocol.TLS if certificate else elbv2.Protocol.TCP,
            certificates=[elbv2.ListenerCertificate.from_certificate_manager(certificate)] if certificate else None,
            ssl_policy=elbv2.SslPolicy.TLS13_12_RES_PQ if certificate else None,
            # Of TLS it cannot be set.
            tcp_idle_timeout=None
            if certificate
            else Duration.seconds(listener_rules.idle_seconds(self._wanted, self._runtime)),
            default_target_groups=[target_group],
        )
        for peer in self._wanted.allowed_peers:
            self._security_group.add_ingress_rule(peer, ec2.Port.tcp(port), "clients")
        self._front.group.connections.allow_from(self._security_group, ec2.Port.tcp(to), "requests and health checks")
        return listener, target_group

    def _health_check(self) -> elbv2.HealthCheck:
        runtime = self._runtime
        by_path = runtime.port is not None
        return elbv2.HealthCheck(
            protocol=elbv2.Protocol.HTTP if by_path else elbv2.Protocol.TCP,
            path=runtime.health_path if by_path else None,
            port=str(runtime.port) if by_path else None,
            interval=Duration.seconds(15),
            timeout=Duration.seconds(10),
            healthy_threshold_count=2,
            unhealthy_threshold_count=3,
        )
