"""What nodes stand on that boot by `Bootstrap.standalone`: bundle, configuration, log group, permissions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Final

import jsii
from aws_cdk import Duration, IStableStringProducer, Lazy, RemovalPolicy, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk.aws_s3_assets import Asset
from constructs import Construct

from gpu_constructs.bundle import builder, user_data
from gpu_constructs.bundle.builder import Bundle
from gpu_constructs.instances.facts import GpuInstance
from gpu_constructs.network.efa import Efa
from gpu_constructs.node_group import hardware
from gpu_constructs.node_group.bootstrap import READY_HOOK, READY_HOOK_SECONDS, Bootstrap
from gpu_constructs.on_node import names, permissions
from gpu_constructs.on_node.config import LustreMount, NodeConfig

_RECORDS: Final = "gpu-node/"
"""Where in a bucket nodes leave their records, each named after the group."""

ALARM_DESCRIPTION: Final = (
    "Three nodes could not boot within 30 minutes: the group launches no more until somebody resumes it "
    "(aws autoscaling resume-processes --scaling-processes Launch). Why is in the log group of the boot."
)


class Standalone(Construct):
    """What nodes stand on that boot by `Bootstrap.standalone`.

    It creates a log group that keeps a month and goes with the stack, and the asset that nodes fetch.

    Args:
        scope: The construct that owns it.
        id: Its id there.
        bootstrap: What nodes do when they start.
        instance: Their type.
        role: Their role.
        install_cuda: Whether they install driver and CUDA.
        data_volume: Whether they have a volume for data.
        efa: Whether and how they get EFA.

    Attributes:
        log_group: The log group that is told of each boot.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        bootstrap: Bootstrap,
        instance: GpuInstance,
        role: iam.IRole,
        install_cuda: bool,
        data_volume: bool,
        efa: Efa,
    ) -> None:
        super().__init__(scope, id)
        self._types = [instance]
        self.log_group = logs.LogGroup(
            self, "Log", retention=logs.RetentionDays.ONE_MONTH, removal_policy=RemovalPolicy.DESTROY
        )
        self._bundle = bundle()
        self._asset = Asset(self, "Bundle", path=str(self._bundle.path))
        self._config = self._render_config(bootstrap, install_cuda=install_cuda, data_volume=data_volume, efa=efa)
        self._grant(bootstrap, role)

    @property
    def user_data(self) -> ec2.UserData:
        """The user data: it fetches the bundle, writes the configuration and boots."""
        return ec2.UserData.custom(
            user_data.render(
                bucket=self._asset.s3_bucket_name,
                key=self._asset.s3_object_key,
                sha256=self._bundle.sha256,
                region=Stack.of(self).region,
                config_json=self._config,
            )
        )

    def add_types(self, types: Sequence[GpuInstance]) -> None:
        """Tell nodes what those of further instance types must show."""
        self._types += [one for one in types if one not in self._types]

    def alarm_of(self, scope: Construct, group: autoscaling.AutoScalingGroup) -> cloudwatch.Alarm:
        """Create the alarm (about 0.10 USD a month) that says that nodes have suspended the launches of their group.

        Args:
            scope: The construct that owns it.
            group: The group.
        """
        return cloudwatch.Alarm(
            scope,
            "LaunchesSuspended",
            alarm_description=ALARM_DESCRIPTION,
            metric=cloudwatch.Metric(
                namespace=names.METRIC_NAMESPACE,
                metric_name=names.LAUNCHES_SUSPENDED,
                dimensions_map={names.GROUP_DIMENSION: group.auto_scaling_group_name},
                statistic="Maximum",
                period=Duration.minutes(5),
            ),
            threshold=1,
            comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
            evaluation_periods=1,
            # One datum says it, and it stays true until somebody has looked.
            treat_missing_data=cloudwatch.TreatMissingData.IGNORE,
        )

    def _render_config(self, bootstrap: Bootstrap, *, install_cuda: bool, data_volume: bool, efa: Efa) -> str:
        storage, records = bootstrap.file_system, bootstrap.records
        mount = LustreMount(dns_name=storage.dns_name, mount_name=storage.mount_name) if storage else None
        config = NodeConfig(
            hardware={},
            install_cuda=install_cuda,
            lustre=mount,
            data_volume=data_volume,
            launch_hook=READY_HOOK,
            launch_hook_seconds=READY_HOOK_SECONDS,
            log_group=self.log_group.log_group_name,
            record_bucket=records.bucket_name if records else None,
            record_prefix=_RECORDS if records else "",
            serving=bootstrap.serving,
        )
        # The types that a group mixes are known only once the template is there.
        return config.to_json().replace('"hardware": {}', f'"hardware": {Lazy.string(_HardwareOf(self._types, efa))}')

    def _grant(self, bootstrap: Bootstrap, role: iam.IRole) -> None:
        fetched = self._asset.bucket.arn_for_objects(self._asset.s3_object_key)
        iam.Grant.add_to_principal(grantee=role, actions=["s3:GetObject"], resource_arns=[fetched])
        self.log_group.grant(role, *permissions.LOG_ACTIONS)
        iam.Grant.add_to_principal(grantee=role, actions=list(permissions.DESCRIBE_ACTIONS), resource_arns=["*"])
        iam.Grant.add_to_principal(
            grantee=role,
            actions=list(permissions.METRIC_ACTIONS),
            resource_arns=["*"],
            conditions=permissions.METRIC_CONDITION,
        )
        if bootstrap.records:
            records = bootstrap.records.arn_for_objects(permissions.record_objects(_RECORDS))
            iam.Grant.add_to_principal(grantee=role, actions=list(permissions.RECORD_ACTIONS), resource_arns=[records])


@jsii.implements(IStableStringProducer)
class _HardwareOf:
    """Writes what nodes must show, of each type that they may be by then."""

    def __init__(self, types: list[GpuInstance], efa: Efa) -> None:
        self._types, self._efa = types, efa

    def produce(self) -> str:
        return json.dumps({one.name: asdict(hardware.expected(one, self._efa)) for one in self._types}, sort_keys=True)


@cache
def bundle() -> Bundle:
    """Build the bundle once, however many templates point to it."""
    return builder.build(Path(mkdtemp(prefix="gpu-node-")) / "bundle.zip")
