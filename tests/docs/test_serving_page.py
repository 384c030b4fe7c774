"""The numbers of the page are those of the code."""

from __future__ import annotations

import re
from pathlib import Path

from gpu_constructs import ServingRuntime
from gpu_constructs.inference import load_budget

TEXT = (Path(__file__).parents[2] / "docs" / "serving.md").read_text(encoding="utf-8")
RUNTIMES = {
    "triton": ServingRuntime.triton("a:1", grpc=True),
    "tensorflow_serving": ServingRuntime.tensorflow_serving("a:1", "NAME", grpc=True),
    "vllm": ServingRuntime.vllm("a:1"),
}


def test_ports_and_paths_are_those_of_the_runtimes() -> None:
    for name, runtime in RUNTIMES.items():
        (row,) = [line for line in TEXT.splitlines() if line.startswith(f"| `ServingRuntime.{name}`")]
        assert f"HTTP {runtime.port}" in row
        assert runtime.grpc is None or f"gRPC {runtime.grpc.port}" in row
        assert f"{runtime.ready_path}" in row
        assert f"at {runtime.model_path} " in row
        assert f"| {runtime.stop_timeout_seconds} s |" in row


def test_times_are_those_of_the_budget() -> None:
    rows = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", TEXT, re.MULTILINE)
    assert len(rows) == 4
    for image, model, volume, ready, waits in (tuple(map(int, row)) for row in rows):
        budget = load_budget.estimate(image_gib=image, model_gib=model, ebs_mib_s=volume)
        assert (budget.ready_seconds, budget.signal_seconds) == (ready, waits)
