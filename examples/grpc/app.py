"""The example as a CDK app; its page says which values it takes.

cdk deploy --app "python -m examples.grpc.app"
"""

from __future__ import annotations

from aws_cdk import App

from examples.grpc.stack import GrpcStack

app = App()
GrpcStack(
    app,
    "GrpcStack",
    model_bucket=app.node.get_context("model_bucket"),
    certificate_arn=app.node.get_context("certificate_arn"),
    domain_name=app.node.get_context("domain_name"),
)
app.synth()
