"""What fails in the steps of a boot, in the words of the commands that fail there."""

from __future__ import annotations

from dataclasses import dataclass

NOT_FOUND = 127
LOCK = "E: Could not get lock /var/lib/dpkg/lock-frontend. It is held by process 1534 (unattended-upgr)"
MGS = """\
mount.lustre: mount fs-1.fsx.us-east-1.amazonaws.com@tcp:/abc at /fsx failed: Input/output error
Is the MGS running?"""
NO_KERNEL = "Error: Unable to find a match: kernel-devel-6.1.164-196.303.amzn2023.x86_64"
NO_STREAM = "Error: Problems in request:\nmissing groups or modules: nvidia-driver:580-dkms"
NO_FABRIC = "E: Version '580.1-*' for 'nvidia-fabricmanager-580' was not found"
NO_LUSTRE = "E: Unable to locate package lustre-client-modules-6.14.0-1011-aws"
NO_CODE = "RuntimeError: CUDA error: no kernel image is available for execution on the device"
P6_CONTROLLERS = "/sys/bus/pci/drivers/efa\n/sys/bus/pci/drivers/mlx5_core\n/sys/bus/pci/drivers/mlx5_core"
V100, H100, A100 = "V100 by hand", "H100", "A100"


@dataclass(frozen=True)
class Fault:
    """A command that fails.

    Args:
        step: In which step.
        command: A part of the command.
        says: What it prints.
        reason: What the boot says, as a regular expression.
        node: On which node.
        code: The exit code.
        waits: How long is waited between its tries in all, in seconds.
    """

    step: str
    command: str
    says: str
    reason: str
    node: str = V100
    code: int = 1
    waits: float = 0

    def __str__(self) -> str:
        return f"{self.step}: {self.says[:40]}"


FAULTS = [
    Fault(
        "service", "systemctl enable gpu-node", "Failed to enable unit: Read-only file system", "Read-only file system$"
    ),
    Fault("limits", "daemon-reexec", "Failed to reload daemon: Connection reset", "reexec ended with code 1: .*reset"),
    Fault("limits", "nr_hugepages=", "sysctl: setting key", "vm.nr_hugepages=5128 ended with code 1"),
    Fault("clock", "waitsync", "506 Cannot talk to daemon", "was not set from 169.254.169.123; see chronyc -n sources"),
    Fault("clock", "install chrony", LOCK, "5 times: E: Could not get lock .*its mirrors", "L4", 100, waits=120),
    Fault("mdadm", "install -y mdadm", "Error: Failed to download metadata", "the repository in S3", waits=120),
    Fault("scratch", "mdadm --create", "mdadm: create aborted.", "create aborted.; a local disk holds something"),
    Fault("scratch", "mkfs.ext4", "mkfs.ext4: No space left on device", "No space left on device; see lsblk -f"),
    Fault("scratch", "sh /scratch", "/scratch is not a mountpoint", "3 times: .*holds something", waits=4),
    Fault(
        "scratch", "mount --bind", "mount: /opt/dlami/nvme does not exist.", "/opt/dlami/nvme does not exist", H100, 32
    ),
    Fault("data-volume", "sh /data", "mount: wrong fs type", "a volume with partitions is not", "L4", 32, waits=4),
    Fault("docker", "restart docker", "Job for docker.service failed", "failed; see journalctl -u docker"),
    Fault("docker", "nvidia-ctk", "nvidia-ctk: command not found", "nvidia-ctk runtime .* code 127", A100, NOT_FOUND),
    Fault(
        "lustre-client", "install -y lustre", "No match for argument", "no Lustre client for kernel 6.1.164-", waits=120
    ),
    Fault(
        "lustre-client",
        "lustre-client-modules",
        NO_LUSTRE,
        "6.14.0-1011-aws: use an image with a",
        H100,
        100,
        waits=120,
    ),
    Fault(
        "lustre-mount", "mount /fsx", MGS, "10 times: Is the MGS running.; the security groups .* 988", code=5, waits=54
    ),
    Fault("lustre-mount", "chmod 1777 /fsx", "chmod: Operation not permitted", "the file system squashes root"),
    Fault("lustre-mount", "lctl set_param", "error: set_param: param_path 'osc/*'", "lctl set_param .* code 2", code=2),
    Fault("cloudwatch-agent-package", "amazon-cloudwatch-agent", "GPG check FAILED", "GPG check FAILED", waits=120),
    Fault(
        "cloudwatch-agent-package", "curl", "curl: (28) Timeout", "a way to https://amazoncloudwatch-", "L4", 28, 120
    ),
    Fault("cloudwatch-agent", "fetch-config", "Fail to fetch the config!", "CloudWatchAgentServerPolicy", waits=12),
    Fault("cuda-driver", "kernel-devel", NO_KERNEL, "Unable to find a match: kernel-devel-6.1.164", waits=120),
    Fault("cuda-driver", "module enable", NO_STREAM, "nvidia-driver:580-dkms; .* has no branch 580", waits=12),
    Fault("cuda-driver", "modprobe", "modprobe: FATAL: Module nvidia not found", "no module .* was built: dkms status"),
    Fault(
        "fabric-manager-package", "$v-*", NO_FABRIC, "no fabric manager of the version", "H100 by hand", 100, waits=120
    ),
    Fault("container-toolkit", "toolkit.repo", "curl: (6) no host", "a way to https://nvidia.github.io", waits=120),
    Fault("cuda-python", "python3.12", "Error: Unable to find a match: python3.12", "the repository in S3", waits=120),
    Fault("cuda-toolkit", "cuda-toolkit-12-9", "No space left on device", "No space left on device", waits=120),
    Fault("efa-software", "efa_installer", "curl: (6) Could not resolve host", "efa-start.html", waits=60),
    Fault("hold", "versionlock add", "Error: No such command: versionlock", "No such command: versionlock$"),
    Fault(
        "gpus",
        "nvidia-smi",
        "nvidia-smi: command not found",
        "3 times: .*; no driver runs: ",
        A100,
        NOT_FOUND,
        waits=10,
    ),
    Fault(
        "gpus", "nvidia-smi -L", "No devices were found", "code 6: No devices were found; see dmesg .*Xid 79", A100, 6
    ),
    Fault("gpus", "nvidia-smi -L", "GPU 0: A100\nGPU 1: A100", "2 GPUs instead of 8; .*have it replaced", A100, 0),
    Fault("fabric-manager", "enable --now", "Job failed", "of the same version as the driver .*error 802", A100),
    Fault("fabric-manager", "is-active", "activating", "10 times: activating", A100, 3, waits=27),
    Fault(
        "nvlink",
        "--status",
        "GPU 0\n\t Link 0: 25 GB/s\n\t Link 1: <inactive>",
        "1 active NVLinks .* 96; .*Xid 74",
        A100,
        0,
    ),
    Fault("efa", "infiniband", P6_CONTROLLERS, "1 EFA interfaces instead of 4; the launch template must", A100, 0),
    Fault("pytorch", "whl/cu126", "ERROR: No matching distribution", "a way to https://download.pytorch.org", waits=60),
    Fault("cuda-check", "torch.ones", NO_CODE, "no kernel image is available .*; CUDA does not run on V100"),
    Fault("cuda-check", "nvcc", "nvcc: command not found", "nvcc --version ended with code 127", code=NOT_FOUND),
]
