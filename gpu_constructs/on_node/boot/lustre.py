"""FSx for Lustre: the client for the running kernel, module options before the first mount, the mount with patience.

See https://docs.aws.amazon.com/fsx/latest/LustreGuide/install-lustre-client.html and, on options and tuning,
https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html.
"""

from __future__ import annotations

from gpu_constructs.on_node.actions import Folder, Line, Run, Write
from gpu_constructs.on_node.boot import packages
from gpu_constructs.on_node.config import LustreMount
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.steps import Step

CLIENT, MOUNT = "lustre-client", "lustre-mount"
CODENAMES = {"ubuntu-22.04": "jammy", "ubuntu-24.04": "noble"}
_KEY_URL = "https://fsx-lustre-client-repo-public-keys.s3.amazonaws.com/fsx-ubuntu-public-key.asc"
_REPOSITORY = "https://fsx-lustre-client-repo.s3.amazonaws.com/ubuntu"
# A module reads them when it is loaded, so before the first mount.
_MODULE_OPTIONS = "options ptlrpc ptlrpcd_per_cpt_max=32\noptions ksocklnd credits=2560\n"
_TUNING = (
    "osc.*.max_rpcs_in_flight=64",
    "osc.*.max_dirty_mb=256",
    "osc.*.max_pages_per_rpc=1024",
    "mdc.*.max_rpcs_in_flight=64",  # before the next, which must be less
    "mdc.*.max_mod_rpcs_in_flight=50",
    "llite.*.max_read_ahead_mb=256",
)
_TRIES, _PAUSE_SECONDS = 10, 6
_NO_WAY = "the node has no way to the packages"


def client(facts: Facts) -> Step:
    """Return the step that installs the client."""
    options = Write(path="/etc/modprobe.d/gpu-node-lustre.conf", text=_MODULE_OPTIONS)
    # Of the running kernel: a newer kernel has no Lustre until its package is there too.
    there = ("sh", "-c", "modinfo lustre && command -v mount.lustre")
    if not facts.ubuntu:
        remedy = f"no Lustre client for kernel {facts.kernel}, or {_NO_WAY}"
        return Step(
            name=CLIENT, actions=(options, *packages.install(facts, "lustre-client", unless=there, remedy=remedy))
        )
    source = f"{_REPOSITORY} {CODENAMES[facts.system]} main"
    repository = packages.add_apt_repository("fsx-lustre-client", _KEY_URL, source, there)
    remedy = f"FSx has no Lustre client for kernel {facts.kernel}: use an image with a kernel that it has; or {_NO_WAY}"
    modules = packages.install(facts, f"lustre-client-modules-{facts.kernel}", unless=there, remedy=remedy)
    return Step(name=CLIENT, actions=(options, repository, *modules))


def mount(lustre: LustreMount) -> Step:
    """Return the step that mounts and tunes it, at each start of the machine."""
    source = f"{lustre.dns_name}@tcp:/{lustre.mount_name}"
    # noauto: systemd would mount it before LNet is up, or fail for want of a unit (network.service is not everywhere).
    line = f"{source} {lustre.path} lustre noatime,flock,_netdev,noauto 0 0"
    return Step(
        name=MOUNT,
        actions=(
            Folder(path=lustre.path),
            Line(path="/etc/fstab", text=line, key=source),
            Run(
                argv=("mount", lustre.path),
                unless=("mountpoint", "-q", lustre.path),
                tries=_TRIES,
                pause_seconds=_PAUSE_SECONDS,
                timeout_seconds=60,
                remedy="the security groups of node and file system must let TCP 988 and 1018-1023 through, both ways; "
                f"see dmesg, and lctl ping {lustre.dns_name}@tcp",
            ),
            Run(
                argv=("chmod", "1777", lustre.path),
                unless=("sh", "-c", f'test "$(stat -c %a {lustre.path})" = 1777'),
                remedy="the file system squashes root: give its root folder mode 1777 from a node that it does not",
            ),
            Run(argv=("lctl", "set_param", *_TUNING)),
        ),
        after=(CLIENT,),
    )
