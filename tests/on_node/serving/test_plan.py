"""The boot of a node that serves: the order of its steps, and what a node of the warm pool leaves out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from gpu_constructs.on_node.boot import plan
from gpu_constructs.on_node.config import ConfigError
from gpu_constructs.on_node.steps import Step
from tests.on_node.made import before, shown
from tests.on_node.serving.made import CONFIG, FACTS, SERVING

WARM = replace(SERVING, warm_up_path="/v2/models/ranker/infer", warm_up_body="{}")


def names(steps: list[Step]) -> list[str]:
    return [step.name for step in steps]


def test_boot_is_as_it_was(text_snapshot: SnapshotAssertion) -> None:
    assert shown(plan(replace(CONFIG, serving=WARM), FACTS)) == text_snapshot


def test_server_starts_when_all_else_is_done_and_is_asked_then() -> None:
    steps = plan(replace(CONFIG, serving=WARM), FACTS)
    assert names(steps)[-5:] == ["image", "model", "server", "ready", "warm-up"]
    assert before(steps, "server") == set(names(steps)) - {"server", "ready", "warm-up"}
    assert before(steps, "warm-up") == set(names(steps)) - {"warm-up"}


def test_image_and_model_are_fetched_side_by_side_and_beside_the_rest_of_the_boot() -> None:
    steps = plan(CONFIG, FACTS)
    assert "model" not in before(steps, "image")
    assert "image" not in before(steps, "model")
    assert "gpus" not in before(steps, "image") | before(steps, "model")
    assert {"clock", "docker"} <= before(steps, "image")


def test_model_is_on_the_data_volume_where_there_is_one() -> None:
    disks = replace(FACTS, data_disks=("/dev/disk/by-id/nvme-Amazon_Elastic_Block_Store_vol1",))
    steps = plan(replace(CONFIG, data_volume=True), disks)
    assert "data-volume" in before(steps, "model")
    (model,) = [step for step in steps if step.name == "model"]
    assert " to /data/models/" in str(model.actions[0])
    (model,) = [step for step in plan(CONFIG, FACTS) if step.name == "model"]
    assert " to /var/lib/gpu-node/models/" in str(model.actions[0])


def test_node_of_the_warm_pool_fetches_and_does_not_serve() -> None:
    served, prepared = plan(CONFIG, FACTS), plan(CONFIG, FACTS, serve=False)
    assert names(served)[: len(prepared)] == names(prepared)
    assert names(served)[len(prepared) :] == ["server", "ready"]


def test_node_that_serves_nothing_has_no_such_step() -> None:
    assert not {"image", "model", "server", "ready"} & set(names(plan(replace(CONFIG, serving=None), FACTS)))


def test_image_of_a_node_without_docker_is_refused() -> None:
    with pytest.raises(ConfigError, match="its image has no Docker: use the Deep Learning AMI"):
        plan(CONFIG, replace(FACTS, commands=frozenset()))
