"""How long a node may take until it serves: one number, from which all timeouts follow. Imports no aws_cdk.

The speeds are what one can count on, not what a page promises: a type "up to 10 gigabit" has 2.5 in the long run
(https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-instance-network-bandwidth.html), and Docker unpacks layers one
after the other. The sum is doubled, since a budget that is too short replaces nodes that were about to serve.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from gpu_constructs.checks import Problem

NETWORK_MIB_S: Final = 250
UNPACK_MIB_S: Final = 100
COMPRESSED: Final = 0.5
"""The part of an image's size that is pulled."""
SERVER_START_SECONDS: Final = 60
BOOT_SECONDS: Final = 300
"""From the launch of an instance to the pull: EC2, Python, disks, the driver."""
LONGEST_SECONDS: Final = 3600
"""How long CloudFormation waits for a signal at most, and pauses between two batches:
https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-updatepolicy.html"""
HOOK_SECONDS: Final = 600
"""How long the launch hook waits for a node that says nothing. While it boots, and loads, it prolongs the hook, so that
what counts is a node that has died, not one that takes long."""
_MARGIN: Final = 2
_MIB: Final = 1024


@dataclass(frozen=True, kw_only=True)
class LoadBudget:
    """How long a node may take until it serves.

    Args:
        ready_seconds: From the pull of the image to a model that answers.
    """

    ready_seconds: int

    @property
    def hook_seconds(self) -> int:
        """The heartbeat timeout of the launch hook."""
        return HOOK_SECONDS

    @property
    def heartbeat_seconds(self) -> int:
        """How often a node that loads prolongs the hook, at least."""
        return self.hook_seconds // 3

    @property
    def signal_seconds(self) -> int:
        """How long a deployment waits for the signal of a node: to the end of its budget, and a hook's time more."""
        return min(BOOT_SECONDS + self.ready_seconds + self.hook_seconds, LONGEST_SECONDS)

    @property
    def warm_up_seconds(self) -> int:
        """How long the metrics of a node do not count: it joins the group when it serves, so one period is enough."""
        return 60

    @property
    def grace_seconds(self) -> int:
        """How long its health checks do not count: until a load balancer has found it healthy."""
        return 120


def estimate(*, image_gib: float, model_gib: float, ebs_mib_s: float) -> LoadBudget:
    """Return the budget of a node.

    Args:
        image_gib: The size of the image on disk.
        model_gib: The size of the model.
        ebs_mib_s: The throughput of the root volume, in MiB/s, or that of the instance where it is less.
    """
    image, model = image_gib * _MIB, model_gib * _MIB
    pull = image * COMPRESSED / NETWORK_MIB_S + image / min(UNPACK_MIB_S, ebs_mib_s)
    # Image and model are fetched at the same time, but through one network interface and onto one volume.
    copy = model / min(NETWORK_MIB_S, ebs_mib_s)
    load = model / ebs_mib_s + SERVER_START_SECONDS
    return LoadBudget(ready_seconds=60 * math.ceil(_MARGIN * (pull + copy + load) / 60))


def problems(budget: LoadBudget, *, waits: bool) -> list[Problem]:
    """Say that a deployment cannot wait for nodes so long; nothing if it can.

    Args:
        budget: The budget.
        waits: Whether it waits for each node to serve.
    """
    needed = BOOT_SECONDS + budget.ready_seconds
    if not waits or needed <= LONGEST_SECONDS:
        return []
    return [
        Problem(
            what="load time",
            given=f"{needed} s until a node serves ({BOOT_SECONDS} s to boot, {budget.ready_seconds} s to load)",
            allowed=f"at most {LONGEST_SECONDS} s, for which CloudFormation waits for a node",
            remedy="raise throughput_mb_s of root_volume, use an image with the container in it, or state a measured "
            "load_seconds",
            prevents="Received 0 SUCCESS signal(s) out of 1",
        )
    ]


def stated(load_seconds: int) -> LoadBudget | Problem:
    """Return the budget that the user has measured, or why there is no such one."""
    if load_seconds >= SERVER_START_SECONDS:
        return LoadBudget(ready_seconds=load_seconds)
    return Problem(
        what="load_seconds",
        given=repr(load_seconds),
        allowed=f"at least {SERVER_START_SECONDS} s, in which a server starts at all",
        remedy="pass how long pull, copy and load took on one node, doubled, or leave it out",
    )
