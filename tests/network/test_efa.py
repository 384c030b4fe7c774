from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs.instances import catalog
from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.network import efa
from gpu_constructs.network.efa import Efa

# The examples of https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html and of the types' pages.
TOTALS = {
    "g5.xlarge": (1, 0),
    "g5.48xlarge": (2, 1),
    "g6e.48xlarge": (5, 4),
    "p3dn.24xlarge": (2, 1),
    "p4d.24xlarge": (5, 4),
    "p5.48xlarge": (33, 32),
    "p5en.48xlarge": (17, 16),
    "p6-b200.48xlarge": (9, 8),
    "p6-b300.48xlarge": (17, 16),
}


def _layout(name: str) -> list[tuple[int, int, str]]:
    found = efa.interfaces(GpuInstance.of(name))
    return [(nic.network_card_index, nic.device_index, nic.interface_type) for nic in found]


def test_p4d_has_an_ordinary_interface_and_one_efa_on_each_card() -> None:
    assert _layout("p4d.24xlarge") == [
        (0, 0, "interface"),
        (0, 1, "efa-only"),
        (1, 0, "efa-only"),
        (2, 0, "efa-only"),
        (3, 0, "efa-only"),
    ]


def test_p6_b300_keeps_card_0_for_the_ordinary_interface() -> None:
    assert _layout("p6-b300.48xlarge")[:2] == [(0, 0, "interface"), (1, 0, "efa-only")]


@pytest.mark.parametrize(("name", "totals"), TOTALS.items())
def test_type_has_as_many_interfaces_as_aws_documents(name: str, totals: tuple[int, int]) -> None:
    layout = _layout(name)
    assert (len(layout), sum(kind == "efa-only" for _, _, kind in layout)) == totals


def _assert_acceptable(instance: GpuInstance) -> None:
    found = efa.interfaces(instance)
    places = [(nic.network_card_index, nic.device_index) for nic in found]
    efa_cards = [nic.network_card_index for nic in found if nic.interface_type == "efa-only"]
    assert found[0] == efa.NetworkInterface(network_card_index=0, device_index=0, interface_type="interface")
    assert len(set(places)) == len(places), "one interface a place"
    assert len(set(efa_cards)) == len(efa_cards) == instance.max_efa_interfaces, "one EFA a card, and all there are"
    assert all(card < instance.network_cards for card, _ in places), "on cards that exist"
    assert all(device < instance.max_enis_per_card for _, device in places), "within the limit of the card"
    assert (0 in efa_cards) == instance.card0_efa


@pytest.mark.parametrize("name", catalog.names())
def test_layout_of_every_type_is_acceptable(name: str) -> None:
    assert efa.problems(GpuInstance.of(name)) == []
    _assert_acceptable(GpuInstance.of(name))


def _instance(**facts: Any) -> GpuInstance:
    return GpuInstance("p9.48xlarge", gpus=8, gpu="X", gpu_memory_mib=1, vcpus=1, memory_mib=1, **facts)


@given(cards=st.integers(1, 64), enis=st.integers(1, 15), data=st.data())
def test_layout_of_any_hardware_is_acceptable_or_refused(cards: int, enis: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, cards))
    instance = _instance(network_cards=cards, max_enis_per_card=enis, max_efa_interfaces=count)
    if not efa.problems(instance):
        _assert_acceptable(instance)


def test_card_0_without_room_for_both_interfaces_is_refused() -> None:
    (problem,) = efa.problems(_instance(max_enis_per_card=1, max_efa_interfaces=1))
    assert "network card 0 takes one interface and has EFA" in str(problem)
    assert efa.problems(_instance(max_enis_per_card=1)) == []


def _modes(name: str, mode: Efa) -> list[tuple[int, int, str]]:
    found = efa.interfaces(GpuInstance.of(name), mode)
    return [(nic.network_card_index, nic.device_index, nic.interface_type) for nic in found]


def test_legacy_layout_of_p4d_is_a_combined_interface_on_each_card() -> None:
    assert _modes("p4d.24xlarge", Efa.LEGACY) == [(0, 0, "efa"), (1, 1, "efa"), (2, 1, "efa"), (3, 1, "efa")]


def test_legacy_layout_of_p6_b300_keeps_card_0_ordinary() -> None:
    layout = _modes("p6-b300.48xlarge", Efa.LEGACY)
    assert (layout[:2], len(layout)) == ([(0, 0, "interface"), (1, 1, "efa")], 17)


@pytest.mark.parametrize("name", ["g5.8xlarge", "p5.4xlarge"])
def test_legacy_layout_of_one_card_is_one_interface_with_efa(name: str) -> None:
    assert _modes(name, Efa.LEGACY) == [(0, 0, "efa")]


def test_legacy_layout_uses_device_0_where_a_card_takes_one_interface() -> None:
    instance = _instance(network_cards=2, max_enis_per_card=1, max_efa_interfaces=2)
    assert efa.problems(instance, Efa.LEGACY) == []
    assert [(nic.network_card_index, nic.device_index) for nic in efa.interfaces(instance, Efa.LEGACY)] == [
        (0, 0),
        (1, 0),
    ]
    (problem,) = efa.problems(instance)
    assert "pass efa=Efa.LEGACY" in problem.remedy


@pytest.mark.parametrize("name", ["g5.xlarge", "p5.48xlarge"])
def test_efa_off_is_one_ordinary_interface(name: str) -> None:
    assert _modes(name, Efa.OFF) == [(0, 0, "interface")]


@pytest.mark.parametrize("mode", [Efa.AUTO, Efa.LEGACY])
def test_type_without_efa_has_one_ordinary_interface(mode: Efa) -> None:
    assert _modes("g5.xlarge", mode) == [(0, 0, "interface")]


@pytest.mark.parametrize("name", catalog.names())
def test_required_efa_is_refused_where_the_type_has_none(name: str) -> None:
    instance = GpuInstance.of(name)
    found = efa.problems(instance, Efa.REQUIRED)
    assert ["Efa.REQUIRED" in str(problem) for problem in found] == [True] * (not instance.max_efa_interfaces)
    assert efa.interfaces(instance, Efa.REQUIRED) == efa.interfaces(instance)
