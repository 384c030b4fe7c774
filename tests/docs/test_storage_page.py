"""The numbers of the page are those of the tables."""

from __future__ import annotations

from pathlib import Path

from gpu_constructs.storage.lustre_facts import EFA_SIZES, KINDS, automatic_metadata_iops

TEXT = (Path(__file__).parents[2] / "docs" / "storage.md").read_text(encoding="utf-8")


def test_throughputs_and_sizes_are_those_of_the_tables() -> None:
    for kind in KINDS.values():
        assert ", ".join(map(str, kind.throughputs)) in TEXT
    assert f"n x {', '.join(str(sizes.step) for sizes in EFA_SIZES.values())}" in TEXT
    hdd = KINDS["PERSISTENT_1", "HDD"].sizes.values()
    assert f"n x {', '.join(str(sizes.step) for sizes in hdd)}" in TEXT


def test_metadata_is_what_the_rules_take_for_granted() -> None:
    for words, capacity in (
        ("1500 at 1200", 1200),
        ("3000 at 2400", 2400),
        ("6000 from 4800", 4800),
        ("12000 from 12000", 12_000),
    ):
        assert words in " ".join(TEXT.split()).replace(" GiB", "")
        assert automatic_metadata_iops(capacity) == int(words.split()[0])
