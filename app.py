"""TrainingStack as a CDK app: `cdk synth`, `cdk deploy TrainingStack -c availability_zone=us-east-1d`.

The other examples have apps of their own, so that `cdk deploy --all` here starts nothing that was not asked for.
"""

from __future__ import annotations

from aws_cdk import App

from examples.training.stack import TrainingStack

app = App()
TrainingStack(app, "TrainingStack", availability_zone=app.node.try_get_context("availability_zone"))
app.synth()
