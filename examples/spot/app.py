"""The example as a CDK app: `cdk deploy --app "python -m examples.spot.app" -c availability_zone=us-east-1a`."""

from __future__ import annotations

from aws_cdk import App

from examples.spot.stack import SpotStack

app = App()
SpotStack(app, "SpotStack", availability_zone=app.node.try_get_context("availability_zone"))
app.synth()
