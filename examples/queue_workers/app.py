"""The example as a CDK app; its page says which values it takes.

cdk deploy --app "python -m examples.queue_workers.app"
"""

from __future__ import annotations

from aws_cdk import App

from examples.queue_workers.stack import QueueWorkersStack

app = App()
QueueWorkersStack(
    app,
    "QueueWorkersStack",
    image=app.node.get_context("image"),
    model_bucket=app.node.get_context("model_bucket"),
)
app.synth()
