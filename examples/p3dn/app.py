"""The example as a CDK app of its own: `cdk deploy --app "python -m examples.p3dn.app" `."""

from __future__ import annotations

from aws_cdk import App

from examples.p3dn.stack import P3dnStack

app = App()
P3dnStack(
    app,
    "P3dnStack",
    ami_id=app.node.try_get_context("ami_id"),
    availability_zone=app.node.try_get_context("availability_zone"),
)
app.synth()
