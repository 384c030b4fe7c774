"""Clusters of two p4d.24xlarge, but for what a test says."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Stack

from gpu_constructs import GpuConstructsError, TrainingCluster


def make_cluster(scope: Stack, **options: Any) -> TrainingCluster:
    return TrainingCluster(scope, "Cluster", **{"instance_type": "p4d.24xlarge", "node_count": 2, **options})


def refusal(scope: Stack, **options: Any) -> str:
    with pytest.raises(GpuConstructsError) as raised:
        make_cluster(scope, **options)
    return str(raised.value)
