"""The steps of a model server: image and model side by side, then the container, then proof that it answers."""

from __future__ import annotations

from gpu_constructs.on_node.config import ConfigError, NodeConfig
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.serving import image, model, ready, server, warm_up
from gpu_constructs.on_node.serving.budget import Budget
from gpu_constructs.on_node.steps import Step


def plan(
    config: NodeConfig,
    facts: Facts,
    *,
    serve: bool,
    models: str = "/var/lib/gpu-node/models",
    docker: tuple[str, ...] = (),
    disk: tuple[str, ...] = (),
    boot: tuple[str, ...] = (),
) -> list[Step]:
    """Return the steps; none where the node serves nothing.

    Args:
        config: The configuration of the node.
        facts: The machine.
        serve: Whether the server is started; a node that goes into the warm pool only fetches what it needs.
        models: The folder of all models, on EBS.
        docker: The steps after which Docker runs and the clock is right, by which requests to AWS are signed.
        disk: The steps after which the folder of the models is there, and the clock is right.
        boot: All other steps of the boot: the server starts when they are done.

    Raises:
        ConfigError: If the machine cannot serve.
    """
    serving = config.serving
    if serving is None:
        return []
    if not config.install_cuda and "docker" not in facts.commands:
        raise ConfigError(
            "the node is to serve from a container, and its image has no Docker: use the Deep Learning AMI, or an "
            "image that has Docker and the NVIDIA container toolkit"
        )
    budget = Budget(serving.ready_seconds)
    fetched = [image.step(serving, facts, budget, docker), *model.step(serving, facts, budget, models, disk)]
    if not serve:
        return fetched
    folder = model.folder(serving, models) if serving.model_bucket else None
    return [
        *fetched,
        server.step(serving, folder, (*boot, *(step.name for step in fetched))),
        ready.step(serving, facts, budget),
        *warm_up.step(serving, facts, budget),
    ]
