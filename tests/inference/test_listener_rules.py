from __future__ import annotations

import dataclasses
from typing import Any, cast

import pytest

from gpu_constructs import Capacity, Listener, ServingRuntime
from gpu_constructs.inference import listener_rules
from gpu_constructs.network.subnets import Subnet, Zone
from gpu_constructs.observability import dimensions

CERTIFICATE = cast("Any", object())
TRITON = ServingRuntime.triton("triton:1")
TRITON_GRPC = ServingRuntime.triton("triton:1", grpc=True)
VLLM = ServingRuntime.vllm("vllm:1", "Qwen/Qwen3-8B")
WORKER = ServingRuntime.container("worker:1")
HTTPS = Listener.https(CERTIFICATE, "api.example.com")


def _said(listener: Listener, runtime: ServingRuntime = TRITON) -> str:
    return "\n".join(map(str, listener_rules.problems(listener, runtime)))


@pytest.mark.parametrize(
    ("listener", "runtime"),
    [
        (HTTPS, TRITON_GRPC),
        (HTTPS, VLLM),
        (Listener.https(CERTIFICATE, "*.example.com"), TRITON),
        (Listener.https(CERTIFICATE, "api.example.com", slow_start_seconds=30), TRITON),
        (Listener.https(CERTIFICATE, "api.example.com", idle_timeout_seconds=4000), TRITON),
        (Listener.internal_http(), TRITON),
        (Listener.nlb(8000), TRITON_GRPC),
        (Listener.none(), WORKER),
    ],
)
def test_listener_is_accepted(listener: Listener, runtime: ServingRuntime) -> None:
    assert _said(listener, runtime) == ""


@pytest.mark.parametrize(
    ("listener", "runtime", "words"),
    [
        (Listener.internal_http(), TRITON_GRPC, "got gRPC without a certificate"),
        (Listener.https(cast("Any", None), "api.example.com"), TRITON, "certificate must be a certificate of AWS"),
        (
            Listener.https(CERTIFICATE, "https://api.example.com"),
            TRITON,
            "domain_name must be the name that clients use",
        ),
        (Listener.https(CERTIFICATE, ""), TRITON, "domain_name must be the name that clients use"),
        (Listener.none(), TRITON, "got Listener.none() for a server that takes requests on port 8000"),
        (HTTPS, WORKER, "listener must be Listener.none() for a worker"),
        (Listener.nlb(0), TRITON, "listener port must be 1 to 65535, got 0"),
        (
            Listener.https(CERTIFICATE, "api.example.com", idle_timeout_seconds=7200),
            TRITON,
            "idle_timeout_seconds must be 1 to 4000 s, got 7200",
        ),
        (Listener.nlb(idle_timeout_seconds=10), TRITON, "idle_timeout_seconds must be 60 to 6000 s, got 10"),
        (
            Listener.internal_http(slow_start_seconds=10),
            TRITON,
            "slow_start_seconds must be 0, or 30 to 900 s, got 10",
        ),
        (
            Listener.internal_http(slow_start_seconds=60, routing="least_outstanding_requests"),
            TRITON,
            "routing must be round_robin with a slow start",
        ),
    ],
)
def test_listener_is_refused(listener: Listener, runtime: ServingRuntime, words: str) -> None:
    assert words in _said(listener, runtime)


def test_server_that_closes_first_is_refused() -> None:
    """The load balancer would send a request down a connection that is gone: 502."""
    runtime = ServingRuntime.container("a:1", 80, "/ok", keep_alive_seconds=60)
    assert "keep_alive_seconds must be longer than the idle timeout of the load balancer" in _said(HTTPS, runtime)
    assert _said(HTTPS, dataclasses.replace(runtime, keep_alive_seconds=61)) == ""
    assert _said(Listener.nlb(), runtime) == ""


def test_vllm_keeps_connections_longer_than_the_load_balancer() -> None:
    assert listener_rules.idle_seconds(HTTPS, VLLM) == 300
    assert listener_rules.keep_alive_environment(HTTPS, VLLM) == {"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "330"}
    longer = Listener.https(CERTIFICATE, "api.example.com", idle_timeout_seconds=900)
    assert listener_rules.keep_alive_environment(longer, VLLM) == {"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "930"}
    assert listener_rules.keep_alive_environment(HTTPS, TRITON) == {}


def test_node_that_leaves_has_as_long_as_an_answer_takes_but_not_longer_than_ec2_waits() -> None:
    assert listener_rules.deregistration_seconds(VLLM, Capacity.on_demand()) == 300
    assert listener_rules.deregistration_seconds(VLLM, Capacity.spot()) == 110
    assert listener_rules.deregistration_seconds(TRITON, Capacity.spot()) == 60


def test_server_with_known_slots_gets_each_request_where_the_fewest_are() -> None:
    slots = ServingRuntime.triton("triton:1", slots=8)
    assert listener_rules.routing(HTTPS, TRITON) == "round_robin"
    assert listener_rules.routing(HTTPS, slots) == "least_outstanding_requests"
    assert listener_rules.routing(Listener.internal_http(slow_start_seconds=60), slots) == "round_robin"


def _subnets(*zones: str) -> list[Subnet]:
    return [Subnet(zone=Zone(name=zone), public=True) for zone in zones]


def test_application_load_balancer_is_in_two_zones() -> None:
    (problem,) = listener_rules.subnet_problems(HTTPS, _subnets("us-east-1a"))
    assert "public subnets in at least two zones" in str(problem)
    assert "got public subnets in us-east-1a" in str(problem)
    (problem,) = listener_rules.subnet_problems(Listener.internal_http(), [])
    assert "got private subnets in no zone" in str(problem)
    assert listener_rules.subnet_problems(HTTPS, _subnets("us-east-1a", "us-east-1b")) == []
    assert listener_rules.subnet_problems(Listener.nlb(), _subnets("us-east-1a")) == []
    assert listener_rules.subnet_problems(Listener.none(), []) == []


def test_there_is_an_address_for_each_subnet() -> None:
    listener = Listener.nlb(allocation_ids=["eipalloc-1"])
    (problem,) = listener_rules.subnet_problems(listener, _subnets("us-east-1a", "us-east-1b"))
    assert "allocation_ids must be one elastic address for each subnet" in str(problem)
    assert listener_rules.subnet_problems(listener, _subnets("us-east-1a")) == []


def test_plain_http_is_warned_of() -> None:
    assert list(listener_rules.doubts(Listener.internal_http(), TRITON)) == ["requests-not-encrypted"]
    assert listener_rules.doubts(HTTPS, TRITON_GRPC) == {}


def test_grpc_by_connection_is_warned_of() -> None:
    """Clients reach less than half of the nodes (triton-inference-server/client#820)."""
    assert list(listener_rules.doubts(Listener.nlb(), TRITON_GRPC)) == ["grpc-by-connection"]
    assert listener_rules.doubts(Listener.nlb(), TRITON) == {}


def test_metric_that_nobody_publishes_is_refused() -> None:
    (problem,) = listener_rules.metric_problems("nlb", dimensions.LATENCY)
    assert "metric TargetResponseTime must be" in str(problem)
    assert listener_rules.metric_problems("none", dimensions.REQUESTS) != []
    assert listener_rules.metric_problems("https", dimensions.LATENCY) == []
    assert listener_rules.metric_problems("nlb", dimensions.FLOWS) == []


def test_logs_go_to_no_bucket_with_a_key() -> None:
    (problem,) = listener_rules.bucket_problems(encrypted_by_key=True)
    assert "access_logs must be a bucket that is encrypted with S3's own keys" in str(problem)
    assert listener_rules.bucket_problems(encrypted_by_key=False) == []
