"""The model: copied once and whole, by real boto3 from a played S3, whatever comes between."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from moto import mock_aws

from gpu_constructs.on_node import aws
from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.serving import model, parts
from gpu_constructs.on_node.serving.budget import Budget
from gpu_constructs.on_node.serving.model import Copy
from tests.on_node.aws_fakes import DENIED, error
from tests.on_node.serving.made import FACTS, SERVING, Machine

BUCKET, PREFIX, FOLDER = "models-of-team", "ranker/3/", "/data/models/1"
FILES = {"config.pbtxt": b"name: ranker", "1/model.plan": bytes(range(256)) * 9, "1/empty": b""}


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    with mock_aws():
        client = boto3.client("s3", region_name="us-east-1")
        client.create_bucket(Bucket=BUCKET)
        for name, content in FILES.items():
            client.put_object(Bucket=BUCKET, Key=PREFIX + name, Body=content)
        client.put_object(Bucket=BUCKET, Key="ranker/30/other", Body=b"of another version")
        yield client


class Watched:
    """A client that remembers what it was asked, and does something first where it is told to."""

    def __init__(self, real: Any, before: Callable[[str, dict[str, Any]], None] = lambda *_: None) -> None:
        self._real, self._before, self.asked = real, before, list[tuple[str, dict[str, Any]]]()

    def __getattr__(self, operation: str) -> Callable[..., Any]:
        def call(**parameters: Any) -> Any:
            self.asked.append((operation, parameters))
            self._before(operation, parameters)
            return getattr(self._real, operation)(**parameters)

        return call

    def fetched(self) -> list[str]:
        return sorted(parameters["Key"] for operation, parameters in self.asked if operation == "get_object")


def copy(client: Any, *, seconds: float = 600, bucket: str = BUCKET, prefix: str = PREFIX) -> Copy:
    def clients(service: str, region: str, *, connections: int) -> Any:
        assert (service, region, connections) == ("s3", "us-east-1", parts.CONNECTIONS)
        return client

    return Copy(bucket=bucket, prefix=prefix, folder=FOLDER, region="us-east-1", budget=Budget(seconds), client=clients)


def files(root: Path) -> dict[str, bytes]:
    folder = root / FOLDER.lstrip("/")
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def marker(root: Path) -> Path:
    return root / f"{FOLDER.lstrip('/')}.complete"


def raising(raised: Exception, operation: str = "get_object", times: int = 10**6) -> Callable[..., None]:
    left = [raised] * times if times < 10**6 else None

    def before(asked: str, _: dict[str, Any]) -> None:
        if asked == operation and (left is None or left):
            if left:
                left.pop()
            raise raised

    return before


def test_all_below_the_prefix_is_copied_and_a_marker_written_last(s3: Any, tmp_path: Path) -> None:
    s3.put_object(Bucket=BUCKET, Key=f"{PREFIX}a-folder-of-the-console/", Body=b"")
    copy(s3).perform(Machine(tmp_path).host)
    assert files(tmp_path) == FILES
    assert marker(tmp_path).read_text() == f"s3://{BUCKET}/{PREFIX}\n"
    assert not (tmp_path / f"{FOLDER.lstrip('/')}.parts").exists()


def test_node_that_has_the_model_asks_nothing(s3: Any, tmp_path: Path) -> None:
    copy(s3).perform(Machine(tmp_path).host)
    watched = Watched(s3)
    copy(watched).perform(Machine(tmp_path).host)
    assert watched.asked == []


def test_marker_of_another_version_is_none(s3: Any, tmp_path: Path) -> None:
    marker(tmp_path).parent.mkdir(parents=True)
    marker(tmp_path).write_text(f"s3://{BUCKET}/ranker/2/\n")
    copy(s3).perform(Machine(tmp_path).host)
    assert files(tmp_path) == FILES


def test_copy_that_was_cut_short_goes_on_with_what_is_missing(s3: Any, tmp_path: Path) -> None:
    def before(operation: str, parameters: dict[str, Any]) -> None:
        if parameters.get("Key", "").endswith("model.plan"):
            raise DENIED

    with pytest.raises(ActionError):
        copy(Watched(s3, before)).perform(Machine(tmp_path).host)
    assert "1/model.plan" not in files(tmp_path)
    assert not marker(tmp_path).exists()
    had = set(files(tmp_path))
    watched = Watched(s3)
    copy(watched).perform(Machine(tmp_path).host)
    assert files(tmp_path) == FILES
    assert set(watched.fetched()) == {PREFIX + name for name in set(FILES) - had - {"1/empty"}}


def test_file_that_is_too_short_is_fetched_again(s3: Any, tmp_path: Path) -> None:
    short = tmp_path / FOLDER.lstrip("/") / "config.pbtxt"
    short.parent.mkdir(parents=True)
    short.write_bytes(b"name")
    copy(s3).perform(Machine(tmp_path).host)
    assert files(tmp_path) == FILES


def test_pages_of_a_long_list_are_all_read(s3: Any, tmp_path: Path) -> None:
    class OneAtATime(Watched):
        def list_objects_v2(self, **parameters: Any) -> Any:
            self.asked.append(("list_objects_v2", parameters))
            return s3.list_objects_v2(MaxKeys=1, **parameters)

    watched = OneAtATime(s3)
    copy(watched).perform(Machine(tmp_path).host)
    assert files(tmp_path) == FILES
    assert [operation for operation, _ in watched.asked].count("list_objects_v2") == len(FILES)


def test_large_object_is_fetched_in_parts_of_one_version(s3: Any, tmp_path: Path) -> None:
    whole = Watched(s3)
    etag = s3.head_object(Bucket=BUCKET, Key=f"{PREFIX}1/model.plan")["ETag"]
    one = parts.Object(key=f"{PREFIX}1/model.plan", etag=etag, size=2304, path=tmp_path / "model.plan")
    beside = tmp_path / "parts"
    beside.mkdir()
    parts.fetch(whole, BUCKET, [one], beside, aws.PATIENT, lambda: None, part_bytes=1000)
    assert one.path.read_bytes() == FILES["1/model.plan"]
    ranges = sorted(parameters["Range"] for _, parameters in whole.asked)
    assert ranges == ["bytes=0-999", "bytes=1000-1999", "bytes=2000-2303"]
    assert {parameters["IfMatch"] for _, parameters in whole.asked} == {etag}


def test_part_that_ends_too_early_is_an_error_and_no_file(s3: Any, tmp_path: Path) -> None:
    etag = s3.head_object(Bucket=BUCKET, Key=f"{PREFIX}config.pbtxt")["ETag"]
    one = parts.Object(key=f"{PREFIX}config.pbtxt", etag=etag, size=100, path=tmp_path / "config.pbtxt")
    beside = tmp_path / "parts"
    beside.mkdir()
    with pytest.raises(OSError, match=r"config.pbtxt ended at byte 12 instead of 100"):
        parts.fetch(s3, BUCKET, [one], beside, replace(aws.PATIENT, wait=lambda _: None), lambda: None)
    assert not one.path.exists()


def test_throttled_part_is_tried_again(s3: Any, tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    copy(Watched(s3, raising(error("SlowDown", "Please reduce your request rate", 503), times=1))).perform(machine.host)
    assert files(tmp_path) == FILES
    assert len(machine.waited) == 1


@pytest.mark.parametrize(
    ("operation", "raised", "says"),
    [
        ("list_objects_v2", DENIED, r"s3:ListBucket on the bucket and s3:GetObject .* kms:Decrypt"),
        ("get_object", error("403", "Forbidden", 403), "s3:GetObject on its objects"),
        (
            "get_object",
            error("PreconditionFailed", "At least one of", 412),
            "changed while it was copied; a version is",
        ),
        ("get_object", error("NoSuchKey", "does not exist", 404), "changed while it was copied"),
        (
            "get_object",
            OSError(errno.ENOSPC, "No space left on device"),
            "the disk has no room for .*larger root_volume",
        ),
        ("get_object", RuntimeError("a surprise"), "cannot be copied: RuntimeError: a surprise"),
    ],
)
def test_copy_that_fails_says_why_and_leaves_no_marker(
    s3: Any, tmp_path: Path, operation: str, raised: Exception, says: str
) -> None:
    with pytest.raises(ActionError, match=says) as failed:
        copy(Watched(s3, raising(raised, operation))).perform(Machine(tmp_path).host)
    assert f"s3://{BUCKET}/{PREFIX}" in str(failed.value)
    assert not marker(tmp_path).exists()


def test_object_that_is_changed_between_list_and_fetch_is_noticed(s3: Any, tmp_path: Path) -> None:
    def before(operation: str, parameters: dict[str, Any]) -> None:
        if operation == "get_object" and parameters["Key"].endswith("config.pbtxt"):
            s3.put_object(Bucket=BUCKET, Key=parameters["Key"], Body=b"name: RANKER")

    with pytest.raises(ActionError, match="changed while it was copied"):
        copy(Watched(s3, before)).perform(Machine(tmp_path).host)


def test_bucket_that_is_not_there_is_named(s3: Any, tmp_path: Path) -> None:
    with pytest.raises(ActionError, match=r"there is no bucket models-of-nobody$"):
        copy(s3, bucket="models-of-nobody").perform(Machine(tmp_path).host)


def test_version_that_was_never_uploaded_is_named(s3: Any, tmp_path: Path) -> None:
    with pytest.raises(ActionError, match=rf"no objects under s3://{BUCKET}/ranker/4/: the version was never uploaded"):
        copy(s3, prefix="ranker/4/").perform(Machine(tmp_path).host)


@pytest.mark.parametrize("name", ["../../etc/passwd", "a//b", "./a", "a/.."])
def test_key_that_leads_out_of_the_folder_is_refused(s3: Any, tmp_path: Path, name: str) -> None:
    class Listed:
        def list_objects_v2(self, **_: Any) -> Any:
            return {"Contents": [{"Key": PREFIX + name, "ETag": '"1"', "Size": 1}]}

    with pytest.raises(ActionError, match=r"has a key that is no path below .*; rename it"):
        copy(Listed()).perform(Machine(tmp_path).host)
    assert files(tmp_path) == {}


def test_model_that_is_larger_than_the_disk_is_not_begun(
    s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=1000))
    watched = Watched(s3)
    with pytest.raises(ActionError, match=r"no room for .*GiB are to be copied, and 0.0 GiB are free"):
        copy(watched).perform(Machine(tmp_path).host)
    assert watched.fetched() == []


def test_copy_that_outlasts_the_time_of_the_server_says_so(s3: Any, tmp_path: Path) -> None:
    machine = Machine(tmp_path)

    def before(operation: str, _: dict[str, Any]) -> None:
        machine.now += 60 if operation == "list_objects_v2" else 0

    with pytest.raises(ActionError, match=r"was not copied within the 50 s that the server has"):
        copy(Watched(s3, before), seconds=50).perform(machine.host)


def test_each_version_has_a_folder_of_its_own() -> None:
    other = replace(SERVING, model_prefix="ranker/4/")
    assert model.folder(SERVING, "/data/models") != model.folder(other, "/data/models")
    assert model.folder(SERVING, "/data/models").startswith("/data/models/")


def test_model_that_is_in_the_image_needs_no_step() -> None:
    assert model.step(replace(SERVING, model_bucket=None), FACTS, Budget(1), "/data", ()) == []
    (step,) = model.step(SERVING, FACTS, Budget(1), "/data", ("clock",))
    assert step.after == ("clock",)
    assert str(step.actions[0]).startswith(f"copy s3://{BUCKET}/{PREFIX} to /data/")
