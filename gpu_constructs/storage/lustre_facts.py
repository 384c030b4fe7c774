"""What FSx for Lustre offers, as tables: the one place where these numbers are. Imports no aws_cdk.

https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html
https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html
https://docs.aws.amazon.com/fsx/latest/LustreGuide/increase-storage-capacity.html
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

DeploymentType = Literal["SCRATCH_1", "SCRATCH_2", "PERSISTENT_1", "PERSISTENT_2"]
StorageType = Literal["SSD", "HDD", "INTELLIGENT_TIERING"]


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """Which numbers are valid.

    Args:
        single: Valid ones that are no multiple of `step`.
        step: What valid numbers are multiples of.
        most: The greatest valid one; `None` where only a quota limits it.
    """

    single: tuple[int, ...] = ()
    step: int
    most: int | None = None

    def __str__(self) -> str:
        words = [*map(str, self.single), f"a multiple of {self.step}"]
        text = f"{', '.join(words[:-1])} or {words[-1]}" if self.single else words[-1]
        return f"{text} of at most {self.most}" if self.most else text

    def has(self, number: float) -> bool:
        """Whether a number is valid."""
        multiple = number > 0 and number % self.step == 0 and (self.most is None or number <= self.most)
        return number in self.single or multiple

    def nearest(self, number: float, *, least: int = 0) -> tuple[int, ...]:
        """Return the valid numbers next below and above an invalid one, of those that are at least `least`."""
        turn = int(number // self.step) * self.step
        around = (*self.single, *(turn + self.step * k for k in (-1, 0, 1)), self.step, self._above(least))
        valid = {candidate for candidate in around if self.has(candidate) and candidate >= least}
        if self.most is not None:
            valid.add(self.most)
        below = [candidate for candidate in valid if candidate < number]
        above = [candidate for candidate in valid if candidate > number]
        return (*([max(below)] if below else []), *([min(above)] if above else []))

    def _above(self, least: int) -> int:
        return -(-least // self.step) * self.step


@dataclass(frozen=True, kw_only=True)
class Kind:
    """A combination of deployment type and storage type.

    Args:
        name: How messages call it.
        sizes: Valid capacities in GiB, by throughput in MB/s for each TiB; by `None` where throughput is not a choice.
            Empty where the capacity is not a choice.
        associations: Whether data repository associations are possible; `None` where the sources disagree.
    """

    name: str
    sizes: dict[int | None, Sizes]
    associations: bool | None = True

    @property
    def throughputs(self) -> tuple[int, ...]:
        """The choices of throughput, in MB/s for each TiB; none where it is not a choice."""
        return tuple(throughput for throughput in self.sizes if throughput is not None)


SSD_SIZES: Final = Sizes(single=(1200,), step=2400)
"""Valid capacities in GiB of SSD."""

KINDS: Final[dict[tuple[DeploymentType, StorageType], Kind]] = {
    ("SCRATCH_1", "SSD"): Kind(name="scratch", sizes={None: Sizes(single=(1200, 2400), step=3600)}, associations=False),
    ("SCRATCH_2", "SSD"): Kind(name="scratch", sizes={None: SSD_SIZES}),
    ("PERSISTENT_1", "SSD"): Kind(name="persistent", sizes=dict.fromkeys((50, 100, 200), SSD_SIZES)),
    ("PERSISTENT_1", "HDD"): Kind(name="HDD", sizes={12: Sizes(step=6000), 40: Sizes(step=1800)}),
    ("PERSISTENT_2", "SSD"): Kind(name="persistent", sizes=dict.fromkeys((125, 250, 500, 1000), SSD_SIZES)),
    # The text of DataRepositoryAssociation excludes it, that of CreateDataRepositoryAssociation does not.
    ("PERSISTENT_2", "INTELLIGENT_TIERING"): Kind(name="Intelligent-Tiering", sizes={}, associations=None),
}
"""All file systems that exist."""

EFA_SIZES: Final[dict[int | None, Sizes]] = {
    125: Sizes(step=38400),
    250: Sizes(step=19200),
    500: Sizes(step=9600),
    1000: Sizes(step=4800),
}
"""Valid capacities in GiB of a PERSISTENT_2 file system with EFA, by its throughput in MB/s for each TiB."""

EFA_SIZES_OF_ANY: Final = EFA_SIZES[1000]
"""What holds whatever the throughput is: every size above is a multiple of this step."""

MOST_ELASTIC_MB_S: Final = 2_000_000
"""Greatest throughput of an Intelligent-Tiering file system, in MB/s."""

ELASTIC_MB_S: Final = Sizes(single=(1000, 2000), step=4000, most=MOST_ELASTIC_MB_S)
"""Throughput of an Intelligent-Tiering file system, in MB/s."""

ELASTIC_EFA_MB_S: Final = Sizes(step=4000, most=MOST_ELASTIC_MB_S)
"""Throughput of an Intelligent-Tiering file system with EFA, in MB/s."""

CACHE_GIB_PER_1000_MB_S: Final = (8, 32768)
"""Least and greatest read cache of an Intelligent-Tiering file system, in GiB for each 1000 MB/s."""

METADATA_IOPS: Final = Sizes(single=(1500, 3000, 6000), step=12000, most=192_000)
"""Metadata IOPS that can be asked for, of PERSISTENT_2 alone."""

ELASTIC_METADATA_IOPS: Final = (6000, 12000)
"""Metadata IOPS of an Intelligent-Tiering file system on which all editions of the documentation agree."""

MAYBE_WITHOUT_PERSISTENT_2: Final = frozenset(
    {
        "af-south-1",
        "ap-south-2",
        "ap-southeast-4",
        "eu-central-2",
        "eu-south-1",
        "me-central-1",
        "me-south-1",
        "us-gov-east-1",
        "us-gov-west-1",
    }
)
"""Regions that had PERSISTENT_1 alone when last looked at, and may have got PERSISTENT_2 since
(https://docs.aws.amazon.com/fsx/latest/LustreGuide/using-fsx-lustre.html)."""

EFA_NITRO_VERSION: Final = 4
"""The first Nitro version whose instances reach a file system by EFA; older ones mount it over TCP
(https://docs.aws.amazon.com/fsx/latest/LustreGuide/efa-file-systems.html)."""

MOST_ASSOCIATIONS: Final = 8
"""How many data repository associations a file system can have."""


def automatic_metadata_iops(capacity_gib: int) -> int:
    """Return the metadata IOPS that FSx gives an SSD file system by itself, of which none may be asked away.

    See https://docs.aws.amazon.com/fsx/latest/LustreGuide/performance.html#dne-metadata-performance
    """
    for above, iops in ((48_000, None), (12_000, 12_000), (4_800, 6_000), (2_400, 3_000)):
        if capacity_gib >= above:
            return iops or min(capacity_gib // 24_000 * 12_000, 192_000)
    return 1_500
