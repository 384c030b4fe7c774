"""The server: a container that Docker keeps running, made anew only where it would be another one.

Options as NVIDIA's guides have them for Triton (https://docs.nvidia.com/deeplearning/triton-inference-server/ ->
"docker run"). It starts when the rest of the boot is done: a `systemctl daemon-reload`, which installing a package may
bring, can take the GPUs from containers that run (https://github.com/NVIDIA/nvidia-container-toolkit/issues/48), and so
can `docker update`, which is why its restart policy is there from the start.
"""

from __future__ import annotations

import hashlib
import json
import shlex
from dataclasses import dataclass
from typing import Final

from gpu_constructs.on_node.actions import ActionError, last_line, tail
from gpu_constructs.on_node.config import Serving
from gpu_constructs.on_node.host import Finished, Host
from gpu_constructs.on_node.serving import container
from gpu_constructs.on_node.serving.container import CONTAINER, SPECIFICATION
from gpu_constructs.on_node.steps import Step

NAME: Final = "server"
_STACK_BYTES = 67108864
_MIB_A_GIB = 1024
_REMEDIES = {
    "could not select device driver": "the image of the node has no NVIDIA container toolkit",
    "nvidia-container-cli": "the driver of the node is too old for the image, or does not run: see nvidia-smi",
    "port is already allocated": "another container of the image of the node has the port",
    "address already in use": "a service of the node has the port; give the server other ports",
    "executable file not found": "the image has no such command: see command",
}


def arguments(serving: Serving, model: str | None) -> tuple[str, ...]:
    """Return what follows `docker run --detach` but its label.

    Args:
        serving: The server.
        model: The folder of the model on the node; None where it is in the image.
    """
    ports = [("--publish", f"{port}:{port}") for port in serving.ports]
    variables = [("--env", f"{name}={value}") for name, value in sorted(serving.environment.items())]
    mount = ("--mount", f"type=bind,source={model},target={serving.model_path},readonly")
    return (
        "--name",
        CONTAINER,
        "--restart",
        "unless-stopped",
        # It is there, and another one may not come in its place.
        "--pull",
        "never",
        *(("--gpus", "all") if serving.gpus else ()),
        "--shm-size",
        f"{round(serving.shm_size_gib * _MIB_A_GIB)}m",
        "--ulimit",
        "memlock=-1",
        "--ulimit",
        f"stack={_STACK_BYTES}",
        "--stop-timeout",
        str(serving.stop_timeout_seconds),
        # Without a limit a log fills the disk.
        *("--log-driver", "json-file", "--log-opt", "max-size=100m", "--log-opt", "max-file=3"),
        *(word for pair in (*ports, *variables) for word in pair),
        *(mount if model else ()),
        serving.image,
        *serving.command,
    )


@dataclass(frozen=True, kw_only=True)
class Serve:
    """Have the container run that has these arguments, and no other one.

    Args:
        arguments: What follows `docker run --detach` but its label.
    """

    arguments: tuple[str, ...]

    def perform(self, host: Host) -> None:
        """Start the container where it is there, else make it."""
        found = container.find(host)
        if found and found.specification == self._specification:
            _succeed(host.run(("docker", "start", CONTAINER)), "started")
            return
        if found:
            _succeed(host.run(("docker", "rm", "--force", CONTAINER)), "removed")
        _succeed(host.run(("docker", "run", "--detach", "--label", self._label, *self._on(host))), "started")

    def _on(self, host: Host) -> tuple[str, ...]:
        """The arguments, in which a bind mount has its source where the node has its files."""
        here, there = "type=bind,source=/", f"type=bind,source={host.path('/')}/".replace("//", "/")
        return tuple(word.replace(here, there, 1) if word.startswith(here) else word for word in self.arguments)

    @property
    def _specification(self) -> str:
        return hashlib.sha256(json.dumps(self.arguments).encode()).hexdigest()[:16]

    @property
    def _label(self) -> str:
        return f"{SPECIFICATION}={self._specification}"

    def __str__(self) -> str:
        return (
            f"unless the container {CONTAINER} has the label {self._label}, and then docker start {CONTAINER}: "
            f"docker run --detach --label {self._label} {shlex.join(self.arguments)}"
        )


def _succeed(done: Finished, what: str) -> None:
    if done.code:
        remedy = next((f"; {remedy}" for said, remedy in _REMEDIES.items() if said in done.output), "")
        # Not the whole command: it has every variable of the container.
        why = _why(done.output)
        raise ActionError(f"the container {CONTAINER} cannot be {what}: {why}{remedy}", tail(done.output))


def _why(output: str) -> str:
    """What Docker says; its last line may be but the hint to `docker run --help`."""
    return last_line("\n".join(line for line in output.splitlines() if "--help" not in line))


def step(serving: Serving, model: str | None, after: tuple[str, ...]) -> Step:
    """Return the step that has the container.

    Args:
        serving: The server.
        model: The folder of the model on the node; None where it is in the image.
        after: The steps after which nothing else of the boot is to be done.
    """
    return Step(name=NAME, actions=(Serve(arguments=arguments(serving, model)),), after=after)
