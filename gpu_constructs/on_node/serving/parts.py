"""Objects of S3 as files, fetched in parts: one connection alone is slower than a volume writes.

See https://docs.aws.amazon.com/AmazonS3/latest/userguide/optimizing-performance-guidelines.html
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from gpu_constructs.on_node.aws import Patience

CONNECTIONS: Final = 16
"""How many parts are fetched at the same time."""
PART_BYTES: Final = 64 * 2**20
_CHUNK_BYTES = 2**20


@dataclass(frozen=True, kw_only=True)
class Object:
    """An object, and the file that it becomes.

    Args:
        key: Its key.
        etag: What stands for its content.
        size: Its size in bytes.
        path: The file.
    """

    key: str
    etag: str
    size: int
    path: Path


@dataclass(frozen=True)
class _Part:
    of: Object
    begins: int
    ends: int
    file: Path


def fetch(
    s3: Any,
    bucket: str,
    objects: Sequence[Object],
    beside: Path,
    patience: Patience,
    go_on: Callable[[], object],
    part_bytes: int = PART_BYTES,
) -> None:
    """Fetch objects; each is at its place once it is whole, and not before.

    Args:
        s3: A client.
        bucket: Their bucket.
        objects: The objects.
        beside: A folder in the same file system, for files that are not whole yet.
        patience: How often a part is tried.
        go_on: Called before each part; what it raises ends the copy.
        part_bytes: How large a part is.

    Raises:
        Exception: The first one that was raised; parts that are being fetched then are waited for.
    """
    left = {one.key: len(list(_parts(one, beside, part_bytes))) for one in objects}
    for one in objects:
        _beside(one, beside).touch()
    with ThreadPoolExecutor(max_workers=CONNECTIONS, thread_name_prefix="model") as pool:

        def get(part: _Part) -> _Part:
            go_on()
            patience.insist(lambda: _get(s3, bucket, part))
            return part

        todo = [pool.submit(get, part) for one in objects for part in _parts(one, beside, part_bytes)]
        try:
            for done in as_completed(todo):
                part = done.result()
                left[part.of.key] -= 1
                if not left[part.of.key]:
                    part.of.path.parent.mkdir(parents=True, exist_ok=True)
                    part.file.replace(part.of.path)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _beside(one: Object, beside: Path) -> Path:
    # Keys may be longer than the name of a file.
    return beside / hashlib.sha256(one.key.encode()).hexdigest()


def _parts(one: Object, beside: Path, part_bytes: int) -> Iterator[_Part]:
    """At least one, which is empty where the object is."""
    for begins in range(0, max(one.size, 1), part_bytes):
        yield _Part(one, begins, min(begins + part_bytes, one.size), _beside(one, beside))


def _get(s3: Any, bucket: str, part: _Part) -> None:
    if part.begins == part.ends:
        return
    answer = s3.get_object(
        Bucket=bucket, Key=part.of.key, Range=f"bytes={part.begins}-{part.ends - 1}", IfMatch=part.of.etag
    )
    with part.file.open("r+b") as file:
        file.seek(part.begins)
        for chunk in answer["Body"].iter_chunks(_CHUNK_BYTES):
            file.write(chunk)
        file.flush()
        if (wrote := file.tell()) != part.ends:
            raise OSError(f"{part.of.key} ended at byte {wrote} instead of {part.ends}")
        os.fdatasync(file.fileno())
