"""Whether the node has what it was bought for: GPUs, the fabric between them, EFA. What is missing fails the boot.

A node with seven of eight GPUs, or with two links less, trains as slowly as it can for as long as it is let.
"""

from __future__ import annotations

from gpu_constructs.on_node.actions import Count, Run
from gpu_constructs.on_node.boot import limits
from gpu_constructs.on_node.config import Hardware
from gpu_constructs.on_node.steps import Step

GPUS, FABRIC, NVLINK, EFA = "gpus", "fabric-manager", "nvlink", "efa"
# Of a GPU that NVSwitches join (NVIDIA's data sheets). Of others nothing is said, so nothing is counted.
_LINKS = {"A100": 12, "H100": 18, "H200": 18, "B200": 18, "B300": 18}
_REPLACE = "the instance is faulty: have it replaced"
# By the driver that has the device, not by its name, which depends on the image: rdmap0s6, or efa_0 where udev does not
# rename. On P6 two NVLink controllers are beside them (of mlx5_core).
_INTERFACES = 'for device in /sys/class/infiniband/*; do readlink -f "$device/device/driver" || true; done'


def steps(hardware: Hardware, *, driver: tuple[str, ...], fabric: tuple[str, ...], efa: tuple[str, ...]) -> list[Step]:
    """Return the steps that start what the GPUs need and count.

    Args:
        hardware: What there must be.
        driver: The steps that install the driver, where it is installed.
        fabric: Those that install the fabric manager.
        efa: Those that install EFA's software.
    """
    gpus = Step(
        name=GPUS,
        actions=(
            Run(
                argv=("nvidia-smi",),
                tries=3,
                pause_seconds=5,
                remedy="no driver runs: use the Deep Learning AMI, whose driver supports the GPU, or "
                "GpuImage.custom(..., install_cuda=True)",
            ),
            # Not every GPU has it: a fraction of one has not.
            Run(argv=("sh", "-c", "nvidia-smi -pm 1 || true")),
            Count(
                what="GPUs",
                argv=("nvidia-smi", "-L"),
                pattern=r"GPU \d+:",
                expected=hardware.gpus,
                remedy=f"see dmesg for Xid 79 (fallen off the bus); {_REPLACE}",
            ),
        ),
        after=driver or (limits.NAME,),
    )
    return [gpus, *(_fabric(hardware, fabric) if hardware.nvswitch else []), *(_efa(hardware, efa))]


def ready(hardware: Hardware) -> tuple[str, ...]:
    """Return the names of the steps after which CUDA works: without the fabric it says error 802."""
    return (GPUS, FABRIC) if hardware.nvswitch else (GPUS,)


def _fabric(hardware: Hardware, after: tuple[str, ...]) -> list[Step]:
    fabric = Step(
        name=FABRIC,
        actions=(
            Run(
                argv=("systemctl", "enable", "--now", "nvidia-fabricmanager"),
                remedy="the fabric manager must be of the same version as the driver (/sys/module/nvidia/version), or "
                "CUDA fails with error 802, system not yet initialized; see journalctl -u nvidia-fabricmanager",
            ),
            Run(argv=("systemctl", "is-active", "nvidia-fabricmanager"), tries=10, pause_seconds=3),
        ),
        after=(GPUS, *after),
    )
    if hardware.gpu not in _LINKS:
        return [fabric]
    return [fabric, Step(name=NVLINK, actions=(_links(hardware),), after=(FABRIC,))]


def _links(hardware: Hardware) -> Count:
    """A line a link, "Link 0: 26.562 GB/s", or "<inactive>"; `nvidia-smi topo -m` is a table for people."""
    return Count(
        what="active NVLinks",
        argv=("nvidia-smi", "nvlink", "--status"),
        pattern=r"\s*Link \d+: [\d.]+ GB/s",
        expected=hardware.gpus * _LINKS[hardware.gpu],
        remedy=f"see dmesg for Xid 74 (NVLink error); {_REPLACE}",
    )


def _efa(hardware: Hardware, after: tuple[str, ...]) -> list[Step]:
    if not hardware.efa_interfaces:
        return []
    count = Count(
        what="EFA interfaces",
        argv=("sh", "-c", _INTERFACES),
        pattern=r".*/efa$",
        expected=hardware.efa_interfaces,
        remedy="the launch template must have as many interfaces of type efa or efa-only as the instance type can; "
        f"lspci shows those that no driver took; {_REPLACE}",
    )
    return [Step(name=EFA, actions=(count,), after=after)]
