"""The record of the boots of a group that failed: values, and the object in S3 that nodes change one after the other.

A group has no other memory of them: each node that fails is gone in a minute. It holds the failures of the last 30
minutes, the newest 20 of them, one a node.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final

from gpu_constructs.on_node.aws import Patience, code_of
from gpu_constructs.on_node.names import FAILURE_WINDOW_MINUTES, FAILURES_THAT_SUSPEND

WINDOW: Final = timedelta(minutes=FAILURE_WINDOW_MINUTES)
_KEPT = 20
_TAIL_BYTES = 4096  # 20 of them are read and written with each failure

# Of a record that is not there: NoSuchKey, or AccessDenied if the role may not list the bucket
# (https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html).
_ABSENT = frozenset({"NoSuchKey", "404", "AccessDenied", "403"})
# Another node was faster (https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html); NoSuchKey if
# the record was deleted meanwhile.
_OVERTAKEN = frozenset({"PreconditionFailed", "412", "ConditionalRequestConflict", "409", "NoSuchKey", "404"})

STUBBORN: Final = Patience(tries=20, pause_seconds=0.2, longest_seconds=5)


class RecordError(Exception):
    """The record could not be changed."""


@dataclass(frozen=True, kw_only=True)
class BootFailure:
    """A boot that failed.

    Args:
        instance_id: The node.
        at: When, in UTC.
        step: What failed.
        reason: Why.
        tail: The last lines of the log.
    """

    instance_id: str
    at: datetime
    step: str
    reason: str
    tail: str = ""


@dataclass(frozen=True, kw_only=True)
class Record:
    """The boots of a group that failed.

    Args:
        failures: Those of the last 30 minutes before the last of them, oldest first.
        suspended_at: When a node last suspended the launches of the group.
    """

    failures: tuple[BootFailure, ...] = ()
    suspended_at: datetime | None = None

    def to_json(self) -> str:
        """Return the text of the object."""
        return json.dumps(asdict(self), indent=1, default=datetime.isoformat)

    @classmethod
    def from_json(cls, text: str) -> Record:
        """Read the text of the object; what is no record counts as an empty one, so that it is written anew."""
        try:
            values = json.loads(text)
            failures = [BootFailure(**{**one, "at": _time(one["at"])}) for one in values["failures"]]
            suspended = values["suspended_at"]
            return cls(failures=tuple(failures), suspended_at=suspended and _time(suspended))
        except (ValueError, TypeError, KeyError):
            return cls()


def add(record: Record, failure: BootFailure, now: datetime) -> Record:
    """Return the record with a failure more; a node that fails again takes the place of its first failure."""
    others = [one for one in record.failures if one.instance_id != failure.instance_id and one.at > now - WINDOW]
    bounded = replace(failure, tail=last_bytes(failure.tail, _TAIL_BYTES))
    return replace(record, failures=tuple(sorted([*others, bounded], key=lambda one: one.at)[-_KEPT:]))


def is_third(record: Record, now: datetime) -> bool:
    """Say whether launches are to be suspended: three nodes or more have failed within 30 minutes.

    Those that failed before launches were last suspended have had their effect: whoever resumes them starts at zero.
    """
    since = max(now - WINDOW, record.suspended_at or now - WINDOW)
    return sum(1 for one in record.failures if one.at > since) >= FAILURES_THAT_SUSPEND


def last_bytes(text: str, size: int) -> str:
    """Return the whole lines at the end of a text that fit, or the end of its last line."""
    encoded = text.encode()
    if len(encoded) <= size:
        return text
    cut = encoded[-size:].decode(errors="ignore")
    first, newline, rest = cut.partition("\n")
    return rest if newline and rest else first


def _time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text} has no time zone")
    return found


@dataclass(frozen=True, kw_only=True)
class RecordStore:
    """The record of a group in S3, changed by compare and swap.

    Args:
        s3: A boto3 client.
        bucket: The bucket.
        key: The key of the object.
        patience: How often a change is tried while other nodes are faster: a whole group may fail at once.
    """

    s3: Any
    bucket: str
    key: str
    patience: Patience = STUBBORN

    def change(self, change: Callable[[Record], Record]) -> Record:
        """Change the record and return what it is then.

        Raises:
            RecordError: If other nodes were faster at each try. Errors of S3 are raised as they are.
        """
        changed = self.patience.insist(lambda: self._try(change), lambda record: record is not None)
        if changed is None:
            raise RecordError(f"s3://{self.bucket}/{self.key} was changed by another node at each try to change it")
        return changed

    def _try(self, change: Callable[[Record], Record]) -> Record | None:
        record, etag = self._read()
        changed = change(record)
        condition = {"IfNoneMatch": "*"} if etag is None else {"IfMatch": etag}
        body = changed.to_json().encode()
        try:
            self.s3.put_object(Bucket=self.bucket, Key=self.key, Body=body, ContentType="application/json", **condition)
        except Exception as error:
            if code_of(error) not in _OVERTAKEN:
                raise
            if etag is None:
                self.s3.get_object(
                    Bucket=self.bucket, Key=self.key
                )  # what is there now can be read, or S3 says why not
            return None
        return changed

    def _read(self) -> tuple[Record, str | None]:
        try:
            found = self.s3.get_object(Bucket=self.bucket, Key=self.key)
        except Exception as error:
            if code_of(error) not in _ABSENT:
                raise
            return Record(), None
        return Record.from_json(found["Body"].read().decode(errors="replace")), found["ETag"]
