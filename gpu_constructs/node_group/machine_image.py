"""From a `GpuImage` to CDK's machine image."""

from __future__ import annotations

from dataclasses import replace

import jsii
from aws_cdk import CfnDynamicReference, CfnDynamicReferenceService
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from gpu_constructs.checks import UNKNOWN
from gpu_constructs.images import GpuImage
from gpu_constructs.instances.facts import GpuInstance
from gpu_constructs.tokens import known


def without_tokens(image: GpuImage | None) -> GpuImage | None:
    """Return the image as the rules see it: what only the deployment knows is `UNKNOWN`."""
    if image is None:
        return None
    ids = image.ami_ids
    return replace(
        image,
        ami_ids=tuple((region, known(one)) for region, one in ids) if isinstance(ids, tuple) else known(ids),
        parameter=known(image.parameter),
    )


def as_machine_image(image: GpuImage, instance: GpuInstance) -> ec2.IMachineImage:
    """Return what CDK takes; only for an image in which the rules found no problem."""
    parameter = image.parameter_for(instance)
    if parameter is not None:
        name, version = parameter
        if version is None:
            return ec2.MachineImage.from_ssm_parameter(name, os=ec2.OperatingSystemType.LINUX)
        # Parameters of the template take no version: https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/
        # cloudformation-supplied-parameter-types.html
        reference = CfnDynamicReference(CfnDynamicReferenceService.SSM, f"{name}:{version}")
        return _FixedImage(reference.to_string())
    ami_id = image.ami_id()
    if ami_id is not None:
        return _FixedImage(ami_id)
    assert isinstance(image.ami_ids, tuple)
    return ec2.MachineImage.generic_linux({region: one for region, one in image.ami_ids if one is not UNKNOWN})


@jsii.implements(ec2.IMachineImage)
class _FixedImage:
    """One AMI id, whatever the Region."""

    def __init__(self, image_id: str) -> None:
        self._image_id = image_id

    def get_image(self, scope: Construct) -> ec2.MachineImageConfig:  # noqa: ARG002 - the name that CDK calls it by
        return ec2.MachineImageConfig(
            image_id=self._image_id, os_type=ec2.OperatingSystemType.LINUX, user_data=ec2.UserData.for_linux()
        )
