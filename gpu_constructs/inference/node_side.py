"""What nodes are told of their model server, and what they may do for it."""

from __future__ import annotations

from typing import cast

import jsii
from aws_cdk import IStableStringProducer, Lazy, Stack
from aws_cdk import aws_autoscaling as autoscaling
from aws_cdk import aws_iam as iam
from aws_cdk import aws_sqs as sqs
from constructs import IConstruct

from gpu_constructs.inference import listener_rules, runtime_rules
from gpu_constructs.inference.listener import Listener
from gpu_constructs.inference.load_budget import LoadBudget
from gpu_constructs.inference.model import ModelSource
from gpu_constructs.inference.runtime import ServingRuntime
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.on_node import permissions
from gpu_constructs.on_node.config import Serving
from gpu_constructs.tokens import known


@jsii.implements(IStableStringProducer)
class GroupId:
    """The logical id of a group that is yet to be created: a name, not a reference, which would close a circle."""

    def __init__(self) -> None:
        self.group: autoscaling.AutoScalingGroup | None = None

    def produce(self) -> str:
        """Return it, once there is a group."""
        assert self.group is not None
        resource = cast("autoscaling.CfnAutoScalingGroup", self.group.node.default_child)
        return Stack.of(self.group).get_logical_id(resource)


def serving(
    scope: IConstruct,
    *,
    runtime: ServingRuntime,
    model: ModelSource,
    listener: Listener,
    budget: LoadBudget,
    instance: GpuInstance,
    queue: sqs.IQueue | None,
    signalled: GroupId | None,
) -> Serving:
    """Return what nodes are told of their model server.

    Args:
        scope: The construct that they are of.
        runtime: The server.
        model: The model.
        listener: What stands in front of it.
        budget: How long a node may take.
        instance: Their type.
        queue: The queue that feeds them, if they are workers.
        signalled: The group whose update waits for them, if one does.
    """
    stack = Stack.of(scope)
    assert isinstance(runtime.image, str)
    own = {"QUEUE_URL": queue.queue_url, "AWS_REGION": stack.region} if queue else {}
    return Serving(
        image=runtime.image,
        command=(*runtime.command, *parallel_arguments(runtime, instance)),
        environment={**runtime.environment, **listener_rules.keep_alive_environment(listener, runtime), **own},
        ports=runtime.ports,
        ready_port=runtime.port or (runtime.grpc.port if runtime.grpc else None),
        ready_path=runtime.ready_path,
        ready_pattern=runtime.ready_pattern,
        ready_seconds=budget.ready_seconds,
        gpus=runtime.gpus,
        shm_size_gib=runtime.shm_size_gib,
        stop_timeout_seconds=runtime.stop_timeout_seconds,
        model_bucket=model.bucket.bucket_name if model.bucket else None,
        model_prefix=model.key_prefix if model.bucket else "",
        model_path=runtime.model_path,
        warm_up_path=runtime.warm_up.path if runtime.warm_up else None,
        warm_up_body=runtime.warm_up.body if runtime.warm_up else "",
        credentials_secret=runtime.credentials.secret_arn if runtime.credentials else None,
        signal_stack=stack.stack_name if signalled else None,
        signal_resource=Lazy.string(signalled) if signalled else None,
    )


def parallel_arguments(runtime: ServingRuntime, instance: GpuInstance) -> tuple[str, ...]:
    """Return how vLLM is told to use all GPUs of a node; nothing where there is one, or the server finds them."""
    if runtime.kind != "vllm" or instance.gpus <= 1:
        return ()
    return ("--tensor-parallel-size", str(instance.gpus))


def grant(
    scope: IConstruct,
    role: iam.IGrantable,
    *,
    runtime: ServingRuntime,
    model: ModelSource,
    queue: sqs.IQueue | None,
    signals: bool,
) -> None:
    """Let nodes fetch image and model, read the secret of the registry, take messages, and signal their stack.

    Each statement goes to the policy of the role for which the launch template waits, so that no node starts without.
    """
    stack = Stack.of(scope)
    _grant_image(stack, role, runtime)
    if model.bucket:
        _allow(role, permissions.MODEL_BUCKET_ACTIONS, model.bucket.bucket_arn)
        _allow(role, permissions.MODEL_OBJECT_ACTIONS, model.bucket.arn_for_objects(f"{model.key_prefix}*"))
        if model.bucket.encryption_key:
            model.bucket.encryption_key.grant_decrypt(role)
    if runtime.credentials:
        _allow(role, permissions.SECRET_ACTIONS, runtime.credentials.secret_arn)
        if runtime.credentials.encryption_key:
            runtime.credentials.encryption_key.grant_decrypt(role)
    if queue:
        _allow(role, permissions.QUEUE_ACTIONS, queue.queue_arn)
        if queue.encryption_master_key:
            queue.encryption_master_key.grant_decrypt(role)
    if signals:
        _allow(role, permissions.SIGNAL_ACTIONS, stack.stack_id)


def _grant_image(stack: Stack, role: iam.IGrantable, runtime: ServingRuntime) -> None:
    image = known(runtime.image)
    parsed = runtime_rules.ecr_repository(image) if isinstance(image, str) else None
    if runtime.repository is None and parsed is None:
        return
    if runtime.repository is not None:
        arn = runtime.repository.repository_arn
    else:
        assert parsed is not None
        account, region, name = parsed
        arn = stack.format_arn(service="ecr", account=account, region=region, resource="repository", resource_name=name)
    _allow(role, permissions.ECR_LOGIN_ACTIONS, "*")
    _allow(role, permissions.ECR_ACTIONS, arn)


def _allow(role: iam.IGrantable, actions: tuple[str, ...], resource: str) -> None:
    iam.Grant.add_to_principal(grantee=role, actions=list(actions), resource_arns=[resource])
