"""A node that serves, and a machine on which only Docker is, which says what a test has it say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from gpu_constructs.on_node.config import Hardware, NodeConfig, Serving
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.host import Finished, Host

ECR_IMAGE = "123456789012.dkr.ecr.eu-west-1.amazonaws.com/ranker:3"
SERVING = Serving(
    image="nvcr.io/nvidia/tritonserver:26.05-py3",
    command=("tritonserver", "--model-repository=/models"),
    environment={"TOKENS": "a b", "LOG": "1"},
    ports=(8000, 8001, 8002),
    ready_port=8000,
    ready_path="/v2/health/ready",
    ready_seconds=600,
    model_bucket="models-of-team",
    model_prefix="ranker/3/",
    credentials_secret="ngc",
)
FACTS = Facts(
    system="al2023",
    kernel="6.1.164",
    architecture="x86_64",
    instance_type="g6.xlarge",
    region="us-east-1",
    address="127.0.0.1",
    local_disks=(),
    data_disks=(),
    local_mount=None,
    commands=frozenset({"docker", "nvidia-ctk", "nvidia-smi"}),
)
CONFIG = NodeConfig(hardware={"g6.xlarge": Hardware(gpu="L4", gpus=1)}, serving=SERVING)


@dataclass
class Machine:
    """A machine that answers each command by the first words of it that it knows, and whose time passes in waits.

    Args:
        root: Its root folder.
        answers: By the first words of a command after `docker`: what it ends with, one after the other, the last one
            for ever; a function is called with the whole command. A command that is not there succeeds, silently.
    """

    root: Path
    answers: dict[str, list[Finished | Callable[[Sequence[str]], Finished]]] = field(default_factory=dict)
    calls: list[list[str]] = field(default_factory=list)
    waited: list[float] = field(default_factory=list)
    now: float = 1000

    @property
    def host(self) -> Host:
        return Host(root=self.root, run_command=self._run, wait=self._wait, clock=lambda: self.now)

    def called(self, *words: str) -> list[list[str]]:
        """The commands that have these words, in their order."""
        return [call for call in self.calls if set(words) <= set(call)]

    def _wait(self, seconds: float) -> None:
        self.waited.append(seconds)
        self.now += seconds

    def _run(self, argv: Sequence[str], _: float) -> Finished:
        self.calls.append(list(argv))
        said = " ".join(argv)
        for words, answers in self.answers.items():
            if f" {words} " in f" {said} ":
                answer = answers.pop(0) if len(answers) > 1 else answers[0]
                return answer if isinstance(answer, Finished) else answer(argv)
        return Finished(0, "")


def inspected(status: str, code: int = 0, *, restarts: int = 0, oom: bool = False, label: str = "0123") -> Finished:
    """What `docker container inspect` prints of a container."""
    flags = f'"Status": "{status}", "ExitCode": {code}, "OOMKilled": {str(oom).lower()}'
    labels = f'"Labels": {{"gpu-node.specification": "{label}"}}'
    return Finished(0, f'[{{"State": {{{flags}}}, "RestartCount": {restarts}, "Config": {{{labels}}}}}]')


class Server:
    """A real HTTP server, which gives its answers one after the other, the last one for ever.

    Args:
        answers: A code and a body each.
    """

    def __init__(self, *answers: tuple[int, str]) -> None:
        self.asked: list[tuple[str, str, str]] = []
        left = list(answers)
        asked = self.asked

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                asked.append((self.command, self.path, body))
                code, text = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(code)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text.encode())

            def do_POST(self) -> None:
                self.do_GET()

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_port

    def __enter__(self) -> Server:
        Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
