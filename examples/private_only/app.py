"""The example as a CDK app of its own: `cdk deploy --app "python -m examples.private_only.app"`."""

from aws_cdk import App

from examples.private_only.stack import PrivateTrainingStack

app = App()
PrivateTrainingStack(app, "PrivateTrainingStack", availability_zone=app.node.try_get_context("availability_zone"))
app.synth()
