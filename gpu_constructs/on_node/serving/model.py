"""The model of the server: one immutable version, copied from S3 to a folder on EBS, which a stop leaves as it is.

Objects are fetched in parts, several at a time, to files beside the model; each is moved to its place once it is whole.
A marker is written last: a node that has it asks S3 nothing. A copy that was cut short goes on where files are missing.
"""

from __future__ import annotations

import errno
import hashlib
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from gpu_constructs.on_node import aws
from gpu_constructs.on_node.actions import ActionError, Write
from gpu_constructs.on_node.config import Serving
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.host import Host
from gpu_constructs.on_node.serving.budget import Budget
from gpu_constructs.on_node.serving.parts import CONNECTIONS, Object, fetch
from gpu_constructs.on_node.steps import Step

NAME: Final = "model"
_GIB = 2**30
_DENIED = frozenset({"AccessDenied", "403", "Forbidden"})


def folder(serving: Serving, models: str) -> str:
    """Return where a version of a model is, below the folder of all models."""
    version = f"{serving.model_bucket}/{serving.model_prefix}"
    return f"{models}/{hashlib.sha256(version.encode()).hexdigest()[:16]}"


@dataclass(frozen=True, kw_only=True)
class Copy:
    """Copy what is below a prefix of a bucket to a folder, unless it is there.

    Args:
        bucket: The bucket.
        prefix: The prefix, which ends with "/".
        folder: The folder.
        region: The Region of the node.
        budget: The time that there is.
        client: Makes a boto3 client.
    """

    bucket: str
    prefix: str
    folder: str
    region: str
    budget: Budget = field(compare=False, repr=False)
    client: Callable[..., Any] = field(default=aws.client, compare=False, repr=False)

    def perform(self, host: Host) -> None:
        """Copy what is missing, then write the marker."""
        marker = Write(path=f"{self.folder}.complete", text=f"{self._where}\n")
        if host.read(marker.path) == marker.text:
            return
        self.budget.left(host)
        target, beside = host.path(self.folder), host.path(f"{self.folder}.parts")
        s3 = self.client("s3", self.region, connections=CONNECTIONS)
        patience = replace(aws.PATIENT, wait=host.wait)
        try:
            shutil.rmtree(beside, ignore_errors=True)  # what a copy has left that was cut short
            beside.mkdir(parents=True)
            target.mkdir(exist_ok=True)
            missing = [one for one in self._listed(s3, patience, target) if not _is_there(one)]
            self._check_room(missing, target)
            fetch(s3, self.bucket, missing, beside, patience, lambda: self.budget.need(host, self._not_copied))
            beside.rmdir()
            marker.perform(host)
        except ActionError:
            raise
        except Exception as error:
            raise ActionError(self._reason(error, target)) from error

    @property
    def _where(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}"

    @property
    def _not_copied(self) -> str:
        return f"{self._where} was not copied"

    def _listed(self, s3: Any, patience: aws.Patience, target: Path) -> list[Object]:
        found: list[Object] = []
        more: dict[str, str] = {}
        while True:
            page = patience.insist(
                lambda more=more: s3.list_objects_v2(Bucket=self.bucket, Prefix=self.prefix, **more)  # type: ignore[misc]
            )
            # A key that ends with "/" is what the console shows as a folder.
            keys = [one for one in page.get("Contents", []) if not one["Key"].endswith("/")]
            found += [
                Object(key=one["Key"], etag=one["ETag"], size=one["Size"], path=target / self._name(one["Key"]))
                for one in keys
            ]
            if not page.get("IsTruncated"):
                break
            more = {"ContinuationToken": page["NextContinuationToken"]}
        if not found:
            raise ActionError(f"no objects under {self._where}: the version was never uploaded, or has been removed")
        return found

    def _name(self, key: str) -> str:
        """The path of an object in the folder; a key may say anything, such as ../../etc/passwd."""
        name = key[len(self.prefix) :]
        if any(part in {"", ".", ".."} for part in name.split("/")) or "\0" in name:
            raise ActionError(f"s3://{self.bucket}/{key} has a key that is no path below {self._where}; rename it")
        return name

    def _check_room(self, missing: Sequence[Object], target: Path) -> None:
        wanted, free = sum(one.size for one in missing), shutil.disk_usage(target).free
        if wanted > free:
            raise ActionError(_full(self._where, f"{wanted / _GIB:.1f} GiB are to be copied", free))

    def _reason(self, error: Exception, target: Path) -> str:
        code = aws.code_of(error)
        if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT}:
            return _full(self._where, str(error), shutil.disk_usage(target).free)
        if code in _DENIED:
            return (
                f"{self._where} cannot be read: {error}; the role needs s3:ListBucket on the bucket and s3:GetObject "
                "on its objects, and kms:Decrypt where they are encrypted with a key of your own"
            )
        if code == "NoSuchBucket":
            return f"{self._where} cannot be read: there is no bucket {self.bucket}"
        if code in {"PreconditionFailed", "412", "NoSuchKey", "404"}:
            return f"{self._where} changed while it was copied; a version is never changed: upload another one"
        return f"{self._where} cannot be copied: {type(error).__name__}: {error}"

    def __str__(self) -> str:
        return f"copy {self._where} to {self.folder}, unless it is there"


def _is_there(one: Object) -> bool:
    return one.path.is_file() and one.path.stat().st_size == one.size


def _full(where: str, why: str, free: int) -> str:
    return (
        f"the disk has no room for {where}: {why}, and {free / _GIB:.1f} GiB are free; give the node a larger "
        "root_volume, or a data_volume"
    )


def step(serving: Serving, facts: Facts, budget: Budget, models: str, after: tuple[str, ...]) -> list[Step]:
    """Return the step that has the model; none where it is in the image.

    Args:
        serving: The server.
        facts: The machine.
        budget: The time that there is.
        models: The folder of all models.
        after: The steps after which its disk is there and the clock is right.
    """
    if serving.model_bucket is None:
        return []
    copy = Copy(
        bucket=serving.model_bucket,
        prefix=serving.model_prefix,
        folder=folder(serving, models),
        region=facts.region,
        budget=budget,
    )
    return [Step(name=NAME, actions=(copy,), after=after)]
