"""The CloudWatch agent with the base of its configuration: memory, disks, and the logs of the boot.

What a role adds is appended to it (`amazon-cloudwatch-agent-ctl -a append-config`). See
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/install-CloudWatch-Agent-on-EC2-Instance.html and
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch-Agent-Configuration-File-Details.html.
"""

from __future__ import annotations

import json
from typing import Any

from gpu_constructs.on_node.actions import Run, Write
from gpu_constructs.on_node.boot import packages
from gpu_constructs.on_node.boot.data_volume import DATA
from gpu_constructs.on_node.config import NodeConfig
from gpu_constructs.on_node.facts import SCRATCH, Facts
from gpu_constructs.on_node.steps import Step

PACKAGE, NAME = "cloudwatch-agent-package", "cloudwatch-agent"
CONFIGURATION = "/opt/gpu-node/cloudwatch-agent.json"
_CTL = "{root}/opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl"
_DEB = "/var/cache/gpu-node/amazon-cloudwatch-agent.deb"
_LOGS = {"boot": "/var/log/gpu-node/boot.jsonl", "cloud-init": "/var/log/cloud-init-output.log"}


def package(facts: Facts) -> Step:
    """Return the step that installs it where the image has none; from a bucket of the Region on Ubuntu."""
    there = ("test", "-x", _CTL)
    if not facts.ubuntu:
        return Step(name=PACKAGE, actions=packages.install(facts, "amazon-cloudwatch-agent", unless=there))
    architecture = "arm64" if facts.architecture == "aarch64" else "amd64"
    suffix = "amazonaws.com.cn" if facts.region.startswith("cn-") else "amazonaws.com"
    bucket = f"https://amazoncloudwatch-agent-{facts.region}.s3.{facts.region}.{suffix}"
    deb = f"{bucket}/ubuntu/{architecture}/latest/amazon-cloudwatch-agent.deb"
    return Step(name=PACKAGE, actions=packages.install_deb(deb, _DEB, there))


def step(config: NodeConfig) -> Step:
    """Return the step that configures and starts it."""
    start = (_CTL, "-a", "fetch-config", "-m", "ec2", "-s", "-c", f"file:{{root}}{CONFIGURATION}")
    remedy = "see /opt/aws/amazon-cloudwatch-agent/logs, and whether the role has CloudWatchAgentServerPolicy"
    return Step(
        name=NAME,
        actions=(
            Write(path=CONFIGURATION, text=json.dumps(configuration(config), indent=1) + "\n"),
            Run(argv=start, tries=3, remedy=remedy),
        ),
        after=(PACKAGE,),
    )


def configuration(config: NodeConfig) -> dict[str, Any]:
    """Return the base of the agent's configuration."""
    places = ["/", SCRATCH, *([DATA] if config.data_volume else []), *([config.lustre.path] if config.lustre else [])]
    metrics = {
        "append_dimensions": {
            name: f"${{aws:{name}}}" for name in ("AutoScalingGroupName", "InstanceId", "InstanceType")
        },
        "aggregation_dimensions": [["AutoScalingGroupName"]],
        "metrics_collected": {
            "mem": {"measurement": ["mem_used_percent"]},
            "disk": {"measurement": ["used_percent"], "resources": places, "drop_device": True},
        },
    }
    # As root, who may read cloud-init-output.log.
    agent = {"metrics_collection_interval": 60, "run_as_user": "root"}
    return {"agent": agent, "metrics": metrics, **({"logs": _logs(config.log_group)} if config.log_group else {})}


def _logs(group: str) -> dict[str, Any]:
    files = [
        {"file_path": path, "log_group_name": group, "log_stream_name": f"{{instance_id}}/{name}"}
        for name, path in _LOGS.items()
    ]
    return {"logs_collected": {"files": {"collect_list": files}}}
