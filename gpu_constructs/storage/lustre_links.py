"""Which paths of a file system can be linked to which buckets. Imports no aws_cdk.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateDataRepositoryAssociation.html
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Final

from gpu_constructs.checks import UNKNOWN, Problem, Unknown
from gpu_constructs.storage.lustre_facts import MOST_ASSOCIATIONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aws_cdk import aws_s3 as s3

_LONGEST_PATH: Final = 4096
_NOT_IN_PATHS: Final = re.compile("[\u0000\u0085\u2028\u2029\r\n]")


@dataclass(frozen=True, kw_only=True)
class Link:
    """A directory of a file system that mirrors a bucket; made by `Lustre.linked_to`.

    Args:
        bucket: The bucket.
        path: The directory.
        prefix: What the keys of its objects start with; empty for the whole bucket.
        export_deletes: Whether what is deleted from the directory is deleted from the bucket.
    """

    bucket: s3.IBucket
    path: str
    prefix: str = ""
    export_deletes: bool = False


@dataclass(frozen=True, kw_only=True)
class PlainLink:
    """What the rules need to know about a link.

    Args:
        bucket: The bucket's name, or a token that stands for it: equal tokens are equal buckets.
        region: The bucket's Region.
        path: The directory.
        prefix: What the keys of its objects start with.
    """

    bucket: str
    region: str | Unknown = UNKNOWN
    path: str | Unknown
    prefix: str | Unknown = ""


def problems(links: Sequence[PlainLink], *, region: str | Unknown = UNKNOWN) -> list[Problem]:
    """Say what FSx would refuse about the links of one file system; nothing if it would accept them.

    Args:
        links: All links of the file system.
        region: The Region of the file system.
    """
    return [
        *_count_problems(links),
        *(problem for link in links for problem in (*_path_problems(link.path), *_region_problems(link, region))),
        *_overlap_problems(links),
        *_prefix_problems(links),
    ]


def doubts(links: Sequence[PlainLink]) -> dict[str, str]:
    """Say what looks wrong about links but is not known to be refused, by the code of the warning."""
    pairs = [
        (_s3(one), _s3(other))
        for one, other in combinations(links, 2)
        if _comparable(one, other) and _s3(one) != _s3(other) and _nested(_s3(one), _s3(other))
    ]
    if not pairs:
        return {}
    first, second = pairs[0]
    return {
        "nestedPrefixes": f"linked_to: the prefixes {first!r} and {second!r} of one bucket overlap; objects would be "
        "mirrored in two directories, and S3 may refuse the overlapping event notifications that FSx asks it for"
    }


def s3_path(bucket_name: str, prefix: str) -> str:
    """Return where a link points to, as FSx writes it."""
    return f"s3://{bucket_name}/{prefix}" if prefix else f"s3://{bucket_name}"


def _count_problems(links: Sequence[PlainLink]) -> list[Problem]:
    if len(links) <= MOST_ASSOCIATIONS:
        return []
    return [
        Problem(
            what="linked_to",
            given=f"{len(links)} links",
            allowed=f"called at most {MOST_ASSOCIATIONS} times for one file system",
            remedy="link directories that hold several others, or use a second file system",
        )
    ]


def _path_problems(path: str | Unknown) -> list[Problem]:
    if isinstance(path, Unknown):
        return []
    valid = path.startswith("/") and len(path) <= _LONGEST_PATH
    if valid and not _NOT_IN_PATHS.search(path):
        return []
    return [
        Problem(
            what="linked_to path",
            given=repr(path) if len(str(path)) <= _LONGEST_PATH else f"{len(path)} characters",
            allowed=f'a path that starts with "/", of at most {_LONGEST_PATH} characters and without line ends',
            remedy='write it from the root of the file system, for example "/data"',
        )
    ]


def _region_problems(link: PlainLink, region: str | Unknown) -> list[Problem]:
    if link.region is UNKNOWN or region is UNKNOWN or link.region == region:
        return []
    return [
        Problem(
            what="linked_to bucket",
            given=f"one in {link.region}",
            allowed=f"in the Region of the file system, {region}, to be followed",
            remedy="use a bucket there, for example a replica of this one",
        )
    ]


def _overlap_problems(links: Sequence[PlainLink]) -> list[Problem]:
    # The normal form ends in "/", so that /data is not taken for the parent of /data2.
    paths = [f"{link.path.rstrip('/')}/" for link in links if isinstance(link.path, str)]
    return [
        Problem(
            what="linked_to path",
            given=f"{_shown(one)!r} and {_shown(other)!r}",
            allowed='unique, with none inside another ("/" only as the only one)',
            remedy="link directories beside each other",
        )
        for one, other in combinations(paths, 2)
        if _nested(one, other)
    ]


def _prefix_problems(links: Sequence[PlainLink]) -> list[Problem]:
    return [
        Problem(
            what="linked_to prefix",
            given=f"{one.prefix!r} of one bucket twice",
            allowed="unique: a bucket, or a prefix of it, can be linked to one directory",
            remedy="give each link a prefix of its own, or leave one out",
        )
        for one, other in combinations(links, 2)
        if _comparable(one, other) and _s3(one) == _s3(other)
    ]


def _comparable(one: PlainLink, other: PlainLink) -> bool:
    return one.bucket == other.bucket and UNKNOWN not in {one.prefix, other.prefix}


def _nested(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _s3(link: PlainLink) -> str:
    return f"{str(link.prefix).rstrip('/')}/".lstrip("/") if link.prefix else ""


def _shown(path: str) -> str:
    return path.rstrip("/") or "/"
