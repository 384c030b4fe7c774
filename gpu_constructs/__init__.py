"""AWS CDK constructs for GPU training clusters and inference tiers on EC2."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gpu_constructs.capacity import Capacity
    from gpu_constructs.errors import GpuConstructsError
    from gpu_constructs.images import GpuImage
    from gpu_constructs.inference.listener import Listener
    from gpu_constructs.inference.model import ModelSource
    from gpu_constructs.inference.rollout import Rollout
    from gpu_constructs.inference.runtime import ServingRuntime
    from gpu_constructs.inference.scaling import Scaling
    from gpu_constructs.inference.tier import InferenceTier
    from gpu_constructs.instances.catalog import GpuInstance
    from gpu_constructs.network.efa import Efa
    from gpu_constructs.node_group.bootstrap import Bootstrap
    from gpu_constructs.node_group.launch_template import GpuLaunchTemplate
    from gpu_constructs.node_group.node_group import GpuNodeGroup
    from gpu_constructs.storage.checkpoints import Checkpoints
    from gpu_constructs.storage.lustre import LustreStorage
    from gpu_constructs.storage.lustre_rules import Lustre
    from gpu_constructs.storage.volumes import Volume
    from gpu_constructs.training.cluster import TrainingCluster

__all__ = [
    "Bootstrap",
    "Capacity",
    "Checkpoints",
    "Efa",
    "GpuConstructsError",
    "GpuImage",
    "GpuInstance",
    "GpuLaunchTemplate",
    "GpuNodeGroup",
    "InferenceTier",
    "Listener",
    "Lustre",
    "LustreStorage",
    "ModelSource",
    "Rollout",
    "Scaling",
    "ServingRuntime",
    "TrainingCluster",
    "Volume",
]

# Loaded when first asked for (PEP 562): the command line and the local AWS import this package and must not pay for
# aws_cdk, which starts Node.
_MODULES = {
    "Bootstrap": "node_group.bootstrap",
    "Capacity": "capacity",
    "Checkpoints": "storage.checkpoints",
    "Efa": "network.efa",
    "GpuConstructsError": "errors",
    "GpuImage": "images",
    "GpuInstance": "instances.catalog",
    "GpuLaunchTemplate": "node_group.launch_template",
    "GpuNodeGroup": "node_group.node_group",
    "InferenceTier": "inference.tier",
    "Listener": "inference.listener",
    "Lustre": "storage.lustre_rules",
    "LustreStorage": "storage.lustre",
    "ModelSource": "inference.model",
    "Rollout": "inference.rollout",
    "Scaling": "inference.scaling",
    "ServingRuntime": "inference.runtime",
    "TrainingCluster": "training.cluster",
    "Volume": "storage.volumes",
}


def __getattr__(name: str) -> object:
    """Load a public name from its module."""
    if name not in _MODULES:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
