"""What a node does when it starts: its user data, and the lifecycle hooks that it completes.

    Bootstrap.none()  # the default: what the image does by itself
    Bootstrap.custom(Path("user_data.sh").read_text())
    Bootstrap.standalone(file_system=storage)  # what docs/boot.md says

See https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/user-data.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from gpu_constructs.node_group.hook_rules import LAUNCHING

if TYPE_CHECKING:
    from aws_cdk import aws_ec2 as ec2
    from aws_cdk import aws_s3 as s3
    from aws_cdk.aws_autoscaling import CfnAutoScalingGroup

    from gpu_constructs.on_node.config import Serving
    from gpu_constructs.storage.lustre import LustreStorage

READY_HOOK: Final = "gpu-node-ready"
"""The launch hook that a node completes when it has booted."""
READY_HOOK_SECONDS: Final = 600
"""How long it waits for a node that says nothing: longer than an image takes to start and to install Python."""


@dataclass(frozen=True, kw_only=True)
class Bootstrap:
    """What a node does when it starts. Use `none`, `custom` or `standalone`."""

    user_data: str | ec2.UserData | None = None
    lifecycle_hooks: tuple[CfnAutoScalingGroup.LifecycleHookSpecificationProperty, ...] = ()
    boots: bool = False
    file_system: LustreStorage | None = None
    records: s3.IBucket | None = None
    serving: Serving | None = None

    @classmethod
    def none(cls) -> Bootstrap:
        """Return one that does nothing: the image starts what it starts."""
        return cls()

    @classmethod
    def custom(
        cls,
        user_data: str | ec2.UserData,
        *,
        lifecycle_hooks: Sequence[CfnAutoScalingGroup.LifecycleHookSpecificationProperty] = (),
    ) -> Bootstrap:
        """Return user data of your own.

        Args:
            user_data: What cloud-init runs at the first start, as text that begins with its kind ("#!/bin/bash",
                "#cloud-config") or as CDK's `ec2.UserData`; at most 16 KiB.
            lifecycle_hooks: The hooks that these commands complete. Each group made from the launch template gets them
                from its first node on, and its nodes may complete them and prolong them:

                    aws autoscaling complete-lifecycle-action --lifecycle-hook-name booted
                    --lifecycle-action-result CONTINUE --auto-scaling-group-name ... --instance-id ...
        """
        return cls(user_data=user_data, lifecycle_hooks=tuple(lifecycle_hooks))

    @classmethod
    def standalone(cls, *, file_system: LustreStorage | None = None, records: s3.IBucket | None = None) -> Bootstrap:
        """Return the boot that this library brings: a node that is believed only once it has shown what it has.

        It sets up local disks, data volume, Docker, Lustre and limits, installs the NVIDIA driver where the image asks
        for it, counts GPUs, EFA interfaces and NVLinks, and only then completes the launch hook of its group. A node
        that cannot boot says why on the console and in a log group, and is replaced. It creates an asset (a few MiB, in
        the bucket of `cdk bootstrap`) and a log group that keeps a month.

        Args:
            file_system: The Lustre file system that nodes mount at /fsx. By default none.
            records: The bucket in which nodes that cannot boot leave a record. The third of a group within 30 minutes
                suspends its launches, and an alarm says so. By default there is none, and a broken image starts nodes
                for as long as the group lives.

        See docs/boot.md.
        """
        from aws_cdk.aws_autoscaling import CfnAutoScalingGroup  # this module is read where there is no aws_cdk

        ready = CfnAutoScalingGroup.LifecycleHookSpecificationProperty(
            lifecycle_hook_name=READY_HOOK,
            lifecycle_transition=LAUNCHING,
            heartbeat_timeout=READY_HOOK_SECONDS,
            default_result="ABANDON",
        )
        return cls(boots=True, lifecycle_hooks=(ready,), file_system=file_system, records=records)

    def serves(self, serving: Serving) -> Bootstrap:
        """Return it with a model server, for which the boot waits; the role must be allowed to fetch what it names."""
        return replace(self, serving=serving)
