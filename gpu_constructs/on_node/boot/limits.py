"""Limits: EFA registers memory, which must stay where it is (locked), and libfabric asks for huge pages.

Without them: "Unable to register MR: Cannot allocate memory". See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-start.html
"""

from __future__ import annotations

from gpu_constructs.on_node.actions import Action, Run, Write
from gpu_constructs.on_node.boot import service
from gpu_constructs.on_node.config import Hardware
from gpu_constructs.on_node.steps import Step

NAME = "limits"
# As many 2 MiB pages as the images of EKS have (https://docs.aws.amazon.com/eks/latest/userguide/node-efa.html). The
# EFA installer reckons them by cores and interfaces; where it has reserved more, they stay.
_HUGE_PAGES = 5128
_PAGES = "/proc/sys/vm/nr_hugepages"


def step(hardware: Hardware) -> Step:
    """Return the step: for logins, for services, and huge pages where there is EFA."""
    lines = [f"{who} {kind} memlock unlimited" for who in ("*", "root") for kind in ("soft", "hard")]
    return Step(
        name=NAME,
        actions=(
            Write(path="/etc/security/limits.d/90-gpu-node.conf", text="\n".join([*lines, ""])),
            Write(path="/etc/systemd/system.conf.d/90-gpu-node.conf", text="[Manager]\nDefaultLimitMEMLOCK=infinity\n"),
            Run(argv=("systemctl", "daemon-reexec")),
            *(_huge_pages() if hardware.efa_interfaces else ()),
        ),
        after=(service.NAME,),  # which talks to systemd, as this does
    )


def _huge_pages() -> tuple[Action, ...]:
    return (
        Run(
            argv=("sysctl", "-w", f"vm.nr_hugepages={_HUGE_PAGES}"),
            unless=("sh", "-c", f'test "$(cat {_PAGES})" -ge {_HUGE_PAGES}'),
        ),
    )
