"""Tiers at random: arguments that AWS accepts together, and ways to spoil them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from hypothesis import strategies as st

from gpu_constructs import (
    Capacity,
    GpuImage,
    InferenceTier,
    Listener,
    ModelSource,
    Rollout,
    Scaling,
    ServingRuntime,
    Volume,
)
from tests.inference.made import DOMAIN, certificate
from tests.inference.made import IMAGE as TRITON_IMAGE

WEB_ACL = "arn:aws:wafv2:us-east-1:111111111111:regional/webacl/team/00000000-0000-0000-0000-000000000000"
ECR_IMAGE = "111111111111.dkr.ecr.us-east-1.amazonaws.com/ranker:7"
TF_SERVING, VLLM = "tensorflow/serving:2.20.0-gpu", "vllm/vllm-openai:v0.29.0"
HEALTH = "/grpc.health.v1.Health/Check"
# Types of one architecture, with as many GPUs each.
TYPES = (["g5.xlarge"], ["g4dn.xlarge", "g5.xlarge"], ["g6.xlarge", "g6.2xlarge", "g5.xlarge"], ["g6e.12xlarge"])


@dataclass(frozen=True)
class Wish:
    """A tier as somebody may ask for it: what is of a stack is made when the tier is.

    Args:
        options: The arguments that are of no stack.
        own_vpc: Whether it gets a VPC.
        https: What is said of HTTPS; nothing where `options` has the listener.
        stored: The prefix of a model in S3; nothing for none.
        secret: Whether the registry asks for a login.
    """

    options: dict[str, Any]
    own_vpc: bool
    https: dict[str, Any] | None
    stored: str | None
    secret: bool

    def make(self, stack: Stack) -> InferenceTier:
        options = dict(self.options)
        if self.own_vpc:
            options["vpc"] = ec2.Vpc(stack, "Vpc", availability_zones=["us-east-1a", "us-east-1b"], nat_gateways=1)
        if self.https is not None and "listener" not in options:
            options["listener"] = Listener.https(certificate(stack), DOMAIN, **self.https)
        if self.stored is not None and "model" not in options:
            bucket = s3.Bucket.from_bucket_name(stack, "Models", "team-models")
            options["model"] = ModelSource.s3(bucket, self.stored, version="3", size_gib=4)
        if self.secret:
            secret = secretsmanager.Secret.from_secret_name_v2(stack, "Login", "registry")
            options["runtime"] = options["runtime"].with_credentials(secret)
        return InferenceTier(stack, "Tier", **options)


@st.composite
def _servers(draw: st.DrawFn, *, grpc: bool, stored: bool) -> ServingRuntime:
    slots = draw(st.sampled_from([None, 1, 64]))
    server = draw(
        st.sampled_from(
            [
                ServingRuntime.triton(TRITON_IMAGE, grpc=grpc, slots=slots),
                ServingRuntime.triton(TRITON_IMAGE, grpc=grpc, explicit_models=["ranker"]),
                ServingRuntime.tensorflow_serving(TF_SERVING, "ranker", grpc=grpc, slots=slots),
                ServingRuntime.vllm(VLLM, None if stored else "Qwen/Qwen3-4B", slots=slots),
                ServingRuntime.container(ECR_IMAGE, 8080, "/healthz", request_seconds=draw(st.integers(1, 900))),
                *([ServingRuntime.container(ECR_IMAGE, 50051, HEALTH, grpc=True)] if grpc else []),
            ]
        )
    )
    if draw(st.booleans()) and server.port:
        server = server.with_warm_up("/first", draw(st.sampled_from(["", '{"text": "a"}'])))
    return server.with_environment({"TEAM": "search"}) if draw(st.booleans()) else server


def _capacities(minimum: int) -> st.SearchStrategy[Capacity]:
    return st.sampled_from(
        [Capacity.on_demand(), Capacity.spot(), *([Capacity.spot(on_demand_base=1)] if minimum else [])]
    )


def _https() -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(
        {},
        optional={
            "internal": st.booleans(),
            "waf_acl": st.just(WEB_ACL),
            "access_logs": st.booleans(),
            "allowed_peers": st.just([ec2.Peer.ipv4("198.51.100.0/24"), ec2.Peer.prefix_list("pl-0123456789abcdef0")]),
            "idle_timeout_seconds": st.integers(900, 4000),
        },
    )


@st.composite
def valid(draw: st.DrawFn) -> Wish:
    """A tier that AWS would accept."""
    kind = draw(st.sampled_from(["https", "internal", "nlb", "none"]))
    minimum = draw(st.integers(0, 3))
    stored = draw(st.sampled_from([None, "models/ranker", ""]))
    capacity = draw(_capacities(minimum))
    types = draw(st.sampled_from(TYPES))
    worker = ServingRuntime.container(ECR_IMAGE)
    options: dict[str, Any] = {
        "instance_types": types,
        "runtime": worker if kind == "none" else draw(_servers(grpc=kind == "https", stored=stored is not None)),
        "capacity": capacity,
        "min_capacity": minimum,
        "max_capacity": minimum + draw(st.integers(1, 20)),
        "warm_pool": draw(st.integers(0, 2)) if capacity.market == "on-demand" else 0,
        "scaling": draw(
            st.sampled_from(
                [None, [], [Scaling.cpu_utilization(70)], [Scaling.gpu_utilization(50), Scaling.cpu_utilization(80)]]
            )
        ),
        "rollout": draw(st.sampled_from([Rollout.rolling(), Rollout.rolling(min_in_service=0)])),
        "image": draw(st.sampled_from([None, GpuImage.dlami(os="ubuntu-24.04")])),
        "root_volume": draw(st.sampled_from([None, Volume(300), Volume(500, throughput_mb_s=800, iops=4000)])),
        "data_volume": draw(st.sampled_from([None, Volume(100)])),
        "load_seconds": draw(st.sampled_from([None, 900])),
    }
    if kind != "https":
        others = {"internal": Listener.internal_http(), "nlb": Listener.nlb(8000), "none": Listener.none()}
        options["listener"] = others[kind]
    return Wish(
        options,
        own_vpc=draw(st.booleans()),
        https=draw(_https()) if kind == "https" else None,
        stored=stored,
        secret=draw(st.booleans()),
    )


class _Bucket:
    """Stands for a bucket of which nothing is asked, for the tier is refused."""


SPOILED: dict[str, tuple[dict[str, Any], str]] = {
    "instance_types": ({"instance_types": ["g9.xlarge"]}, "instance_type must be"),
    "runtime": (
        {"runtime": ServingRuntime.container("https://registry/a:1", 8080, "/healthz")},
        "image must be the name of a container image",
    ),
    "model": (
        {"model": ModelSource(bucket=_Bucket(), prefix="models", version="latest")},  # type: ignore[arg-type]
        "model version must be the name of one version that never changes",
    ),
    "listener": (
        {"listener": Listener.internal_http(slow_start_seconds=60, routing="least_outstanding_requests")},
        "routing must be round_robin with a slow start",
    ),
    "min_capacity": ({"min_capacity": -1}, "min_capacity must be a whole number of at least 0, got -1"),
    "warm_pool": ({"warm_pool": -1}, "warm_pool must be a whole number of at least 0, got -1"),
    "scaling": ({"scaling": [Scaling.cpu_utilization(0)]}, "scaling cpu-utilization must be more than 0"),
    "rollout": ({"rollout": Rollout.rolling(pause_seconds=1)}, "rollout pause_seconds must be from"),
    "load_seconds": ({"load_seconds": 0}, "load_seconds"),
    "data_volume": ({"data_volume": Volume(0)}, "data_volume"),
    "vpc_subnets": ({"vpc_subnets": ec2.SubnetSelection()}, "vpc_subnets must be left out"),
    "security_groups": ({}, "security_groups must be at most 16"),
}
"""An argument that is wrong whatever the others are, and the words that say so."""
