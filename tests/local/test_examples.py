"""Every example deploys into the local AWS, with everything its template holds, and is removed to the last piece."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from gpu_constructs.local import CdkCli, LocalAws, report
from tests.local.conftest import ROOT

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.timeout(300)]


@dataclass(frozen=True)
class Example:
    """An example with an app of its own; TrainingStack and InferenceStack have tests of their own."""

    module: str
    stack: str
    context: tuple[str, ...] = ()


REQUESTS = (
    "model_bucket=team-models",
    "certificate_arn=arn:aws:acm:us-east-1:111111111111:certificate/00000000-0000-0000-0000-000000000000",
    "domain_name=api.example.com",
)
EXAMPLES = [
    Example("p3dn", "P3dnStack"),
    Example("p6_b300", "B300Stack"),
    Example("private_only", "PrivateTrainingStack"),
    Example("spot", "SpotStack"),
    Example("serving_spot", "ServingSpotStack", REQUESTS),
    Example("grpc", "GrpcStack", REQUESTS),
    Example("queue_workers", "QueueWorkersStack", ("image=registry.example.com/worker:7", "model_bucket=team-models")),
    Example("nlb", "NlbStack", ("model_bucket=team-models",)),
    Example(
        "capacity_block",
        "CapacityBlockStack",
        ("reservation_id=cr-0123456789abcdef0", "availability_zone=us-east-1a"),
    ),
]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.module)
def test_an_example_is_created_whole_and_removed(local_aws: LocalAws, example: Example) -> None:
    cli = CdkCli(local_aws, ROOT, app=f"python -m examples.{example.module}.app")

    cli.deploy(example.stack, context=example.context)
    found = report.read(local_aws, example.stack)
    # By the call that `cdk destroy` makes; that itself is what the tests of TrainingStack and InferenceStack run.
    local_aws.client("cloudformation").delete_stack(StackName=example.stack)

    assert found.status == "CREATE_COMPLETE"
    # A type that was not created fails this test; what only AWS would run is a known exception.
    assert set(found.unfinished) <= {"not_run"}
    assert set(found.unfinished.get("not_run", {}).values()) <= {"Custom::VpcRestrictDefaultSG"}
    names = {stack["StackName"] for stack in local_aws.client("cloudformation").describe_stacks()["Stacks"]}
    assert example.stack not in names


def test_every_example_is_among_them() -> None:
    apps = {path.parent.name for path in ROOT.glob("examples/*/app.py")}

    # What the imported one finds must exist before: tests/local/test_storage.py makes it.
    assert apps == {"imported", *(example.module for example in EXAMPLES)}
