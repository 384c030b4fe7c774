"""Deploy a stack without an account, and ask what is there as any program would."""

from pathlib import Path

from gpu_constructs.local import CdkCli, LocalAws

with LocalAws.start() as aws:  # ends with this block, and with this process however it ends
    CdkCli(aws, Path()).deploy("TrainingStack")

    groups = aws.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    print([node["LifecycleState"] for node in groups[0]["Instances"]])  # they wait to be booted, see docs/boot.md
    print(aws.status()["stacks"]["TrainingStack"]["not_created"])
