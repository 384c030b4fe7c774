"""Creation policies and rolling updates: batches, signals, time-outs, roll-backs, all by the clock."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from botocore.exceptions import ClientError

from gpu_constructs.local.clock import clock
from gpu_constructs.local.services.cloudformation import progress, signals
from tests.local.services.group import Group
from tests.local.services.stack import NAME, DeployedStack

if TYPE_CHECKING:
    from mypy_boto3_autoscaling.client import AutoScalingClient
    from mypy_boto3_ec2.client import EC2Client

ROLLING = {"MinInstancesInService": 1, "MaxBatchSize": 1, "PauseTime": "PT15M", "WaitOnResourceSignals": True}
SIGNALS = {"ResourceSignal": {"Count": 2, "Timeout": "PT20M"}}


class Tier:
    """A stack of one group, whose launch template has as many versions as a test needs."""

    def __init__(self, stack: DeployedStack, scaling: AutoScalingClient, ec2: EC2Client, base: dict[str, Any]) -> None:
        self.stack, self.scaling, self.ec2, self.base = stack, scaling, ec2, base

    def deploy(self, version: str = "1", *, update: Any = ROLLING, creation: Any = None, **group: Any) -> str:
        template = {"LaunchTemplateId": self.base["LaunchTemplate"]["LaunchTemplateId"], "Version": version}
        resource: dict[str, Any] = {
            "Type": "AWS::AutoScaling::AutoScalingGroup",
            "Properties": {**self.base, "LaunchTemplate": template, **group},
        }
        if update:
            resource["UpdatePolicy"] = {"AutoScalingRollingUpdate": update}
        if creation:
            resource["CreationPolicy"] = creation
        return self.stack.deploy({"Group": {"Ref": "Group"}}, Group=resource)

    @property
    def group(self) -> Group:
        return Group(self.scaling, self.ec2, self.stack.physical_id("Group"))

    def versions(self) -> list[str]:
        """The launch template versions of the group's instances that are not on their way out."""
        found = self.group.described()["Instances"]
        return sorted(i["LaunchTemplate"]["Version"] for i in found if "Terminating" not in i["LifecycleState"])

    def signal(self, instance_id: str, status: str = "SUCCESS") -> None:
        self.stack.cloudformation.signal_resource(
            StackName=NAME,
            LogicalResourceId="Group",
            UniqueId=instance_id,
            Status=status,  # type: ignore[arg-type]
        )

    def new(self, version: str = "2") -> list[str]:
        found = self.group.described()["Instances"]
        return [i["InstanceId"] for i in found if i["LaunchTemplate"]["Version"] == version]

    def said(self) -> list[str]:
        return [reason for name, _, reason in self.stack.events() if name == "Group" and reason]


@pytest.fixture
def tier(
    deployed: DeployedStack, scaling: AutoScalingClient, ec2: EC2Client, subnets: list[str], template: str
) -> Tier:
    for kind in ("p5.48xlarge", "p5en.48xlarge"):
        ec2.create_launch_template_version(
            LaunchTemplateId=template,
            SourceVersion="1",
            LaunchTemplateData={"InstanceType": kind},
        )
    base = {
        "MinSize": "1",
        "MaxSize": "4",
        "DesiredCapacity": "2",
        "VPCZoneIdentifier": subnets,
        "LaunchTemplate": {"LaunchTemplateId": template},
    }
    return Tier(deployed, scaling, ec2, base)


@pytest.fixture
def nodes_boot() -> Iterator[None]:
    """Somebody is there who starts nodes."""
    signals.expect(nodes_boot=True)
    yield
    signals.expect(nodes_boot=False)
    progress.abandon_all()


def test_where_nobody_boots_nodes_signals_are_taken_as_given_and_the_events_say_so(tier: Tier) -> None:
    assert tier.deploy(creation=SIGNALS) == "CREATE_COMPLETE"
    assert tier.deploy("2", creation=SIGNALS) == "UPDATE_COMPLETE"
    assert tier.versions() == ["2", "2"]
    assert tier.said().count("Nobody boots nodes in this local AWS: 1 resource signal(s) taken as given") == 2


def test_where_nobody_boots_nodes_a_hook_does_not_hold_an_update(tier: Tier) -> None:
    hook = {"LifecycleHookName": "drain", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}
    tier.deploy(LifecycleHookSpecificationList=[hook])
    assert tier.deploy("2", LifecycleHookSpecificationList=[hook]) == "UPDATE_COMPLETE"
    assert tier.group.summary() == ["InService", "InService", "Terminating:Wait", "Terminating:Wait"]


@pytest.mark.usefixtures("nodes_boot")
def test_a_creation_waits_for_its_signals(tier: Tier) -> None:
    assert tier.deploy(creation=SIGNALS) == "CREATE_IN_PROGRESS"
    assert tier.stack.outputs() == {}
    one, two = tier.group.ids("InService")
    tier.signal(one)
    tier.signal(one)  # the same instance counts once
    assert tier.stack.status() == "CREATE_IN_PROGRESS"
    tier.signal(two)
    assert tier.stack.status() == "CREATE_COMPLETE"
    assert tier.stack.outputs() == {"Group": tier.group.name}
    assert tier.said()[-1] == f"Received SUCCESS signal with UniqueId {two}"


@pytest.mark.usefixtures("nodes_boot")
def test_a_creation_without_its_signals_is_rolled_back_in_time(tier: Tier, scaling: AutoScalingClient) -> None:
    tier.deploy(creation=SIGNALS)
    tier.signal(tier.group.ids("InService")[0])
    clock.advance(20 * 60 + 1)
    assert tier.stack.status() == "ROLLBACK_COMPLETE"
    assert "Received 1 FAILURE signal(s) out of 2" in tier.stack.reasons()[0]
    assert scaling.describe_auto_scaling_groups()["AutoScalingGroups"] == []


@pytest.mark.usefixtures("nodes_boot")
def test_some_of_the_signals_are_enough_where_the_policy_says_so(tier: Tier) -> None:
    half = {**SIGNALS, "AutoScalingCreationPolicy": {"MinSuccessfulInstancesPercent": 50}}
    tier.deploy(creation=half)
    one, two = tier.group.ids("InService")
    tier.signal(one, "FAILURE")
    tier.signal(two)
    assert tier.stack.status() == "CREATE_COMPLETE"


@pytest.mark.usefixtures("nodes_boot")
def test_an_update_goes_batch_by_batch_and_waits_for_each(tier: Tier) -> None:
    tier.deploy()
    old = tier.group.ids("InService")
    assert tier.deploy("2") == "UPDATE_IN_PROGRESS"
    assert tier.versions() == ["1", "2"]
    [first] = tier.new()
    tier.signal(first)
    assert tier.stack.status() == "UPDATE_IN_PROGRESS"
    assert tier.versions() == ["2", "2"]
    [second] = set(tier.new()) - {first}
    tier.signal(second)
    assert tier.stack.status() == "UPDATE_COMPLETE"
    assert not set(old) & set(tier.group.states())
    assert tier.group.described()["DesiredCapacity"] == 2
    assert tier.said()[:4] == [
        "Rolling update initiated. Terminating 2 obsolete instance(s) in batches of 1, while keeping at least 1 "
        "instance(s) in service. Waiting on resource signals with a timeout of PT15M.",
        f"Terminating instance(s) [{old[0]}]; replacing with 1 new instance(s).",
        f"Successfully terminated instance(s) [{old[0]}] (Progress 50%).",
        "New instance(s) added to autoscaling group - Waiting on 1 resource signal(s) with a timeout of PT15M.",
    ]


@pytest.mark.usefixtures("nodes_boot")
def test_a_full_group_grows_first_and_shrinks_at_the_end(tier: Tier) -> None:
    rolling = {**ROLLING, "MinInstancesInService": 2, "MaxBatchSize": 2}
    tier.deploy(update=rolling)
    tier.deploy("2", update=rolling)
    assert tier.versions() == ["1", "1", "2", "2"]  # two more, before one of the old ones goes
    for instance_id in tier.new():
        tier.signal(instance_id)
    assert tier.stack.status() == "UPDATE_COMPLETE"
    assert tier.versions() == ["2", "2"]
    assert "Temporarily setting autoscaling group MinSize and DesiredCapacity to 4." in tier.said()


@pytest.mark.usefixtures("nodes_boot")
def test_a_failure_rolls_back_to_the_old_version_with_the_reason(tier: Tier) -> None:
    tier.deploy()
    tier.deploy("2")
    [broken] = tier.new()
    tier.signal(broken, "FAILURE")
    assert tier.stack.status() == "UPDATE_ROLLBACK_IN_PROGRESS"
    assert tier.stack.reasons("UPDATE_FAILED") == [
        "Received 1 FAILURE signal(s) out of 2.  Unable to satisfy 100% MinSuccessfulInstancesPercent requirement"
    ]
    assert tier.versions() == ["1", "1"]
    [*_, replaced] = tier.group.ids("InService")  # the way back waits for its signal too
    tier.signal(replaced)
    assert tier.stack.status() == "UPDATE_ROLLBACK_COMPLETE"
    assert tier.group.described()["LaunchTemplate"]["Version"] == "1"
    assert broken not in tier.group.states()


@pytest.mark.usefixtures("nodes_boot")
def test_silence_rolls_back_too(tier: Tier) -> None:
    tier.deploy()
    tier.deploy("2")
    clock.advance(15 * 60 - 30)
    assert tier.stack.status() == "UPDATE_IN_PROGRESS"
    clock.advance(31)
    assert tier.stack.status() == "UPDATE_ROLLBACK_IN_PROGRESS"
    assert any("Failed to receive 1 resource signal(s)" in reason for reason in tier.said())


@pytest.mark.usefixtures("nodes_boot")
def test_an_update_tolerates_as_many_failures_as_its_policy_says(tier: Tier) -> None:
    rolling = {**ROLLING, "MinSuccessfulInstancesPercent": 50}
    tier.deploy(update=rolling)
    tier.deploy("2", update=rolling)
    [first] = tier.new()
    tier.signal(first, "FAILURE")
    [second] = set(tier.new()) - {first}
    tier.signal(second)
    assert tier.stack.status() == "UPDATE_COMPLETE"


@pytest.mark.usefixtures("nodes_boot")
def test_without_signals_each_batch_is_followed_by_its_pause(tier: Tier) -> None:
    rolling = {"MaxBatchSize": 1, "PauseTime": "PT5M"}
    tier.deploy(update=rolling)
    tier.deploy("2", update=rolling)
    assert tier.versions() == ["1", "2"]
    clock.advance(5 * 60)
    assert tier.versions() == ["2", "2"]
    assert tier.stack.status() == "UPDATE_IN_PROGRESS"
    clock.advance(5 * 60)
    assert tier.stack.status() == "UPDATE_COMPLETE"


@pytest.mark.usefixtures("nodes_boot")
def test_an_update_waits_for_the_terminate_hook_of_what_it_replaces(tier: Tier) -> None:
    hook = {"LifecycleHookName": "drain", "LifecycleTransition": "autoscaling:EC2_INSTANCE_TERMINATING"}
    tier.deploy(LifecycleHookSpecificationList=[hook], update={"MaxBatchSize": 2})
    tier.deploy("2", LifecycleHookSpecificationList=[hook], update={"MaxBatchSize": 2})
    for instance_id in tier.group.ids("Terminating:Wait"):
        assert tier.stack.status() == "UPDATE_IN_PROGRESS"
        tier.group.complete(instance_id, "drain")
    assert tier.stack.status() == "UPDATE_COMPLETE"
    assert tier.versions() == ["2", "2"]


@pytest.mark.usefixtures("nodes_boot")
def test_processes_are_suspended_for_the_update_only(tier: Tier) -> None:
    rolling = {**ROLLING, "SuspendProcesses": ["HealthCheck", "AZRebalance"]}
    tier.deploy(update=rolling)
    tier.group.suspend("AZRebalance")
    tier.deploy("2", update=rolling)

    def suspended() -> set[str]:
        return {one["ProcessName"] for one in tier.group.described()["SuspendedProcesses"]}

    assert suspended() == {"HealthCheck", "AZRebalance"}
    for _ in range(2):
        for instance_id in tier.new():
            tier.signal(instance_id)
    assert tier.stack.status() == "UPDATE_COMPLETE"
    assert suspended() == {"AZRebalance"}  # what was suspended before stays so


def test_without_a_policy_instances_stay_as_they_are(tier: Tier) -> None:
    tier.deploy(update=None)
    assert tier.deploy("2", update=None) == "UPDATE_COMPLETE"
    assert tier.versions() == ["1", "1"]


def test_a_warm_pool_is_made_anew(tier: Tier) -> None:
    tier.deploy()
    tier.scaling.put_warm_pool(AutoScalingGroupName=tier.group.name, PoolState="Running")
    old = tier.group.warm_ids()
    tier.deploy("2")
    assert len(tier.group.warm_ids()) == len(old) == 2
    assert not set(old) & {*tier.group.warm_ids(), *tier.group.states()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"MinInstancesInService": 4}, "must be less than the autoscaling group's MaxSize"),
        ({"PauseTime": "15m"}, "Invalid duration 15m"),
        ({"PauseTime": "PT2H"}, "PauseTime must not be longer than 1 hour"),
        ({"MaxBatchSize": 0}, "MaxBatchSize must be at least 1"),
    ],
)
def test_a_policy_that_aws_refuses(tier: Tier, change: dict[str, Any], message: str) -> None:
    tier.deploy()
    assert tier.deploy("2", update={**ROLLING, **change}) == "UPDATE_ROLLBACK_COMPLETE"
    assert message in tier.stack.reasons("UPDATE_FAILED")[0]
    assert tier.versions() == ["1", "1"]


@pytest.mark.usefixtures("nodes_boot")
def test_signals_that_are_refused(tier: Tier) -> None:
    tier.deploy()
    with pytest.raises(ClientError, match="CREATE_COMPLETE state and can not be signaled"):
        tier.signal("i-0")
    tier.deploy("2")
    with pytest.raises(ClientError, match="Invalid status MAYBE"):
        tier.signal("i-0", "MAYBE")
    with pytest.raises(ClientError, match="Resource Nothing does not exist"):
        tier.stack.cloudformation.signal_resource(
            StackName=NAME, LogicalResourceId="Nothing", UniqueId="i-0", Status="SUCCESS"
        )


@pytest.mark.usefixtures("nodes_boot")
def test_what_is_in_progress_is_neither_updated_nor_deleted(tier: Tier) -> None:
    tier.deploy()
    tier.deploy("2")
    with pytest.raises(ClientError, match="UPDATE_IN_PROGRESS state and can not be updated"):
        tier.deploy("3")
    with pytest.raises(ClientError, match="UPDATE_IN_PROGRESS state and can not be deleted"):
        tier.stack.delete()


@pytest.mark.usefixtures("nodes_boot")
def test_a_creation_in_progress_may_be_deleted(tier: Tier, scaling: AutoScalingClient) -> None:
    tier.deploy(creation=SIGNALS)
    assert tier.stack.delete() == "DELETE_COMPLETE"
    assert scaling.describe_auto_scaling_groups()["AutoScalingGroups"] == []
