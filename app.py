"""The examples as one CDK app: `cdk synth`, `cdk deploy TrainingStack -c availability_zone=us-east-1d`."""

from __future__ import annotations

from aws_cdk import App

from examples.training.stack import TrainingStack

app = App()
TrainingStack(app, "TrainingStack", availability_zone=app.node.try_get_context("availability_zone"))
app.synth()
