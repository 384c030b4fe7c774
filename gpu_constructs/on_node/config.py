"""What the construct tells the node: the file config.json beside the bundle.

A construct writes it, so that a value in it may be known only when the stack is deployed; a node reads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
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

    def to_json(self) -> str:
        """Return the text of the file, the same for the same values."""
        return json.dumps(asdict(self), indent=1, sort_keys=True)

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
        lustre = values.pop("lustre", None)
        return _make(cls, {**values, "hardware": hardware, "lustre": lustre and _make(LustreMount, lustre)})


def _make(kind: type[_T], values: Mapping[str, Any]) -> _T:
    if unknown := set(values) - set(kind.__annotations__):
        raise ConfigError(
            f"the configuration of the node has {', '.join(sorted(unknown))}, which {kind.__name__} has not"
        )
    try:
        return kind(**values)
    except TypeError as error:
        raise ConfigError(f"the configuration of the node lacks something: {error}") from error
