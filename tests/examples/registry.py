"""Every example stack: how it is made, and what is expected of all of them alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from aws_cdk import App, DefaultStackSynthesizer, Stack

from examples.capacity_block import stack as capacity_block
from examples.imported import stack as imported
from examples.p3dn import stack as p3dn
from examples.p6_b300 import stack as p6_b300
from examples.private_only import stack as private_only
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
    """

    folder: str
    module: ModuleType
    make: Callable[[App], Stack]
    nodes: tuple[int, str] | None
    region: str = "us-east-1"
    warnings: tuple[str, ...] = ()

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
]
