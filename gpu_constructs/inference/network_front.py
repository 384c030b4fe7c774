"""A Network Load Balancer in front of a group, as a `Listener` says it."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Duration
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from constructs import Construct

from gpu_constructs.inference import listener_rules
from gpu_constructs.inference.listener import Listener
from gpu_constructs.inference.runtime import ServingRuntime


class NetworkFront(Construct):
    """The load balancer, and for each port of the server a listener and a target group.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        vpc: The VPC.
        subnets: Where it is.
        listener: What was asked for.
        runtime: The server behind it.
        group: Its nodes.
        deregistration: How long connections under way may last on a node that leaves.

    Attributes:
        load_balancer: The L2 load balancer.
        listener: The L2 listener that takes requests.
        target_group: The L2 target group of that.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        vpc: ec2.IVpc,
        subnets: Sequence[ec2.ISubnet],
        listener: Listener,
        runtime: ServingRuntime,
        group: autoscaling.AutoScalingGroup,
        deregistration: Duration,
    ) -> None:
        super().__init__(scope, id)
        self._vpc, self._wanted, self._runtime, self._group = vpc, listener, runtime, group
        self._deregistration = deregistration
        # One that has none at first can never get one.
        self._security_group = ec2.SecurityGroup(
            self, "SecurityGroup", vpc=vpc, description="Load balancer of model servers", allow_all_outbound=False
        )
        self.load_balancer = self._create_load_balancer(subnets)
        grpc = runtime.grpc.port if runtime.grpc else None
        first = runtime.port or grpc
        assert first is not None
        self.listener, self.target_group = self._create_listener("Listener", listener.port, first)
        if grpc is not None and grpc != first:
            self._create_listener("Grpc", grpc, grpc)

    def _create_load_balancer(self, subnets: Sequence[ec2.ISubnet]) -> elbv2.NetworkLoadBalancer:
        ids = self._wanted.allocation_ids
        mappings = [
            elbv2.SubnetMapping(subnet=subnet, allocation_id=one) for subnet, one in zip(subnets, ids, strict=False)
        ]
        return elbv2.NetworkLoadBalancer(
            self,
            "Resource",
            vpc=self._vpc,
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
            vpc=self._vpc,
            port=to,
            protocol=elbv2.Protocol.TCP,
            targets=[self._group],
            deregistration_delay=self._deregistration,
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
        self._group.connections.allow_from(self._security_group, ec2.Port.tcp(to), "requests and health checks")
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
