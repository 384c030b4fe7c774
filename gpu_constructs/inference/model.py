"""Where a model comes from.

    ModelSource.s3(bucket, "models/ranker", version="3")  # s3://BUCKET/models/ranker/3/

Imports no aws_cdk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from gpu_constructs.checks import UNKNOWN, Problem, Unknown

if TYPE_CHECKING:
    from aws_cdk import aws_s3 as s3

_MOVING: Final = frozenset({"latest", "current", "head", "main", "stable"})
ASSUMED_GIB: Final = 10.0
"""How large a model is taken to be, in GiB, of which nobody says it."""


@dataclass(frozen=True, kw_only=True)
class ModelSource:
    """Where a model comes from. Use `s3` or `in_image`."""

    bucket: s3.IBucket | None = None
    prefix: str | Unknown = ""
    version: str | Unknown = ""
    size_gib: float | None = None

    @classmethod
    def s3(cls, bucket: s3.IBucket, prefix: str, version: str, size_gib: float | None = None) -> ModelSource:
        """A model that each node copies from S3 to its root volume before it serves.

        A version never changes: a node that starts next week serves what those of today do. A new version is a new
        prefix, and replaces the nodes.

        Args:
            bucket: The bucket.
            prefix: What stands before the version, without a slash at its end: "models/ranker".
            version: The version, as in s3://BUCKET/PREFIX/VERSION/.
            size_gib: The size of the model, in GiB, from which follow how long a node may take until it serves, and
                whether the model fits the GPUs. By default 10 are taken for the time.
        """
        return cls(bucket=bucket, prefix=prefix, version=version, size_gib=size_gib)

    @classmethod
    def in_image(cls, size_gib: float | None = None) -> ModelSource:
        """A model that is in the image, or that the server fetches by itself.

        Args:
            size_gib: The size of the model, in GiB, as of `s3`.
        """
        return cls(size_gib=size_gib)

    @property
    def key_prefix(self) -> str:
        """The prefix of all objects of this version; only after `problems` found none."""
        return f"{self.prefix}/{self.version}/" if self.prefix else f"{self.version}/"


def problems(source: ModelSource) -> list[Problem]:
    """Say why no model could be copied, or another one some day; nothing if it is well told."""
    return [*_size_problems(source.size_gib), *(_s3_problems(source) if source.bucket is not None else [])]


def _s3_problems(source: ModelSource) -> list[Problem]:
    found = []
    version, prefix = source.version, source.prefix
    if version is not UNKNOWN and (not version or "/" in str(version) or str(version).lower() in _MOVING):
        found.append(
            Problem(
                what="model version",
                given=repr(version),
                allowed="the name of one version that never changes, without a slash",
                remedy='name the folder of this version, such as "3" or "2027-01-31"',
                prevents="nodes of one group that serve different models",
            )
        )
    if prefix is not UNKNOWN and (str(prefix).startswith("/") or str(prefix).endswith("/") or "//" in str(prefix)):
        found.append(
            Problem(
                what="model prefix",
                given=repr(prefix),
                allowed="a prefix without a slash at its beginning or end",
                remedy=f"pass {str(prefix).strip('/')!r}",
                prevents="no objects under this prefix",
            )
        )
    return found


def _size_problems(size_gib: float | None) -> list[Problem]:
    if size_gib is None or size_gib > 0:
        return []
    return [
        Problem(
            what="model size_gib",
            given=repr(size_gib),
            allowed="more than 0 GiB",
            remedy="pass the size of the model's files, or leave it out",
        )
    ]
