"""Clusters at random are created whole in the local AWS by the real CDK command line, and removed."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from gpu_constructs.local import CdkCli, LocalAws, report
from tests.local.conftest import ROOT
from tests.training.random_clusters import AMI, OWN_PARAMETER, REGION, Wish, new_stack, valid

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.timeout(300)]


# The first one is the simplest cluster that there is; those after it are at random, the same in each run.
@settings(
    deadline=None,
    derandomize=True,
    max_examples=4,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(wish=valid())
def test_a_valid_cluster_is_created_whole_and_removed(local_aws: LocalAws, wish: Wish) -> None:
    local_aws.client("ssm").put_parameter(Name=OWN_PARAMETER, Value=AMI, Type="String", Overwrite=True)
    stack = new_stack(local_aws.account)
    wish.make(stack)
    cli = CdkCli(local_aws, ROOT, app=stack.node.root.synth().directory, region=REGION)  # type: ignore[attr-defined]

    cli.deploy(stack.stack_name)
    found = report.read(local_aws, stack.stack_name)
    cli.destroy(stack.stack_name)
    local_aws.client("fsx").describe_file_systems()  # those that are kept are still told of

    assert found.status == "CREATE_COMPLETE"
    assert set(found.unfinished) <= {"not_run"}
    assert set(found.unfinished.get("not_run", {}).values()) <= {"Custom::VpcRestrictDefaultSG"}
