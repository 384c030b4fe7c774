"""The machine that a node is made to believe in: what its hardware shows, and which of its commands fail."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from gpu_constructs.instances.facts import GpuInstance

_NVLINKS = {"A100": 12, "H100": 18, "H200": 18, "B200": 18, "B300": 18}
_RELEASES = {
    "al2023": 'NAME="Amazon Linux"\nID="amzn"\nVERSION_ID="2023"\n',
    "ubuntu-22.04": 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="22.04"\n',
    "ubuntu-24.04": 'NAME="Ubuntu"\nID=ubuntu\nVERSION_ID="24.04"\n',
}


@dataclass(frozen=True, kw_only=True)
class Failing:
    """A command that fails.

    Args:
        command: How it begins, as in "mount /fsx".
        says: What it prints.
        code: Its exit code.
        times: How often, before it works; by default always.
    """

    command: str
    says: str
    code: int = 1
    times: int | None = None


@dataclass(frozen=True, kw_only=True)
class ModelServer:
    """How the container of a node behaves that serves a model.

    Args:
        ready_after_seconds: When it is ready; None for never.
        body: What it answers then, to whatever it is asked.
        exit_code: The code with which it ends as soon as it is started; None for one that goes on.
        says: What it says before it ends.
    """

    ready_after_seconds: float | None = 0.2
    body: str = '{"model_version_status": [{"version": "1", "state": "AVAILABLE"}]}'
    exit_code: int | None = None
    says: str = ""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The machine that a node is made to believe in: by default one with the Deep Learning AMI.

    Args:
        gpu: The model of its GPUs.
        gpus: How many show.
        nvlinks_per_gpu: How many links of each are active.
        efa_interfaces: How many EFA interfaces show.
        local_disks: How many local NVMe disks.
        system: "al2023", "ubuntu-22.04" or "ubuntu-24.04".
        commands: What the image brings beside the operating system.
        failing: The commands that fail.
        server: How its container behaves, where it serves a model.
    """

    gpu: str
    gpus: int
    nvlinks_per_gpu: int = 0
    efa_interfaces: int = 0
    local_disks: int = 0
    system: str = "al2023"
    commands: tuple[str, ...] = ("docker", "nvidia-ctk", "nvidia-smi")
    failing: tuple[Failing, ...] = ()
    server: ModelServer = ModelServer()

    @classmethod
    def of(cls, instance: GpuInstance) -> Machine:
        """Return a whole one of an instance type."""
        return cls(
            gpu=instance.gpu,
            gpus=max(instance.gpus, 1),
            nvlinks_per_gpu=_NVLINKS.get(instance.gpu, 0),
            efa_interfaces=instance.max_efa_interfaces,
            local_disks=instance.local_nvme_disks,
        )

    @property
    def release(self) -> str:
        """What /etc/os-release says."""
        return _RELEASES[self.system]

    def to_json(self) -> str:
        """Return what the commands that stand in read."""
        return json.dumps(asdict(self))
