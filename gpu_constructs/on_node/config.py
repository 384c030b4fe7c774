"""What the construct tells the node: the file config.json beside the bundle.

A construct writes it, so that a value in it may be known only when the stack is deployed; a node reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, TypeVar

_T = TypeVar("_T")


class ConfigError(ValueError):
    """The configuration of the node cannot be read; its text says what is wrong."""


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """What a node of a type must have.

    Args:
        gpu: The model, such as "A100".
        gpus: How many it shows; a fraction of one is one.
        efa_interfaces: How many of its interfaces are EFA.
        nvswitch: Whether its GPUs meet in NVSwitches, which the fabric manager sets up.
        local_nvme_disks: How many local NVMe disks it has.
        driver: The branch of the NVIDIA driver to install where the image has none, such as "580".
        open_modules: Whether that driver has open kernel modules: from Turing on.
    """

    gpu: str
    gpus: int
    efa_interfaces: int = 0
    nvswitch: bool = False
    local_nvme_disks: int = 0
    driver: str = "580"
    open_modules: bool = True


@dataclass(frozen=True, kw_only=True)
class LustreMount:
    """A Lustre file system to mount.

    Args:
        dns_name: Its DNS name.
        mount_name: Its mount name.
        path: Where.
    """

    dns_name: str
    mount_name: str
    path: str = "/fsx"


@dataclass(frozen=True, kw_only=True)
class Serving:
    """The model server of a node: a container that serves once its model answers.

    Args:
        image: The container image, such as "nvcr.io/nvidia/tritonserver:26.05-py3".
        command: What follows the image on the command line of `docker run`.
        environment: Variables of the container.
        ports: The ports of the container, published as they are: requests and, where they are apart, gRPC and metrics.
        ready_port: The port that is asked whether the server is ready; None for a worker without one, which is ready
            when its container has kept running for a few seconds.
        ready_path: The path that is asked: it answers 200 once the server is ready. None where the port answers no
            HTTP: it is ready when it takes a connection.
        ready_pattern: A regular expression that the answer must hold, too; nothing for none. TensorFlow Serving answers
            200 before its model is there.
        ready_seconds: How long pulling, copying, loading and warming up may take together.
        gpus: Whether the container gets the GPUs.
        shm_size_gib: Its shared memory, in GiB.
        stop_timeout_seconds: How long it may take to end its requests when it is told to stop.
        model_bucket: The bucket of the model; None where it is in the image.
        model_prefix: The prefix of one version of it there, which ends with "/".
        model_path: Where the container finds it.
        warm_up_path: The path of a request that is made before others are; None for none.
        warm_up_body: Its body, as JSON.
        credentials_secret: The secret of the registry, of which username and password are read; None for none.
        signal_stack: The CloudFormation stack that waits for the node while it is updated; None if none does.
        signal_resource: The logical id of the group there.
    """

    image: str
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    ready_port: int | None
    ready_path: str | None
    ready_pattern: str = ""
    ready_seconds: int = 1800
    gpus: bool = True
    shm_size_gib: float = 1
    stop_timeout_seconds: int = 60
    model_bucket: str | None = None
    model_prefix: str = ""
    model_path: str = "/models"
    warm_up_path: str | None = None
    warm_up_body: str = ""
    credentials_secret: str | None = None
    signal_stack: str | None = None
    signal_resource: str | None = None


@dataclass(frozen=True, kw_only=True)
class NodeConfig:
    """What the construct tells the node.

    Args:
        hardware: What a node must have, by instance type.
        install_cuda: Whether driver, CUDA and the rest are installed on a plain image.
        lustre: The Lustre file system to mount.
        data_volume: Whether there is an EBS volume for data, mounted at /data.
        launch_hook: The lifecycle hook to complete when the node is ready.
        launch_hook_seconds: How long that hook waits for a heartbeat.
        log_group: The log group that is told of the boot.
        record_bucket: The bucket that holds the record of boots that failed.
        record_prefix: Its prefix there.
        serving: The model server of the node; None where it serves nothing.
    """

    hardware: Mapping[str, Hardware]
    install_cuda: bool = False
    lustre: LustreMount | None = None
    data_volume: bool = False
    launch_hook: str | None = None
    launch_hook_seconds: int = 900
    log_group: str | None = None
    record_bucket: str | None = None
    record_prefix: str = ""
    serving: Serving | None = None

    def to_json(self) -> str:
        """Return the text of the file, the same for the same values."""
        values = asdict(self)
        if self.serving is None:  # of a node that serves nothing, nothing is said
            del values["serving"]
        return json.dumps(values, indent=1, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> NodeConfig:
        """Read the text of the file.

        Raises:
            ConfigError: If it is no JSON, or has other fields.
        """
        try:
            values = json.loads(text)
        except json.JSONDecodeError as error:
            raise ConfigError(f"the configuration of the node is no JSON: {error}") from error
        if not isinstance(values, dict):
            raise ConfigError(f"the configuration of the node is no JSON object: {text}")
        hardware = {name: _make(Hardware, facts) for name, facts in values.pop("hardware", {}).items()}
        lustre, serving = values.pop("lustre", None), values.pop("serving", None)
        parts = {"lustre": lustre and _make(LustreMount, lustre), "serving": serving and _serving(serving)}
        return _make(cls, {**values, "hardware": hardware, **parts})


def _serving(values: Mapping[str, Any]) -> Serving:
    made = _make(Serving, values)
    return replace(made, command=tuple(made.command), ports=tuple(made.ports))


def _make(kind: type[_T], values: Mapping[str, Any]) -> _T:
    if unknown := set(values) - set(kind.__annotations__):
        raise ConfigError(
            f"the configuration of the node has {', '.join(sorted(unknown))}, which {kind.__name__} has not"
        )
    try:
        return kind(**values)
    except TypeError as error:
        raise ConfigError(f"the configuration of the node lacks something: {error}") from error
