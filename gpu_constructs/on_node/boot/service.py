"""The service that boots the node again at each later start of the machine, for which user data does not run.

It is enabled among the first steps, so that a machine that restarts half-way goes on; it is not started here.
"""

from __future__ import annotations

from gpu_constructs.on_node.actions import Run, Write
from gpu_constructs.on_node.steps import Step

NAME = "service"
COMMAND = "/opt/gpu-node/bin/gpu-node"
UNIT_PATH = "/etc/systemd/system/gpu-node.service"
# chronyd on Amazon Linux, chrony on Ubuntu; dlami-nvme mounts local disks. What a system has not is passed by.
_SECONDS = 3600
_UNIT = f"""\
[Unit]
Description=Make the GPU node ready
After=network-online.target chronyd.service chrony.service dlami-nvme.service
Wants=network-online.target
ConditionPathExists={COMMAND}

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={COMMAND} boot
TimeoutStartSec=@SECONDS@
LimitMEMLOCK=infinity
StandardOutput=journal+console
StandardError=journal+console

[Install]
WantedBy=multi-user.target
"""


def unit(more_seconds: int = 0) -> str:
    """Return the unit.

    Args:
        more_seconds: How much longer than an hour a boot may take.
    """
    return _UNIT.replace("@SECONDS@", str(_SECONDS + more_seconds))


def step(more_seconds: int = 0) -> Step:
    """Return the step that has the service.

    Args:
        more_seconds: How much longer than an hour a boot may take.
    """
    return Step(
        name=NAME,
        actions=(
            Write(path=UNIT_PATH, text=unit(more_seconds)),
            Run(argv=("systemctl", "daemon-reload")),
            Run(argv=("systemctl", "enable", "gpu-node.service")),
        ),
    )
