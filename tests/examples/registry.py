"""Every example stack: how it is made, and what is expected of all of them alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from aws_cdk import App, DefaultStackSynthesizer, Environment, Stack

from examples.capacity_block import stack as capacity_block
from examples.grpc import stack as grpc
from examples.imported import stack as imported
from examples.inference import stack as inference
from examples.nlb import stack as nlb
from examples.p3dn import stack as p3dn
from examples.p6_b300 import stack as p6_b300
from examples.private_only import stack as private_only
from examples.queue_workers import stack as queue_workers
from examples.serving_spot import stack as serving_spot
from examples.spot import stack as spot
from examples.training import stack as training

EXISTING = imported.Existing(
    vpc_id="vpc-0123456789abcdef0",
    subnet_id="subnet-0123456789abcdef0",
    availability_zone="us-east-1a",
    route_table_id="rtb-0123456789abcdef0",
    file_system_id="fs-0123456789abcdef0",
    mount_name="abcdefgh",
    security_group_id="sg-0123456789abcdef0",
)


ENV = Environment(account="111111111111", region="us-east-1")
CERTIFICATE = "arn:aws:acm:us-east-1:111111111111:certificate/00000000-0000-0000-0000-000000000000"
REQUESTS = {"model_bucket": "team-models", "certificate_arn": CERTIFICATE, "domain_name": "api.example.com"}


@dataclass(frozen=True, kw_only=True)
class Example:
    """One example.

    Args:
        folder: Its folder in examples/.
        module: The module of its stack, which holds `ACKNOWLEDGED`.
        make: Makes the stack.
        nodes: The nodes whose price its page has, as in "2 p4d.24xlarge".
        region: Where its instance types are, for cfn-lint.
        warnings: The codes of the warnings that it shows on purpose.
        public: The logical ids of its load balancers that are reached from the internet.
    """

    folder: str
    module: ModuleType
    make: Callable[[App], Stack]
    nodes: tuple[int, str] | None
    region: str = "us-east-1"
    warnings: tuple[str, ...] = ()
    public: tuple[str, ...] = ()

    def build(self, context: dict[str, Any]) -> tuple[App, Stack]:
        """The stack in an app with the feature flags of cdk.json, and without the noise of bootstrap versions."""
        app = App(
            context=context,
            analytics_reporting=False,
            default_stack_synthesizer=DefaultStackSynthesizer(generate_bootstrap_version_rule=False),
        )
        return app, self.make(app)


EXAMPLES = [
    Example(
        folder="capacity_block",
        module=capacity_block,
        make=lambda app: capacity_block.CapacityBlockStack(
            app, "CapacityBlockStack", reservation_id="cr-0123456789abcdef0", availability_zone="us-east-1a"
        ),
        nodes=None,  # a block is paid up front, at a price of its own
    ),
    Example(
        folder="imported",
        module=imported,
        make=lambda app: imported.ImportedStack(app, "ImportedStack", existing=EXISTING),
        nodes=(2, "g5.12xlarge"),
    ),
    Example(
        folder="p3dn",
        module=p3dn,
        make=lambda app: p3dn.P3dnStack(app, "P3dnStack"),
        nodes=None,  # in a sentence of its page, not in a table
        warnings=("Annotation::gpu-constructs:instance-type-in-doubt",),
    ),
    Example(
        folder="p6_b300",
        module=p6_b300,
        make=lambda app: p6_b300.B300Stack(app, "B300Stack"),
        nodes=(2, "p6-b300.48xlarge"),
        region="us-west-2",
    ),
    Example(
        folder="private_only",
        module=private_only,
        make=lambda app: private_only.PrivateTrainingStack(app, "PrivateTrainingStack"),
        nodes=(2, "g5.8xlarge"),
    ),
    Example(
        folder="spot",
        module=spot,
        make=lambda app: spot.SpotStack(app, "SpotStack"),
        nodes=(2, "g5.12xlarge"),
    ),
    Example(
        folder="training",
        module=training,
        make=lambda app: training.TrainingStack(app, "TrainingStack"),
        nodes=(2, "p4d.24xlarge"),
    ),
    Example(
        folder="inference",
        module=inference,
        make=lambda app: inference.InferenceStack(app, "InferenceStack"),
        nodes=(1, "g5.xlarge"),
        warnings=(
            "Annotation::gpu-constructs:model-not-pinned",
            "Annotation::gpu-constructs:requests-not-encrypted",
        ),
    ),
    Example(
        folder="serving_spot",
        module=serving_spot,
        make=lambda app: serving_spot.ServingSpotStack(app, "ServingSpotStack", env=ENV, **REQUESTS),
        nodes=(2, "g5.xlarge"),
        public=("ServingLoadBalancer5180B1F1",),
    ),
    Example(
        folder="grpc",
        module=grpc,
        make=lambda app: grpc.GrpcStack(app, "GrpcStack", env=ENV, **REQUESTS),
        nodes=(1, "g6.xlarge"),
        public=("ServingLoadBalancer5180B1F1",),
    ),
    Example(
        folder="queue_workers",
        module=queue_workers,
        make=lambda app: queue_workers.QueueWorkersStack(
            app,
            "QueueWorkersStack",
            image="111111111111.dkr.ecr.us-east-1.amazonaws.com/worker:7",
            model_bucket="team-models",
        ),
        nodes=(1, "g4dn.xlarge"),
    ),
    Example(
        folder="nlb",
        module=nlb,
        make=lambda app: nlb.NlbStack(app, "NlbStack", model_bucket="team-models"),
        nodes=(1, "g4dn.xlarge"),
    ),
]
