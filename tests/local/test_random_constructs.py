"""Clusters and tiers at random are created whole in the local AWS by the real CDK command line, and removed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from aws_cdk import Stack
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from gpu_constructs.local import CdkCli, LocalAws, report
from tests.inference import random_tiers as tiers
from tests.local.conftest import ROOT
from tests.training.random_clusters import AMI, OWN_PARAMETER, REGION, Wish, new_app, new_stack, valid

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.timeout(300)]


# Two clusters and a tier at a time, in one app, so that the command line starts twice for all of them. The first ones
# are the simplest that there are; those after them are at random, the same in each run.
@settings(
    deadline=None,
    derandomize=True,
    max_examples=2,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(wishes=st.tuples(valid(), valid(), tiers.valid()))
def test_what_is_valid_is_created_whole_and_removed(local_aws: LocalAws, wishes: tuple[Wish, Wish, tiers.Wish]) -> None:
    local_aws.client("ssm").put_parameter(Name=OWN_PARAMETER, Value=AMI, Type="String", Overwrite=True)
    app = new_app(local_aws.account)
    stacks = [new_stack(local_aws.account, app, f"Stack{number}") for number in range(len(wishes))]
    makers: list[Callable[[Stack], object]] = [wish.make for wish in wishes]
    for make, stack in zip(makers, stacks, strict=True):
        make(stack)
    cli = CdkCli(local_aws, ROOT, app=app.synth().directory, region=REGION)

    cli.deploy()
    reports = [report.read(local_aws, stack.stack_name) for stack in stacks]
    cli.destroy()
    local_aws.client("fsx").describe_file_systems()  # those that are kept are still told of

    for found in reports:
        assert found.status == "CREATE_COMPLETE"
        assert set(found.unfinished) <= {"not_run"}
        assert set(found.unfinished.get("not_run", {}).values()) <= {"Custom::VpcRestrictDefaultSG"}
