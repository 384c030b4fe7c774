"""The example as a CDK app.

cdk deploy --app "python -m examples.capacity_block.app" -c reservation_id=cr-... -c availability_zone=us-east-1a
"""

from __future__ import annotations

from aws_cdk import App

from examples.capacity_block.stack import CapacityBlockStack

app = App()
CapacityBlockStack(
    app,
    "CapacityBlockStack",
    reservation_id=app.node.get_context("reservation_id"),
    availability_zone=app.node.get_context("availability_zone"),
)
app.synth()
