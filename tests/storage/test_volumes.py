from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs import Volume
from gpu_constructs.checks import UNKNOWN
from gpu_constructs.storage.volumes import problems, root_doubts


def _found(volume: Volume) -> list[str]:
    return [
        str(problem)
        for problem in problems(
            "root_volume",
            size_gib=volume.size_gib,
            type=volume.type,
            iops=volume.iops,
            throughput_mb_s=volume.throughput_mb_s,
        )
    ]


def _io2(size_gib: int, iops: int | None = 1000, **options: Any) -> Volume:
    return Volume(size_gib, type="io2", iops=iops, **options)


@pytest.mark.parametrize(
    ("accepted", "refused", "message"),
    [
        (Volume(1), Volume(0), "root_volume size_gib must be a whole number from 1 to 65536 for gp3, got 0; use 1"),
        (Volume(65536), Volume(65537), "got 65537; use 65536"),
        (Volume(200), Volume(200.5), "got 200.5; use 200 or 201"),  # type: ignore[arg-type]
        (Volume(200), Volume("200"), "got '200'"),  # type: ignore[arg-type]
        (Volume(200), Volume(200, type="gp2"), "root_volume type must be"),  # type: ignore[arg-type]
        (_io2(4), _io2(3), "from 4 to 65536 for io2, got 3; use 4"),
        (Volume(200, iops=3000), Volume(200, iops=2999), "from 3000 to 80000 for gp3, got 2999; use 3000"),
        (Volume(200, iops=80_000), Volume(200, iops=80_001), "got 80001; use 80000"),
        (Volume(160, iops=80_000), Volume(159, iops=80_000), "at most 79500 for 159 GiB of gp3 (500 for each GiB)"),
        (Volume(1, iops=3000), Volume(1, iops=3001), "at most 3000 for 1 GiB of gp3"),
        (_io2(256, 256_000), _io2(255, 256_000), "use 255000, or 256 GiB"),
        (_io2(400, 100), _io2(400, 99), "from 100 to 256000 for io2, got 99; use 100"),
        (_io2(400, 256_000), _io2(400, 256_001), "use 256000"),
        (_io2(400, 3000), _io2(400, None), "root_volume iops must be a whole number from 100 to 256000 for io2"),
        (Volume(200, throughput_mb_s=125), Volume(200, throughput_mb_s=124), "from 125 to 2000 for gp3, got 124"),
        (
            Volume(200, throughput_mb_s=2000, iops=8000),
            Volume(200, throughput_mb_s=2001, iops=16_000),
            "got 2001; use 2000",
        ),
        (Volume(200, throughput_mb_s=750), Volume(200, throughput_mb_s=751), "use 750, or 3004 IOPS"),
        (
            Volume(200, throughput_mb_s=1000, iops=4000),
            Volume(200, throughput_mb_s=1000, iops=3999),
            "at most 999 for 3999 IOPS (0.25 MiB/s for each), got 1000; use 999, or 4000 IOPS",
        ),
        (_io2(400), _io2(400, throughput_mb_s=500), "throughput_mb_s must be left out for io2"),
    ],
)
def test_rule(accepted: Volume, refused: Volume, message: str) -> None:
    assert _found(accepted) == []
    (problem,) = _found(refused)
    assert message in problem


def test_all_mistakes_are_told() -> None:
    found = _found(Volume(0, iops=1, throughput_mb_s=1))
    assert [problem.split(" must")[0] for problem in found] == [
        "root_volume size_gib",
        "root_volume iops",
        "root_volume throughput_mb_s",
    ]


def test_what_only_the_deployment_knows_is_not_judged() -> None:
    assert problems("x", size_gib=UNKNOWN, type="gp3", iops=80_000, throughput_mb_s=2000) == []
    assert problems("x", size_gib=10, type="gp3", iops=UNKNOWN, throughput_mb_s=2000) == []
    assert problems("x", size_gib=10, type=UNKNOWN, iops=1, throughput_mb_s=1) == []


@pytest.mark.parametrize(("size", "doubted"), [(99, True), (100, False), (200, False), (UNKNOWN, False)])
def test_small_root_volume_is_doubted(size: Any, doubted: bool) -> None:
    assert bool(root_doubts(size)) == doubted


@given(size=st.integers(-10, 70_000), iops=st.integers(0, 300_000), throughput=st.integers(0, 2500))
def test_gp3_is_accepted_within_its_limits_alone(size: int, iops: int, throughput: int) -> None:
    valid = (
        1 <= size <= 65536
        and 3000 <= iops <= min(80_000, max(3000, 500 * size))
        and 125 <= throughput <= min(2000, iops / 4)
    )
    assert (_found(Volume(size, iops=iops, throughput_mb_s=throughput)) == []) == valid


@given(size=st.integers(-10, 70_000), iops=st.integers(0, 300_000))
def test_io2_is_accepted_within_its_limits_alone(size: int, iops: int) -> None:
    valid = 4 <= size <= 65536 and 100 <= iops <= min(256_000, 1000 * size)
    assert (_found(_io2(size, iops)) == []) == valid
