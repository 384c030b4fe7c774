"""The smallest app with an inference tier whose model is in S3."""

from aws_cdk import App, Stack
from aws_cdk import aws_s3 as s3

from gpu_constructs import InferenceTier, ModelSource, ServingRuntime

app = App()
stack = Stack(app, "Serving")
bucket = s3.Bucket.from_bucket_name(stack, "Models", "team-models")
tier = InferenceTier(
    stack,
    "Tier",
    instance_types=["g5.xlarge"],
    runtime=ServingRuntime.triton("nvcr.io/nvidia/tritonserver:26.06-py3"),
    model=ModelSource.s3(bucket, "models", version="3"),
)

app.synth()
