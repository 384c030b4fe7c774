"""The local NVMe disks as one file system at /scratch: striped where there are several.

They are named by what stays theirs, never /dev/nvme0n1, which may be the root volume. They are blank after each stop of
the instance: then they are striped and formatted again. What holds anything is not overwritten: mdadm asks before it
does, and nobody answers.

Where the image has mounted them (the Deep Learning AMI's dlami-nvme.service does, at /opt/dlami/nvme), /scratch shows
the same.
"""

from __future__ import annotations

from gpu_constructs.on_node.actions import Run
from gpu_constructs.on_node.boot import mounts, packages
from gpu_constructs.on_node.facts import SCRATCH, Facts
from gpu_constructs.on_node.steps import Step

NAME = "scratch"
_PACKAGE = "mdadm"
_LABEL = "gpu-scratch"
_ARRAY = f"/dev/md/{_LABEL}"
_REMEDY = (
    "a local disk holds something that this boot did not make: see lsblk -f; the image should leave local disks blank, "
    "or mount them itself"
)


def package(facts: Facts) -> list[Step]:
    """Return the step that installs what stripes disks, where that is needed."""
    if not _striped(facts):
        return []
    there = ("sh", "-c", "command -v mdadm")
    return [Step(name=_PACKAGE, actions=packages.install(facts, "mdadm", unless=there))]


def steps(facts: Facts) -> list[Step]:
    """Return the step that has the disks at /scratch; none where the instance type has no local disks."""
    if facts.local_mount:
        return [Step(name=NAME, actions=mounts.mounted_too(facts.local_mount, SCRATCH))]
    if not facts.local_disks:
        return []
    striped = _striped(facts)
    device = _ARRAY if striped else facts.local_disks[0]
    return [
        Step(
            name=NAME,
            actions=(
                *((_stripe(facts.local_disks),) if striped else ()),
                mounts.make_where_blank(device, _LABEL),
                *mounts.mounted(f"LABEL={_LABEL}", SCRATCH, "defaults,noatime", _REMEDY),
            ),
            after=(_PACKAGE,) if striped else (),
        )
    ]


def _striped(facts: Facts) -> bool:
    return len(facts.local_disks) > 1 and not facts.local_mount


def _stripe(disks: tuple[str, ...]) -> Run:
    there = f'test -b {_ARRAY} || mdadm --assemble {_ARRAY} "$@"'
    # homehost: the name of the machine may change, and the array of another machine gets another name.
    create = ("mdadm", "--create", _ARRAY, "--level=0", f"--raid-devices={len(disks)}", "--homehost=any")
    return Run(argv=(*create, f"--name={_LABEL}", *disks), unless=("sh", "-c", there, "sh", *disks), remedy=_REMEDY)
