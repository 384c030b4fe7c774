"""What differs between model servers, each by its own documentation."""

from __future__ import annotations

import pytest

from gpu_constructs import ServingRuntime
from gpu_constructs.inference.runtime import WarmUp

TRITON = ServingRuntime.triton("nvcr.io/nvidia/tritonserver:26.05-py3", grpc=True)
TENSORFLOW = ServingRuntime.tensorflow_serving("tensorflow/serving:2.20.0-gpu", "ranker", grpc=True)
VLLM = ServingRuntime.vllm("vllm/vllm-openai:v0.21.0", slots=64)


@pytest.mark.parametrize(
    ("runtime", "ports", "ready", "grpc"),
    [
        (TRITON, (8000, 8001, 8002), "/v2/health/ready", "/inference.GRPCInferenceService/ServerReady"),
        (TENSORFLOW, (8501, 8500), "/v1/models/ranker", "/AWS.ALB/healthcheck"),
        (VLLM, (8000,), "/health", None),
    ],
)
def test_ports_and_paths(runtime: ServingRuntime, ports: tuple[int, ...], ready: str, grpc: str | None) -> None:
    assert runtime.ports == ports
    assert runtime.ready_path == runtime.health_path == ready
    assert (runtime.grpc.health_method if runtime.grpc else None) == grpc


def test_triton_that_loads_models_later_is_asked_whether_it_is_alive() -> None:
    """It is not ready while any model loads (triton-inference-server/server#7014): that would empty a target group."""
    runtime = ServingRuntime.triton("triton:1", explicit_models=["ranker"])
    assert runtime.health_path == "/v2/health/live"
    assert runtime.ready_path == "/v2/health/ready"
    assert runtime.command[-2:] == ("--model-control-mode=explicit", "--load-model=ranker")


def test_triton_ends_requests_before_it_is_killed() -> None:
    (seconds,) = (int(word.split("=")[1]) for word in TRITON.command if word.startswith("--exit-timeout-secs"))
    assert seconds < TRITON.stop_timeout_seconds


def test_answer_of_tensorflow_serving_must_say_that_the_model_is_there() -> None:
    """It answers 200 before (tensorflow/serving#1754)."""
    assert TENSORFLOW.ready_pattern == r'"state":\s*"AVAILABLE"'
    assert TENSORFLOW.model_path == "/models/ranker"
    assert TENSORFLOW.environment == {"MODEL_NAME": "ranker"}


def test_grpc_of_tensorflow_serving_is_there_when_it_answers_unimplemented() -> None:
    assert TENSORFLOW.grpc is not None
    assert TENSORFLOW.grpc.healthy_codes == "12"


def test_vllm_serves_what_is_copied_unless_a_name_is_given() -> None:
    assert VLLM.command == ("/models", "--max-num-seqs", "64")
    assert ServingRuntime.vllm("vllm:1", "Qwen/Qwen3-8B").command == ("Qwen/Qwen3-8B",)


def test_container_that_speaks_grpc_alone_has_no_path_for_http() -> None:
    runtime = ServingRuntime.container("scorer:1", 9000, "/grpc.health.v1.Health/Check", grpc=True)
    assert (runtime.port, runtime.ready_path, runtime.ports) == (None, None, (9000,))
    assert runtime.grpc is not None
    assert runtime.grpc.health_method == "/grpc.health.v1.Health/Check"


def test_worker_has_no_port() -> None:
    assert ServingRuntime.container("worker:1").ports == ()


def test_further_values_are_added_to_a_runtime() -> None:
    runtime = TENSORFLOW.with_warm_up("/v1/models/ranker:predict", '{"instances": [1]}').with_environment({"A": "b"})
    assert runtime.warm_up == WarmUp(path="/v1/models/ranker:predict", body='{"instances": [1]}')
    assert runtime.environment == {"MODEL_NAME": "ranker", "A": "b"}
    assert VLLM.with_arguments("--max-model-len", "8192").command[-2:] == ("--max-model-len", "8192")
    assert TENSORFLOW.warm_up is None
