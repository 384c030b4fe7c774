"""What users wait for, timed by `make bench`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from aws_cdk import App, Stack
from pytest_benchmark.fixture import BenchmarkFixture

from gpu_constructs import GpuInstance, Lustre, TrainingCluster
from gpu_constructs.network import efa
from gpu_constructs.storage import lustre
from tests.bench.plain import PlainCluster


@pytest.mark.parametrize("module", ["gpu_constructs", "gpu_constructs.cli", "gpu_constructs.training.cluster"])
def test_import(benchmark: BenchmarkFixture, module: str) -> None:
    command = [sys.executable, "-c", f"import {module}"]
    benchmark.pedantic(subprocess.run, args=(command,), kwargs={"check": True}, rounds=5, warmup_rounds=1)


def test_interfaces_of_the_largest_node(benchmark: BenchmarkFixture) -> None:
    instance = GpuInstance.of("p5.48xlarge")
    assert len(benchmark(efa.interfaces, instance)) == 33


def test_rules_of_a_file_system(benchmark: BenchmarkFixture) -> None:
    assert benchmark(lustre.problems, Lustre.persistent(1300, 250))


def _ours(stack: Stack, id: str) -> None:
    TrainingCluster(stack, id, instance_type="p4d.24xlarge", node_count=2)


def _plain(stack: Stack, id: str) -> None:
    PlainCluster(stack, id)


def _synthesise(create: Callable[[Stack, str], None], clusters: int) -> None:
    app = App()
    for number in range(clusters):
        create(Stack(app, f"Stack{number}"), "Cluster")
    app.synth()


@pytest.mark.benchmark(group="one cluster, and the same resources in plain aws-cdk-lib")
@pytest.mark.parametrize("create", [_plain, _ours])
def test_synthesis_beside_plain(benchmark: BenchmarkFixture, create: Callable[[Stack, str], None]) -> None:
    benchmark.pedantic(_synthesise, args=(create, 1), rounds=20, warmup_rounds=3)


@pytest.mark.benchmark(group="clusters in one app")
@pytest.mark.parametrize("clusters", [1, 10, 50])
def test_synthesis_of_many(benchmark: BenchmarkFixture, clusters: int) -> None:
    benchmark.pedantic(_synthesise, args=(_ours, clusters), rounds=3, warmup_rounds=1)
