"""Which hosts in the internet a boot needs, beyond the endpoints of AWS in the Region: without a way there it fails.

In the Region, and reached through a gateway endpoint for S3 alone: Amazon Linux's own repositories (which have mdadm,
Docker, the Lustre client and the CloudWatch agent), of the bucket al2023-repos-REGION-de612dc2, and the CloudWatch
agent for Ubuntu, of amazoncloudwatch-agent-REGION; the policy of the endpoint must allow them. The bucket of FSx's
packages for Ubuntu is one for all Regions, so that in all but its own it is in the internet.
"""

from __future__ import annotations

_UBUNTU = ("archive.ubuntu.com", "*.ec2.archive.ubuntu.com", "security.ubuntu.com")
_LUSTRE_UBUNTU = ("fsx-lustre-client-repo.s3.amazonaws.com", "fsx-lustre-client-repo-public-keys.s3.amazonaws.com")
_CUDA = (
    "developer.download.nvidia.com",
    "nvidia.github.io",
    # The index of PyTorch's wheels, and where it sends for them.
    "download.pytorch.org",
    "download-r2.pytorch.org",
    "pypi.nvidia.com",
)
_EFA = ("efa-installer.amazonaws.com",)


def internet_hosts(*, system: str, install_cuda: bool, lustre: bool, efa: bool = False) -> tuple[str, ...]:
    """Return the hosts, none where the way to S3 and to the endpoints of AWS is enough.

    Args:
        system: "al2023", "ubuntu-22.04" or "ubuntu-24.04".
        install_cuda: Whether driver and CUDA are installed by hand.
        lustre: Whether a Lustre file system is mounted.
        efa: Whether the node has EFA interfaces.
    """
    ubuntu = system.startswith("ubuntu")
    return (
        *(_UBUNTU if ubuntu and (install_cuda or lustre) else ()),
        *(_LUSTRE_UBUNTU if ubuntu and lustre else ()),
        *(_CUDA if install_cuda else ()),
        *(_EFA if install_cuda and efa else ()),
    )
