from __future__ import annotations

import dataclasses
from typing import Any, cast

import pytest

from gpu_constructs import GpuInstance, ModelSource, ServingRuntime
from gpu_constructs.checks import UNKNOWN
from gpu_constructs.inference import model, runtime_rules

G5 = GpuInstance.of("g5.xlarge")
G5_FOUR = GpuInstance.of("g5.12xlarge")
TRITON = ServingRuntime.triton("nvcr.io/nvidia/tritonserver:26.05-py3")
VLLM = ServingRuntime.vllm("vllm/vllm-openai:v0.21.0")
BUCKET = cast("Any", object())
IN_S3 = ModelSource.s3(BUCKET, "models", "3")


def _said(runtime: ServingRuntime, source: ModelSource | None = None, *types: GpuInstance) -> str:
    found = runtime_rules.problems(runtime, source or ModelSource.in_image(), types or (G5,))
    return "\n".join(map(str, found))


@pytest.mark.parametrize(
    ("image", "host"),
    [
        ("nvcr.io/nvidia/tritonserver:26.05-py3", "nvcr.io"),
        ("vllm/vllm-openai:v0.21.0", "registry-1.docker.io"),
        ("redis", "registry-1.docker.io"),
        ("localhost/mine", "localhost"),
        ("registry.example.com:5000/mine", "registry.example.com:5000"),
    ],
)
def test_registry_is_read_from_the_name(image: str, host: str) -> None:
    assert runtime_rules.registry(image) == host


def test_repository_in_ecr_is_read_from_the_name() -> None:
    image = "111111111111.dkr.ecr.eu-west-1.amazonaws.com/team/ranker:7"
    assert runtime_rules.ecr_repository(image) == ("111111111111", "eu-west-1", "team/ranker")
    assert runtime_rules.ecr_repository("public.ecr.aws/team/ranker:7") is None


def test_hosts_in_the_internet_are_those_of_image_and_model() -> None:
    ecr = dataclasses.replace(TRITON, image="111111111111.dkr.ecr.eu-west-1.amazonaws.com/ranker:7")
    hub = ServingRuntime.vllm("vllm/vllm-openai:v1", "Qwen/Qwen3-8B")
    assert runtime_rules.internet_hosts(TRITON, IN_S3) == ("nvcr.io",)
    assert runtime_rules.internet_hosts(ecr, IN_S3) == ()
    assert runtime_rules.internet_hosts(dataclasses.replace(TRITON, image=UNKNOWN), IN_S3) == ()
    assert runtime_rules.internet_hosts(hub, ModelSource.in_image()) == ("registry-1.docker.io", "huggingface.co")


@pytest.mark.parametrize(
    "runtime", [TRITON, ServingRuntime.container("a:1", 80, "/ok"), ServingRuntime.container("a:1")]
)
def test_server_is_accepted(runtime: ServingRuntime) -> None:
    assert _said(runtime, IN_S3) == ""


@pytest.mark.parametrize(
    ("image", "named"),
    [
        ("busybox", True),
        ("nvcr.io/nvidia/tritonserver:26.05-py3", True),
        ("registry.example.com:5000/team/a__b-c.d:v1@sha256:" + 32 * "0a", True),
        ("localhost/a", True),
        ("https://registry.example.com/a:1", False),
        ("registry.example.com//a:1", False),
        ("team/Ranker:1", False),
        ("team/ranker:", False),
        ("team/ranker:a b", False),
        ("team/ranker@sha256:00", False),
        ("-ranker", False),
        ("", False),
    ],
)
def test_name_of_an_image_is_one_that_docker_takes(image: str, named: bool) -> None:
    assert ("image must be the name" not in _said(ServingRuntime.container(image, 80, "/ok"))) is named


@pytest.mark.parametrize(
    ("runtime", "words"),
    [
        (ServingRuntime.triton("https://nvcr.io/x y"), "image must be the name of a container image"),
        (ServingRuntime.container("a:1", 70_000, "/ok"), "port must be 1 to 65535, got 70000"),
        (ServingRuntime.container("a:1", 80), "ready_path must be a path that answers 200"),
        (ServingRuntime.container("a:1", 80, "ok"), "ready_path must be a path that answers 200"),
        (
            ServingRuntime.container("a:1", 80, "/ok", grpc=True),
            'ready_path must be a method, "/package.Service/Method"',
        ),
        (ServingRuntime.triton("a:1", slots=0), "slots must be at least 1, got 0"),
        (ServingRuntime.container("a:1", 80, "/ok", request_seconds=5000), "request_seconds must be from 1 to 4000"),
        (ServingRuntime.container("a:1", 80, "/ok", stop_timeout_seconds=0), "stop_timeout_seconds must be from 1"),
        (ServingRuntime.container("a:1", 80, "/ok", image_gib=-1), "image_gib must be at least 0"),
    ],
)
def test_server_is_refused(runtime: ServingRuntime, words: str) -> None:
    assert words in _said(runtime)


def test_method_of_grpc_is_accepted() -> None:
    assert _said(ServingRuntime.container("a:1", 80, "/grpc.health.v1.Health/Check", grpc=True)) == ""


def test_model_larger_than_the_gpus_is_refused_with_the_arithmetic() -> None:
    said = _said(TRITON, ModelSource.in_image(size_gib=70), G5_FOUR)
    assert said == ""
    said = _said(TRITON, ModelSource.in_image(size_gib=140), G5_FOUR)
    assert "got 140 GiB for 'g5.12xlarge', whose 4 x 22.4 GiB of A10G are 89.4 GiB" in said


def test_model_of_a_server_without_gpus_need_not_fit_them() -> None:
    runtime = ServingRuntime.container("a:1", 80, "/ok", gpus=False)
    assert _said(runtime, ModelSource.in_image(size_gib=140)) == ""


def test_vllm_without_a_model_is_refused() -> None:
    assert "model must be ModelSource.s3(...), or a model by its name: vLLM has no model to load" in _said(VLLM)
    assert _said(VLLM, IN_S3) == ""
    assert _said(ServingRuntime.vllm("a:1", "Qwen/Qwen3-8B")) == ""


def test_vllm_with_two_models_is_refused() -> None:
    assert "model must be one of them" in _said(ServingRuntime.vllm("a:1", "Qwen/Qwen3-8B"), IN_S3)


def test_vllm_on_types_with_different_numbers_of_gpus_is_refused() -> None:
    assert "got types with 1, 4 GPUs for vLLM" in _said(VLLM, IN_S3, G5, G5_FOUR)
    assert _said(TRITON, IN_S3, G5, G5_FOUR) == ""


@pytest.mark.parametrize(
    ("image", "warned"),
    [("a", True), ("a:latest", True), ("host:5000/a", True), ("a:7", False), ("a@sha256:00", False), (UNKNOWN, False)],
)
def test_tag_that_moves_is_warned_of(image: Any, warned: bool) -> None:
    found = runtime_rules.doubts(dataclasses.replace(TRITON, image=image), IN_S3)
    assert ("image-tag-moves" in found) == warned


def test_model_that_is_fetched_by_its_name_is_warned_of() -> None:
    assert "model-not-pinned" in runtime_rules.doubts(
        ServingRuntime.vllm("a:1", "Qwen/Qwen3-8B"), ModelSource.in_image()
    )
    assert runtime_rules.doubts(VLLM, IN_S3) == {}


@pytest.mark.parametrize("version", ["3", "2027-01-31", "v1.2", UNKNOWN])
def test_version_is_accepted(version: Any) -> None:
    assert model.problems(ModelSource.s3(BUCKET, "models", version)) == []


@pytest.mark.parametrize("version", ["", "latest", "Latest", "main", "3/4"])
def test_version_that_may_change_is_refused(version: str) -> None:
    (problem,) = model.problems(ModelSource.s3(BUCKET, "models", version))
    assert str(problem).startswith("model version must be the name of one version that never changes")


@pytest.mark.parametrize(("prefix", "right"), [("/models", False), ("models/", False), ("a//b", False), ("a/b", True)])
def test_prefix_has_no_slash_at_its_ends(prefix: str, right: bool) -> None:
    assert (model.problems(ModelSource.s3(BUCKET, prefix, "3")) == []) == right


def test_size_is_positive() -> None:
    (problem,) = model.problems(ModelSource.in_image(size_gib=0))
    assert "model size_gib must be more than 0 GiB, got 0" in str(problem)


def test_prefix_of_all_objects_is_that_of_one_version() -> None:
    assert IN_S3.key_prefix == "models/3/"
    assert ModelSource.s3(BUCKET, "", "3").key_prefix == "3/"
