"""Machine images as values: which one nodes start from, and what its name says. Imports no aws_cdk.

    GpuImage.dlami()  # the default
    GpuImage.dlami(os="ubuntu-24.04", framework="pytorch-2.12")
    GpuImage.custom("ami-0123456789abcdef0", os="al2023")
    GpuImage.from_ssm("/aws/service/ecs/optimized-ami/amazon-linux-2023/gpu/recommended/image_id")

Nodes start from the AWS Deep Learning Base AMI (DLAMI) with the open NVIDIA driver on Amazon Linux 2023, unless told
otherwise: driver, CUDA, EFA, the NCCL plugin, Docker with the NVIDIA toolkit and the SSM agent are on it. Which image
fits which GPU is in `image_rules`.

See https://docs.aws.amazon.com/dlami/latest/devguide/find-dlami-id.html and the release notes beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from gpu_constructs.checks import Unknown

if TYPE_CHECKING:
    from gpu_constructs.instances.facts import GpuInstance

OS = Literal["al2023", "ubuntu-22.04", "ubuntu-24.04", "al2"]
Driver = Literal["open", "proprietary", "none"]

ROOT_DEVICES: Final[Mapping[str, str]] = {
    "al2023": "/dev/xvda",
    "al2": "/dev/xvda",
    "ubuntu-22.04": "/dev/sda1",
    "ubuntu-24.04": "/dev/sda1",
}
"""The root device of each operating system. A mapping for another name adds a volume instead of changing the root."""

_LONG_NAMES = {
    "amazon-linux-2023": "al2023",
    "amazon-linux-2": "al2",
    "ubuntu-22.04": "ubuntu-22.04",
    "ubuntu-24.04": "ubuntu-24.04",
    "ubuntu2204": "ubuntu-22.04",
    "ubuntu2404": "ubuntu-24.04",
}
_OS = "|".join(map(re.escape, _LONG_NAMES))
_DLAMI = "/aws/service/deeplearning/ami/{architecture}/{type}-{os}/latest/ami-id"
# https://docs.aws.amazon.com/linux/al2023/ug/ec2.html
_PLAIN_AL2023 = "/aws/service/ami-amazon-linux-latest/al2023-ami-kernel-default-{architecture}"
_NAMES = {
    "dlami": re.compile(rf"/aws/service/deeplearning/ami/(?P<architecture>x86_64|arm64)/(?P<type>.+)-(?P<os>{_OS})/.+"),
    "pcs": re.compile(rf"/aws/service/pcs/ami/(?P<type>dlami-base)-(?P<os>{_OS})/(?P<architecture>x86_64|arm64)/.+"),
    "ecs": re.compile(rf"/aws/service/ecs/optimized-ami/(?P<os>{_OS})(?P<type>/.+)"),
    "eks": re.compile(rf"/aws/service/eks/optimized-ami/[^/]+/(?P<os>{_OS})(?P<type>[-/].+)"),
}
_VERSION = re.compile(r"(?P<name>.+):(?P<version>\d+)")


@dataclass(frozen=True, kw_only=True)
class Said:
    """What the name of a public parameter says of the image; `None` where it says nothing.

    Args:
        publisher: "dlami", "pcs", "ecs" or "eks".
        os: The operating system.
        architecture: "x86_64" or "arm64".
        driver: The kernel modules of the NVIDIA driver: "open", "proprietary", or "none" where there is no driver.
        framework: Whether a framework such as PyTorch is on it.
    """

    publisher: str | None = None
    os: str | None = None
    architecture: str | None = None
    driver: Driver | None = None
    framework: bool = False


@dataclass(frozen=True, kw_only=True)
class GpuImage:
    """A machine image for GPU nodes. Use `dlami`, `custom` or `from_ssm`.

    An image is looked up when a stack is deployed, never at synth. Where it is not pinned, **each deployment looks
    again**: a newer image makes a new version of the launch template, from which nodes start that come later; those
    that run are left as they are. That AWS publishes an image changes nothing before the next deployment. A training
    run that must not meet two images, whatever is deployed and replaced meanwhile, needs a pinned one.
    """

    os: str | None
    framework: str | None = None
    pinned: str | int | None = None
    ami_ids: str | Unknown | tuple[tuple[str, str | Unknown], ...] | None = None
    architecture: str | None = None
    parameter: str | Unknown | None = None
    install_cuda: bool = False

    @classmethod
    def dlami(cls, os: OS = "al2023", framework: str | None = None, pinned: str | int | None = None) -> GpuImage:
        """Return the AWS Deep Learning AMI with the open NVIDIA driver, of the architecture of the instance type.

        Args:
            os: "al2023", "ubuntu-22.04" or "ubuntu-24.04". "al2" needs `pinned`: its images are no longer published.
            framework: A framework and its version, such as "pytorch-2.12". By default the Base DLAMI, without one.
                Those with a framework support fewer instance types.
            pinned: An AMI id ("ami-...", of one Region), or the version of the public parameter (a number, which each
                Region counts for itself; Systems Manager keeps a hundred). By default the newest at each deployment.
        """
        return cls(os=os, framework=framework, pinned=pinned)

    @classmethod
    def custom(
        cls, ami_ids: str | Mapping[str, str], os: OS, architecture: str = "x86_64", install_cuda: bool = False
    ) -> GpuImage:
        """Return an image of your own. It is expected to have an NVIDIA driver that supports the GPU.

        Args:
            ami_ids: The AMI id, or one for each Region (`{"us-east-1": "ami-..."}`).
            os: Its operating system, which decides the root device.
            architecture: "x86_64" or "arm64".
            install_cuda: Whether each node installs the NVIDIA driver that its GPU needs, CUDA, cuDNN, the container
                toolkit and PyTorch when it first starts, for an image that has none of them. It takes a
                `Bootstrap.standalone`, a way to the internet, and some ten minutes for which the node is paid.
        """
        return cls(
            os=os,
            ami_ids=ami_ids if isinstance(ami_ids, str) else tuple(sorted(ami_ids.items())),
            architecture=architecture,
            install_cuda=install_cuda,
        )

    @classmethod
    def from_ssm(cls, parameter: str, os: OS | None = None, install_cuda: bool = False) -> GpuImage:
        """Return the image whose AMI id is in a parameter of Systems Manager.

        Args:
            parameter: The name. With a version at the end ("name:3") that version is taken, whatever comes later.
            os: The operating system. By default that in the name, which the public parameters of DLAMI, PCS, ECS and
                EKS have; their architecture and driver are read from it too.
            install_cuda: As in `custom`.
        """
        return cls(os=os, parameter=parameter, install_cuda=install_cuda)

    @classmethod
    def default(cls, instance: GpuInstance, *, boots: bool) -> GpuImage:
        """Return the image of an instance type where none is given.

        It is the Deep Learning AMI; for V100, which no current one supports, Amazon Linux 2023 as it is, on which the
        node installs driver and CUDA itself.

        Args:
            instance: The instance type.
            boots: Whether nodes boot by `Bootstrap.standalone`, which can install them.
        """
        if instance.gpu == "V100" and boots:
            return cls.from_ssm(_PLAIN_AL2023.format(architecture=instance.architecture), "al2023", install_cuda=True)
        return cls.dlami()

    @property
    def said(self) -> Said:
        """What the name of the parameter says; nothing where there is none, or only the deployment knows it."""
        return read(self.parameter) if isinstance(self.parameter, str) else Said()

    @property
    def system(self) -> str | None:
        """The operating system, as given or as the name of the parameter says; `None` where neither does."""
        return self.os or self.said.os

    @property
    def root_device(self) -> str:
        """The device that the image boots from; only for an image in which the rules find no problem."""
        return ROOT_DEVICES[self.system or ""]

    @property
    def is_dlami(self) -> bool:
        """Whether it was made by `dlami`."""
        return self.ami_ids is None and self.parameter is None

    def ami_id(self) -> str | None:
        """Return the one AMI id, whatever the Region; `None` where there are several or it is in a parameter."""
        if isinstance(self.ami_ids, str):
            return self.ami_ids
        pinned = str(self.pinned)
        return pinned if self.is_dlami and pinned.startswith("ami-") else None

    def parameter_for(self, instance: GpuInstance) -> tuple[str, int | None] | None:
        """Return the parameter that holds the AMI id for an instance type, and its version if it is pinned to one."""
        if isinstance(self.parameter, str):
            versioned = _VERSION.fullmatch(self.parameter)
            return (versioned["name"], int(versioned["version"])) if versioned else (self.parameter, None)
        if not self.is_dlami or self.ami_id():
            return None
        return _dlami_parameter(self, instance), None if self.pinned is None else int(self.pinned)


def read(parameter: str) -> Said:
    """Return what the name of a public parameter says of its image."""
    for publisher, pattern in _NAMES.items():
        match = pattern.fullmatch(parameter)
        if match:
            found = match.groupdict()
            kind = found["type"]
            return Said(
                publisher=publisher,
                os=_LONG_NAMES[found["os"]],
                architecture=found.get("architecture") or ("arm64" if "arm64" in kind else "x86_64"),
                driver=_driver(publisher, kind),
                framework="pytorch" in kind or "tensorflow" in kind,
            )
    return Said()


def _driver(publisher: str, kind: str) -> Driver | None:
    if publisher in {"ecs", "eks"}:
        # Which modules those for GPUs load is for their own scripts to decide.
        return None if re.search(r"gpu|nvidia", kind) else "none"
    if "proprietary" in kind:
        return "proprietary"
    return "open" if "oss-nvidia" in kind or publisher == "pcs" else None


def _dlami_parameter(image: GpuImage, instance: GpuInstance) -> str:
    kind = f"oss-nvidia-driver-gpu-{image.framework}" if image.framework else "base-oss-nvidia-driver-gpu"
    long_name = next(name for name, short in _LONG_NAMES.items() if short == image.os)
    return _DLAMI.format(architecture=instance.architecture, type=kind, os=long_name)
