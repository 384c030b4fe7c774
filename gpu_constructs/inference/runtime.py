"""Model servers: all that differs between them is one value.

    ServingRuntime.triton("nvcr.io/nvidia/tritonserver:26.05-py3", grpc=True)
    ServingRuntime.vllm("vllm/vllm-openai:v0.21.0", "Qwen/Qwen3-8B", slots=64)
    ServingRuntime.container("registry.example.com/scorer:7", port=8080, ready_path="/healthz").with_credentials(secret)

Imports no aws_cdk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Literal

if TYPE_CHECKING:
    from aws_cdk import aws_ecr as ecr
    from aws_cdk import aws_secretsmanager as secretsmanager

    from gpu_constructs.checks import Unknown

ServerKind = Literal["triton", "tensorflow-serving", "vllm", "container"]

KEEP_ALIVE_MARGIN_SECONDS: Final = 30
"""How much longer a server keeps an idle connection than the load balancer, so that never the server closes it first:
https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-troubleshooting.html#http-502-issues"""

MODELS: Final = "/models"
"""Where servers find a model that is copied from S3."""


@dataclass(frozen=True, kw_only=True)
class WarmUp:
    """A request that a node makes before it takes others.

    Args:
        path: Its path.
        body: Its body, as JSON; empty for a GET.
    """

    path: str
    body: str = ""


@dataclass(frozen=True, kw_only=True)
class Grpc:
    """How a server speaks gRPC.

    Args:
        port: Its port.
        health_method: The method that says whether it is ready, "/package.Service/Method".
        healthy_codes: The status codes that say that it is, in a load balancer's words.
    """

    port: int
    health_method: str
    healthy_codes: str = "0"


@dataclass(frozen=True, kw_only=True)
class ServingRuntime:
    """A model server; made by the methods below, not by hand. It says nothing of EC2.

    Args:
        kind: Which of them.
        image: The container image.
        command: What follows the image on the command line.
        environment: Variables of the container.
        port: Where it takes HTTP requests; None for a worker that takes none.
        grpc: How it speaks gRPC, if it does.
        ready_path: Answers 200 once it is ready; None for a worker.
        ready_pattern: What that answer must hold, too, where 200 does not mean ready; a regular expression.
        live_path: Answers 200 as long as the process is there, whatever its models do.
        models_change: Whether models are loaded while it serves, in which it is not ready.
        metrics_port: Where it answers Prometheus, if it does.
        metrics_path: The path of that.
        keep_alive_seconds: How long it keeps an idle connection; None where it has no limit, or takes it as a variable.
        keep_alive_variable: The variable that sets it, if there is one.
        request_seconds: The longest that an answer usually takes.
        slots: How many requests it works on at once, where that is known.
        shm_size_gib: Shared memory, in GiB.
        stop_timeout_seconds: How long it may take to end its requests when it is told to stop.
        image_gib: The size of the image on disk, in GiB, roughly: from it follows how long a node may take.
        model_path: Where it finds a model that is copied from S3.
        needs_model: Why it cannot start without a model, if it cannot.
        gpus: Whether it uses the GPUs.
        warm_up: A request that a node makes before it takes others.
        credentials: The secret of its registry.
        repository: Its repository, where the image is from ECR.
    """

    kind: ServerKind
    image: str | Unknown
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    port: int | None = None
    grpc: Grpc | None = None
    ready_path: str | None = None
    ready_pattern: str = ""
    live_path: str | None = None
    models_change: bool = False
    metrics_port: int | None = None
    metrics_path: str = "/metrics"
    keep_alive_seconds: int | None = None
    keep_alive_variable: str | None = None
    request_seconds: int = 60
    slots: int | None = None
    shm_size_gib: float = 1
    stop_timeout_seconds: int = 60
    image_gib: float = 20
    model_path: str = MODELS
    needs_model: str | None = None
    gpus: bool = True
    warm_up: WarmUp | None = None
    credentials: secretsmanager.ISecret | None = None
    repository: ecr.IRepository | None = None

    @property
    def health_path(self) -> str | None:
        """What a load balancer asks, which judges by the code alone; nodes join it only once they are ready."""
        return self.live_path if self.models_change else self.ready_path

    @property
    def ports(self) -> tuple[int, ...]:
        """Every port that it listens on."""
        found = (self.port, self.grpc.port if self.grpc else None, self.metrics_port)
        return tuple(dict.fromkeys(port for port in found if port is not None))

    @classmethod
    def triton(
        cls, image: str, grpc: bool = False, slots: int | None = None, explicit_models: Sequence[str] = ()
    ) -> ServingRuntime:
        """NVIDIA Triton Inference Server: HTTP on 8000, gRPC on 8001, metrics on 8002.

        Its model repository is /models. It exits once requests under way are done, within 50 seconds.

        Args:
            image: The image, such as "nvcr.io/nvidia/tritonserver:26.05-py3".
            grpc: Whether gRPC requests are taken, too, by the same HTTPS listener.
            slots: How many requests a node works on at once; each then goes to the node with the fewest.
            explicit_models: Models to load at the start where others are loaded and unloaded later, by its API. While
                any of them loads Triton is not ready (triton-inference-server/server#7014), so the load balancer asks
                whether it is alive instead. By default all models of the repository are loaded, and stay.

        See https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/
        """
        control = ["--model-control-mode=explicit", *(f"--load-model={name}" for name in explicit_models)]
        return cls(
            kind="triton",
            image=image,
            command=(
                "tritonserver",
                f"--model-repository={MODELS}",
                "--exit-timeout-secs=50",
                *(control if explicit_models else ()),
            ),
            port=8000,
            grpc=Grpc(port=8001, health_method="/inference.GRPCInferenceService/ServerReady") if grpc else None,
            ready_path="/v2/health/ready",
            live_path="/v2/health/live",
            models_change=bool(explicit_models),
            metrics_port=8002,
            slots=slots,
        )

    @classmethod
    def tensorflow_serving(
        cls, image: str, model_name: str, grpc: bool = False, slots: int | None = None
    ) -> ServingRuntime:
        """TensorFlow Serving: HTTP on 8501, gRPC on 8500.

        It answers 200 before the model is there, so a node reads the answer: it must say AVAILABLE. The prefix in S3
        holds numbered folders, each with a saved_model.pb.

        Args:
            image: The image, such as "tensorflow/serving:2.20.0-gpu".
            model_name: The name of the model in requests: /v1/models/NAME:predict.
            grpc: Whether gRPC requests are taken, too, by the same HTTPS listener. It has no health method
                (tensorflow/serving#671): that it answers "unimplemented" shows that it is there, and nodes join the
                load balancer only with a model that is AVAILABLE.
            slots: How many requests a node works on at once; each then goes to the node with the fewest.

        See https://www.tensorflow.org/tfx/serving/api_rest
        """
        state = f"/v1/models/{model_name}"
        return cls(
            kind="tensorflow-serving",
            image=image,
            environment={"MODEL_NAME": model_name},
            port=8501,
            grpc=Grpc(port=8500, health_method="/AWS.ALB/healthcheck", healthy_codes="12") if grpc else None,
            ready_path=state,
            ready_pattern=r'"state":\s*"AVAILABLE"',
            live_path=state,
            slots=slots,
            image_gib=8,
            model_path=f"{MODELS}/{model_name}",
        )

    @classmethod
    def vllm(cls, image: str, model: str | None = None, slots: int | None = None) -> ServingRuntime:
        """The OpenAI-compatible server of vLLM: HTTP on 8000, which listens once the model is loaded.

        The model is spread over all GPUs of a node (`--tensor-parallel-size`). Answers may take five minutes: the load
        balancer waits so long, and the server keeps connections longer.

        Args:
            image: The image, such as "vllm/vllm-openai:v0.21.0": one whose entry point is `vllm serve`.
            model: The name of a model that each node fetches from Hugging Face, without a token; and in requests. By
                default the model is the one copied from S3, which is quicker and cannot change.
            slots: How many requests a node works on at once (`--max-num-seqs`), by default vLLM decides. Where it is
                given, each request goes to the node with the fewest.

        See https://docs.vllm.ai/en/latest/cli/serve/
        """
        return cls(
            kind="vllm",
            image=image,
            command=(model or MODELS, *(("--max-num-seqs", str(slots)) if slots else ())),
            port=8000,
            ready_path="/health",
            live_path="/ping",
            metrics_port=8000,
            keep_alive_variable="VLLM_HTTP_TIMEOUT_KEEP_ALIVE",
            request_seconds=300,
            slots=slots,
            shm_size_gib=16,
            needs_model=None if model else "vLLM has no model to load",
        )

    @classmethod
    def container(
        cls,
        image: str,
        port: int | None = None,
        ready_path: str | None = None,
        *,
        grpc: bool = False,
        command: Sequence[str] = (),
        keep_alive_seconds: int | None = None,
        request_seconds: int = 60,
        slots: int | None = None,
        stop_timeout_seconds: int = 60,
        image_gib: float = 20,
        gpus: bool = True,
    ) -> ServingRuntime:
        """Any other server, or, without a port, a worker that takes its work from a queue.

        Args:
            image: The image.
            port: Where it takes requests. By default it takes none: see `Listener.none`.
            ready_path: Answers 200 once it is ready; of gRPC the method that answers 0, "/package.Service/Method".
            grpc: Whether it speaks gRPC on its port, and no HTTP.
            command: What follows the image on the command line. By default what the image says.
            keep_alive_seconds: How long it keeps an idle connection: longer than the load balancer does, or requests
                are lost (502). By default it is taken to keep them for ever.
            request_seconds: The longest that an answer usually takes, in seconds. So long the load balancer waits, and
                a node that leaves.
            slots: How many requests a node works on at once; each then goes to the node with the fewest.
            stop_timeout_seconds: How long it may take to end its requests when it is told to stop.
            image_gib: The size of the image on disk, in GiB.
            gpus: Whether it uses the GPUs of its node.
        """
        return cls(
            kind="container",
            image=image,
            command=tuple(command),
            port=None if grpc else port,
            grpc=Grpc(port=port, health_method=ready_path or "") if grpc and port else None,
            ready_path=None if grpc else ready_path,
            live_path=None if grpc else ready_path,
            keep_alive_seconds=keep_alive_seconds,
            request_seconds=request_seconds,
            slots=slots,
            stop_timeout_seconds=stop_timeout_seconds,
            image_gib=image_gib,
            gpus=gpus,
        )

    def with_credentials(self, secret: secretsmanager.ISecret) -> ServingRuntime:
        """Return it with the secret of its registry, which nodes read when they pull: never in user data.

        Args:
            secret: JSON with username and password. Of nvcr.io the username may be left out.
        """
        return replace(self, credentials=secret)

    def with_repository(self, repository: ecr.IRepository) -> ServingRuntime:
        """Return it with its repository in ECR, from which nodes may pull. It need not be said of an image by its name.

        Args:
            repository: The repository; the image is, for example, its `repository_uri_for_tag("7")`.
        """
        return replace(self, repository=repository)

    def with_warm_up(self, path: str, body: str = "") -> ServingRuntime:
        """Return it with a request that each node makes before it takes others.

        Args:
            path: Its path, such as "/v1/completions".
            body: Its body, as JSON, which makes it a POST.
        """
        return replace(self, warm_up=WarmUp(path=path, body=body))

    def with_arguments(self, *arguments: str) -> ServingRuntime:
        """Return it with further words of its command line, such as `"--max-model-len", "8192"` of vLLM."""
        return replace(self, command=(*self.command, *arguments))

    def with_environment(self, environment: Mapping[str, str]) -> ServingRuntime:
        """Return it with further variables. They stand in user data: no place for secrets."""
        return replace(self, environment={**self.environment, **environment})
