"""A node that boots behind a launch hook: it counts only when it says so, and is replaced when it stays silent."""

from gpu_constructs.local import LocalAws

HOOK = {
    "LifecycleHookName": "boot",
    "LifecycleTransition": "autoscaling:EC2_INSTANCE_LAUNCHING",
    "HeartbeatTimeout": 600,
    "DefaultResult": "ABANDON",
}

with LocalAws.start() as aws:
    aws.client("ec2").create_launch_template(
        LaunchTemplateName="node", LaunchTemplateData={"ImageId": "ami-12c6146b", "InstanceType": "g5.xlarge"}
    )
    scaling = aws.client("autoscaling")
    scaling.create_auto_scaling_group(
        AutoScalingGroupName="nodes",
        MinSize=1,
        MaxSize=1,
        AvailabilityZones=["us-east-1a"],
        LaunchTemplate={"LaunchTemplateName": "node"},
        LifecycleHookSpecificationList=[HOOK],
    )

    (silent,) = scaling.describe_auto_scaling_instances()["AutoScalingInstances"]
    print(silent["LifecycleState"])  # Pending:Wait

    aws.advance_clock(seconds=601)  # nobody waits ten minutes for a time-out
    (replacement,) = scaling.describe_auto_scaling_instances()["AutoScalingInstances"]
    print(replacement["InstanceId"] != silent["InstanceId"])  # True

    scaling.complete_lifecycle_action(
        AutoScalingGroupName="nodes",
        LifecycleHookName="boot",
        InstanceId=replacement["InstanceId"],
        LifecycleActionResult="CONTINUE",
    )
    (booted,) = scaling.describe_auto_scaling_instances()["AutoScalingInstances"]
    print(booted["LifecycleState"])  # InService
