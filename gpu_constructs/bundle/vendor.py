"""The libraries that nodes use, boto3 alone, as one zip file beside `on_node`, from a lock of their own.

They are fetched and packed when the package is built, or by `make` in a checkout; never at synth, and never on a node.
The build runs this file alone: it imports nothing of the package.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]
LOCK = _PACKAGE.parent / "requirements" / "node.txt"
VENDOR = _PACKAGE / "on_node" / "_vendor.zip"

# The earliest that a zip file can say.
_TIME = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644 << 16
_SERVICES = frozenset({"autoscaling", "cloudformation", "cloudwatch", "ecr", "logs", "s3", "secretsmanager", "sts"})
# Whole folders that no client reads: resources and examples of boto3, time zones that only parsing of names needs.
_NEEDLESS = ("boto3/data", "boto3/examples", "botocore/data/*/*/examples-1.json*", "dateutil/zoneinfo", "bin")


def is_current(vendor: Path = VENDOR, lock: Path = LOCK) -> bool:
    """Return whether the libraries are there, and are what is kept of the lock, which a wheel does not have."""
    if not vendor.is_file():
        return False
    with zipfile.ZipFile(vendor) as archive:
        return not lock.is_file() or archive.comment.decode() == _stamp(lock)


def fill(vendor: Path = VENDOR, lock: Path = LOCK) -> None:
    """Fetch the libraries of the lock with pip, and pack what a node needs of them; nothing if they are there.

    Who reads the file meanwhile sees the old libraries or the new ones.
    """
    if is_current(vendor, lock):
        return
    with tempfile.TemporaryDirectory(dir=vendor.parent, prefix="._vendor-") as folder:
        libraries, packed = Path(folder) / "libraries", Path(folder) / "packed.zip"
        _install(lock, libraries)
        _prune(libraries)
        pack(libraries, packed, lock)
        packed.replace(vendor)


def pack(libraries: Path, target: Path, lock: Path = LOCK) -> None:
    """Pack the libraries of a lock.

    They are compressed by bzip2, which makes the same bytes of the same input wherever it runs; zlib does not, since
    there are several of it.
    """
    with zipfile.ZipFile(target, "w") as archive:
        archive.comment = _stamp(lock).encode()
        for name, path in files(libraries):
            add(archive, name, path.read_bytes(), zipfile.ZIP_BZIP2)


def files(folder: Path) -> Iterator[tuple[str, Path]]:
    """Return the files of a folder with their names in it, in an order of their own, without what Python left there."""
    found = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return ((name, found[name]) for name in sorted(found) if "__pycache__" not in name and not name.endswith(".pyc"))


def add(archive: zipfile.ZipFile, name: str, content: bytes, compression: int = zipfile.ZIP_STORED) -> None:
    """Add a file to an archive, the same wherever it is done."""
    entry = zipfile.ZipInfo(name, _TIME)
    entry.compress_type = compression
    entry.external_attr = _MODE
    entry.create_system = 3  # Unix, wherever it is built
    archive.writestr(entry, content)


def _stamp(lock: Path) -> str:
    """Name what the libraries depend on: the lock, and what of it is kept."""
    rules = json.dumps([sorted(_SERVICES), _NEEDLESS])
    return hashlib.sha256(lock.read_bytes().replace(b"\r\n", b"\n") + rules.encode()).hexdigest()


def _install(lock: Path, target: Path) -> None:
    options = ["--require-hashes", "--no-deps", "--no-compile", "--only-binary", ":all:", "--target", str(target)]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *options, "-r", str(lock)],
        check=True,
    )


def _prune(folder: Path) -> None:
    needless = [found for pattern in _NEEDLESS for found in folder.glob(pattern)]
    data = folder / "botocore" / "data"
    needless += [found for found in data.iterdir() if found.is_dir() and found.name not in _SERVICES]
    # Of what pip writes about a package, the licence has to stay; the rest differs from machine to machine.
    needless += [
        found for found in folder.glob("*.dist-info/**/*") if found.is_file() and "LICEN" not in found.name.upper()
    ]
    for found in needless:
        if found.is_dir():
            shutil.rmtree(found)
        else:
            found.unlink(missing_ok=True)
