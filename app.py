"""TrainingStack and InferenceStack as a CDK app.

    cdk deploy TrainingStack -c availability_zone=us-east-1d
    cdk deploy InferenceStack -c certificate_arn=arn:aws:acm:... -c domain_name=api.example.com

The other examples have apps of their own, so that `cdk deploy --all` here starts nothing that was not asked for.
"""

from __future__ import annotations

from aws_cdk import App

from examples.inference.stack import InferenceStack
from examples.training.stack import TrainingStack

app = App()
TrainingStack(app, "TrainingStack", availability_zone=app.node.try_get_context("availability_zone"))
InferenceStack(
    app,
    "InferenceStack",
    certificate_arn=app.node.try_get_context("certificate_arn"),
    domain_name=app.node.try_get_context("domain_name"),
)
app.synth()
