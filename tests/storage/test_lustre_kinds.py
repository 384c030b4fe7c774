"""Each rule of the table of file systems, refused beside the nearest that is accepted."""

from __future__ import annotations

from typing import Any

import pytest

from gpu_constructs.checks import UNKNOWN
from gpu_constructs.storage.lustre_facts import KINDS, automatic_metadata_iops
from gpu_constructs.storage.lustre_rules import Lustre, client_doubts, doubts, problems
from tests.storage.judged import messages

ELASTIC = Lustre.intelligent_tiering


def _doubts(lustre: Lustre, *, linked: bool = False) -> set[str]:
    return set(
        doubts(
            deployment_type=lustre.deployment_type,
            storage_type=lustre.storage_type,
            throughput_mb_s=lustre.throughput_mb_s,
            metadata_iops=lustre.metadata_iops,
            linked=linked,
        )
    )


@pytest.mark.parametrize(
    ("accepted", "refused", "message"),
    [
        (Lustre.scratch(2400), Lustre.scratch(3600), "must be 1200 or a multiple of 2400, got 3600; use 2400 or 4800"),
        (Lustre.persistent(4800, 100), Lustre.persistent(3600, 100), "got 3600; use 2400 or 4800"),
        (Lustre.persistent(2400, 1000), Lustre.persistent(0, 1000), "got 0; use 1200"),
        (Lustre.persistent(1200, 125), Lustre.persistent(1200, 150), "got 150; use 125 or 200"),
        (Lustre.persistent(1200, 1000), Lustre.persistent(1200, 2000), "got 2000; use 1000"),
        (
            Lustre.hdd(6000, 12),
            Lustre.hdd(1800, 12),
            "must be a multiple of 6000 at 12 MB/s for each TiB, got 1800; use 6000",
        ),
        (
            Lustre.hdd(1800, 40),
            Lustre.hdd(6000, 40),
            "must be a multiple of 1800 at 40 MB/s for each TiB, got 6000; use 5400 or 7200",
        ),
        (Lustre.hdd(18000, 40), Lustre.hdd(18000, 50), "must be one of 12, 40, got 50; use 40"),
        (Lustre.hdd(18000, 12), Lustre.hdd(18000, None), "must be one of 12, 40, got None"),  # type: ignore[arg-type]
        (
            Lustre.persistent(38400, 125, efa=True),
            Lustre.persistent(2400, 125, efa=True),
            "must be a multiple of 38400 with EFA at 125 MB/s for each TiB, got 2400; use 38400",
        ),
        (
            Lustre.persistent(19200, 250, efa=True),
            Lustre.persistent(9600, 250, efa=True),
            "must be a multiple of 19200 with EFA at 250 MB/s for each TiB, got 9600; use 19200",
        ),
        (
            Lustre.persistent(19200, 500, efa=True),
            Lustre.persistent(12000, 500, efa=True),
            "got 12000; use 9600 or 19200",
        ),
        (Lustre.persistent(9600, 1000, efa=True), Lustre.persistent(7200, 1000, efa=True), "use 4800 or 9600"),
        (
            Lustre.persistent(1200, 200),
            Lustre.persistent(1200, 200, efa=True),
            "Lustre efa must be left out but for PERSISTENT_2",
        ),
        (
            Lustre.persistent(1200, 125, metadata_iops=1500),
            Lustre.persistent(1200, 100, metadata_iops=1500),
            "Lustre metadata_iops must be left out but for PERSISTENT_2",
        ),
        (
            Lustre.persistent(1200, 125, metadata_iops=6000),
            Lustre.persistent(1200, 125, metadata_iops=7000),
            "got 7000; use 6000 or 12000",
        ),
        (
            Lustre.persistent(1200, 125, metadata_iops=192_000),
            Lustre.persistent(1200, 125, metadata_iops=204_000),
            "got 204000; use 192000",
        ),
        (
            Lustre.persistent(12_000, 125, metadata_iops=12_000),
            Lustre.persistent(12_000, 125, metadata_iops=6000),
            "and at least 12000, which 12000 GiB have by themselves, got 6000; use 12000",
        ),
        (ELASTIC(4000), ELASTIC(3000), "got 3000; use 2000 or 4000"),
        (ELASTIC(2_000_000), ELASTIC(2_004_000), "of at most 2000000, got 2004000; use 2000000"),
        (ELASTIC(4000, efa=True), ELASTIC(2000, efa=True), "with EFA, got 2000; use 4000"),
        (ELASTIC(4000, 32), ELASTIC(4000, 31), "0 or a whole number from 32 to 131072 at 4000 MB/s"),
        (ELASTIC(4000, 131_072), ELASTIC(4000, 131_073), "use 131072, 0 for no cache"),
        (ELASTIC(4000, 0), ELASTIC(4000, -1), "got -1; use 32"),
        (ELASTIC(4000, metadata_iops=12_000), ELASTIC(4000, metadata_iops=5000), "got 5000; use 3000 or 6000"),
    ],
)
def test_rule(accepted: Lustre, refused: Lustre, message: str) -> None:
    assert messages(accepted) == []
    (problem,) = messages(refused)
    assert message in problem


@pytest.mark.parametrize("capacity", [True, "1200", None, float("nan"), float("inf")])
def test_what_is_no_number_is_refused(capacity: Any) -> None:
    (problem,) = messages(Lustre.scratch(capacity))
    assert f"got {capacity!r}; use 1200" in problem


@pytest.mark.parametrize(("capacity", "refused"), [(1200, 1300), (2400, 4800), (3600, 6000), (7200, 8400)])
def test_first_generation_of_scratch_grows_by_3600(capacity: int, refused: int) -> None:
    first = {"deployment_type": "SCRATCH_1", "throughput_mb_s_per_tib": None}
    assert problems(capacity_gib=capacity, **first) == []  # type: ignore[arg-type]
    (problem,) = problems(capacity_gib=refused, **first)  # type: ignore[arg-type]
    assert "1200, 2400 or a multiple of 3600" in str(problem)


def test_first_generation_of_scratch_has_no_links() -> None:
    for deployment_type, expected in (("SCRATCH_1", 1), ("SCRATCH_2", 0)):
        found = problems(
            deployment_type=deployment_type,  # type: ignore[arg-type]
            capacity_gib=1200,
            throughput_mb_s_per_tib=None,
            linked=True,
        )
        assert len(found) == expected


@pytest.mark.parametrize(
    ("deployment_type", "storage_type"),
    [("SCRATCH_2", "HDD"), ("PERSISTENT_2", "HDD"), ("PERSISTENT_1", "INTELLIGENT_TIERING")],
)
def test_combination_that_does_not_exist_is_refused(deployment_type: Any, storage_type: Any) -> None:
    (problem,) = problems(
        deployment_type=deployment_type,
        storage_type=storage_type,
        capacity_gib=1200,
        throughput_mb_s_per_tib=None,
    )
    assert f"for {deployment_type}, got {storage_type!r}" in str(problem)
    assert (deployment_type, storage_type) not in KINDS


def test_efa_comes_with_the_metadata_configuration_that_it_needs() -> None:
    assert Lustre.persistent(38400, 125, efa=True).metadata_iops == "AUTOMATIC"
    assert Lustre.persistent(38400, 125, efa=True, metadata_iops=24_000).metadata_iops == 24_000
    assert Lustre.persistent(1200, 125).metadata_iops is None


def test_efa_of_the_wrong_kind_is_told_beside_every_other_mistake() -> None:
    found = messages(Lustre.persistent(1300, 100, efa=True))
    assert [problem.split(" must")[0] for problem in found] == ["Lustre capacity_gib", "Lustre efa"]


@pytest.mark.parametrize(
    ("capacity", "iops"),
    [
        (1200, 1500),
        (2400, 3000),
        (4800, 6000),
        (9600, 6000),
        (12_000, 12_000),
        (45_600, 12_000),
        (48_000, 24_000),
        (72_000, 36_000),
        (800_000, 192_000),
    ],
)
def test_metadata_that_comes_with_a_capacity(capacity: int, iops: int) -> None:
    assert automatic_metadata_iops(capacity) == iops


def test_what_only_the_deployment_knows_is_not_judged() -> None:
    assert (
        problems(
            deployment_type="PERSISTENT_2",
            capacity_gib=UNKNOWN,
            throughput_mb_s_per_tib=UNKNOWN,
            metadata_iops=UNKNOWN,
            efa=True,
        )
        == []
    )
    assert (
        problems(
            deployment_type="PERSISTENT_2",
            storage_type="INTELLIGENT_TIERING",
            capacity_gib=None,
            throughput_mb_s_per_tib=None,
            throughput_mb_s=UNKNOWN,
            read_cache_gib=UNKNOWN,
        )
        == []
    )


@pytest.mark.parametrize("capacity", [4800, 9600, 38400])
def test_capacity_with_efa_is_judged_as_far_as_throughput_is_known(capacity: int) -> None:
    options: dict[str, Any] = {
        "deployment_type": "PERSISTENT_2",
        "throughput_mb_s_per_tib": UNKNOWN,
        "metadata_iops": "AUTOMATIC",
        "efa": True,
    }
    assert problems(capacity_gib=capacity, **options) == []
    (problem,) = problems(capacity_gib=capacity + 2400, **options)
    assert f"a multiple of 4800 with EFA, got {capacity + 2400}" in str(problem)


@pytest.mark.parametrize("metadata_iops", [None, 12_000, 24_000])
def test_metadata_of_an_unknown_capacity_has_no_floor(metadata_iops: int | None) -> None:
    assert (
        problems(
            deployment_type="PERSISTENT_2",
            capacity_gib=UNKNOWN,
            throughput_mb_s_per_tib=125,
            metadata_iops=metadata_iops,
        )
        == []
    )


def test_read_cache_is_judged_by_all_throughputs_where_that_is_unknown() -> None:
    options: dict[str, Any] = {
        "deployment_type": "PERSISTENT_2",
        "storage_type": "INTELLIGENT_TIERING",
        "capacity_gib": None,
        "throughput_mb_s_per_tib": None,
        "throughput_mb_s": UNKNOWN,
    }
    assert problems(read_cache_gib=8, **options) == []
    (problem,) = problems(read_cache_gib=7, **options)
    assert "0 or a whole number from 8 to 65536000 (" in str(problem)


@pytest.mark.parametrize(
    ("lustre", "linked", "codes"),
    [
        (ELASTIC(4000), False, set()),
        (ELASTIC(1000), False, {"elasticThroughput"}),
        (ELASTIC(2000), False, {"elasticThroughput"}),
        (ELASTIC(4000, metadata_iops=6000), False, set()),
        (ELASTIC(4000, metadata_iops=1500), False, {"elasticMetadata"}),
        (ELASTIC(4000), True, {"elasticLinks"}),
        (Lustre.persistent(1200, 125, metadata_iops=1500), True, set()),
    ],
)
def test_what_is_not_verified_is_warned_of_and_not_refused(lustre: Lustre, linked: bool, codes: set[str]) -> None:
    assert messages(lustre) == []
    assert _doubts(lustre, linked=linked) == codes


@pytest.mark.parametrize(
    ("efa", "interfaces", "nitro", "message"),
    [
        (True, 32, 4, None),
        (True, 16, 5, None),
        (True, 1, None, None),  # unknown: not judged
        (False, 4, 3, None),
        (True, 4, 3, "x has version 3 of the Nitro system and mounts the file system over TCP"),
        (True, 0, 4, "x has no EFA and mounts the file system over TCP"),
    ],
)
def test_clients_that_miss_the_efa_of_a_file_system(
    efa: bool, interfaces: int, nitro: int | None, message: str | None
) -> None:
    found = client_doubts(efa=efa, instance="x", efa_interfaces=interfaces, nitro_version=nitro)
    assert bool(found) == bool(message)
    assert not message or message in found["fileSystemOverTcp"]


@pytest.mark.parametrize(("os", "warned"), [("al2", True), ("al2023", False), ("ubuntu-22.04", False), (None, False)])
def test_clients_on_amazon_linux_2_miss_the_efa_of_a_file_system(os: str | None, warned: bool) -> None:
    found = client_doubts(efa=True, instance="x", efa_interfaces=32, nitro_version=4, os=os)
    assert ("x runs Amazon Linux 2 and mounts the file system over TCP" in found.get("fileSystemOverTcp", "")) == warned


@pytest.mark.parametrize(
    ("lustre", "region", "doubted"),
    [
        (Lustre.persistent(1200, 125), "eu-south-1", True),
        (ELASTIC(4000), "us-gov-west-1", True),
        (Lustre.persistent(1200, 100), "eu-south-1", False),
        (Lustre.scratch(), "eu-south-1", False),
        (Lustre.persistent(1200, 125), "us-east-1", False),
        (Lustre.persistent(1200, 125), UNKNOWN, False),
    ],
)
def test_regions_that_may_lack_the_second_generation_are_warned_of(lustre: Lustre, region: Any, doubted: bool) -> None:
    found = doubts(
        deployment_type=lustre.deployment_type,
        storage_type=lustre.storage_type,
        throughput_mb_s=lustre.throughput_mb_s,
        metadata_iops=lustre.metadata_iops,
        linked=False,
        region=region,
    )
    assert ("persistent2Region" in found) == doubted
