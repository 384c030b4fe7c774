from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs.errors import GpuConstructsError
from gpu_constructs.instances import catalog
from gpu_constructs.instances.catalog import GpuInstance

FACTS: dict[str, Any] = {"gpus": 8, "gpu": "X", "gpu_memory_mib": 1, "vcpus": 1, "memory_mib": 1}


def test_p4d_has_the_facts_of_ec2() -> None:
    assert GpuInstance.of("p4d.24xlarge") == GpuInstance(
        "p4d.24xlarge",
        gpus=8,
        gpu="A100",
        gpu_memory_mib=40960,
        vcpus=96,
        memory_mib=1179648,
        network_cards=4,
        max_enis_per_card=15,
        max_efa_interfaces=4,
        local_nvme_gb=8000,
        local_nvme_disks=8,
        ebs_max_mbps=19000,
        usage_classes=("capacity-block", "on-demand", "spot"),
        nitro_version=3,
        usd_per_hour_us_east_1=21.957642,
    )


@pytest.mark.parametrize("name", catalog.names())
def test_every_type_is_consistent(name: str) -> None:
    """Reading one runs the checks of GpuInstance."""
    instance = GpuInstance.of(name)
    assert instance.name == name
    assert instance.usd_per_hour_us_east_1 is None or instance.usd_per_hour_us_east_1 > 0


def test_catalogue_names_its_sources_and_the_day_of_its_prices() -> None:
    sources = catalog.sources()
    assert "DescribeInstanceTypes" in sources["facts"]
    assert sources["prices_read"] == "2026-07-20"


def test_unknown_type_names_the_three_closest_and_the_way_by_hand() -> None:
    with pytest.raises(GpuConstructsError, match=r"got 'p4d\.24xlrage'") as raised:
        GpuInstance.of("p4d.24xlrage")
    assert "closest: p4d.24xlarge, p4de.24xlarge, p3dn.24xlarge" in str(raised.value)
    assert "GpuInstance('p4d.24xlrage', gpus=..., gpu=..., " in str(raised.value)
    assert "InvalidParameterValue: Invalid value 'p4d.24xlrage' for InstanceType" in str(raised.value)


@pytest.mark.parametrize(
    ("name", "reason", "nearest"),
    [
        ("p3.2xlarge", "2025-12-20", "g4dn.xlarge"),
        ("p3.16xlarge", "2025-12-20", "g4dn.metal"),
        ("g3.16xlarge", "2025-10-31", "g4dn.12xlarge"),
        ("p2.xlarge", "before 2024-06", "g4dn.xlarge"),
    ],
)
def test_retired_type_is_refused_with_the_reason_and_the_nearest(name: str, reason: str, nearest: str) -> None:
    with pytest.raises(GpuConstructsError, match="must be a type that AWS still offers") as raised:
        GpuInstance.of(name)
    assert reason in str(raised.value)
    assert f"use {nearest}, the nearest by GPU memory and count, or pass allow_retired=True" in str(raised.value)


@pytest.mark.parametrize("name", catalog.retired_names())
def test_retired_type_is_taken_where_it_is_allowed_and_said_to_be_one(name: str) -> None:
    instance = GpuInstance.of(name, allow_retired=True)
    assert (instance.name, instance.hypervisor, instance.max_efa_interfaces) == (name, "xen", 0)
    assert set(catalog.notices(instance)) == {"retired-instance-type"}


def test_retired_are_p2_p3_but_p3dn_and_g3() -> None:
    assert {name.partition(".")[0] for name in catalog.retired_names()} == {"p2", "p3", "g3", "g3s"}
    assert len(catalog.retired_names()) == 10


def test_of_p3dn_sources_disagree_which_is_a_notice() -> None:
    told = [name for name in catalog.names() if catalog.notices(GpuInstance.of(name))]
    assert told == ["p3dn.24xlarge"]


@given(st.sampled_from(catalog.names()))
def test_nearest_to_a_current_type_has_the_same_gpus(name: str) -> None:
    instance = GpuInstance.of(name)
    found = catalog.nearest(instance)
    assert found.architecture == instance.architecture
    if instance.gpus:
        assert (found.gpus, found.gpu_memory_mib) == (instance.gpus, instance.gpu_memory_mib)


@pytest.mark.parametrize("name", ["g6f.large", "gr6f.4xlarge"])
def test_fraction_of_a_gpu_is_one_and_has_its_own_memory(name: str) -> None:
    instance = GpuInstance.of(name)
    assert instance.gpus == 0
    assert instance.gpu_fraction < 1
    assert instance.gpu_memory_mib == int(22888 * instance.gpu_fraction + 0.5)


def test_every_other_type_has_whole_gpus() -> None:
    fractions = {name.partition(".")[0] for name in catalog.names() if GpuInstance.of(name).gpu_fraction != 1}
    assert fractions == {"g6f", "gr6f"}
    assert all(GpuInstance.of(name).gpus for name in catalog.names() if name.partition(".")[0] not in fractions)


@pytest.mark.parametrize("name", ["p6e-gb200.36xlarge", "p6e-gb300.36xlarge"])
def test_known_type_without_facts_says_how_to_state_them(name: str) -> None:
    with pytest.raises(GpuConstructsError, match="must be a type whose facts are in the catalogue") as raised:
        GpuInstance.of(name)
    assert f"GpuInstance('{name}', gpus=..., " in str(raised.value)
    assert 'architecture="arm64", card0_efa=False)' in str(raised.value)


def test_type_stated_by_hand_has_efa_on_card_0_when_it_has_it_on_every_card() -> None:
    assert GpuInstance("p9.48xlarge", **FACTS, network_cards=4, max_efa_interfaces=4).card0_efa is True
    assert GpuInstance("p9.48xlarge", **FACTS, network_cards=5, max_efa_interfaces=4).card0_efa is False
    assert GpuInstance("p9.48xlarge", **FACTS).card0_efa is False


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network_cards": 2, "max_efa_interfaces": 3}, "max_efa_interfaces must be between 0 and 1"),
        ({"max_efa_interfaces": 1, "card0_efa": False}, "max_efa_interfaces must be between 0 and 0"),
        ({"max_efa_interfaces": 0, "card0_efa": True}, "max_efa_interfaces must be between 1 and 1"),
        ({"architecture": "arm"}, 'architecture must be "x86_64" or "arm64", got \'arm\''),
        ({"gpu_fraction": 0}, "gpu_fraction must be above 0 and at most 1, got 0"),
        ({"gpu_fraction": 8}, "gpu_fraction must be above 0 and at most 1, got 8"),
        ({"vcpus": 0}, "vcpus must be a whole number of at least 1, got 0"),
        ({"max_enis_per_card": 0}, "max_enis_per_card must be a whole number of at least 1, got 0"),
    ],
)
def test_facts_that_contradict_each_other_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(GpuConstructsError) as raised:
        GpuInstance("p9.48xlarge", **{**FACTS, **changes})
    assert message in str(raised.value)


def test_name_without_a_size_is_refused() -> None:
    with pytest.raises(GpuConstructsError, match="name must be a family and a size joined by a dot, got 'p9'"):
        GpuInstance("p9", **FACTS)


def test_differences_from_the_catalogue_are_named() -> None:
    stated = dataclasses.replace(GpuInstance.of("p4d.24xlarge"), vcpus=48)
    assert catalog.differences(stated) == ("vcpus is 48, in the catalogue 96",)
    assert catalog.differences(GpuInstance.of("p4d.24xlarge")) == ()
    assert catalog.differences(GpuInstance("p9.48xlarge", **FACTS)) == ()


def test_what_is_left_unknown_differs_from_nothing() -> None:
    stated = dataclasses.replace(
        GpuInstance.of("p4d.24xlarge"), ebs_max_mbps=None, nitro_version=None, usd_per_hour_us_east_1=None
    )
    assert catalog.differences(stated) == ()
