"""What users wait for, timed by `make bench`."""

from __future__ import annotations

import subprocess
import sys

import pytest
from aws_cdk import App
from pytest_benchmark.fixture import BenchmarkFixture

from examples.training.stack import TrainingStack
from gpu_constructs import GpuInstance, Lustre
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
    assert benchmark(lustre.problems, Lustre.persistent(1300, 250))


def test_synthesis_of_training_stack(benchmark: BenchmarkFixture) -> None:
    def synthesise() -> None:
        app = App()
        TrainingStack(app, "TrainingStack")
        app.synth()

    benchmark.pedantic(synthesise, rounds=5, warmup_rounds=1)
