"""Docker, where the image has it or CUDA is installed by hand: images on a disk of their own, and GPUs in containers.

Its configuration is written whole. Images lie on the data volume where there is one (they survive a stop of the
instance), else on the local disks, else where they were. A node that serves may come from a warm pool, where it was
stopped, so that its image never lies on the local disks, which a stop leaves blank.
"""

from __future__ import annotations

import json

from gpu_constructs.on_node.actions import Action, Run, Write
from gpu_constructs.on_node.boot import data_volume, limits, local_disks
from gpu_constructs.on_node.config import NodeConfig
from gpu_constructs.on_node.facts import SCRATCH, Facts
from gpu_constructs.on_node.steps import Step

NAME = "docker"
CONTAINER_TOOLKIT = "container-toolkit"
_UNLIMITED = -1


def steps(config: NodeConfig, facts: Facts) -> list[Step]:
    """Return the step that configures and starts Docker; none where there is no Docker."""
    if not config.install_cuda and "docker" not in facts.commands:
        return []
    disk = data_volume.steps(config, facts) or ([] if config.serving else local_disks.steps(facts))
    place = next(iter({data_volume.NAME: data_volume.DATA, local_disks.NAME: SCRATCH}[one.name] for one in disk), None)
    # systemd is told to read everything again before containers start: those that run lose their GPUs when it does.
    reload: tuple[Action, ...] = (Run(argv=("systemctl", "daemon-reload")),)
    return [
        Step(
            name=NAME,
            actions=(
                Write(path="/etc/docker/daemon.json", text=_configuration(place)),
                *(_runtime() if config.install_cuda or "nvidia-ctk" in facts.commands else ()),
                *reload,
                Run(argv=("systemctl", "enable", "docker")),
                # A restart always: after a stop of the instance, Docker has started before its disk was there.
                Run(argv=("systemctl", "restart", "docker"), remedy="see journalctl -u docker"),
            ),
            after=(limits.NAME, *(one.name for one in disk), *((CONTAINER_TOOLKIT,) if config.install_cuda else ())),
        )
    ]


def _runtime() -> tuple[Action, ...]:
    return (Run(argv=("nvidia-ctk", "runtime", "configure", "--runtime=docker")),)


def _configuration(place: str | None) -> str:
    memlock = {"Name": "memlock", "Soft": _UNLIMITED, "Hard": _UNLIMITED}
    return (
        json.dumps(
            {
                **({"data-root": f"{place}/docker"} if place else {}),
                "default-shm-size": "8G",  # NCCL between the GPUs of a node, and PyTorch's loaders; 64 MB otherwise
                "default-ulimits": {"memlock": memlock},
                # With systemd as the driver, a later daemon-reload takes the GPUs from the containers that run:
                # https://github.com/NVIDIA/nvidia-container-toolkit/issues/48
                "exec-opts": ["native.cgroupdriver=cgroupfs"],
            },
            indent=1,
        )
        + "\n"
    )
