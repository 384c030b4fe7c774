"""What nodes of an instance type must show when they boot. Imports no aws_cdk."""

from __future__ import annotations

from typing import Final

from gpu_constructs import image_rules
from gpu_constructs.instances.facts import GpuInstance
from gpu_constructs.network import efa
from gpu_constructs.network.efa import Efa
from gpu_constructs.on_node.config import Hardware

# Eight of them meet in NVSwitches inside of the instance; those of p6e-gb200 meet outside of it.
# https://docs.nvidia.com/datacenter/tesla/fabric-manager-user-guide/
_NVSWITCH: Final = frozenset({"A100", "H100", "H200", "B200", "B300"})
_ALL_GPUS: Final = 8
# The branch with long-term support, https://docs.nvidia.com/datacenter/tesla/drivers/
_BRANCH: Final = 580


def expected(instance: GpuInstance, mode: Efa = Efa.AUTO) -> Hardware:
    """Return what nodes of an instance type must show.

    Args:
        instance: The instance type.
        mode: Whether and how it gets EFA.
    """
    return Hardware(
        gpu=instance.gpu,
        gpus=max(instance.gpus, 1),
        efa_interfaces=sum(one.interface_type != "interface" for one in efa.interfaces(instance, mode)),
        nvswitch=instance.gpu in _NVSWITCH and instance.gpus == _ALL_GPUS,
        local_nvme_disks=instance.local_nvme_disks,
        driver=str(image_rules.LAST_BRANCH.get(instance.gpu, _BRANCH)),
        open_modules=instance.gpu not in image_rules.LAST_BRANCH,
    )
