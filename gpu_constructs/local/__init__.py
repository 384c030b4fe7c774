"""A local AWS to deploy to without an account: moto, what it lacks for these constructs, and the real CDK command line.

    from gpu_constructs.local import CdkCli, LocalAws

    with LocalAws.start() as aws:
        CdkCli(aws, Path(".")).deploy("TrainingStack")
        groups = aws.client("autoscaling").describe_auto_scaling_groups()

Needs the extra `local` (`pip install 'gpu-constructs[local]'`). What it can and cannot do: docs/local_aws.md.
"""

from __future__ import annotations

from gpu_constructs.local.cdk import CdkCli
from gpu_constructs.local.errors import LocalAwsError
from gpu_constructs.local.process import LocalAws

__all__ = ["CdkCli", "LocalAws", "LocalAwsError"]
