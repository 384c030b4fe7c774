"""Boot the nodes of a deployed stack as processes, one of them with a GPU missing."""

from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from gpu_constructs.local import CdkCli, LocalAws
from gpu_constructs.local.nodes import Nodes

with LocalAws.start() as aws, TemporaryDirectory() as folder:
    CdkCli(aws, Path()).deploy("TrainingStack")
    (group,) = aws.client("autoscaling").describe_auto_scaling_groups()["AutoScalingGroups"]
    name = group["AutoScalingGroupName"]

    with Nodes(aws, name, Path(folder), machine=lambda whole, number: replace(whole, gpus=8 - number)) as nodes:
        whole, broken = nodes.start()
        print(whole.wait(), broken.wait())
        print("7 GPUs instead of 8" in broken.console)
        print(sorted(nodes.states().values()))  # another one takes the place of the broken one
