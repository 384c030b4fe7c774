"""CUDA by hand, on an image that has none of it: driver, toolkit, cuDNN, containers, PyTorch, and proof that they work.

As NVIDIA's guides say it:
https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/ ("Kernel modules" and "Ubuntu": those of a branch),
https://docs.nvidia.com/cuda/cuda-installation-guide-linux/,
https://docs.nvidia.com/datacenter/cloud-native/container-toolkit/latest/install-guide.html.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gpu_constructs.on_node.actions import Action, Run, Write
from gpu_constructs.on_node.boot import docker, packages
from gpu_constructs.on_node.config import Hardware
from gpu_constructs.on_node.facts import UBUNTU_22, Facts
from gpu_constructs.on_node.steps import Step

DRIVER, TOOLKIT, PYTHON, PYTORCH, CHECK = "cuda-driver", "cuda-toolkit", "cuda-python", "pytorch", "cuda-check"
FABRIC_MANAGER, EFA = "fabric-manager-package", "efa-software"
REPOSITORIES = "https://developer.download.nvidia.com/compute/cuda/repos"
CONTAINERS = "https://nvidia.github.io/libnvidia-container"
WHEELS = "https://download.pytorch.org/whl"
EFA_INSTALLER = "https://efa-installer.amazonaws.com/aws-efa-installer-latest.tar.gz"
_KEYRING = "/usr/share/keyrings/cuda-archive-keyring.gpg"
_VENV = "/opt/pytorch"  # where the Deep Learning AMI with PyTorch has it
_MAKE_VENV = f"$(command -v python3.12 || command -v python3) -m venv {_VENV}"
_PATH = 'export PATH="/usr/local/cuda/bin:$PATH"\n'
_PROOF = (
    "import torch; assert torch.cuda.is_available(), 'torch.cuda.is_available() is False'; "
    # It is True even where the wheel has no code for the GPU.
    "print(torch.__version__, torch.ones(8, device='cuda').sum().item())"
)


@dataclass(frozen=True)
class _Versions:
    """What fits a GPU."""

    toolkit: str
    cudnn: str
    cudnn_version: str | None
    wheels: str


# CUDA 13 dropped Volta and older, cuDNN with 9.11, PyTorch's wheels but those for CUDA 12.6 with 2.11:
# https://docs.nvidia.com/cuda/cuda-toolkit-release-notes/, https://docs.nvidia.com/deeplearning/cudnn/backend/v9.11.0/
# reference/support-matrix.html, https://github.com/pytorch/pytorch/issues/172352.
_BEFORE_TURING = _Versions("12-9", "cuda-12", "9.10.2.21-1", "cu126")
# The newest toolkit for driver R580: https://docs.nvidia.com/deploy/cuda-compatibility/
_SINCE_TURING = _Versions("13-0", "cuda-13", None, "cu130")


def installs(hardware: Hardware, facts: Facts) -> list[Step]:
    """Return the steps that use the package manager, in an order that works."""
    versions = _versions(hardware)
    return [
        Step(name=DRIVER, actions=_driver(hardware, facts)),
        *([Step(name=FABRIC_MANAGER, actions=(_fabric_manager(hardware, facts),))] if hardware.nvswitch else []),
        Step(name=docker.CONTAINER_TOOLKIT, actions=_containers(facts)),
        Step(name=PYTHON, actions=packages.install(facts, *_python_packages(facts))),
        Step(name=TOOLKIT, actions=(*_toolkit(versions, facts), Write(path="/etc/profile.d/cuda.sh", text=_PATH))),
        *([Step(name=EFA, actions=(_efa(),))] if hardware.efa_interfaces else []),
    ]


def proof(hardware: Hardware, ready: tuple[str, ...]) -> list[Step]:
    """Return PyTorch and the proof that all work together, after the steps that make the GPUs ready."""
    pip = (f"{_VENV}/bin/python", "-m", "pip", "install", "--no-cache-dir")
    torch = ("torch", "numpy", "--index-url", f"{WHEELS}/{_versions(hardware).wheels}")
    remedy = f"the node needs a way to {WHEELS}; or use an image that has PyTorch"
    return [
        Step(
            name=PYTORCH,
            actions=(
                Run(argv=("sh", "-c", _MAKE_VENV), unless=("test", "-x", f"{_VENV}/bin/pip")),
                Run(
                    argv=(*pip, *torch),
                    unless=(f"{_VENV}/bin/python", "-c", "import torch"),
                    tries=3,
                    pause_seconds=30,
                    timeout_seconds=1800,
                    remedy=remedy,
                ),
            ),
            after=(PYTHON,),
        ),
        Step(
            name=CHECK,
            actions=(
                Run(argv=("nvidia-smi",), remedy="the driver does not run: see dmesg, and dkms status"),
                Run(argv=("/usr/local/cuda/bin/nvcc", "--version")),
                Run(
                    argv=(f"{_VENV}/bin/python", "-c", _PROOF), remedy=f"CUDA does not run on {hardware.gpu}: see dmesg"
                ),
            ),
            after=(PYTORCH, TOOLKIT, *ready),
        ),
    ]


def _versions(hardware: Hardware) -> _Versions:
    return _SINCE_TURING if hardware.open_modules else _BEFORE_TURING


def _driver(hardware: Hardware, facts: Facts) -> tuple[Action, ...]:
    there = ("nvidia-smi",)
    load = (
        Run(argv=("modprobe", "-a", "nvidia", "nvidia-uvm"), remedy="no module for this kernel was built: dkms status"),
        Run(argv=("nvidia-smi",), remedy="the driver does not support the GPU, or does not run: see dmesg"),
    )
    branch = hardware.driver
    if facts.ubuntu:
        # HWE kernels of 22.04 are built with gcc 12, and so must modules be.
        compiler = ("gcc-12",) if facts.system == UBUNTU_22 else ()
        headers = packages.install(facts, f"linux-headers-{facts.kernel}", "gcc", "make", *compiler)
        # The pinning package, because the repository has newer branches, to which `cuda-drivers` alone leads.
        names = (
            f"nvidia-driver-pinning-{branch}",
            f"{'nvidia-open' if hardware.open_modules else 'cuda-drivers'}-{branch}",
        )
        pin, driver = (packages.install(facts, name, unless=there) for name in names)
        return (*headers, *_cuda_repository(facts), *pin, *driver, *load)
    stream = "open" if hardware.open_modules else "dkms"
    modules = f"kmod-nvidia-{'open' if hardware.open_modules else 'latest'}-dkms"
    enable = ("dnf", "module", "enable", "-y", f"nvidia-driver:{branch}-{stream}")
    return (
        *packages.install(facts, *_kernel_packages(facts.kernel), options=("--allowerasing",)),
        *packages.install(facts, "dkms", "gcc", "make"),
        *_cuda_repository(facts),
        Run(argv=enable, unless=there, tries=3, remedy=f"the repository has no branch {branch} of the driver any more"),
        # What a node without a display needs ("compute-only"): no X.
        *packages.install(facts, "nvidia-driver-cuda", modules, unless=there),
        *load,
    )


def _kernel_packages(kernel: str) -> tuple[str, ...]:
    """Those of the running kernel, by name: what dkms asks for by itself is the newest, for another kernel.

    Kernels since 6.12 have their version in the name (https://docs.aws.amazon.com/linux/al2023/ug/kernel-update.html).
    """
    version = ".".join(re.split(r"[.-]", kernel)[:2])
    name = "kernel" if version == "6.1" else f"kernel{version}"
    return tuple(f"{name}-{part}-{kernel}" for part in ("devel", "headers", "modules-extra"))


def _cuda_repository(facts: Facts) -> tuple[Action, ...]:
    architecture = "sbsa" if facts.architecture == "aarch64" else "x86_64"
    if not facts.ubuntu:
        return (packages.add_dnf_repository(f"{REPOSITORIES}/amzn2023/{architecture}/cuda-amzn2023.repo"),)
    folder = f"{REPOSITORIES}/{facts.system.replace('-', '').replace('.', '')}/{architecture}"
    there = ("test", "-s", f"{{root}}{_KEYRING}")
    return packages.install_deb(f"{folder}/cuda-keyring_1.1-1_all.deb", "/var/cache/gpu-node/cuda-keyring.deb", there)


def _fabric_manager(hardware: Hardware, facts: Facts) -> Run:
    """Of the driver's own version: another one does not start. NVLink 5 (Blackwell) needs its subnet manager too."""
    fifth = hardware.gpu.startswith(("B2", "B3"))
    nvlink = f" nvlink5-{hardware.driver}" if fifth else ""
    if facts.ubuntu:
        get = f'apt-get -q -y -o DPkg::Lock::Timeout=300 install "nvidia-fabricmanager-{hardware.driver}=$v-*"{nvlink}'
    else:
        get = f'dnf install -y "nvidia-fabricmanager-$v"{nvlink}'
    return Run(
        argv=("sh", "-c", f"v=$(cat /sys/module/nvidia/version) && {get}"),
        unless=("sh", "-c", "command -v nv-fabricmanager"),
        tries=packages.TRIES,
        pause_seconds=packages.PAUSE_SECONDS,
        timeout_seconds=1800,
        remedy="there is no fabric manager of the version of the driver (/sys/module/nvidia/version)",
    )


def _containers(facts: Facts) -> tuple[Action, ...]:
    has_docker = ("sh", "-c", "command -v docker")
    engine = packages.install(facts, "docker.io" if facts.ubuntu else "docker", unless=has_docker)
    there = ("sh", "-c", "command -v nvidia-ctk")
    toolkit = packages.install(facts, "nvidia-container-toolkit", unless=there)
    if not facts.ubuntu:
        repository = packages.add_dnf_repository(f"{CONTAINERS}/stable/rpm/nvidia-container-toolkit.repo")
        return (*engine, repository, *toolkit)
    source = f"{CONTAINERS}/stable/deb/$(ARCH) /"
    repository = packages.add_apt_repository("nvidia-container-toolkit", f"{CONTAINERS}/gpgkey", source, there)
    return (*engine, repository, *toolkit)


def _python_packages(facts: Facts) -> tuple[str, ...]:
    """PyTorch needs 3.10 or newer, and Amazon Linux's own is 3.9."""
    return ("python3-venv",) if facts.ubuntu else ("python3.12", "python3.12-pip")


def _toolkit(versions: _Versions, facts: Facts) -> tuple[Action, ...]:
    dev = "dev" if facts.ubuntu else "devel"
    names = [f"libcudnn9-{versions.cudnn}", f"libcudnn9-{dev}-{versions.cudnn}"]
    if versions.cudnn_version:
        names.append(f"libcudnn9-headers-{versions.cudnn}")  # else the newest, which the others do not take
        names = [f"{name}{'=' if facts.ubuntu else '-'}{versions.cudnn_version}" for name in names]
    return packages.install(facts, f"cuda-toolkit-{versions.toolkit}", *names)


def _efa() -> Run:
    """Libfabric, and NCCL's way to it: an image has the device's driver alone, and NCCL would fall back to sockets."""
    script = (
        f'cd "$(mktemp -d)" && curl -fsSL --retry 3 -o efa.tar.gz {EFA_INSTALLER} && tar -xzf efa.tar.gz && '
        "cd aws-efa-installer && ./efa_installer.sh -y"
    )
    return Run(
        argv=("sh", "-c", script),
        unless=("test", "-x", "/opt/amazon/efa/bin/fi_info"),
        tries=3,
        pause_seconds=packages.PAUSE_SECONDS,
        timeout_seconds=1800,
        remedy="see https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html",
    )
