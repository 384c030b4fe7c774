"""The EBS volume for data at /data: formatted once, when it is blank; one made from a snapshot keeps what it holds."""

from __future__ import annotations

from gpu_constructs.on_node.boot import mounts
from gpu_constructs.on_node.config import ConfigError, NodeConfig
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.steps import Step

NAME = "data-volume"
DATA = "/data"
_REMEDY = "the file system on the volume cannot be mounted: see lsblk -f; a volume with partitions is not supported"


def steps(config: NodeConfig, facts: Facts) -> list[Step]:
    """Return the step that has the volume at /data; none where there is no such volume.

    Raises:
        ConfigError: If the node has none, or several.
    """
    if not config.data_volume:
        return []
    if len(facts.data_disks) != 1:
        found = ", ".join(facts.data_disks) or "none"
        raise ConfigError(
            f"one EBS volume beside the root volume is for {DATA}, and the node has {found}; leave volumes that are "
            "not for data out of the image and of the launch template"
        )
    (disk,) = facts.data_disks
    actions = (mounts.make_where_blank(disk, "gpu-data"), *mounts.mounted(disk, DATA, "defaults,noatime", _REMEDY))
    return [Step(name=NAME, actions=actions)]
