"""Any valid file system is accepted and synthesises; of an invalid one every wrong argument is named."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Environment, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk.assertions import Template
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gpu_constructs import GpuConstructsError, Lustre, LustreStorage
from gpu_constructs.storage.lustre_facts import automatic_metadata_iops
from tests.storage.judged import judged

METADATA = [1500, 3000, 6000, *range(12_000, 192_001, 12_000)]
EFA_STEPS = {125: 38400, 250: 19200, 500: 9600, 1000: 4800}


@st.composite
def _persistent(draw: st.DrawFn) -> Lustre:
    throughput = draw(st.sampled_from(sorted(EFA_STEPS)))
    efa = draw(st.booleans())
    step = EFA_STEPS[throughput] if efa else 2400
    capacity = draw(st.integers(1, 20).map(lambda turns: turns * step))
    floor = automatic_metadata_iops(capacity)
    wanted = draw(st.sampled_from([None, "AUTOMATIC", *(iops for iops in METADATA if iops >= floor)]))
    return Lustre.persistent(capacity, throughput, efa=efa, metadata_iops=wanted, compression=draw(st.booleans()))


@st.composite
def _elastic(draw: st.DrawFn) -> Lustre:
    efa = draw(st.booleans())
    throughput = (
        draw(st.integers(1, 500).map(lambda turns: turns * 4000)) if efa else draw(st.sampled_from([1000, 4000]))
    )
    cache = draw(st.one_of(st.none(), st.just(0), st.integers(8 * throughput // 1000, 32768 * throughput // 1000)))
    return Lustre.intelligent_tiering(
        throughput, cache, efa=efa, metadata_iops=draw(st.sampled_from(["AUTOMATIC", *METADATA]))
    )


VALID = st.one_of(
    st.one_of(st.just(1200), st.integers(1, 50).map(lambda turns: turns * 2400)).map(Lustre.scratch),
    st.builds(Lustre.persistent, st.integers(1, 50).map(lambda turns: turns * 2400), st.sampled_from([50, 100, 200])),
    st.builds(Lustre.hdd, st.integers(1, 9).map(lambda turns: turns * 6000), st.just(12), read_cache=st.booleans()),
    st.builds(Lustre.hdd, st.integers(1, 9).map(lambda turns: turns * 1800), st.just(40), read_cache=st.booleans()),
    _persistent(),
    _elastic(),
)


@given(VALID)
def test_every_valid_file_system_is_accepted(lustre: Lustre) -> None:
    assert judged(lustre) == []


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lustre=VALID)
def test_every_valid_file_system_synthesises(lustre: Lustre) -> None:
    stack = Stack(App(), "Stack", env=Environment(account="111111111111", region="us-east-1"))
    vpc = ec2.Vpc.from_vpc_attributes(
        stack,
        "Vpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=["us-east-1a"],
        private_subnet_ids=["subnet-0123456789abcdef0"],
    )
    LustreStorage(stack, "Data", vpc=vpc, subnet=vpc.private_subnets[0], lustre=lustre)
    Template.from_stack(stack).resource_count_is("AWS::FSx::FileSystem", 1)


@given(
    capacity=st.integers(-100_000, 400_000),
    throughput=st.one_of(st.none(), st.integers(-10, 2000)),
    efa=st.booleans(),
    metadata=st.one_of(st.none(), st.integers(-10, 300_000)),
)
def test_every_wrong_argument_of_a_persistent_file_system_is_named(
    capacity: int, throughput: Any, efa: bool, metadata: int | None
) -> None:
    older = throughput in {50, 100, 200}
    step = (EFA_STEPS.get(throughput, 4800)) if efa and not older else 2400
    sized = capacity > 0 and (capacity % step == 0 or (capacity == 1200 and step == 2400))
    wrong = {
        "capacity_gib": not sized,
        "throughput_mb_s_per_tib": not older and throughput not in EFA_STEPS,
        "efa": efa and older,
        "metadata_iops": metadata is not None
        and (older or metadata not in METADATA or metadata < automatic_metadata_iops(capacity)),
    }
    found = judged(Lustre.persistent(capacity, throughput, efa=efa, metadata_iops=metadata))
    assert {problem.what for problem in found} == {f"Lustre {what}" for what, is_wrong in wrong.items() if is_wrong}


@given(
    throughput=st.integers(-10, 2_100_000), cache=st.one_of(st.none(), st.integers(-10, 70_000_000)), efa=st.booleans()
)
def test_every_wrong_argument_of_intelligent_tiering_is_named(throughput: int, cache: int | None, efa: bool) -> None:
    valid = (0 < throughput <= 2_000_000 and throughput % 4000 == 0) or (not efa and throughput in {1000, 2000})
    least, most = (8, 65_536_000) if not valid else (8 * throughput // 1000, 32768 * throughput // 1000)
    wrong = {
        "throughput_mb_s": not valid,
        "read_cache_gib": cache not in {None, 0} and not least <= cache <= most,
    }
    found = judged(Lustre.intelligent_tiering(throughput, cache, efa=efa))
    assert {problem.what for problem in found} == {f"Lustre {what}" for what, is_wrong in wrong.items() if is_wrong}


@given(capacity=st.integers(-100, 400_000), throughput=st.sampled_from([12, 40, 125, 200]), efa=st.booleans())
def test_every_size_that_a_message_names_is_accepted(capacity: int, throughput: int, efa: bool) -> None:
    make: Any = Lustre.hdd if throughput in {12, 40} else Lustre.persistent
    options = {"efa": True} if efa and throughput == 125 else {}
    for problem in judged(make(capacity, throughput, **options)):
        sizes = [int(word) for word in problem.remedy.split() if word.isdigit()]
        assert sizes
        assert all(judged(make(size, throughput, **options)) == [] for size in sizes)


@pytest.mark.parametrize("capacity", [1300, 9600])
def test_construct_raises_what_the_rules_find(stack: Stack, vpc: ec2.Vpc, capacity: int) -> None:
    with pytest.raises(GpuConstructsError, match=f"got {capacity}"):
        LustreStorage(
            stack, "Data", vpc=vpc, subnet=vpc.private_subnets[0], lustre=Lustre.persistent(capacity, 125, efa=True)
        )
