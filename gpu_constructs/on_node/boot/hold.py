"""Kernel and driver stay as they are: another kernel has no Lustre client, another driver no fabric manager.

Unattended upgrades of Ubuntu pass them by, and needrestart only lists the services that it would restart (it ends
running jobs otherwise). Amazon Linux upgrades nothing by itself; `dnf upgrade` passes them by.
"""

from __future__ import annotations

from gpu_constructs.on_node.actions import Run, Write
from gpu_constructs.on_node.boot import packages
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.steps import Step

QUIET, HOLD = "quiet-upgrades", "hold"
_PREFIXES = ("linux-", "nvidia-", "libnvidia-", "cuda-drivers", "lustre-client")
_RPMS = ("kernel*", "nvidia*", "libnvidia*", "kmod-nvidia*", "cuda-drivers*", "*lustre-client*")
_LOCK = "rpm -qa --qf '%{NAME}\\n' \"$@\" | sort -u | xargs -r dnf versionlock add"
_APT_HOLD = (
    "dpkg-query -W -f '${db:Status-Abbrev} ${binary:Package}\\n' | "
    'sed -nE "s/^ii +($1)/\\1/p" | xargs -r apt-mark hold'
)


def quiet(facts: Facts) -> list[Step]:
    """Return the step that keeps Ubuntu's own upgrades from the boot; before anything is installed."""
    if not facts.ubuntu:
        return []
    listed = "".join(f'  "{prefix}";\n' for prefix in _PREFIXES)
    blacklist = f"Unattended-Upgrade::Package-Blacklist {{\n{listed}}};\n"
    return [
        Step(
            name=QUIET,
            actions=(
                Write(
                    path="/etc/needrestart/conf.d/gpu-node.conf",
                    text="$nrconf{restart} = 'l';\n$nrconf{kernelhints} = 0;\n",
                ),
                Write(path="/etc/apt/apt.conf.d/52gpu-node-unattended-upgrades", text=blacklist),
            ),
        )
    ]


def step(facts: Facts) -> Step:
    """Return the step that holds what is installed; after all that installs."""
    if facts.ubuntu:
        pattern = f"({'|'.join(_PREFIXES)}).*"
        return Step(name=HOLD, actions=(Run(argv=("sh", "-c", _APT_HOLD, "sh", pattern)),))
    # https://docs.nvidia.com/datacenter/tesla/driver-installation-guide/version-locking.html names the package.
    plugin = packages.install(facts, "python3-dnf-plugin-versionlock")
    return Step(name=HOLD, actions=(*plugin, Run(argv=("sh", "-c", _LOCK, "sh", *_RPMS))))
