"""What the rules accept passes CloudFormation's own validation too, with all findings as errors."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_s3 as s3

from gpu_constructs import GpuLaunchTemplate, Lustre, LustreStorage, Volume


def _vpc(stack: Stack) -> ec2.IVpc:
    return ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["us-east-1a"],
        private_subnet_ids=["subnet-0123456789abcdef0"],
        private_subnet_route_table_ids=["rtb-0123456789abcdef0"],
    )


@pytest.fixture
def strict(cdk_context: dict[str, Any]) -> Stack:
    """A stack whose app fails for any finding."""
    app = App(context=cdk_context, analytics_reporting=False)
    return Stack(app, "Stack", env=Environment(account="111111111111", region="us-east-1"))


@pytest.mark.parametrize(
    "volume",
    [
        Volume(160, iops=80_000, throughput_mb_s=2000),
        Volume(65536),
        Volume(65536, type="io2", iops=256_000),
        Volume(100, iops=16_000, throughput_mb_s=1000),
    ],
)
def test_volumes(strict: Stack, volume: Volume) -> None:
    GpuLaunchTemplate(strict, "Template", instance_type="g5.xlarge", vpc=_vpc(strict), root_volume=volume)
    App.of(strict).synth()  # type: ignore[union-attr]


def test_validation_of_other_volumes_stays_on(strict: Stack) -> None:
    """The acknowledgement is for what was checked here, not for what is changed past it."""
    template = GpuLaunchTemplate(strict, "Template", instance_type="g5.xlarge", vpc=_vpc(strict))
    child = template.launch_template.node.default_child
    assert isinstance(child, ec2.CfnLaunchTemplate)
    child.add_property_override("LaunchTemplateData.BlockDeviceMappings.0.Ebs.Iops", 90_000)
    with pytest.raises(RuntimeError, match="90000 is greater than the maximum of 16000"):
        App.of(strict).synth()  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "lustre",
    [
        Lustre.scratch(2400),
        Lustre.persistent(1200, 50),
        Lustre.persistent(1200, 125, metadata_iops=1500, compression=False),
        Lustre.persistent(38400, 125, efa=True),
        Lustre.hdd(6000, 12, read_cache=True),
        Lustre.intelligent_tiering(4000),
        Lustre.intelligent_tiering(8000, 64, efa=True, metadata_iops=12_000),
    ],
)
def test_file_systems(strict: Stack, lustre: Lustre) -> None:
    vpc = _vpc(strict)
    if lustre.storage_type != "INTELLIGENT_TIERING":  # where a link is warned of
        lustre = lustre.linked_to(s3.Bucket(strict, "Bucket"), "/images", "train/")
    LustreStorage(strict, "Data", vpc=vpc, subnet=vpc.private_subnets[0], lustre=lustre)
    App.of(strict).synth()  # type: ignore[union-attr]
