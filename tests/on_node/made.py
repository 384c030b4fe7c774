"""Nodes to plan a boot for, and a machine that only plays one: what it says it did, it remembers."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpu_constructs.on_node.actions import Count, Run
from gpu_constructs.on_node.boot import plan
from gpu_constructs.on_node.config import Hardware, LustreMount, NodeConfig
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.host import Finished, Host
from gpu_constructs.on_node.journal import Journal
from gpu_constructs.on_node.steps import Step

HARDWARE = {
    "p3dn.24xlarge": Hardware(gpu="V100", gpus=8, efa_interfaces=1, local_nvme_disks=2, open_modules=False),
    "p4d.24xlarge": Hardware(gpu="A100", gpus=8, efa_interfaces=4, nvswitch=True, local_nvme_disks=8),
    "p5.48xlarge": Hardware(gpu="H100", gpus=8, efa_interfaces=32, nvswitch=True, local_nvme_disks=8),
    "p6-b200.48xlarge": Hardware(gpu="B200", gpus=8, efa_interfaces=8, nvswitch=True, local_nvme_disks=8),
    "g4dn.xlarge": Hardware(gpu="T4", gpus=1, local_nvme_disks=1),
    "g6.xlarge": Hardware(gpu="L4", gpus=1, local_nvme_disks=1),
}
KERNELS = {
    "al2023": "6.1.164-196.303.amzn2023.x86_64",
    "ubuntu-22.04": "6.8.0-1031-aws",
    "ubuntu-24.04": "6.14.0-1011-aws",
}
LUSTRE = LustreMount(dns_name="fs-0123456789abcdef0.fsx.us-east-1.amazonaws.com", mount_name="abcdefgh")
DATA_DISK = "/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol0123456789abcdef0"
_OUTPUTS = {
    "GPUs": "GPU {}: NVIDIA (UUID: GPU-0)",
    "active NVLinks": "\t Link {}: 26.562 GB/s",
    "EFA interfaces": "/sys/bus/pci/drivers/efa",
}


def config(*, by_hand: bool = False, lustre: bool = True, data_volume: bool = False) -> NodeConfig:
    return NodeConfig(
        hardware=HARDWARE,
        install_cuda=by_hand,
        lustre=LUSTRE if lustre else None,
        data_volume=data_volume,
        log_group="/gpu/boot",
    )


def facts(system: str, instance_type: str, *, dlami: bool = True, kernel: str = "", mounted: bool = False) -> Facts:
    """What a node finds; on a Deep Learning AMI, whose local disks may be mounted, or on a plain image."""
    disks = range(HARDWARE[instance_type].local_nvme_disks)
    return Facts(
        system=system,
        kernel=kernel or KERNELS[system],
        architecture="x86_64",
        instance_type=instance_type,
        region="us-east-1",
        local_disks=tuple(f"/dev/disk/by-id/nvme-Amazon_EC2_NVMe_Instance_Storage_AWS{disk}" for disk in disks),
        data_disks=(DATA_DISK,),
        local_mount="/opt/dlami/nvme" if mounted else None,
        commands=frozenset({"docker", "nvidia-ctk", "nvidia-smi"} if dlami else ()),
    )


V100_BY_HAND = config(by_hand=True), facts("al2023", "p3dn.24xlarge", dlami=False)
H100_BY_HAND = config(by_hand=True), facts("ubuntu-24.04", "p5.48xlarge", dlami=False)
A100_DLAMI = config(), facts("al2023", "p4d.24xlarge")
H100_UBUNTU = config(), facts("ubuntu-24.04", "p5.48xlarge", mounted=True)
L4_DATA = config(lustre=False, data_volume=True), facts("ubuntu-24.04", "g6.xlarge")
NODES = {
    "V100 by hand": V100_BY_HAND,
    "H100 by hand": H100_BY_HAND,
    "A100": A100_DLAMI,
    "H100": H100_UBUNTU,
    "L4": L4_DATA,
}


def shown(steps: Sequence[Step]) -> str:
    """A boot as people read it."""
    lines = []
    for step in steps:
        lines.append(" ".join([step.name, *(["after", ", ".join(step.after)] if step.after else [])]))
        lines += [f"  {line}" for action in step.actions for line in str(action).splitlines()]
    return "\n".join([*lines, ""])


def before(steps: Sequence[Step], name: str) -> set[str]:
    """The steps that are done when a step begins."""
    after = {step.name: step.after for step in steps}
    found: set[str] = set()
    todo = [name]
    while todo:
        new = set(after[todo.pop()]) - found
        found |= new
        todo += new
    return found


@dataclass
class Played:
    """A machine that plays the steps of a boot.

    A command succeeds. The one that asks whether there is anything to do (`unless`) succeeds once all has been done
    that it stands for. What it has done is kept in its folder, so that another process goes on with it.

    Args:
        root: Its folder.
        steps: The steps.
        fails: What a command says that fails, by a part of it.
    """

    root: Path
    steps: Sequence[Step]
    fails: Mapping[str, Finished] = field(default_factory=dict)
    waited: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        actions = [action for step in self.steps for action in step.actions]
        runs = [action for action in actions if isinstance(action, Run)]
        self._asks = {run.unless for run in runs if run.unless}
        self._does = {ask: {run.argv for run in runs if run.unless == ask} for ask in self._asks}
        self._counts = {
            count.argv: "\n".join(_OUTPUTS[count.what].format(number) for number in range(count.expected))
            for count in actions
            if isinstance(count, Count)
        }
        self.start_machine("first")
        (self.root / "commands").touch()

    @property
    def host(self) -> Host:
        # The root is the machine's own, so that no path in a command depends on the folder.
        return Host(root=self.root, run_command=self._run, wait=self.waited.append)

    @property
    def journal(self) -> Journal:
        return Journal(self.root / "var/log/gpu-node/boot.jsonl", lambda _: None)

    @property
    def commands(self) -> list[str]:
        """What has been run, but for what was only asked."""
        return (self.root / "commands").read_text().splitlines()

    def start_machine(self, boot_id: str) -> None:
        place = self.root / "proc/sys/kernel/random"
        place.mkdir(parents=True, exist_ok=True)
        (place / "boot_id").write_text(boot_id)

    def marks(self) -> list[str]:
        """The steps that are marked as done."""
        return sorted(file.name for file in (self.root / "var/lib/gpu-node/steps").glob("[!.]*"))

    def files(self) -> dict[str, str]:
        """What steps have written, but for their marks and what they said; lines as steps that run at once add them."""
        kept = ("etc", "opt")
        return {
            str(file.relative_to(self.root)): "\n".join(sorted(file.read_text().splitlines()))
            for top in kept
            for file in sorted((self.root / top).rglob("*"))
            if file.is_file()
        }

    def _run(self, argv: Sequence[str], _: float) -> Finished:
        words = tuple(word.replace(str(self.root), "{root}") for word in argv)
        if words in self._asks and not all(self._done(one).exists() for one in self._does[words]):
            return Finished(1, "")
        if words in self._asks and words not in self._counts:
            return Finished(0, "")
        said = shlex.join(words)
        for part, finished in self.fails.items():
            if part in said:
                return finished
        with (self.root / "commands").open("a") as file:
            file.write(said.replace("\n", " ") + "\n")
        self._done(words).touch()
        return Finished(0, self._counts.get(words, ""))

    def _done(self, words: tuple[str, ...]) -> Path:
        done = self.root / "done"
        done.mkdir(exist_ok=True)
        return done / hashlib.sha256(shlex.join(words).encode()).hexdigest()


def played(root: Path, node: tuple[NodeConfig, Facts], fails: Mapping[str, Finished] | None = None) -> Played:
    root.mkdir(exist_ok=True)
    return Played(root, plan(*node), fails or {})
