"""The examples as one CDK app: `cdk synth`, `cdk deploy TrainingStack -c availability_zone=us-east-1d`."""

from __future__ import annotations

from aws_cdk import App

from examples.p3dn.stack import P3dnStack
from examples.training.stack import TrainingStack

app = App()
zone = app.node.try_get_context("availability_zone")
TrainingStack(app, "TrainingStack", availability_zone=zone)
if p3dn_image := app.node.try_get_context("p3dn_image"):
    P3dnStack(app, "P3dnStack", ami_id=p3dn_image, availability_zone=zone)
app.synth()
