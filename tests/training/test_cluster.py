from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from aws_cdk.assertions import Template

from gpu_constructs import (
    Checkpoints,
    Efa,
    GpuConstructsError,
    GpuImage,
    GpuInstance,
    Lustre,
    LustreStorage,
    TrainingCluster,
)
from gpu_constructs.on_node import permissions
from tests.conftest import ENV, only, resources, warnings
from tests.training.made import make_cluster, refusal


def test_group_has_room_for_one_more_and_may_be_empty(stack: Stack) -> None:
    make_cluster(stack, node_count=8)
    properties = only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]
    assert [properties[name] for name in ("MinSize", "DesiredCapacity", "MaxSize")] == ["0", "8", "9"]


def test_nodes_and_file_system_are_in_the_same_one_subnet(stack: Stack, vpc: ec2.Vpc) -> None:
    make_cluster(stack, vpc=vpc, availability_zone="us-east-1b")
    subnet = [stack.resolve(vpc.private_subnets[1].subnet_id)]
    assert only(stack, "AWS::AutoScaling::AutoScalingGroup")["Properties"]["VPCZoneIdentifier"] == subnet
    assert only(stack, "AWS::FSx::FileSystem")["Properties"]["SubnetIds"] == subnet


def test_zone_of_an_env_agnostic_vpc_is_found_by_its_token() -> None:
    stack = Stack(App(), "Stack")
    vpc = ec2.Vpc(stack, "Vpc", max_azs=2)
    make_cluster(stack, vpc=vpc, availability_zone=vpc.availability_zones[1])
    subnet = [stack.resolve(vpc.private_subnets[1].subnet_id)]
    assert only(stack, "AWS::FSx::FileSystem")["Properties"]["SubnetIds"] == subnet


def test_subnet_is_imported_with_its_zone(stack: Stack, vpc: ec2.Vpc) -> None:
    """CDK cannot use one that was imported by its id alone, and says how to import it."""
    identifier = "subnet-0123456789abcdef0"
    by_id = ec2.Subnet.from_subnet_id(stack, "ById", identifier)
    whole = ec2.Subnet.from_subnet_attributes(stack, "Whole", subnet_id=identifier, availability_zone="us-east-1a")
    with pytest.raises(GpuConstructsError, match="Add the availabilityZone when importing"):
        TrainingCluster(
            stack,
            "Refused",
            instance_type="p4d.24xlarge",
            node_count=2,
            vpc=vpc,
            vpc_subnets=ec2.SubnetSelection(subnets=[by_id]),
        )
    make_cluster(stack, vpc=vpc, vpc_subnets=ec2.SubnetSelection(subnets=[whole]))
    assert only(stack, "AWS::FSx::FileSystem")["Properties"]["SubnetIds"] == [identifier]


def test_nodes_are_in_a_cluster_placement_group(stack: Stack) -> None:
    make_cluster(stack)
    (group,) = resources(stack, "AWS::EC2::PlacementGroup")
    data = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    assert data["Placement"] == {"GroupName": {"Fn::GetAtt": [group, "GroupName"]}}


def test_nodes_wait_for_the_file_system_and_the_way_out(stack: Stack) -> None:
    make_cluster(stack)
    depends = only(stack, "AWS::AutoScaling::AutoScalingGroup")["DependsOn"]
    (file_system,) = resources(stack, "AWS::FSx::FileSystem")
    assert file_system in depends
    assert [name for name in depends if "PrivateSubnet1DefaultRoute" in name]


def test_nodes_may_boot_and_use_systems_manager_and_the_checkpoint_bucket_and_nothing_else(stack: Stack) -> None:
    cluster = make_cluster(stack)
    policies = resources(stack, "AWS::IAM::Policy").values()
    bucket = stack.resolve(cluster.checkpoint_bucket.bucket_arn)
    statements = [statement for policy in policies for statement in policy["Properties"]["PolicyDocument"]["Statement"]]
    assert [one["Resource"] for one in statements[-2:]] == [bucket, {"Fn::Join": ["", [bucket, "/*"]]}]
    of_the_boot = [action for one in statements[:-2] for action in _actions(one)]
    assert sorted(of_the_boot) == sorted(
        [
            "s3:GetObject",  # of the bundle
            *permissions.DESCRIBE_ACTIONS,
            *permissions.GROUP_ACTIONS,
            *permissions.LOG_ACTIONS,
            *permissions.METRIC_ACTIONS,
            *permissions.RECORD_ACTIONS,
        ]
    )
    assert isinstance(cluster.role, iam.Role)
    assert len(stack.resolve(cluster.role.node.default_child.managed_policy_arns)) == 1  # type: ignore[union-attr]


def _actions(statement: dict[str, Any]) -> list[str]:
    actions = statement["Action"]
    return [actions] if isinstance(actions, str) else actions


def test_role_and_bucket_of_the_user_are_used(stack: Stack) -> None:
    role = iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("ec2.amazonaws.com"))
    bucket = s3.Bucket.from_bucket_name(stack, "Bucket", "team-checkpoints")
    cluster = make_cluster(stack, role=role, checkpoints=Checkpoints(bucket=bucket))
    assert cluster.role is role
    assert cluster.checkpoint_bucket is bucket
    assert resources(stack, "AWS::S3::Bucket") == {}
    assert only(stack, "AWS::IAM::Policy")["Properties"]["Roles"] == [stack.resolve(role.role_name)]


def test_lustre_none_creates_no_file_system(stack: Stack) -> None:
    assert make_cluster(stack, file_system=Lustre.none()).file_system is None
    assert resources(stack, "AWS::FSx::FileSystem") == {}


def test_file_system_of_the_user_lets_the_nodes_in(stack: Stack) -> None:
    group = ec2.SecurityGroup.from_security_group_id(stack, "Group", "sg-0123456789abcdef0")
    storage = LustreStorage.from_attributes(stack, "Data", "fs-0123456789abcdef0", "abcdefgh", group)
    assert make_cluster(stack, file_system=storage).file_system is storage
    rules = [rule["Properties"] for rule in resources(stack, "AWS::EC2::SecurityGroupIngress").values()]
    assert {rule["FromPort"] for rule in rules if rule["GroupId"] == "sg-0123456789abcdef0"} == {988, 1018}
    assert resources(stack, "AWS::FSx::FileSystem") == {}


def test_security_groups_of_the_user_reach_every_interface(stack: Stack, vpc: ec2.Vpc) -> None:
    group = ec2.SecurityGroup(stack, "Group", vpc=vpc)
    make_cluster(stack, vpc=vpc, availability_zone="us-east-1a", security_groups=[group])
    data = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    identifier = stack.resolve(group.security_group_id)
    assert [identifier in nic["Groups"] for nic in data["NetworkInterfaces"]] == [True] * 5


def test_cluster_is_a_grantee_and_has_connections(stack: Stack) -> None:
    cluster = make_cluster(stack)
    s3.Bucket(stack, "Data").grant_read(cluster)
    cluster.connections.allow_from(ec2.Peer.ipv4("10.0.0.0/8"), ec2.Port.tcp(8080))
    statements = only(stack, "AWS::IAM::Policy")["Properties"]["PolicyDocument"]["Statement"]
    assert [statement for statement in statements if "s3:GetObject*" in statement["Action"]]
    groups = resources(stack, "AWS::EC2::SecurityGroup").values()
    assert [group for group in groups if group["Properties"].get("SecurityGroupIngress", [{}])[0].get("ToPort") == 8080]


def test_attributes_are_the_l2_constructs_to_go_on_with(stack: Stack) -> None:
    cluster = make_cluster(stack)
    assert isinstance(cluster.launch_template, ec2.LaunchTemplate)
    assert isinstance(cluster.auto_scaling_group.node.default_child.ref, str)  # type: ignore[union-attr]
    assert cluster.node_group.auto_scaling_group is cluster.auto_scaling_group


def test_two_clusters_live_in_one_stack(stack: Stack) -> None:
    for name in ("One", "Two"):
        TrainingCluster(stack, name, instance_type="g5.12xlarge", node_count=1)
    assert len(resources(stack, "AWS::AutoScaling::AutoScalingGroup")) == 2


def test_cluster_has_no_warnings(stack: Stack) -> None:
    make_cluster(stack)
    assert warnings(stack) == []


def test_kept_file_system_in_the_vpc_of_the_cluster_is_warned_of(stack: Stack, vpc: ec2.Vpc) -> None:
    kept = Lustre.persistent(1200, 125)
    TrainingCluster(stack, "OwnVpc", instance_type="p4d.24xlarge", node_count=2, file_system=kept)
    TrainingCluster(
        stack,
        "GivenVpc",
        instance_type="p4d.24xlarge",
        node_count=2,
        file_system=kept,
        vpc=vpc,
        availability_zone="us-east-1a",
    )
    (warning,) = warnings(stack)
    assert "pass a vpc of your own, which outlives the stack" in warning


def test_template_is_the_same_with_and_without_the_feature_flags(cdk_context: dict[str, Any]) -> None:
    def template(context: dict[str, Any] | None) -> Any:
        stack = Stack(App(context=context), "Stack", analytics_reporting=False)
        make_cluster(stack)
        return Template.from_stack(stack).to_json()

    assert template(None) == template(cdk_context)


def test_all_problems_are_in_one_message(stack: Stack, vpc: ec2.Vpc) -> None:
    message = refusal(
        stack,
        vpc=vpc,
        instance_type="p4d.24xlrage",
        node_count=0,
        file_system=Lustre.persistent(1300, 126),
    )
    assert message.startswith("Stack/Cluster: 5 problems")
    for part in (
        "instance_type must be a GPU instance type of the catalogue (closest: p4d.24xlarge",
        "node_count must be a whole number of at least 1, got 0",
        "availability_zone must be one of the zones of the subnets, got none",
        "Lustre capacity_gib must be 1200 or a multiple of 2400, got 1300",
        "Lustre throughput_mb_s_per_tib must be one of",
    ):
        assert part in message


def test_refused_cluster_leaves_nothing_behind(stack: Stack) -> None:
    refusal(stack, node_count=0)
    assert stack.node.find_child("Cluster").node.children == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"availability_zone": "us-east-1f"}, "got us-east-1f, with subnets in us-east-1a, us-east-1b"),
        (
            {"vpc_subnets": ec2.SubnetSelection(subnet_type=ec2.SubnetType.PUBLIC, availability_zones=["us-east-1a"])},
            "got a public subnet for nodes with 5 network interfaces",
        ),
        ({"vpc_subnets": ec2.SubnetSelection(availability_zones=["us-east-1f"])}, "got a selection without subnets"),
        ({"vpc_subnets": ec2.SubnetSelection(subnet_group_name="X")}, "got a selection that CDK refuses"),
        (
            {"instance_type": "p3dn.24xlarge", "availability_zone": "us-east-1a", "image": GpuImage.dlami()},
            "with V100 GPUs",
        ),
        (
            {"node_count": "2", "availability_zone": "us-east-1a"},
            "node_count must be a whole number of at least 1, got '2'",
        ),
    ],
)
def test_cluster_is_refused(stack: Stack, vpc: ec2.Vpc, options: dict[str, Any], message: str) -> None:
    assert message in refusal(stack, vpc=vpc, **options)


def test_vpc_without_private_subnets_is_refused(stack: Stack) -> None:
    public = ec2.SubnetConfiguration(name="Public", subnet_type=ec2.SubnetType.PUBLIC)
    vpc = ec2.Vpc(stack, "Public", nat_gateways=0, subnet_configuration=[public])
    assert "got a selection without subnets" in refusal(stack, vpc=vpc)


def test_selection_without_a_vpc_is_refused(stack: Stack) -> None:
    assert "got a selection without a VPC" in refusal(stack, vpc_subnets=ec2.SubnetSelection())


def test_node_count_known_only_at_deploy_time_is_refused(stack: Stack) -> None:
    count = CfnParameter(stack, "Count", type="Number").value_as_number
    assert "CloudFormation cannot add the one node kept free" in refusal(stack, node_count=count)


def test_image_reaches_the_nodes(stack: Stack) -> None:
    make_cluster(stack, image=GpuImage.custom("ami-0123456789abcdef0", os="ubuntu-24.04"))
    data = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    assert data["ImageId"] == "ami-0123456789abcdef0"
    assert data["BlockDeviceMappings"][0]["DeviceName"] == "/dev/sda1"


def test_image_that_does_not_fit_is_refused_with_everything_else(stack: Stack) -> None:
    image = GpuImage.custom({"eu-west-1": "ami-0123456789abcdef0"}, os="al2023", architecture="arm64")
    refused = refusal(stack, image=image, node_count=0)
    assert "3 problems" in refused
    assert "got arm64 for p4d.24xlarge" in refused
    assert "the Region of the stack, us-east-1" in refused


def test_retired_type_is_taken_where_it_is_allowed(stack: Stack) -> None:
    assert "pass allow_retired=True" in refusal(stack, instance_type="p3.16xlarge")
    image = GpuImage.custom("ami-0123456789abcdef0", os="al2023")
    other = Stack(App(), "Other", env=ENV)
    make_cluster(other, instance_type="p3.16xlarge", allow_retired=True, image=image)
    assert only(other, "AWS::AutoScaling::AutoScalingGroup")


def test_efa_of_the_cluster_reaches_the_interfaces(stack: Stack) -> None:
    make_cluster(stack, efa=Efa.LEGACY)
    data = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]
    assert [nic["InterfaceType"] for nic in data["NetworkInterfaces"]] == ["efa"] * 4


def test_network_problems_are_in_the_one_message(stack: Stack) -> None:
    subnets = [ec2.SubnetConfiguration(name="P", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=28)]
    vpc = ec2.Vpc(stack, "Small", availability_zones=["us-east-1a"], nat_gateways=0, subnet_configuration=subnets)
    message = refusal(stack, vpc=vpc, instance_type="g5.xlarge", efa=Efa.REQUIRED, node_count=20)
    assert message.startswith("Stack/Cluster: 2 problems")
    assert "Efa.REQUIRED with 'g5.xlarge'" in message
    assert "use a subnet of /27 or larger" in message


def test_type_that_takes_no_cluster_placement_group_is_placed_anywhere(stack: Stack) -> None:
    instance = GpuInstance(
        "p9.48xlarge", gpus=1, gpu="X", gpu_memory_mib=1, vcpus=1, memory_mib=1, placement_strategies=()
    )
    make_cluster(stack, instance_type=instance)
    assert resources(stack, "AWS::EC2::PlacementGroup") == {}
