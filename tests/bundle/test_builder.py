from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from gpu_constructs import GpuConstructsError
from gpu_constructs.bundle import builder, vendor

PACKAGE = "gpu_constructs/on_node"
INTERPRETERS = sorted(
    {sys.executable, *map(str, (Path.home() / ".pyenv" / "versions").glob("3.1[0-9].*/bin/python"))},
)
# What a node does first: its own modules, and a client of each service that it uses, from the bundle alone.
CLIENTS = """
import sys
sys.path[:0] = [{root!r}, {root!r} + "/gpu_constructs/on_node/_vendor"]
import gpu_constructs.on_node.command, boto3
assert boto3.__file__.startswith({root!r}), boto3.__file__
for service in ("autoscaling", "cloudformation", "cloudwatch", "ecr", "logs", "s3", "secretsmanager"):
    boto3.client(service, region_name="us-east-1")
assert not [name for name in sys.modules if name.startswith(("aws_cdk", "jsii"))]
print("clients")
"""


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("node")
    with zipfile.ZipFile(builder.build(folder / "bundle.zip").path) as archive:
        archive.extractall(folder / "bundle")
    on_node = folder / "bundle" / PACKAGE
    with zipfile.ZipFile(on_node / "_vendor.zip") as archive:
        archive.extractall(on_node / "_vendor")
    return folder / "bundle"


def test_bundle_has_the_same_bytes_wherever_and_whenever_it_is_built(tmp_path: Path) -> None:
    here = builder.build(tmp_path / "here.zip")
    other = tmp_path / "another" / "place"
    shutil.copytree(builder.ON_NODE, other)
    for path in other.rglob("*"):
        os.utime(path, (1_600_000_000, 1_600_000_000))
        path.chmod(0o700)
    (other / "__pycache__").mkdir(exist_ok=True)
    (other / "__pycache__" / "host.cpython-310.pyc").write_bytes(b"left behind")
    there = builder.build(tmp_path / "there.zip", other)
    assert here.path.read_bytes() == there.path.read_bytes()
    assert here.sha256 == there.sha256


@pytest.mark.parametrize("python", INTERPRETERS, ids=lambda path: Path(path).parents[1].name)
def test_libraries_have_the_same_bytes_from_every_python(tmp_path: Path, unpacked: Path, python: str) -> None:
    target = tmp_path / "packed.zip"
    pack = (
        f"import sys, pathlib; sys.path[:0] = [{str(builder.ON_NODE.parents[1])!r}]\n"
        "from gpu_constructs.bundle import vendor\n"
        f"vendor.pack(pathlib.Path({str(unpacked / PACKAGE / '_vendor')!r}), pathlib.Path({str(target)!r}))"
    )
    done = subprocess.run([python, "-I", "-c", pack], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert target.read_bytes() == vendor.VENDOR.read_bytes()


def test_bundle_is_another_one_when_what_runs_on_the_node_changes(tmp_path: Path) -> None:
    other = tmp_path / "on_node"
    shutil.copytree(builder.ON_NODE, other)
    with (other / "host.py").open("a") as file:
        file.write("\n")
    assert builder.build(tmp_path / "a.zip").sha256 != builder.build(tmp_path / "b.zip", other).sha256


def test_bundle_has_a_few_mib_and_nothing_but_code_and_what_clients_read(tmp_path: Path) -> None:
    bundle = builder.build(tmp_path / "bundle.zip")
    assert bundle.size_bytes == bundle.path.stat().st_size
    assert bundle.size_bytes < 3 * 2**20
    with zipfile.ZipFile(bundle.path) as archive:
        names = archive.namelist()
        assert archive.read("gpu_constructs/__init__.py") == b""
    assert {name.split("/")[1] for name in names} == {"__init__.py", "on_node"}
    with zipfile.ZipFile(vendor.VENDOR) as archive:
        libraries = archive.namelist()
    names += libraries
    assert [name for name in names if "__pycache__" in name or name.endswith(".pyc")] == []
    services = {name.split("/")[2] for name in libraries if re.match("botocore/data/.*/", name)}
    assert services == {"autoscaling", "cloudformation", "cloudwatch", "ecr", "logs", "s3", "secretsmanager", "sts"}
    # Each library keeps its licence.
    licences = {name.split("-")[0] for name in libraries if ".dist-info/" in name}
    assert licences >= {"boto3", "botocore", "jmespath", "s3transfer", "urllib3"}


@pytest.mark.parametrize("python", INTERPRETERS, ids=lambda path: Path(path).parents[1].name)
def test_bundle_works_by_itself_in_every_python(unpacked: Path, python: str) -> None:
    done = subprocess.run(
        [python, "-I", "-c", CLIENTS.format(root=str(unpacked))], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("clients\n", "")


def test_without_its_libraries_it_says_what_to_run(tmp_path: Path) -> None:
    bare = tmp_path / "on_node"
    shutil.copytree(builder.ON_NODE, bare, ignore=shutil.ignore_patterns("_vendor.zip"))
    with pytest.raises(GpuConstructsError, match=r"run `python -m gpu_constructs\.bundle` in a checkout"):
        builder.build(tmp_path / "bundle.zip", bare)


def test_libraries_of_another_lock_are_stale(tmp_path: Path) -> None:
    lock = tmp_path / "node.txt"
    assert vendor.is_current()
    lock.write_text(vendor.LOCK.read_text() + "\n")
    assert not vendor.is_current(lock=lock)
    # A wheel has no lock, and the libraries that it was built with.
    assert vendor.is_current(lock=tmp_path / "none.txt")


@pytest.mark.parametrize(("rule", "value"), [("_SERVICES", frozenset({"autoscaling"})), ("_NEEDLESS", ("boto3/data",))])
def test_libraries_pruned_by_other_rules_are_stale(monkeypatch: pytest.MonkeyPatch, rule: str, value: object) -> None:
    assert vendor.is_current()
    monkeypatch.setattr(vendor, rule, value)
    assert not vendor.is_current()


def test_lock_names_no_index() -> None:
    text = vendor.LOCK.read_text()
    assert "--hash=sha256:" in text
    assert "index-url" not in text
    assert "http" not in text
