from __future__ import annotations

import pytest

from gpu_constructs.on_node.config import ConfigError, Hardware, LustreMount, NodeConfig

CONFIG = NodeConfig(
    hardware={"p4d.24xlarge": Hardware(gpu="A100", gpus=8, efa_interfaces=4, nvswitch=True, local_nvme_disks=8)},
    lustre=LustreMount(dns_name="fs-0123.fsx.us-east-1.amazonaws.com", mount_name="abcdef"),
    launch_hook="ready",
    log_group="boot",
)


def test_node_reads_what_the_construct_wrote() -> None:
    assert NodeConfig.from_json(CONFIG.to_json()) == CONFIG
    assert NodeConfig.from_json(NodeConfig(hardware={}).to_json()) == NodeConfig(hardware={})


def test_text_does_not_depend_on_the_order_of_the_types() -> None:
    one, other = Hardware(gpu="A10G", gpus=1), Hardware(gpu="L4", gpus=1)
    texts = {
        NodeConfig(hardware=dict(order)).to_json() for order in ([("a", one), ("b", other)], [("b", other), ("a", one)])
    }
    assert len(texts) == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no JSON"),
        ("[]", "is no JSON object"),
        ('{"hardware": {}, "colour": 1}', "has colour, which NodeConfig has not"),
        ('{"hardware": {"p4d.24xlarge": {"gpu": "A100"}}}', "lacks something: .*gpus"),
        ('{"hardware": {}, "lustre": {"dns_name": "fs"}}', "lacks something: .*mount_name"),
    ],
)
def test_text_that_is_no_configuration_is_refused(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        NodeConfig.from_json(text)
