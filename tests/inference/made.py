"""Tiers of one g5.xlarge with Triton behind HTTPS, but for what a test says."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_ec2 as ec2

from gpu_constructs import GpuConstructsError, InferenceTier, Listener, ServingRuntime
from tests.conftest import only, resources

IMAGE = "nvcr.io/nvidia/tritonserver:26.05-py3"
DOMAIN = "api.example.com"
CERTIFICATE = "arn:aws:acm:us-east-1:111111111111:certificate/00000000-0000-0000-0000-000000000000"


def certificate(scope: Stack) -> acm.ICertificate:
    return acm.Certificate.from_certificate_arn(scope, "Certificate", CERTIFICATE)


def make_vpc(scope: Stack, **options: Any) -> ec2.Vpc:
    return ec2.Vpc(scope, "Vpc", **{"availability_zones": ["us-east-1a", "us-east-1b"], "nat_gateways": 1, **options})


def make_tier(scope: Stack, **options: Any) -> InferenceTier:
    given = {"instance_types": ["g5.xlarge"], "runtime": ServingRuntime.triton(IMAGE), **options}
    if "listener" not in given:
        given["listener"] = Listener.https(certificate(scope), DOMAIN)
    if "vpc" not in given:
        given["vpc"] = make_vpc(scope)
    return InferenceTier(scope, "Tier", **given)


def refusal(scope: Stack, **options: Any) -> str:
    with pytest.raises(GpuConstructsError) as raised:
        make_tier(scope, **options)
    return str(raised.value)


def group(scope: Stack) -> dict[str, Any]:
    return only(scope, "AWS::AutoScaling::AutoScalingGroup")


def properties(scope: Stack, type_name: str) -> list[dict[str, Any]]:
    return [one["Properties"] for one in resources(scope, type_name).values()]


def attributes(found: dict[str, Any], what: str) -> dict[str, Any]:
    return {one["Key"]: one["Value"] for one in found[what]}
