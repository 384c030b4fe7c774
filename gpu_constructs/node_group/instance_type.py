"""From what users write as an instance type to the facts about it."""

from __future__ import annotations

from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from gpu_constructs.checks import UNKNOWN, Problem
from gpu_constructs.doubts import warn
from gpu_constructs.instances import catalog
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.tokens import known

InstanceType = str | ec2.InstanceType | GpuInstance


def resolve(instance_type: InstanceType, *, allow_retired: bool = False) -> GpuInstance | Problem:
    """Return the facts about an instance type, or the reason why there are none.

    Of CDK's `InstanceType` only the name is used: its parser raises for families such as p6-b200.
    """
    if isinstance(instance_type, GpuInstance):
        return instance_type
    name = known(instance_type if isinstance(instance_type, str) else instance_type.to_string())
    if name is UNKNOWN:
        return Problem(
            what="instance_type",
            given="a value known only at deploy time",
            allowed="known at synth: interfaces and image follow from it",
            remedy='write it out, for example "p4d.24xlarge", and make a stack for each type',
        )
    return catalog.find(name, allow_retired=allow_retired)


def warn_of_type(scope: Construct, instance: GpuInstance) -> None:
    """Warn of a type that is retired or in doubt, and where facts stated by hand differ from the catalogue."""
    warn(scope, catalog.notices(instance))
    different = catalog.differences(instance)
    if different:
        text = f"GpuInstance({instance.name!r}) was stated by hand and wins over the catalogue: {'; '.join(different)}"
        warn(scope, {"instanceDiffersFromCatalogue": text})
