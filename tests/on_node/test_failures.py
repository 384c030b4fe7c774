"""The record of boots that failed: what is kept, when launches are suspended, and how nodes change it together."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from gpu_constructs.on_node.failures import (
    BootFailure,
    Record,
    RecordError,
    RecordStore,
    add,
    is_third,
    last_bytes,
)
from tests.on_node.aws_fakes import DENIED, THROTTLED, Pauses, Scripted, error

NOW = datetime(2026, 12, 4, 3, 0, tzinfo=timezone.utc)
MISSING = error("NoSuchKey", "The specified key does not exist.", 404)
FASTER = error("PreconditionFailed", "At least one of the pre-conditions you specified did not hold", 412)
AT_ONCE = error("ConditionalRequestConflict", "A conflicting conditional operation is in progress", 409)


def failure(node: str, minutes_ago: float = 0, **more: Any) -> BootFailure:
    return BootFailure(
        instance_id=node, at=NOW - timedelta(minutes=minutes_ago), step="driver", reason="no GPU", **more
    )


def record(*minutes_ago: float, suspended: float | None = None) -> Record:
    failures = tuple(failure(f"i-{number}", ago) for number, ago in enumerate(minutes_ago))
    return Record(failures=failures, suspended_at=None if suspended is None else NOW - timedelta(minutes=suspended))


@pytest.mark.parametrize(
    ("minutes_ago", "suspended", "third"),
    [
        ((), None, False),
        ((5, 0), None, False),
        ((29.9, 5, 0), None, True),
        ((30, 5, 0), None, False),
        ((9, 8, 7, 0), None, True),  # two at once may have missed the third
        ((9, 8, 7, 0), 6, False),  # resumed, and one failed since
        ((9, 8, 7, 2, 1, 0), 6, True),  # resumed, and nothing has changed
        ((9, 8, 7), 45, True),  # suspended long ago
    ],
)
def test_the_third_within_thirty_minutes_suspends_and_those_before_a_suspension_do_not_count(
    minutes_ago: tuple[float, ...], suspended: float | None, third: bool
) -> None:
    assert is_third(record(*minutes_ago, suspended=suspended), NOW) is third


def test_failures_of_more_than_thirty_minutes_ago_are_forgotten() -> None:
    assert [one.instance_id for one in add(record(31, 29), failure("i-new"), NOW).failures] == ["i-1", "i-new"]


def test_a_node_that_fails_again_counts_once() -> None:
    twice = add(add(Record(), failure("i-1", 2), NOW), failure("i-1", 0), NOW)
    assert twice.failures == (failure("i-1", 0),)


def test_of_a_large_group_the_newest_are_kept() -> None:
    whole = Record()
    for number in range(64):
        whole = add(whole, failure(f"i-{number}", (64 - number) / 10, tail="x" * 100_000), NOW)
    assert [one.instance_id for one in whole.failures] == [f"i-{number}" for number in range(44, 64)]
    assert len(whole.to_json()) < 100_000


def test_a_suspension_is_not_forgotten_when_another_node_fails() -> None:
    assert add(record(1, suspended=1), failure("i-new"), NOW).suspended_at == NOW - timedelta(minutes=1)


def test_a_record_is_read_as_it_was_written() -> None:
    whole = replace(record(3, suspended=2), failures=(failure("i-1", 3, tail="ß\nlast line"),))
    assert Record.from_json(whole.to_json()) == whole
    assert Record.from_json(Record().to_json()) == Record()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"failures": null, "suspended_at": null}',
        '{"failures": [{"at": "2026-12-04T03:00:00+00:00"}], "suspended_at": null}',
        '{"failures": [], "suspended_at": "2026-12-04T03:00:00"}',  # no time zone
        '{"failures": [], "suspended_at": 5}',
    ],
)
def test_what_is_no_record_counts_as_an_empty_one(text: str) -> None:
    assert Record.from_json(text) == Record()


@pytest.mark.parametrize(
    ("text", "size", "end"),
    [
        ("one\ntwo", 100, "one\ntwo"),
        ("one\ntwo\nthree", 10, "two\nthree"),
        ("one\ntwo\nthree", 9, "three"),
        ("a very long line", 4, "line"),
        ("a very long line\n", 5, "line"),
        ("ßß", 3, "ß"),
    ],
)
def test_the_end_of_a_text_is_of_whole_lines_where_one_fits(text: str, size: int, end: str) -> None:
    assert last_bytes(text, size) == end


def stored(found: Record, etag: str) -> dict[str, Any]:
    return {"Body": io.BytesIO(found.to_json().encode()), "ETag": etag}


def change(s3: Scripted, pauses: Pauses | None = None) -> Record:
    patience = (Pauses() if pauses is None else pauses).patience()
    store = RecordStore(s3=s3, bucket="records", key="control/nodes.json", patience=patience)
    return store.change(lambda found: add(found, failure("i-new"), NOW))


def conditions(s3: Scripted) -> list[dict[str, str]]:
    return [
        {name: value for name, value in parameters.items() if name.startswith("If")}
        for parameters in s3.parameters("put_object")
    ]


# Without s3:ListBucket S3 says AccessDenied of an object that is not there.
@pytest.mark.parametrize("missing", [MISSING, DENIED])
def test_the_first_failure_makes_the_record_unless_another_node_has(missing: Exception) -> None:
    s3 = Scripted(get_object=[missing])
    assert change(s3).failures == (failure("i-new"),)
    (put,) = s3.parameters("put_object")
    assert (put["Bucket"], put["Key"], put["ContentType"]) == ("records", "control/nodes.json", "application/json")
    assert Record.from_json(put["Body"].decode()).failures == (failure("i-new"),)
    assert conditions(s3) == [{"IfNoneMatch": "*"}]


@pytest.mark.parametrize("overtaken", [FASTER, AT_ONCE, MISSING])
def test_a_node_that_was_overtaken_reads_again_and_adds_to_what_is_there_then(overtaken: Exception) -> None:
    s3 = Scripted(get_object=[stored(record(5), "one"), stored(record(5, 1), "two")], put_object=[overtaken, {}])
    pauses = Pauses()
    assert [one.instance_id for one in change(s3, pauses).failures] == ["i-0", "i-1", "i-new"]
    assert conditions(s3) == [{"IfMatch": "one"}, {"IfMatch": "two"}]
    assert pauses == [1]


def test_two_first_failures_at_once_are_both_kept() -> None:
    made_by_another = [stored(record(0), "one"), stored(record(0), "one")]
    s3 = Scripted(get_object=[MISSING, *made_by_another], put_object=[FASTER, {}])
    assert [one.instance_id for one in change(s3).failures] == ["i-0", "i-new"]
    assert conditions(s3) == [{"IfNoneMatch": "*"}, {"IfMatch": "one"}]


def test_a_node_that_is_overtaken_each_time_gives_up() -> None:
    s3 = Scripted(get_object=[stored(record(5), str(number)) for number in range(9)], put_object=[FASTER])
    with pytest.raises(RecordError, match=r"s3://records/control/nodes\.json was changed by another node at each try"):
        change(s3)
    assert len(s3.parameters("put_object")) == 4


def test_a_record_that_is_there_and_may_not_be_read_is_told_as_that() -> None:
    s3 = Scripted(get_object=[DENIED], put_object=[FASTER])
    with pytest.raises(type(DENIED), match="is not authorized"):
        change(s3)


@pytest.mark.parametrize("answers", [{"get_object": [THROTTLED, MISSING]}, {"put_object": [THROTTLED, {}]}])
def test_changing_goes_on_after_throttling(answers: dict[str, list[Any]]) -> None:
    s3 = Scripted(**{"get_object": [MISSING], **answers})
    assert change(s3).failures == (failure("i-new"),)


def test_a_record_that_may_not_be_written_is_an_error() -> None:
    s3 = Scripted(get_object=[MISSING], put_object=[DENIED])
    with pytest.raises(type(DENIED), match="is not authorized"):
        change(s3)
    assert len(s3.parameters("put_object")) == 1


def test_a_spoilt_record_is_written_anew_in_its_place() -> None:
    s3 = Scripted(get_object=[{"Body": io.BytesIO(b"\xff{"), "ETag": "one"}])
    assert change(s3).failures == (failure("i-new"),)
    assert conditions(s3) == [{"IfMatch": "one"}]
