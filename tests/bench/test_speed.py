"""What users wait for, timed by `make bench`."""

from __future__ import annotations

import subprocess
import sys

import pytest
from aws_cdk import App, Stack
from pytest_benchmark.fixture import BenchmarkFixture

from gpu_constructs import GpuInstance, Lustre, TrainingCluster
from gpu_constructs.network import efa
from gpu_constructs.storage import lustre


@pytest.mark.parametrize("module", ["gpu_constructs", "gpu_constructs.cli", "gpu_constructs.training.cluster"])
def test_import(benchmark: BenchmarkFixture, module: str) -> None:
    command = [sys.executable, "-c", f"import {module}"]
    benchmark.pedantic(subprocess.run, args=(command,), kwargs={"check": True}, rounds=5, warmup_rounds=1)


def test_interfaces_of_the_largest_node(benchmark: BenchmarkFixture) -> None:
    instance = GpuInstance.of("p5.48xlarge")
    assert len(benchmark(efa.interfaces, instance)) == 33


def test_rules_of_a_file_system(benchmark: BenchmarkFixture) -> None:
    assert benchmark(lustre.problems, Lustre.persistent(1300, 250), "us-east-1")


def _synthesise(clusters: int) -> None:
    app = App()
    for number in range(clusters):
        TrainingCluster(Stack(app, f"Stack{number}"), "Cluster", instance_type="p4d.24xlarge", node_count=2)
    app.synth()


@pytest.mark.benchmark(group="clusters in one app")
@pytest.mark.parametrize("clusters", [1, 10, 50])
def test_synthesis_of_many(benchmark: BenchmarkFixture, clusters: int) -> None:
    benchmark.pedantic(_synthesise, args=(clusters,), rounds=3, warmup_rounds=1)
