"""The volumes of a launch template."""

from __future__ import annotations

from typing import Final

from aws_cdk import Acknowledgment, Validations
from aws_cdk import aws_ec2 as ec2

from gpu_constructs.checks import Problem
from gpu_constructs.storage import volumes
from gpu_constructs.storage.volumes import Volume
from gpu_constructs.tokens import is_token, known

DATA_DEVICE: Final = "/dev/sdf"
"""The first name that EC2 recommends for volumes beside the root one
(https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/device_naming.html)."""

DEFAULT_ROOT: Final = Volume(200)

_OLD_GP3_IOPS: Final = 16_000

_TYPES: Final = {"gp3": ec2.EbsDeviceVolumeType.GP3, "io2": ec2.EbsDeviceVolumeType.IO2}


def problems(root: Volume | None, data: Volume | None) -> list[Problem]:
    """Say what EBS would refuse about the volumes of a node; nothing if it would accept them."""
    given = {"root_volume": root, "data_volume": data}
    return [
        problem
        for what, volume in given.items()
        if volume is not None
        for problem in volumes.problems(
            what,
            size_gib=known(volume.size_gib),
            type=known(volume.type),
            iops=known(volume.iops),
            throughput_mb_s=known(volume.throughput_mb_s),
        )
    ]


def root_doubts(root: Volume | None) -> dict[str, str]:
    """Say whether the root volume looks too small, by the code of the warning."""
    return volumes.root_doubts(known((root or DEFAULT_ROOT).size_gib))


def block_devices(root_device: str, root: Volume | None, data: Volume | None) -> list[ec2.BlockDevice]:
    """Return the volumes of a node, all encrypted: the root volume first.

    Args:
        root_device: How the image calls its root volume.
        root: The root volume; by default `DEFAULT_ROOT`.
        data: A second volume, if there is to be one.
    """
    devices = [_device(root_device, root or DEFAULT_ROOT)]
    return devices if data is None else [*devices, _device(DATA_DEVICE, data, deleted=True)]


def set_unknown_throughput(template: ec2.CfnLaunchTemplate, root: Volume | None, data: Volume | None) -> None:
    """Set throughput that is known only at deploy time: CDK takes the token for a number, and refuses it."""
    for index, volume in enumerate((root, data)):
        if volume is not None and is_token(volume.throughput_mb_s):
            template.add_property_override(
                f"LaunchTemplateData.BlockDeviceMappings.{index}.Ebs.Throughput", volume.throughput_mb_s
            )


def acknowledge_old_limit(template: ec2.LaunchTemplate, root: Volume | None, data: Volume | None) -> None:
    """Let gp3 volumes of more than 16000 IOPS past the validation that CDK brings along.

    It still has an older limit of EBS, and would fail a template that EC2 accepts; the volumes of the
    template have been checked against today's.
    """
    speeds = [known(volume.iops) for volume in (root, data) if volume is not None and volume.type == "gp3"]
    if any(isinstance(iops, int) and iops > _OLD_GP3_IOPS for iops in speeds):
        Validations.of(template).acknowledge(
            Acknowledgment(
                id="CloudFormation-Validate::E3671",
                reason="EBS allows 80000 IOPS of gp3 (https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html)",
            )
        )


def _device(name: str, volume: Volume, *, deleted: bool | None = None) -> ec2.BlockDevice:
    # Of the root volume the image says that it is deleted with its node; of another one nobody does, and what is left
    # over is billed on.
    return ec2.BlockDevice(
        device_name=name,
        volume=ec2.BlockDeviceVolume.ebs(
            volume.size_gib,
            encrypted=True,
            delete_on_termination=deleted,
            volume_type=_TYPES[volume.type],
            iops=volume.iops,
            throughput=None if is_token(volume.throughput_mb_s) else volume.throughput_mb_s,
        ),
    )
