"""What FSx for Lustre accepts: the value that users write, and its rules. Imports no aws_cdk.

The rules are those of CreateFileSystem:
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gpu_constructs.checks import UNKNOWN, Problem, Unknown
from gpu_constructs.storage import lustre_checks as checks
from gpu_constructs.storage import lustre_facts as facts
from gpu_constructs.storage.lustre_checks import MetadataIops
from gpu_constructs.storage.lustre_facts import KINDS, DeploymentType, StorageType
from gpu_constructs.storage.lustre_links import Link

if TYPE_CHECKING:
    from aws_cdk import aws_s3 as s3

_PERSISTENT_1_MB_S_PER_TIB = KINDS["PERSISTENT_1", "SSD"].throughputs
_PERSISTENT_2_MB_S_PER_TIB = KINDS["PERSISTENT_2", "SSD"].throughputs


@dataclass(frozen=True, kw_only=True)
class Lustre:
    """A wish for a Lustre file system; made by its class methods, such as `Lustre.scratch()`, not by hand.

    Prices are those of us-east-1 (https://aws.amazon.com/fsx/lustre/pricing/).

    Args:
        deployment_type: As FSx calls it; `None` for no file system.
        storage_type: As FSx calls it.
        capacity_gib: Storage, in GiB; `None` where it grows with what is stored.
        throughput_mb_s_per_tib: Throughput, in MB/s for each TiB; `None` where it is not a choice.
        throughput_mb_s: Throughput of the whole, in MB/s, of Intelligent-Tiering alone.
        read_cache_gib: SSD read cache, in GiB, of Intelligent-Tiering alone; 0 for none, `None` for one that FSx sizes.
        read_cache: Whether HDD has a read cache on SSD.
        efa: Whether clients reach it by EFA.
        metadata_iops: Metadata operations a second; "AUTOMATIC" for as many as FSx chooses, `None` for no choice.
        compression: Whether data is compressed with LZ4.
        links: Its directories that mirror buckets.
    """

    deployment_type: DeploymentType | None
    storage_type: StorageType = "SSD"
    capacity_gib: int | None = None
    throughput_mb_s_per_tib: int | None = None
    throughput_mb_s: int | None = None
    read_cache_gib: int | None = None
    read_cache: bool = False
    efa: bool = False
    metadata_iops: MetadataIops | None = None
    compression: bool = True
    links: tuple[Link, ...] = ()

    @property
    def kept(self) -> bool:
        """Whether it is kept, by default, when its stack is deleted: what is persistent is."""
        return self.deployment_type in {"PERSISTENT_1", "PERSISTENT_2"}

    @classmethod
    def none(cls) -> Lustre:
        """No file system."""
        return cls(deployment_type=None)

    @classmethod
    def scratch(cls, capacity_gib: int = 1200) -> Lustre:
        """A file system for data that can be had again: nothing is replicated, and it is deleted with its stack.

        It has 200 MB/s for each TiB, and bursts. 1200 GiB cost about 168 USD a month (0.14 USD for each GB and month).

        Args:
            capacity_gib: 1200 or a multiple of 2400 GiB (deployment type SCRATCH_2).
        """
        return cls(deployment_type="SCRATCH_2", capacity_gib=capacity_gib)

    @classmethod
    def persistent(
        cls,
        capacity_gib: int,
        throughput_mb_s_per_tib: int,
        efa: bool = False,
        metadata_iops: MetadataIops | None = None,
        compression: bool = True,
    ) -> Lustre:
        """A file system for data that must stay: replicated in its zone, and kept when its stack is deleted.

        A GB costs about 0.145 USD a month at 125 MB/s for each TiB, 0.21 at 250, 0.34 at 500 and 0.60 at 1000; 1200 GiB
        at 125 MB/s about 174 USD a month. With EFA the smallest one is 4.8 TB at 1000 MB/s, about 2880 USD a month.

        Args:
            capacity_gib: 1200 or a multiple of 2400 GiB of SSD. With EFA a multiple of 38400 GiB at 125 MB/s for each
                TiB, of 19200 at 250, of 9600 at 500 and of 4800 at 1000; it grows by the same steps.
            throughput_mb_s_per_tib: 125, 250, 500 or 1000 MB/s for each TiB (deployment type PERSISTENT_2), or 50, 100
                or 200 (PERSISTENT_1, for Regions that lack PERSISTENT_2).
            efa: Whether clients may reach it by EFA rather than TCP, and GPUs by GPUDirect Storage. Only at creation,
                only with PERSISTENT_2; throughput for each TiB cannot be changed afterwards. Clients need EFA and
                version 4 of the Nitro system (P5, P6, G6, G7e); others mount it over TCP.
            metadata_iops: 1500, 3000, 6000 or a multiple of 12000 up to 192000, no fewer than FSx would give by itself,
                of PERSISTENT_2 alone; "AUTOMATIC" for as many as the capacity comes with. What exceeds those is billed.
                By default "AUTOMATIC" with EFA, which needs it, and otherwise none, so that they cannot be raised
                later.
            compression: Whether data is compressed with LZ4, which stores and moves less of it.

        See https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html and
        https://docs.aws.amazon.com/fsx/latest/LustreGuide/managing-metadata-performance.html
        """
        older = throughput_mb_s_per_tib in _PERSISTENT_1_MB_S_PER_TIB
        return cls(
            deployment_type="PERSISTENT_1" if older else "PERSISTENT_2",
            capacity_gib=capacity_gib,
            throughput_mb_s_per_tib=throughput_mb_s_per_tib,
            efa=efa,
            metadata_iops="AUTOMATIC" if efa and not older and metadata_iops is None else metadata_iops,
            compression=compression,
        )

    @classmethod
    def hdd(cls, capacity_gib: int, throughput_mb_s_per_tib: int, read_cache: bool = False) -> Lustre:
        """A file system on disks, for large files that are read from end to end; kept when its stack is deleted.

        A GB costs about 0.025 USD a month at 12 MB/s for each TiB and 0.083 at 40; 6000 GiB at 12 MB/s about 150 USD a
        month. Deployment type PERSISTENT_1; data is compressed with LZ4.

        Args:
            capacity_gib: A multiple of 6000 GiB at 12 MB/s for each TiB, of 1800 at 40.
            throughput_mb_s_per_tib: 12 or 40 MB/s for each TiB.
            read_cache: Whether a fifth of the capacity is added as SSD for what is read often; it is billed.
        """
        return cls(
            deployment_type="PERSISTENT_1",
            storage_type="HDD",
            capacity_gib=capacity_gib,
            throughput_mb_s_per_tib=throughput_mb_s_per_tib,
            read_cache=read_cache,
        )

    @classmethod
    def intelligent_tiering(
        cls,
        throughput_mb_s: int,
        read_cache_gib: int | None = None,
        *,
        efa: bool = False,
        metadata_iops: MetadataIops = "AUTOMATIC",
        compression: bool = True,
    ) -> Lustre:
        """A file system that grows with what is stored, on tiers by how long it was not read; kept with its data.

        Throughput, read cache, metadata operations above those that come with it, stored data and requests are each
        billed. Deployment type PERSISTENT_2.

        Args:
            throughput_mb_s: A multiple of 4000 MB/s, up to 2000000. 1000 and 2000 are new: accepted with a warning,
                and not with EFA.
            read_cache_gib: SSD for what is read often: 8 to 32768 GiB for each 1000 MB/s, 0 for none. By default FSx
                sizes it by the throughput.
            efa: Whether clients may reach it by EFA, as of `persistent`.
            metadata_iops: 6000 or 12000; other values of `persistent` are accepted with a warning. By default as many
                as FSx chooses.
            compression: Whether data is compressed with LZ4.

        See https://docs.aws.amazon.com/fsx/latest/LustreGuide/intelligent-tiering-file-systems.html
        """
        return cls(
            deployment_type="PERSISTENT_2",
            storage_type="INTELLIGENT_TIERING",
            throughput_mb_s=throughput_mb_s,
            read_cache_gib=read_cache_gib,
            efa=efa,
            metadata_iops=metadata_iops,
            compression=compression,
        )

    def linked_to(
        self, bucket: s3.IBucket, path: str = "/data", prefix: str = "", *, export_deletes: bool = False
    ) -> Lustre:
        """Return the same file system with a directory that mirrors a bucket (a data repository association).

        The objects that are there appear as files, whose content is fetched when it is first read. What is added to,
        changed in or deleted from the bucket follows in the directory; what is added or changed in the directory
        follows in the bucket within minutes. FSx announces itself among the event notifications of the bucket. It is
        allowed to use the bucket's own KMS key; a key that is imported gets a warning.

        Args:
            bucket: A bucket of the same Region.
            path: The directory, from the root of the file system. At most 8, none inside another; "/" only as the only
                one.
            prefix: What the keys of the objects start with, for a part of the bucket. Unique in each bucket.
            export_deletes: Whether what is deleted from the directory is deleted from the bucket. By default it is kept
                there: `rm` on a node must not be the end of a data set.

        See https://docs.aws.amazon.com/fsx/latest/LustreGuide/create-dra-linked-data-repo.html
        """
        link = Link(bucket=bucket, path=path, prefix=prefix, export_deletes=export_deletes)
        return replace(self, links=(*self.links, link))


def problems(
    *,
    deployment_type: DeploymentType | None,
    capacity_gib: int | Unknown | None,
    throughput_mb_s_per_tib: int | Unknown | None,
    storage_type: StorageType = "SSD",
    throughput_mb_s: int | Unknown | None = None,
    read_cache_gib: int | Unknown | None = None,
    efa: bool = False,
    metadata_iops: MetadataIops | Unknown | None = None,
    linked: bool = False,
) -> list[Problem]:
    """Say what FSx would refuse about a file system; nothing if it would accept it.

    Args are those of `Lustre`; `linked` says whether a directory mirrors a bucket.
    """
    if deployment_type is None:
        return [_not_linkable("Lustre.none()")] if linked else []
    kind = KINDS.get((deployment_type, storage_type))
    if kind is None:
        return checks.combination_problems(deployment_type, storage_type)
    newest = deployment_type == "PERSISTENT_2"
    found = [
        *checks.efa_problems(efa=efa, possible=newest),
        *checks.metadata_problems(metadata_iops, capacity_gib, possible=newest),
        *([_not_linkable(deployment_type)] if linked and kind.associations is False else []),
    ]
    if storage_type == "INTELLIGENT_TIERING":
        return [*checks.elastic_problems(throughput_mb_s, read_cache_gib, efa=efa), *found]
    # Which of the two deployment types on SSD it is follows from throughput, so that the choices are those of both.
    either = tuple(sorted((*_PERSISTENT_1_MB_S_PER_TIB, *_PERSISTENT_2_MB_S_PER_TIB)))
    return [
        *checks.capacity_problems(kind, capacity_gib, throughput_mb_s_per_tib, efa=efa and newest),
        *checks.throughput_problems(
            kind, throughput_mb_s_per_tib, either if kind.name == "persistent" else kind.throughputs
        ),
        *found,
    ]


def doubts(
    *,
    deployment_type: DeploymentType | None,
    storage_type: StorageType,
    throughput_mb_s: int | Unknown | None,
    metadata_iops: MetadataIops | Unknown | None,
    linked: bool,
    region: str | Unknown = UNKNOWN,
) -> dict[str, str]:
    """Say what looks wrong but is not known to be refused, by the code of the warning."""
    found = {}
    if deployment_type == "PERSISTENT_2" and region in facts.MAYBE_WITHOUT_PERSISTENT_2:
        found["persistent2Region"] = (
            f"{region} may lack file systems of type PERSISTENT_2; where FSx refuses it, use Lustre.persistent "
            "with 50, 100 or 200 MB/s for each TiB"
        )
    if storage_type != "INTELLIGENT_TIERING":
        return found
    if throughput_mb_s in facts.ELASTIC_MB_S.single:
        found["elasticThroughput"] = (
            f"Lustre throughput_mb_s of {throughput_mb_s} is new; where FSx refuses it, use a multiple of 4000"
        )
    if isinstance(metadata_iops, int) and metadata_iops not in facts.ELASTIC_METADATA_IOPS:
        found["elasticMetadata"] = (
            f"Lustre metadata_iops of {metadata_iops} is new for Intelligent-Tiering; where FSx refuses it, use 6000 "
            "or 12000"
        )
    if linked:
        found["elasticLinks"] = (
            "AWS's documentation contradicts itself on whether an Intelligent-Tiering file system can be linked to a "
            "bucket; where FSx refuses it, use Lustre.persistent(...)"
        )
    return found


def client_doubts(
    *, efa: bool, instance: str, efa_interfaces: int, nitro_version: int | None, os: str | None = None
) -> dict[str, str]:
    """Say whether clients of an instance type miss the EFA of a file system, by the code of the warning."""
    too_old = nitro_version is not None and nitro_version < facts.EFA_NITRO_VERSION
    if not efa or (efa_interfaces and not too_old and os != "al2"):
        return {}
    why = f"has version {nitro_version} of the Nitro system" if too_old else "runs Amazon Linux 2"
    if not efa_interfaces:
        why = "has no EFA"
    return {
        "fileSystemOverTcp": f"{instance} {why} and mounts the file system over TCP: file systems with EFA are reached "
        "by it from instances with EFA, Nitro version 4 or later and Amazon Linux 2023 or Ubuntu; use such nodes, or "
        "leave efa out and save its large minimum (https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html)"
    }


def _not_linkable(given: str) -> Problem:
    return Problem(
        what="linked_to",
        given=given,
        allowed="called on a file system that can be linked",
        remedy="use Lustre.scratch(...), which is SCRATCH_2, or Lustre.persistent(...)",
    )
