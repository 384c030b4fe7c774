"""The bundle: one zip file of `on_node` and its libraries, with the same bytes wherever it is built."""

from __future__ import annotations

import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from gpu_constructs.bundle import vendor
from gpu_constructs.checks import Problem
from gpu_constructs.errors import GpuConstructsError

ON_NODE: Final = vendor.VENDOR.parent
_PREFIX = "gpu_constructs/on_node"

_NO_LIBRARIES = Problem(
    what="the libraries that nodes use",
    given="none, or other ones",
    allowed="those of requirements/node.txt, beside gpu_constructs/on_node",
    remedy="run `python -m gpu_constructs.bundle` in a checkout (make does it), or install the package again",
)


@dataclass(frozen=True)
class Bundle:
    """A bundle.

    Args:
        path: The file.
        sha256: The hash of its bytes.
        size_bytes: How many these are.
    """

    path: Path
    sha256: str
    size_bytes: int


def build(target: Path, on_node: Path = ON_NODE) -> Bundle:
    """Write the bundle.

    Args:
        target: The file to write.
        on_node: The folder of what runs on nodes.

    Raises:
        GpuConstructsError: If its libraries are not there, or others than the lock says.
    """
    if not vendor.is_current(on_node / vendor.VENDOR.name):
        raise GpuConstructsError([_NO_LIBRARIES])
    with zipfile.ZipFile(target, "w") as archive:
        # The package's own __init__ belongs to the constructs.
        vendor.add(archive, "gpu_constructs/__init__.py", b"")
        for name, path in vendor.files(on_node):
            vendor.add(archive, f"{_PREFIX}/{name}", path.read_bytes())
    content = target.read_bytes()
    return Bundle(target, hashlib.sha256(content).hexdigest(), len(content))
