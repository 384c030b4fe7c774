"""What stands in front of the nodes, as CloudFormation gets it."""

from __future__ import annotations

import pytest
from aws_cdk import App, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sqs as sqs

from gpu_constructs import Capacity, GpuConstructsError, Listener, ServingRuntime
from tests.conftest import only, resources, warnings
from tests.inference.made import (
    DOMAIN,
    IMAGE,
    attributes,
    certificate,
    group,
    make_tier,
    make_vpc,
    properties,
    refusal,
)

LISTENER, TARGET_GROUP = "AWS::ElasticLoadBalancingV2::Listener", "AWS::ElasticLoadBalancingV2::TargetGroup"
LOAD_BALANCER, RULE = "AWS::ElasticLoadBalancingV2::LoadBalancer", "AWS::ElasticLoadBalancingV2::ListenerRule"
OFFICE = ec2.Peer.ipv4("198.51.100.0/24")


def _ingress(stack: Stack) -> list[tuple[int, str]]:
    """Who may connect to the load balancer, by port."""
    (found,) = [
        one
        for one in properties(stack, "AWS::EC2::SecurityGroup")
        if one["GroupDescription"].startswith("Load balancer")
    ]
    return [(rule["ToPort"], rule["CidrIp"]) for rule in found.get("SecurityGroupIngress", [])]


def test_https_ends_at_the_load_balancer_with_a_modern_policy(stack: Stack) -> None:
    make_tier(stack)
    https, redirect = sorted(properties(stack, LISTENER), key=lambda one: -int(one["Port"]))
    assert (https["Port"], https["Protocol"]) == (443, "HTTPS")
    assert https["SslPolicy"] == "ELBSecurityPolicy-TLS13-1-2-Res-PQ-2025-09"
    assert https["DefaultActions"][0]["FixedResponseConfig"] == {"StatusCode": "404"}
    assert redirect["DefaultActions"][0]["RedirectConfig"] == {
        "Port": "443",
        "Protocol": "HTTPS",
        "StatusCode": "HTTP_301",
    }
    rule = only(stack, RULE)["Properties"]
    assert rule["Conditions"] == [{"Field": "host-header", "HostHeaderConfig": {"Values": [DOMAIN]}}]


def test_nobody_may_connect_unless_it_is_said(stack: Stack) -> None:
    make_tier(stack)
    assert _ingress(stack) == []


def test_those_who_may_connect_reach_both_ports(stack: Stack) -> None:
    make_tier(stack, listener=Listener.https(certificate(stack), DOMAIN, [OFFICE]))
    assert sorted(_ingress(stack)) == [(80, "198.51.100.0/24"), (443, "198.51.100.0/24")]


def test_nodes_take_requests_of_the_load_balancer_alone(stack: Stack) -> None:
    make_tier(stack)
    ports = [one["ToPort"] for one in properties(stack, "AWS::EC2::SecurityGroupIngress") if one["IpProtocol"] == "tcp"]
    assert ports == [8000]


def test_load_balancer_is_in_public_subnets_unless_it_is_internal(stack: Stack) -> None:
    make_tier(stack)
    found = only(stack, LOAD_BALANCER)["Properties"]
    assert found["Scheme"] == "internet-facing"
    assert all("Public" in subnet["Ref"] for subnet in found["Subnets"])


def test_internal_load_balancer_is_in_private_subnets(stack: Stack) -> None:
    make_tier(stack, listener=Listener.https(certificate(stack), DOMAIN, internal=True))
    found = only(stack, LOAD_BALANCER)["Properties"]
    assert found["Scheme"] == "internal"
    assert all("Private" in subnet["Ref"] for subnet in found["Subnets"])


def test_load_balancer_is_in_one_subnet_of_each_zone(stack: Stack) -> None:
    """Two in one zone are refused: a VPC with two tiers of private subnets has them."""
    kinds = [
        ec2.SubnetConfiguration(name="Public", subnet_type=ec2.SubnetType.PUBLIC),
        ec2.SubnetConfiguration(name="One", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS),
        ec2.SubnetConfiguration(name="Two", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS),
    ]
    make_tier(stack, vpc=make_vpc(stack, subnet_configuration=kinds), listener=Listener.internal_http())
    assert len(only(stack, LOAD_BALANCER)["Properties"]["Subnets"]) == 2


def test_grpc_has_a_target_group_of_its_own_behind_the_same_listener(stack: Stack) -> None:
    make_tier(stack, runtime=ServingRuntime.triton(IMAGE, grpc=True))
    grpc, http = sorted(properties(stack, TARGET_GROUP), key=lambda one: str(one["ProtocolVersion"]))
    assert (grpc["ProtocolVersion"], grpc["Port"], grpc["Matcher"]) == ("GRPC", 8001, {"GrpcCode": "0"})
    assert grpc["HealthCheckPath"] == "/inference.GRPCInferenceService/ServerReady"
    assert (http["ProtocolVersion"], http["Port"], http["Matcher"]) == ("HTTP1", 8000, {"HttpCode": "200"})
    first, _ = sorted(properties(stack, RULE), key=lambda one: int(one["Priority"]))
    assert first["Conditions"][1]["HttpHeaderConfig"] == {
        "HttpHeaderName": "content-type",
        "Values": ["application/grpc*"],
    }
    assert len(group(stack)["Properties"]["TargetGroupARNs"]) == 2


def test_server_that_speaks_grpc_alone_has_one_target_group(stack: Stack) -> None:
    runtime = ServingRuntime.container("scorer:1", 9000, "/grpc.health.v1.Health/Check", grpc=True)
    make_tier(stack, runtime=runtime)
    assert only(stack, TARGET_GROUP)["Properties"]["ProtocolVersion"] == "GRPC"


def test_health_checks_let_a_busy_server_live(stack: Stack) -> None:
    """A burst of requests fails one of ten seconds though the engine is well (ray-project/ray#54070)."""
    make_tier(stack)
    found = only(stack, TARGET_GROUP)["Properties"]
    assert found["HealthCheckTimeoutSeconds"] >= 10
    assert found["UnhealthyThresholdCount"] >= 3
    assert found["HealthCheckTimeoutSeconds"] < found["HealthCheckIntervalSeconds"]


def test_timeouts_follow_the_server_and_the_capacity(stack: Stack) -> None:
    runtime = ServingRuntime.vllm("vllm/vllm-openai:v1", "Qwen/Qwen3-8B", slots=64)
    make_tier(stack, runtime=runtime, capacity=Capacity.spot(on_demand_base=1))
    target = attributes(only(stack, TARGET_GROUP)["Properties"], "TargetGroupAttributes")
    assert target["deregistration_delay.timeout_seconds"] == "110"
    assert target["load_balancing.algorithm.type"] == "least_outstanding_requests"
    front = attributes(only(stack, LOAD_BALANCER)["Properties"], "LoadBalancerAttributes")
    assert front["idle_timeout.timeout_seconds"] == "300"
    assert front["routing.http.drop_invalid_header_fields.enabled"] == "true"


def test_slow_start_is_set_where_it_is_asked_for(stack: Stack) -> None:
    make_tier(stack, listener=Listener.https(certificate(stack), DOMAIN, slow_start_seconds=60))
    target = attributes(only(stack, TARGET_GROUP)["Properties"], "TargetGroupAttributes")
    assert target["slow_start.duration_seconds"] == "60"


def test_requests_are_logged_to_the_bucket_of_the_tier(stack: Stack) -> None:
    make_tier(stack)
    front = attributes(only(stack, LOAD_BALANCER)["Properties"], "LoadBalancerAttributes")
    assert (front["access_logs.s3.enabled"], front["access_logs.s3.prefix"]) == ("true", "access-logs")
    bucket = only(stack, "AWS::S3::Bucket")["Properties"]
    encryption = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"][0]
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] == "AES256"
    assert bucket["LifecycleConfiguration"]["Rules"][0]["ExpirationInDays"] == 90


def test_requests_are_not_logged_where_the_region_is_not_known() -> None:
    """CDK fails there (aws/aws-cdk#18367): the account that writes the logs follows from the Region."""
    stack = Stack(App(), "Stack")
    make_tier(stack, vpc=None)
    front = attributes(only(stack, LOAD_BALANCER)["Properties"], "LoadBalancerAttributes")
    assert "access_logs.s3.enabled" not in front
    assert [text for text in warnings(stack) if "requests are not logged" in text]


def test_bucket_for_logs_may_be_the_users_own_but_for_one_with_a_key(stack: Stack) -> None:
    """aws/aws-cdk#21947: load balancers write to none."""
    bucket = s3.Bucket(stack, "Logs", encryption_key=kms.Key(stack, "Key"))
    listener = Listener.https(certificate(stack), DOMAIN, access_logs=bucket)
    assert "access_logs must be a bucket that is encrypted with S3's own keys" in refusal(stack, listener=listener)


def test_web_acl_is_attached(stack: Stack) -> None:
    arn = "arn:aws:wafv2:us-east-1:111111111111:regional/webacl/acl/00000000"
    make_tier(stack, listener=Listener.https(certificate(stack), DOMAIN, waf_acl=arn))
    assert only(stack, "AWS::WAFv2::WebACLAssociation")["Properties"]["WebACLArn"] == arn


def test_network_load_balancer_passes_bytes_to_the_port_of_the_server(stack: Stack) -> None:
    tier = make_tier(stack, listener=Listener.nlb(9000, [OFFICE]))
    front = only(stack, LOAD_BALANCER)["Properties"]
    assert (front["Type"], front["Scheme"]) == ("network", "internal")
    assert attributes(front, "LoadBalancerAttributes")["load_balancing.cross_zone.enabled"] == "true"
    assert len(front["SecurityGroups"]) == 1
    listener = only(stack, LISTENER)["Properties"]
    assert (listener["Port"], listener["Protocol"]) == (9000, "TCP")
    target = only(stack, TARGET_GROUP)["Properties"]
    assert (target["Port"], target["HealthCheckProtocol"]) == (8000, "HTTP")
    assert target["HealthCheckPath"] == "/v2/health/ready"
    assert _ingress(stack) == [(9000, "198.51.100.0/24")]
    assert tier.url.endswith(":9000")


def test_network_load_balancer_speaks_tls_with_a_certificate(stack: Stack) -> None:
    make_tier(stack, listener=Listener.nlb(certificate=certificate(stack)))
    assert only(stack, LISTENER)["Properties"]["Protocol"] == "TLS"


def test_network_load_balancer_has_the_addresses_that_were_given(stack: Stack) -> None:
    make_tier(stack, listener=Listener.nlb(allocation_ids=["eipalloc-1", "eipalloc-2"]))
    front = only(stack, LOAD_BALANCER)["Properties"]
    assert [one["AllocationId"] for one in front["SubnetMappings"]] == ["eipalloc-1", "eipalloc-2"]
    assert front["Scheme"] == "internet-facing"


def test_grpc_over_a_network_load_balancer_has_a_listener_of_its_own(stack: Stack) -> None:
    make_tier(stack, listener=Listener.nlb(), runtime=ServingRuntime.triton(IMAGE, grpc=True))
    assert sorted(one["Port"] for one in properties(stack, LISTENER)) == [443, 8001]
    assert [text for text in warnings(stack) if "clients of gRPC keep one connection" in text]


def test_workers_are_fed_by_a_queue(stack: Stack) -> None:
    tier = make_tier(stack, listener=Listener.none(), runtime=ServingRuntime.container("worker:1", request_seconds=100))
    assert (tier.load_balancer, tier.listener) == (None, None)
    assert resources(stack, LOAD_BALANCER) == {}
    (queue,) = [one for one in properties(stack, "AWS::SQS::Queue") if "RedrivePolicy" in one]
    assert (queue["VisibilityTimeout"], queue["RedrivePolicy"]["maxReceiveCount"]) == (600, 3)
    assert queue["SqsManagedSseEnabled"] is True


def test_queue_may_be_the_users_own(stack: Stack) -> None:
    queue = sqs.Queue(stack, "Own")
    tier = make_tier(stack, listener=Listener.none(queue), runtime=ServingRuntime.container("worker:1"))
    assert tier.queue is queue
    assert len(resources(stack, "AWS::SQS::Queue")) == 1
    assert stack.resolve(tier.url) == stack.resolve(queue.queue_url)


def test_metric_of_requests_is_refused_where_there_are_none(stack: Stack) -> None:
    tier = make_tier(stack, listener=Listener.none(), runtime=ServingRuntime.container("worker:1"))
    with pytest.raises(GpuConstructsError, match="one of a tier without an Application Load Balancer"):
        tier.metric_latency()


def test_new_connections_are_the_requests_of_a_network_load_balancer(stack: Stack) -> None:
    tier = make_tier(stack, listener=Listener.nlb())
    assert tier.metric_requests().metric_name == "NewFlowCount"


def test_url_is_the_domain_name(stack: Stack) -> None:
    assert make_tier(stack).url == "https://api.example.com"
