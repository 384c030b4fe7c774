from __future__ import annotations

import dataclasses
from typing import Any

import pytest

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
    ("name", "reason"), [("p3.16xlarge", "2025-12-20"), ("g3s.xlarge", "2025-10-31"), ("p2.xlarge", "retired P2")]
)
def test_retired_type_is_refused_with_the_reason(name: str, reason: str) -> None:
    with pytest.raises(GpuConstructsError, match="must be a type that AWS still offers") as raised:
        GpuInstance.of(name)
    assert reason in str(raised.value)


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
