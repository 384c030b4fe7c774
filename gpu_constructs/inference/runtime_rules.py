"""What would keep a model server from serving, whatever is in front of it. Imports no aws_cdk."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from gpu_constructs.checks import UNKNOWN, Problem

if TYPE_CHECKING:
    from gpu_constructs.inference.model import ModelSource
    from gpu_constructs.inference.runtime import ServingRuntime
    from gpu_constructs.instances.facts import GpuInstance

_METHOD = re.compile(r"/[A-Za-z_][\w.]*/[A-Za-z_]\w*")
# As https://github.com/distribution/reference/blob/main/reference.go has it.
_NAME = r"[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?/)?{_NAME}(?:/{_NAME})*(?::\w[\w.-]{{0,127}})?(?:@[A-Za-z0-9_+.-]+:[0-9a-fA-F]{{32,}})?"
)
_ECR = re.compile(r"(?P<account>\d{12})\.dkr\.ecr\.(?P<region>[a-z0-9-]+)\.amazonaws\.com(\.cn)?/(?P<name>[^:@]+)")
_MIB_PER_GIB: Final = 1024
_PORTS = range(1, 65536)
_LONGEST_STOP: Final = 3600
# Of the 16384 that EC2 takes as user data, half are taken by what fetches the bundle and by the facts about types.
_MOST_BYTES: Final = 8000


def registry(image: str) -> str:
    """Return the host of an image's registry: Docker Hub's where its name has none."""
    first, slash, _ = image.partition("/")
    return first if slash and (set(".:") & set(first) or first == "localhost") else "registry-1.docker.io"


def ecr_repository(image: str) -> tuple[str, str, str] | None:
    """Return account, Region and name of the private ECR repository of an image; nothing if it is from elsewhere."""
    found = _ECR.match(image)
    return (found["account"], found["region"], found["name"]) if found else None


def internet_hosts(runtime: ServingRuntime, source: ModelSource) -> tuple[str, ...]:
    """Return the hosts in the internet from which a node fetches image and model, those of AWS left out."""
    found = []
    image = runtime.image
    if runtime.repository is None and image is not UNKNOWN and ecr_repository(image) is None:
        found.append(registry(image))
    if runtime.kind == "vllm" and source.bucket is None and runtime.needs_model is None:
        found.append("huggingface.co")
    return tuple(found)


def problems(runtime: ServingRuntime, source: ModelSource, types: Sequence[GpuInstance]) -> list[Problem]:
    """Say why a server would not serve a model on instances of some types; nothing if nothing is known to be wrong."""
    return [
        *_image_problems(runtime),
        *_port_problems(runtime),
        *_number_problems(runtime),
        *_text_problems(runtime),
        *_model_problems(runtime, source),
        *_parallel_problems(runtime, types),
        *(problem for instance in types for problem in gpu_problems(runtime, source, instance)),
    ]


def doubts(runtime: ServingRuntime, source: ModelSource) -> dict[str, str]:
    """Say what looks wrong about a server, by the code of the warning."""
    found, image = {}, runtime.image
    tag = ":" if image is UNKNOWN else image.rpartition("/")[2]
    if "@" not in tag and (":" not in tag or tag.endswith(":latest")):
        found["image-tag-moves"] = (
            f"the image {image} has no tag of its own: a node that starts later may serve with another version "
            "than those that run; name a version, or a digest (@sha256:...)"
        )
    if "huggingface.co" in internet_hosts(runtime, source):
        found["model-not-pinned"] = (
            "each node fetches the model from Hugging Face when it starts, as it is that day, and cannot start while "
            "Hugging Face does not answer; copy it to S3 and pass ModelSource.s3(...)"
        )
    return found


def gpu_problems(runtime: ServingRuntime, source: ModelSource, instance: GpuInstance) -> list[Problem]:
    """Say why a server would not find its GPUs, or its model not fit them, on one instance type."""
    if not runtime.gpus:
        return []
    size = source.size_gib
    memory = max(instance.gpus, 1) * instance.gpu_memory_mib / _MIB_PER_GIB
    if size is None or size <= memory:
        return []
    return [
        Problem(
            what="model size_gib",
            given=f"{size:g} GiB for {instance.name!r}, whose {max(instance.gpus, 1)} x "
            f"{instance.gpu_memory_mib / _MIB_PER_GIB:.1f} GiB of {instance.gpu} are {memory:.1f} GiB",
            allowed="less than the memory of the node's GPUs: weights alone, without what requests take",
            remedy="use a larger type, one with more GPUs, or a quantised model",
            prevents="torch.OutOfMemoryError: CUDA out of memory",
        )
    ]


def _image_problems(runtime: ServingRuntime) -> list[Problem]:
    if runtime.image is UNKNOWN or _IMAGE.fullmatch(runtime.image):
        return []
    return [
        Problem(
            what="image",
            given=repr(runtime.image),
            allowed="the name of a container image, as docker pull takes it: without https://, in small letters",
            remedy='write it as in "nvcr.io/nvidia/tritonserver:26.05-py3"',
            prevents="invalid reference format",
        )
    ]


def _port_problems(runtime: ServingRuntime) -> list[Problem]:
    found = [
        Problem(what="port", given=repr(port), allowed="1 to 65535", remedy="pass the port that the server listens on")
        for port in runtime.ports
        if port not in _PORTS
    ]
    if runtime.grpc and not _METHOD.fullmatch(runtime.grpc.health_method) and runtime.grpc.healthy_codes == "0":
        found.append(
            Problem(
                what="ready_path",
                given=repr(runtime.grpc.health_method or None),
                allowed='a method, "/package.Service/Method", of a server that speaks gRPC alone',
                remedy='pass "/grpc.health.v1.Health/Check" if it has that',
                prevents="ValidationError: Health check path must be in the format /package.service/method",
            )
        )
    if runtime.port is not None and not (runtime.ready_path or "").startswith("/"):
        found.append(
            Problem(
                what="ready_path",
                given=repr(runtime.ready_path),
                allowed="a path that answers 200 once the server is ready",
                remedy='pass one, such as "/healthz": a node must serve before it is counted',
            )
        )
    return found


def _number_problems(runtime: ServingRuntime) -> list[Problem]:
    ranges = {
        "slots": (runtime.slots, 1, None),
        "request_seconds": (runtime.request_seconds, 1, 4000),
        "stop_timeout_seconds": (runtime.stop_timeout_seconds, 1, _LONGEST_STOP),
        "image_gib": (runtime.image_gib, 0, None),
    }
    return [
        Problem(
            what=what,
            given=repr(value),
            allowed=f"at least {least}" if most is None else f"from {least} to {most}",
            remedy="correct it, or leave it out",
        )
        for what, (value, least, most) in ranges.items()
        if value is not None and (value < least or (most is not None and value > most))
    ]


def _text_problems(runtime: ServingRuntime) -> list[Problem]:
    warm_up = (runtime.warm_up.path, runtime.warm_up.body) if runtime.warm_up else ()
    environment = [word for pair in runtime.environment.items() for word in pair]
    size = len(json.dumps([*runtime.command, *environment, *warm_up]).encode())
    if size <= _MOST_BYTES:
        return []
    return [
        Problem(
            what="command, environment and warm-up body of the server",
            given=f"{size} bytes",
            allowed=f"at most {_MOST_BYTES} bytes together: they are a part of the user data, which takes 16384",
            remedy="put what is large into the image or beside the model in S3",
            prevents="User data is limited to 16384 bytes",
        )
    ]


def _parallel_problems(runtime: ServingRuntime, types: Sequence[GpuInstance]) -> list[Problem]:
    counts = {instance.gpus for instance in types}
    if runtime.kind != "vllm" or len(counts) <= 1:
        return []
    return [
        Problem(
            what="instance_types",
            given=f"types with {', '.join(map(str, sorted(counts)))} GPUs for vLLM",
            allowed="types with as many GPUs each: over them vLLM spreads the model, and is told their number",
            remedy="make a tier for each number",
        )
    ]


def _model_problems(runtime: ServingRuntime, source: ModelSource) -> list[Problem]:
    if source.bucket is None and runtime.needs_model:
        return [
            Problem(
                what="model",
                given="none",
                allowed=f"ModelSource.s3(...), or a model by its name: {runtime.needs_model}",
                remedy="pass model=ModelSource.s3(bucket, prefix, version), or ServingRuntime.vllm(image, model)",
            )
        ]
    if source.bucket is not None and runtime.kind == "vllm" and runtime.needs_model is None:
        return [
            Problem(
                what="model",
                given="a name in ServingRuntime.vllm(...) and ModelSource.s3(...)",
                allowed="one of them",
                remedy="leave the name out: vLLM then serves what is copied from S3",
            )
        ]
    return []
