from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpu_constructs.checks import UNKNOWN
from gpu_constructs.storage.lustre_links import PlainLink, doubts, problems, s3_path


def _links(*paths: Any) -> list[PlainLink]:
    return [PlainLink(bucket=f"bucket-{index}", path=path) for index, path in enumerate(paths)]


def _found(*paths: Any) -> list[str]:
    return list(map(str, problems(_links(*paths))))


@pytest.mark.parametrize(
    "paths",
    [("/",), ("/data",), ("/data", "/data2"), ("/a/b", "/a/c"), ("/data/", "/checkpoints/"), (UNKNOWN, "/data")],
)
def test_paths_beside_each_other_are_accepted(paths: tuple[Any, ...]) -> None:
    assert _found(*paths) == []


@pytest.mark.parametrize(
    ("paths", "given"),
    [
        (("/data", "/data"), "got '/data' and '/data'"),
        (("/data", "/data/"), "got '/data' and '/data'"),
        (("/ns1", "/ns1/ns2"), "got '/ns1' and '/ns1/ns2'"),
        (("/ns1/ns2", "/ns1"), "got '/ns1/ns2' and '/ns1'"),
        (("/", "/data"), "got '/' and '/data'"),
    ],
)
def test_paths_inside_another_are_refused(paths: tuple[Any, ...], given: str) -> None:
    (problem,) = _found(*paths)
    assert "unique, with none inside another" in problem
    assert given in problem


@pytest.mark.parametrize("path", ["data", "", "/a\nb", "/" + "a" * 4096])
def test_path_is_refused(path: str) -> None:
    (problem,) = _found(path)
    assert 'a path that starts with "/"' in problem


def test_longest_path_is_accepted() -> None:
    assert _found("/" + "a" * 4095) == []


def test_eight_links_are_accepted_and_nine_are_not() -> None:
    assert _found(*(f"/{name}" for name in "abcdefgh")) == []
    (problem,) = _found(*(f"/{name}" for name in "abcdefghi"))
    assert "at most 8 times for one file system, got 9 links" in problem


@pytest.mark.parametrize(
    ("one", "other", "refused", "doubted"),
    [
        ("", "", True, False),
        ("a", "a/", True, False),
        ("a", "b", False, False),
        ("a", "ab", False, False),
        ("", "a", False, True),
        ("a/b", "a", False, True),
        (UNKNOWN, "a", False, False),
    ],
)
def test_prefixes_of_one_bucket(one: Any, other: Any, refused: bool, doubted: bool) -> None:
    links = [PlainLink(bucket="b", path="/x", prefix=one), PlainLink(bucket="b", path="/y", prefix=other)]
    assert bool(problems(links)) == refused
    assert bool(doubts(links)) == doubted


def test_the_same_prefix_of_two_buckets_is_accepted() -> None:
    links = [PlainLink(bucket=name, path=f"/{name}", prefix="a") for name in "xy"]
    assert (problems(links), doubts(links)) == ([], {})


@pytest.mark.parametrize(
    ("bucket", "file_system", "refused"),
    [
        ("us-east-1", "us-east-1", False),
        ("eu-west-1", "us-east-1", True),
        (UNKNOWN, "us-east-1", False),
        ("us-east-1", UNKNOWN, False),
    ],
)
def test_bucket_is_in_the_region_of_the_file_system(bucket: Any, file_system: Any, refused: bool) -> None:
    found = problems([PlainLink(bucket="b", path="/x", region=bucket)], region=file_system)
    assert bool(found) == refused


def test_path_in_s3_is_as_fsx_writes_it() -> None:
    assert s3_path("bucket", "") == "s3://bucket"
    assert s3_path("bucket", "a/b/") == "s3://bucket/a/b/"


@given(st.lists(st.from_regex(r"/[a-c](/[a-c])?", fullmatch=True), max_size=10))
def test_links_are_accepted_only_where_none_is_inside_another(paths: list[str]) -> None:
    parts = [path.strip("/").split("/") for path in paths]
    apart = all(
        one[: len(other)] != other and other[: len(one)] != one
        for index, one in enumerate(parts)
        for other in parts[:index]
    )
    assert (_found(*paths) == []) == (apart and len(paths) <= 8)
