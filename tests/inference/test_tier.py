"""The group of an inference tier, what its nodes are told, and what they may do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager

from gpu_constructs import Capacity, GpuImage, InferenceTier, Listener, ModelSource, Rollout, Scaling, ServingRuntime
from gpu_constructs.inference import load_budget
from gpu_constructs.inference.load_budget import LoadBudget
from gpu_constructs.network import private_vpc
from gpu_constructs.storage.volumes import Volume
from tests.conftest import only, resources, warnings
from tests.inference.made import IMAGE, group, make_tier, make_vpc, properties, refusal
from tests.node_config import node_config

ECR_IMAGE = "111111111111.dkr.ecr.us-east-1.amazonaws.com/team/ranker:7"


def _serving(stack: Stack) -> dict[str, Any]:
    """What the nodes are told of their server."""
    return dict(node_config(stack)["serving"])


def _statements(stack: Stack) -> list[dict[str, Any]]:
    policies = [one for name, one in resources(stack, "AWS::IAM::Policy").items() if "LaunchTemplateRole" in name]
    return [statement for policy in policies for statement in policy["Properties"]["PolicyDocument"]["Statement"]]


def _allowed(stack: Stack, action: str) -> str:
    """What the nodes may do it to, as JSON; nothing if they may not."""
    found = [one["Resource"] for one in _statements(stack) if action in json.dumps(one["Action"])]
    return json.dumps(found) if found else ""


def test_nodes_hold_a_launch_hook_from_the_first_on(stack: Stack) -> None:
    """A hook of its own is created after the group, and its first nodes skip it (aws/aws-cdk#16356, #7712)."""
    make_tier(stack)
    (hook,) = group(stack)["Properties"]["LifecycleHookSpecificationList"]
    assert (hook["LifecycleHookName"], hook["DefaultResult"]) == ("gpu-node-ready", "ABANDON")
    assert resources(stack, "AWS::AutoScaling::LifecycleHook") == {}


def test_deployment_does_not_reset_the_size(stack: Stack) -> None:
    """https://github.com/aws/aws-cdk/issues/5215."""
    make_tier(stack, min_capacity=2, max_capacity=8)
    found = group(stack)
    assert "DesiredCapacity" not in found["Properties"]
    assert (found["Properties"]["MinSize"], found["Properties"]["MaxSize"]) == ("2", "8")
    assert found["UpdatePolicy"]["AutoScalingScheduledAction"] == {"IgnoreUnmodifiedGroupSizeProperties": True}


def test_deployment_waits_for_nodes_that_serve_and_replaces_one_at_a_time(stack: Stack) -> None:
    tier = make_tier(stack, min_capacity=2, max_capacity=8)
    found = group(stack)
    minutes = f"PT{tier.load_budget.signal_seconds // 60}M"
    assert found["CreationPolicy"] == {"ResourceSignal": {"Count": 2, "Timeout": minutes}}
    update = found["UpdatePolicy"]["AutoScalingRollingUpdate"]
    assert (update["MinInstancesInService"], update["MaxBatchSize"]) == (2, 1)
    assert (update["WaitOnResourceSignals"], update["PauseTime"]) == (True, minutes)
    assert {"AlarmNotification", "ReplaceUnhealthy"} <= set(update["SuspendProcesses"])


def test_deployment_does_not_wait_for_nodes_that_aws_may_not_have(stack: Stack) -> None:
    tier = make_tier(stack, capacity=Capacity.spot(on_demand_base=1))
    found = group(stack)
    assert "CreationPolicy" not in found
    update = found["UpdatePolicy"]["AutoScalingRollingUpdate"]
    assert update["WaitOnResourceSignals"] is False
    assert update["PauseTime"] == f"PT{(300 + tier.load_budget.ready_seconds) // 60}M"
    assert (_serving(stack)["signal_stack"], _serving(stack)["signal_resource"]) == (None, None)
    assert _allowed(stack, "cloudformation:SignalResource") == ""


def test_node_signals_the_group_of_its_own_stack(stack: Stack) -> None:
    """By its logical id, which is a name: a reference would close a circle."""
    make_tier(stack)
    (logical_id,) = resources(stack, "AWS::AutoScaling::AutoScalingGroup")
    assert (_serving(stack)["signal_stack"], _serving(stack)["signal_resource"]) == ("Stack", logical_id)
    assert _allowed(stack, "cloudformation:SignalResource") == '[{"Ref": "AWS::StackId"}]'


def test_empty_group_is_not_waited_for(stack: Stack) -> None:
    make_tier(stack, min_capacity=0)
    assert "CreationPolicy" not in group(stack)
    assert [text for text in warnings(stack) if "min_capacity is 0" in text]


def test_nodes_that_load_do_not_count(stack: Stack) -> None:
    make_tier(stack)
    found = group(stack)["Properties"]
    assert found["DefaultInstanceWarmup"] == 60
    assert found["HealthCheckType"] == "EC2"  # a server under load fails health checks, and is well
    assert found["MetricsCollection"] == [{"Granularity": "1Minute"}]


def test_spot_has_an_on_demand_base_and_several_types(stack: Stack) -> None:
    make_tier(stack, capacity=Capacity.spot(on_demand_base=1), instance_types=["g5.xlarge", "g6.xlarge"])
    policy = group(stack)["Properties"]["MixedInstancesPolicy"]
    assert policy["InstancesDistribution"]["OnDemandBaseCapacity"] == 1
    assert policy["InstancesDistribution"]["SpotAllocationStrategy"] == "price-capacity-optimized"
    assert [one["InstanceType"] for one in policy["LaunchTemplate"]["Overrides"]] == ["g5.xlarge", "g6.xlarge"]


def test_one_type_needs_no_mix(stack: Stack) -> None:
    make_tier(stack)
    assert "MixedInstancesPolicy" not in group(stack)["Properties"]


def test_warm_pool_has_the_size_that_was_asked_for(stack: Stack) -> None:
    make_tier(stack, warm_pool=2)
    pool = only(stack, "AWS::AutoScaling::WarmPool")["Properties"]
    assert (pool["MinSize"], pool["MaxGroupPreparedCapacity"], pool["PoolState"]) == (2, 2, "Stopped")


def test_warm_pool_of_spot_or_of_a_block_is_refused(stack: Stack) -> None:
    assert "warm_pool must be 0 with spot" in refusal(stack, warm_pool=1, capacity=Capacity.spot())
    block = Capacity.capacity_block("cr-0123456789abcdef0")
    other = Stack(App(), "Other", env=Environment(account="111111111111", region="us-east-1"))
    said = refusal(other, warm_pool=1, capacity=block, min_capacity=0, instance_types=["p5.48xlarge"])
    assert "warm pool must be left out" in said


def test_gpu_utilisation_is_held_by_the_series_of_the_group(stack: Stack) -> None:
    make_tier(stack)
    (name,) = resources(stack, "AWS::AutoScaling::AutoScalingGroup")
    policy = only(stack, "AWS::AutoScaling::ScalingPolicy")["Properties"]["TargetTrackingConfiguration"]
    assert policy == {
        "TargetValue": 60,
        "CustomizedMetricSpecification": {
            "Namespace": "CWAgent",
            "MetricName": "nvidia_smi_utilization_gpu",
            "Statistic": "Average",
            "Dimensions": [{"Name": "AutoScalingGroupName", "Value": {"Ref": name}}],
        },
    }


def test_alarm_says_that_nobody_publishes_what_the_group_scales_by(stack: Stack) -> None:
    make_tier(stack)
    alarm = resources(stack, "AWS::CloudWatch::Alarm")
    (missing,) = [one["Properties"] for name, one in alarm.items() if "GpuMetricsMissing" in name]
    assert (missing["Statistic"], missing["TreatMissingData"], missing["Threshold"]) == ("SampleCount", "breaching", 1)
    assert missing["ComparisonOperator"] == "LessThanThreshold"


def test_policies_are_those_that_are_asked_for(stack: Stack) -> None:
    make_tier(stack, scaling=[Scaling.cpu_utilization(50)])
    policy = only(stack, "AWS::AutoScaling::ScalingPolicy")["Properties"]["TargetTrackingConfiguration"]
    assert policy["PredefinedMetricSpecification"] == {"PredefinedMetricType": "ASGAverageCPUUtilization"}
    assert not [name for name in resources(stack, "AWS::CloudWatch::Alarm") if "GpuMetricsMissing" in name]


def test_group_that_does_not_scale_has_no_policy(stack: Stack) -> None:
    make_tier(stack, scaling=[])
    assert resources(stack, "AWS::AutoScaling::ScalingPolicy") == {}


def test_node_is_told_of_its_server(stack: Stack) -> None:
    bucket = s3.Bucket(stack, "Models")
    runtime = ServingRuntime.tensorflow_serving("tensorflow/serving:2.20.0-gpu", "ranker").with_warm_up(
        "/v1/models/ranker"
    )
    tier = make_tier(stack, runtime=runtime, model=ModelSource.s3(bucket, "models", "3"))
    told = _serving(stack)
    assert (told["image"], told["model_path"]) == ("tensorflow/serving:2.20.0-gpu", "/models/ranker")
    assert (told["ready_port"], told["ready_path"]) == (8501, "/v1/models/ranker")
    assert told["ready_pattern"] == r'"state":\s*"AVAILABLE"'
    assert (told["warm_up_path"], told["warm_up_body"]) == ("/v1/models/ranker", "")
    assert "Models" in told["model_bucket"]
    assert told["model_prefix"] == "models/3/"
    assert told["ready_seconds"] == tier.load_budget.ready_seconds
    assert "models/3/*" in _allowed(stack, "s3:GetObject")
    assert "s3:ListBucket" in json.dumps(_statements(stack))


def test_vllm_uses_all_gpus_and_keeps_connections(stack: Stack) -> None:
    make_tier(
        stack, instance_types=["g5.12xlarge"], runtime=ServingRuntime.vllm("vllm/vllm-openai:v1", "Qwen/Qwen3-8B")
    )
    told = _serving(stack)
    assert told["command"] == ["Qwen/Qwen3-8B", "--tensor-parallel-size", "4"]
    assert told["environment"] == {"VLLM_HTTP_TIMEOUT_KEEP_ALIVE": "330"}


def test_key_of_the_bucket_may_be_used(stack: Stack) -> None:
    bucket = s3.Bucket(stack, "Models", encryption_key=kms.Key(stack, "Key"))
    make_tier(stack, model=ModelSource.s3(bucket, "models", "3"))
    assert _allowed(stack, "kms:Decrypt")


@pytest.mark.parametrize("image", [ECR_IMAGE, None])
def test_nodes_may_pull_from_their_repository_alone(stack: Stack, image: str | None) -> None:
    if image:
        runtime = ServingRuntime.triton(image)
    else:
        repository = ecr.Repository(stack, "Repository")
        runtime = ServingRuntime.triton(repository.repository_uri_for_tag("7")).with_repository(repository)
    make_tier(stack, runtime=runtime)
    assert ("repository/team/ranker" if image else "Repository") in _allowed(stack, "ecr:BatchGetImage")
    assert _allowed(stack, "ecr:GetAuthorizationToken") == '["*"]' or '"*"' in _allowed(
        stack, "ecr:GetAuthorizationToken"
    )


def test_nodes_with_an_image_from_elsewhere_may_not_log_in_to_ecr(stack: Stack) -> None:
    make_tier(stack)
    assert _allowed(stack, "ecr:") == ""
    assert _allowed(stack, "secretsmanager:") == ""


def test_password_of_a_registry_is_a_secret_that_nodes_read(stack: Stack) -> None:
    secret = secretsmanager.Secret(stack, "Secret", encryption_key=kms.Key(stack, "Key"))
    make_tier(stack, runtime=ServingRuntime.triton(IMAGE).with_credentials(secret))
    assert "Secret" in _allowed(stack, "secretsmanager:GetSecretValue")
    assert "Secret" in _serving(stack)["credentials_secret"]
    assert _allowed(stack, "kms:Decrypt")


def test_role_of_the_users_own_gets_the_permissions(stack: Stack) -> None:
    role = iam.Role(stack, "Own", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    make_tier(stack, role=role, runtime=ServingRuntime.triton(ECR_IMAGE))
    policies = json.dumps(properties(stack, "AWS::IAM::Policy"))
    assert "ecr:BatchGetImage" in policies


def test_root_volume_has_room_and_is_quick(stack: Stack) -> None:
    make_tier(stack, model=ModelSource.in_image(size_gib=20), runtime=ServingRuntime.triton(IMAGE))
    template = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    assert template["BlockDeviceMappings"][0]["Ebs"]["VolumeSize"] == 200
    assert template["BlockDeviceMappings"][0]["Ebs"]["Throughput"] == 500


def test_root_volume_grows_with_the_model(stack: Stack) -> None:
    make_tier(stack, model=ModelSource.in_image(size_gib=80), instance_types=["g5.12xlarge"])
    template = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    assert template["BlockDeviceMappings"][0]["Ebs"]["VolumeSize"] == 235


def test_slow_volume_gives_nodes_more_time(stack: Stack) -> None:
    slow = make_tier(stack, root_volume=Volume(300), model=ModelSource.in_image(size_gib=20)).load_budget
    assert slow == load_budget.estimate(image_gib=20, model_gib=20, ebs_mib_s=125)


def test_measured_time_is_taken(stack: Stack) -> None:
    assert make_tier(stack, load_seconds=240).load_budget == LoadBudget(ready_seconds=240)


def test_model_that_loads_for_longer_than_cloudformation_waits_is_refused(stack: Stack) -> None:
    said = refusal(stack, model=ModelSource.in_image(size_gib=600), instance_types=["p5.48xlarge"], max_capacity=2)
    assert "load time must be at most 3600 s" in said


def test_all_that_is_wrong_is_told_at_once(stack: Stack) -> None:
    said = refusal(
        stack,
        instance_types=["g5.xlarge", "g5g.xlarge"],
        runtime=ServingRuntime.triton(IMAGE, grpc=True),
        listener=Listener.internal_http(slow_start_seconds=5),
        model=ModelSource.in_image(size_gib=100),
        min_capacity=4,
        max_capacity=4,
        scaling=[Scaling.gpu_utilization(0)],
        rollout=Rollout.rolling(pause_seconds=5),
        image=GpuImage.custom("ami-0123456789abcdef0", os="al2"),
    )
    for words in (
        "whose 1 x 22.4 GiB of A10G are 22.4 GiB",
        "g5g.xlarge",
        "got gRPC without a certificate",
        "slow_start_seconds must be",
        "max_capacity must be at least 5",
        "scaling gpu-utilization must be",
        "rollout pause_seconds must be",
        "image: os must be",
    ):
        assert words in said


def test_tier_without_a_type_is_refused(stack: Stack) -> None:
    assert "instance_types must be at least one instance type, got none" in refusal(stack, instance_types=[])


def test_second_type_that_does_not_exist_is_refused(stack: Stack) -> None:
    assert "got 'g9.xlarge'" in refusal(stack, instance_types=["g5.xlarge", "g9.xlarge"])


def test_vpc_of_one_zone_is_refused(stack: Stack) -> None:
    vpc = make_vpc(stack, availability_zones=["us-east-1a"])
    assert "public subnets in at least two zones" in refusal(stack, vpc=vpc)


def test_selection_needs_a_vpc(stack: Stack) -> None:
    said = refusal(stack, vpc=None, vpc_subnets=ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC))
    assert "vpc_subnets must be left out where the tier creates its VPC" in said


def test_image_from_the_internet_is_refused_without_a_way_there(stack: Stack) -> None:
    vpc = private_vpc(stack, "Vpc")
    worker = ServingRuntime.container("nvcr.io/team/worker:1")
    assert "nodes that fetch from nvcr.io" in refusal(stack, vpc=vpc, runtime=worker, listener=Listener.none())


def test_image_from_ecr_is_accepted_without_a_way_to_the_internet(stack: Stack) -> None:
    make_tier(
        stack, vpc=private_vpc(stack, "Vpc"), runtime=ServingRuntime.container(ECR_IMAGE), listener=Listener.none()
    )
    assert [text for text in warnings(stack) if "ecr.api, ecr.dkr, s3, cloudformation, sqs" in text]


def test_tier_of_its_own_vpc_is_in_two_zones() -> None:
    stack = Stack(App(), "Stack")
    InferenceTier(
        stack,
        "Tier",
        instance_types=["g5.xlarge"],
        runtime=ServingRuntime.triton(IMAGE),
        listener=Listener.internal_http(),
    )
    assert len(resources(stack, "AWS::EC2::Subnet")) == 4
    assert len(resources(stack, "AWS::EC2::NatGateway")) == 1


def test_default_tier_warns_of_plain_http_alone(stack: Stack) -> None:
    make_tier(stack, listener=Listener.internal_http())
    assert len(warnings(stack)) == 1
    assert "requests reach the load balancer as plain HTTP" in warnings(stack)[0]


def test_metrics_have_the_dimensions_that_are_published(stack: Stack) -> None:
    tier = make_tier(stack)
    assert stack.resolve(tier.metric_gpu_utilization().dimensions) == {
        "AutoScalingGroupName": stack.resolve(tier.auto_scaling_group.auto_scaling_group_name)
    }
    assert tier.metric_gpu_memory_utilization().expression == "100 * used / total"
    for metric in (tier.metric_requests(), tier.metric_latency(), tier.metric_errors()):
        assert metric.namespace == "AWS/ApplicationELB"
        assert set(metric.dimensions or {}) == {"LoadBalancer"}


def test_user_data_that_is_too_long_is_refused(stack: Stack) -> None:
    runtime = ServingRuntime.triton(IMAGE)
    said = refusal(stack, runtime=runtime.with_environment({"LONG": "x" * 8000}))
    assert "command, environment and warm-up body of the server must be at most 8000 bytes" in said


def test_longest_texts_of_a_server_fit_into_user_data(stack: Stack) -> None:
    """With several types, whose facts are in them, too."""
    types = ["g5.xlarge", "g5.2xlarge", "g5.4xlarge", "g6.xlarge", "g6.2xlarge", "g6.4xlarge"]
    make_tier(stack, instance_types=types, runtime=ServingRuntime.triton(IMAGE).with_environment({"LONG": "x" * 7800}))
    encoded = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]["UserData"]["Fn::Base64"]
    assert sum(len(str(part)) for part in encoded["Fn::Join"][1]) < 16_384


def test_what_holds_state_keeps_its_logical_id(stack: Stack) -> None:
    make_tier(stack)
    types = {
        "AWS::S3::Bucket": ["TierBucket682CC702"],
        "AWS::AutoScaling::AutoScalingGroup": ["TierNodesASGE1E77A8E"],
        "AWS::ElasticLoadBalancingV2::LoadBalancer": ["TierLoadBalancerA007E5E1"],
        "AWS::ElasticLoadBalancingV2::TargetGroup": ["TierLoadBalancerHttpD1781E08"],
    }
    assert {name: list(resources(stack, name)) for name in types} == types
    (bucket,) = resources(stack, "AWS::S3::Bucket").values()
    assert bucket["DeletionPolicy"] == "Retain"
