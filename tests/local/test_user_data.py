"""The user data of a node, run by bash: it fetches the bundle from S3 of the local AWS, checks and starts it."""

from __future__ import annotations

import hashlib
import io
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from gpu_constructs.bundle import user_data
from gpu_constructs.local import LocalAws
from gpu_constructs.local.imds import FakeImds, InstanceFacts

pytestmark = [pytest.mark.allow_hosts(["127.0.0.0/8"]), pytest.mark.timeout(120)]

BUCKET, KEY = "assets-of-user-data", "bundle.zip"
# Stands for the bundle: says what it was called with, and where it was found.
COMMAND = """
import os, sys
def main():
    root = os.environ["GPU_NODE_ROOT"]
    import vendored
    print("booted", sys.argv[1:], open(root + "/opt/gpu-node/config.json").read().strip(), vendored.__name__)
    return int(os.environ.get("EXIT", "0"))
"""
AWS = """#!/bin/sh
echo "aws $*" >&2
[ "$AWS_CLI" = broken ] && exit 255
cp "{bundle}" "$7"
"""


@dataclass
class Instance:
    """An instance that runs user data."""

    folder: Path
    bundle: Path
    imds: FakeImds
    environment: dict[str, str]

    @property
    def home(self) -> Path:
        return self.folder / "root" / "opt" / "gpu-node"

    def run(self, *, key: str = KEY, sha256: str | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        text = user_data.render(
            bucket=BUCKET,
            key=key,
            sha256=sha256 or hashlib.sha256(self.bundle.read_bytes()).hexdigest(),
            region="us-east-1",
            config_json='{"quotes": "\'$HOME\' `id`"}',
        )
        return subprocess.run(
            ["/bin/bash", "-c", text],
            env={**self.environment, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def program(self, name: str, text: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(text)
        path.chmod(0o755)


@pytest.fixture
def instance(local_aws: LocalAws, tmp_path: Path) -> Iterator[Instance]:
    bundle = tmp_path / "made.zip"
    with zipfile.ZipFile(bundle, "w") as archive:
        archive.writestr("gpu_constructs/__init__.py", "")
        archive.writestr("gpu_constructs/on_node/command.py", COMMAND)
        libraries = io.BytesIO()
        with zipfile.ZipFile(libraries, "w") as packed:
            packed.writestr("vendored.py", "")
        archive.writestr("gpu_constructs/on_node/_vendor.zip", libraries.getvalue())
    s3 = local_aws.client("s3")
    s3.create_bucket(Bucket=BUCKET)
    s3.put_object(Bucket=BUCKET, Key=KEY, Body=bundle.read_bytes())
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "python3").symlink_to(sys.executable)
    with FakeImds(InstanceFacts(), address="127.78.0.1") as imds:
        yield Instance(
            tmp_path,
            bundle,
            imds,
            {
                "PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin",
                "GPU_NODE_ROOT": str(tmp_path / "root"),
                "GPU_NODE_PAUSES": "0",
                "AWS_EC2_METADATA_SERVICE_ENDPOINT": imds.endpoint,
                "AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{local_aws.port}",
            },
        )


def test_it_fetches_checks_unpacks_and_boots(instance: Instance) -> None:
    done = instance.run()
    assert done.stdout == "booted ['boot'] {\"quotes\": \"'$HOME' `id`\"} vendored\n"
    assert (done.returncode, done.stderr) == (0, "")
    assert (instance.home / "config.json").stat().st_mode & 0o777 == 0o600
    # As the role of the instance, by IMDSv2.
    assert instance.imds.requests[-1].path == "meta-data/iam/security-credentials/node"


def test_a_second_time_it_fetches_nothing(instance: Instance) -> None:
    instance.run()
    before = len(instance.imds.requests)
    assert "booted ['boot']" in instance.run().stdout
    assert len(instance.imds.requests) == before


def test_program_starts_by_its_name_later_on(instance: Instance) -> None:
    instance.run()
    done = subprocess.run(
        [str(instance.home / "bin" / "gpu-node"), "boot", "again"],
        env={**instance.environment, "PYTHONPATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "booted ['boot', 'again']" in done.stdout


def test_the_aws_command_fetches_where_there_is_one(instance: Instance) -> None:
    instance.program("aws", AWS.format(bundle=instance.bundle))
    done = instance.run()
    assert "booted" in done.stdout
    assert f"aws s3 cp --only-show-errors --region us-east-1 s3://{BUCKET}/{KEY} bundle.zip" in done.stderr
    assert instance.imds.requests == []


def test_an_aws_command_that_fails_is_done_without(instance: Instance) -> None:
    instance.program("aws", AWS.format(bundle=instance.bundle))
    assert "booted" in instance.run(AWS_CLI="broken").stdout
    assert instance.imds.requests


def test_another_hash_is_refused(instance: Instance) -> None:
    done = instance.run(sha256="0" * 64)
    assert done.returncode != 0
    assert "booted" not in done.stdout
    assert f"instead of {'0' * 64}" in done.stderr
    assert "gpu-node: cannot boot, this failed: check the bundle" in done.stderr


def test_a_bundle_that_is_not_there_is_said(instance: Instance) -> None:
    done = instance.run(key="another.zip")
    assert done.returncode != 0
    assert f"s3://{BUCKET}/another.zip cannot be fetched: HTTP 404" in done.stderr
    assert f"cannot boot, this failed: fetch s3://{BUCKET}/another.zip" in done.stderr


def test_it_waits_for_metadata_that_is_slow_to_come(instance: Instance) -> None:
    for _ in range(3):
        instance.imds.happen(do="status", path="*", code=503)
    assert "booted" in instance.run().stdout


def test_python_is_installed_where_there_is_none(instance: Instance) -> None:
    """One that is too old stands for the one of Amazon Linux 2023, and a package manager that installs a newer one."""
    (instance.folder / "bin" / "python3").unlink()
    for name in ("python3", *(f"python3.{minor}" for minor in range(10, 15))):
        instance.program(name, "#!/bin/sh\nexit 1\n")
    folder = instance.folder / "bin"
    install = f"rm {folder}/python3.12; ln -s {sys.executable} {folder}/python3.12"
    instance.program("dnf", f'#!/bin/sh\necho "dnf $*" >&2\n{install}\n')
    done = instance.run()
    assert "booted" in done.stdout
    assert "dnf install -y -q python3.12" in done.stderr


def test_without_any_python_it_says_so(instance: Instance) -> None:
    (instance.folder / "bin" / "python3").unlink()
    for name in ("python3", *(f"python3.{minor}" for minor in range(10, 15)), "dnf", "apt-get"):
        instance.program(name, "#!/bin/sh\nexit 1\n")
    done = instance.run()
    assert done.returncode != 0
    assert "gpu-node: cannot boot, this failed: install Python" in done.stderr


def test_a_boot_that_fails_is_a_failure_of_the_user_data(instance: Instance) -> None:
    done = instance.run(EXIT="3")
    assert done.returncode == 3
    assert "cannot boot, this failed: boot" in done.stderr
