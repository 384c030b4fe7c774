"""The example as a CDK app; its page says which values it takes.

cdk deploy --app "python -m examples.nlb.app"
"""

from __future__ import annotations

from aws_cdk import App

from examples.nlb.stack import NlbStack

app = App()
NlbStack(
    app,
    "NlbStack",
    model_bucket=app.node.get_context("model_bucket"),
)
app.synth()
