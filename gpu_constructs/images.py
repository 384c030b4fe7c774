"""Which Amazon Machine Image fits which GPU. Imports no aws_cdk.

Nodes start from the AWS Deep Learning Base AMI (DLAMI) with the open NVIDIA driver on Amazon Linux 2023: driver, CUDA,
EFA, the NCCL plugin, Docker with the NVIDIA toolkit and the SSM agent are on it. Its id is read from a public SSM
parameter when the stack is deployed; each deployment looks again, and nodes that already run are left as they are.

See https://docs.aws.amazon.com/dlami/latest/devguide/find-dlami-id.html and the release notes beside it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gpu_constructs.checks import Problem

if TYPE_CHECKING:
    from gpu_constructs.instances.catalog import GpuInstance

_PARAMETER = "/aws/service/deeplearning/ami/{}/base-oss-nvidia-driver-gpu-amazon-linux-2023/latest/ami-id"

# The DLAMI has the open kernel modules, which support the Turing generation and newer (x86_64: G4dn and later; arm64:
# G5g). Volta and older need the proprietary ones; the last DLAMI that had them dropped P3 by June 2026.
_TOO_OLD = frozenset({"K80", "M60", "P4", "V100"})


def dlami_parameter(instance: GpuInstance) -> str:
    """Return the public SSM parameter that holds the id of the DLAMI for an instance type."""
    return _PARAMETER.format(instance.architecture)


def problems(instance: GpuInstance) -> list[Problem]:
    """Say why no AMI can be chosen for an instance type; nothing if one can."""
    if instance.gpu not in _TOO_OLD:
        return []
    return [
        Problem(
            what="instance_type",
            given=f"{instance.name!r} with {instance.gpu} GPUs",
            allowed="a type whose GPU the driver of the Deep Learning AMI supports (T4 and newer)",
            remedy="use a newer type; images of your own are not supported yet",
            prevents="nvidia-smi: No devices were found",
        )
    ]
