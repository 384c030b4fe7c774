"""The example as a CDK app of its own: `cdk deploy --app "python -m examples.p6_b300.app"`."""

from aws_cdk import App

from examples.p6_b300.stack import B300Stack

app = App()
B300Stack(app, "B300Stack", availability_zone=app.node.try_get_context("availability_zone"))
app.synth()
