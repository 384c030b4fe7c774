"""The examples as one CDK app: `cdk synth`, `cdk deploy TrainingStack`."""

from __future__ import annotations

from aws_cdk import App

from examples.training.stack import TrainingStack

app = App()
TrainingStack(app, "TrainingStack")
app.synth()
