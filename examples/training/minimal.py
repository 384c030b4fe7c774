"""The smallest app with a training cluster."""

from aws_cdk import App, Stack

from gpu_constructs import TrainingCluster

app = App()
stack = Stack(app, "Training")
cluster = TrainingCluster(stack, "Cluster", instance_type="p4d.24xlarge", node_count=2)

app.synth()
