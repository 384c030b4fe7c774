"""The whole boot, as steps in an order in which each could run alone."""

from __future__ import annotations

from gpu_constructs.on_node import serving
from gpu_constructs.on_node.boot import (
    clock,
    cloudwatch_agent,
    cuda,
    data_volume,
    docker,
    hold,
    limits,
    local_disks,
    lustre,
    nvidia,
    packages,
    service,
)
from gpu_constructs.on_node.config import ConfigError, Hardware, NodeConfig
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.steps import Step


def plan(config: NodeConfig, facts: Facts, *, serve: bool = True) -> list[Step]:
    """Return the steps of a boot. The same machine gets the same ones at each boot, whatever has been installed since.

    Args:
        config: The configuration of the node.
        facts: The machine.
        serve: Whether its model server is started, where it has one.

    Raises:
        ConfigError: If the configuration is not for this machine.
    """
    boot = _boot(config, facts)
    disk = (data_volume.NAME,) if config.data_volume else ()
    return [
        *boot,
        *serving.plan(
            config,
            facts,
            serve=serve,
            models=f"{data_volume.DATA if config.data_volume else '/var/lib/gpu-node'}/models",
            docker=(clock.NAME, docker.NAME),
            disk=(clock.NAME, *disk),
            boot=tuple(step.name for step in boot),
        ),
    ]


def _boot(config: NodeConfig, facts: Facts) -> list[Step]:
    hardware = _hardware(config, facts)
    by_hand = config.install_cuda
    installs = packages.in_turn(
        [
            *hold.quiet(facts),
            clock.step(facts),
            *local_disks.package(facts),
            *([lustre.client(facts)] if config.lustre else []),
            cloudwatch_agent.package(facts),
            *(cuda.installs(hardware, facts) if by_hand else []),
            hold.step(facts),
        ],
        after=limits.NAME,
    )
    return [
        service.step(config.serving.ready_seconds if config.serving else 0),
        limits.step(hardware),
        *installs,
        *local_disks.steps(facts),
        *data_volume.steps(config, facts),
        *docker.steps(config, facts),
        *([lustre.mount(config.lustre)] if config.lustre else []),
        cloudwatch_agent.step(config),
        *nvidia.steps(
            hardware,
            driver=(cuda.DRIVER,) if by_hand else (),
            fabric=(cuda.FABRIC_MANAGER,) if by_hand else (),
            efa=(cuda.EFA,) if by_hand else (),
        ),
        *(cuda.proof(hardware, nvidia.ready(hardware)) if by_hand else []),
    ]


def _hardware(config: NodeConfig, facts: Facts) -> Hardware:
    if facts.instance_type not in config.hardware:
        known = ", ".join(sorted(config.hardware)) or "no type"
        raise ConfigError(f"the node is {facts.instance_type}, and its configuration knows {known}")
    return config.hardware[facts.instance_type]
