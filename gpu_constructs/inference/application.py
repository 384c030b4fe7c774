"""An Application Load Balancer in front of a group, as a `Listener` says it."""

from __future__ import annotations

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_elasticloadbalancingv2 as elbv2
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

from gpu_constructs.inference import listener_rules
from gpu_constructs.inference.front import Front
from gpu_constructs.inference.runtime import Grpc

# A server that works on many requests answers late and is well: https://github.com/ray-project/ray/issues/54070
_INTERVAL: Final = Duration.seconds(15)
_TIMEOUT: Final = Duration.seconds(10)
_HEALTHY, _UNHEALTHY = 2, 3
# Each Region's newest policy without what is broken; named, because CDK's default depends on a feature flag.
_TLS: Final = elbv2.SslPolicy.TLS13_12_RES_PQ
LOG_PREFIX: Final = "access-logs"


class ApplicationFront(Construct):
    """The load balancer, its target groups, listeners and rules.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        front: What it stands in front of, and where.
        log_bucket: Where requests are logged, if they are.

    Attributes:
        load_balancer: The L2 load balancer.
        listener: The L2 listener that takes requests.
        target_group: The L2 target group for HTTP; of a server that speaks gRPC alone the one for that.
        grpc_target_group: The one for gRPC, if there is one.
    """

    def __init__(self, scope: Construct, id: str, *, front: Front, log_bucket: s3.IBucket | None) -> None:
        super().__init__(scope, id)
        self._front, self._wanted, self._runtime = front, front.listener, front.runtime
        self.load_balancer = self._create_load_balancer()
        if log_bucket:
            self.load_balancer.log_access_logs(log_bucket, LOG_PREFIX)
        http = self._create_http(front.runtime.port) if front.runtime.port else None
        self.grpc_target_group = self._create_grpc(front.runtime.grpc) if front.runtime.grpc else None
        self.target_group = http or self.grpc_target_group
        self.listener = self._create_https(http) if self._wanted.kind == "https" else self._create_plain(http)
        if self._wanted.waf_acl:
            arn = self.load_balancer.load_balancer_arn
            wafv2.CfnWebACLAssociation(self, "WebAcl", resource_arn=arn, web_acl_arn=self._wanted.waf_acl)

    def _create_load_balancer(self) -> elbv2.ApplicationLoadBalancer:
        group = ec2.SecurityGroup(
            self,
            "SecurityGroup",
            vpc=self._front.vpc,
            description="Load balancer of model servers",
            allow_all_outbound=False,
        )
        return elbv2.ApplicationLoadBalancer(
            self,
            "Resource",
            vpc=self._front.vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=self._front.subnets),
            internet_facing=not self._wanted.internal,
            security_group=group,
            idle_timeout=Duration.seconds(listener_rules.idle_seconds(self._wanted, self._runtime)),
            drop_invalid_header_fields=True,
        )

    def _create_http(self, port: int) -> elbv2.ApplicationTargetGroup:
        check = elbv2.HealthCheck(
            path=self._runtime.health_path,
            healthy_http_codes="200",
            interval=_INTERVAL,
            timeout=_TIMEOUT,
            healthy_threshold_count=_HEALTHY,
            unhealthy_threshold_count=_UNHEALTHY,
        )
        return self._create_target_group("Http", port, elbv2.ApplicationProtocolVersion.HTTP1, check)

    def _create_grpc(self, grpc: Grpc) -> elbv2.ApplicationTargetGroup:
        check = elbv2.HealthCheck(
            path=grpc.health_method,
            healthy_grpc_codes=grpc.healthy_codes,
            interval=_INTERVAL,
            timeout=_TIMEOUT,
            healthy_threshold_count=_HEALTHY,
            unhealthy_threshold_count=_UNHEALTHY,
        )
        return self._create_target_group("Grpc", grpc.port, elbv2.ApplicationProtocolVersion.GRPC, check)

    def _create_target_group(
        self, id: str, port: int, version: elbv2.ApplicationProtocolVersion, check: elbv2.HealthCheck
    ) -> elbv2.ApplicationTargetGroup:
        slow, wanted = self._wanted.slow_start_seconds, listener_rules.routing(self._wanted, self._runtime)
        return elbv2.ApplicationTargetGroup(
            self,
            id,
            vpc=self._front.vpc,
            port=port,
            # TLS ends at the load balancer.
            protocol=elbv2.ApplicationProtocol.HTTP,
            protocol_version=version,
            targets=[self._front.group],
            health_check=check,
            deregistration_delay=self._front.deregistration,
            slow_start=Duration.seconds(slow) if slow else None,
            load_balancing_algorithm_type=elbv2.TargetGroupLoadBalancingAlgorithmType[wanted.upper()],
        )

    def _create_https(self, http: elbv2.ApplicationTargetGroup | None) -> elbv2.ApplicationListener:
        assert self._wanted.certificate is not None
        assert self._wanted.domain_name is not None
        listener = self.load_balancer.add_listener(
            "Https",
            port=self._wanted.port,
            protocol=elbv2.ApplicationProtocol.HTTPS,
            certificates=[elbv2.ListenerCertificate.from_certificate_manager(self._wanted.certificate)],
            ssl_policy=_TLS,
            open=False,
            default_action=elbv2.ListenerAction.fixed_response(404),
        )
        named = elbv2.ListenerCondition.host_headers([self._wanted.domain_name])
        if self.grpc_target_group:
            spoken = elbv2.ListenerCondition.http_header("content-type", ["application/grpc*"])
            forward = elbv2.ListenerAction.forward([self.grpc_target_group])
            listener.add_action("Grpc", priority=10, conditions=[named, spoken], action=forward)
        if http:
            listener.add_action("Http", priority=20, conditions=[named], action=elbv2.ListenerAction.forward([http]))
        redirect = self.load_balancer.add_listener(
            "Redirect",
            port=80,
            protocol=elbv2.ApplicationProtocol.HTTP,
            open=False,
            default_action=elbv2.ListenerAction.redirect(protocol="HTTPS", port=str(self._wanted.port), permanent=True),
        )
        self._allow(listener, redirect)
        return listener

    def _create_plain(self, http: elbv2.ApplicationTargetGroup | None) -> elbv2.ApplicationListener:
        assert http is not None
        listener = self.load_balancer.add_listener(
            "Http",
            port=self._wanted.port,
            protocol=elbv2.ApplicationProtocol.HTTP,
            open=False,
            default_action=elbv2.ListenerAction.forward([http]),
        )
        self._allow(listener)
        return listener

    def _allow(self, *listeners: elbv2.ApplicationListener) -> None:
        for peer in self._wanted.allowed_peers:
            for listener in listeners:
                listener.connections.allow_default_port_from(peer, "clients")
