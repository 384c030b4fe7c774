from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import gpu_constructs

PURE = [
    "gpu_constructs",
    "gpu_constructs.capacity",
    "gpu_constructs.checks",
    "gpu_constructs.cli",
    "gpu_constructs.errors",
    "gpu_constructs.image_rules",
    "gpu_constructs.images",
    "gpu_constructs.instances.catalog",
    "gpu_constructs.instances.facts",
    "gpu_constructs.instances.refresh",
    "gpu_constructs.local",
    "gpu_constructs.network",
    "gpu_constructs.network.addresses",
    "gpu_constructs.network.efa",
    "gpu_constructs.network.interface_rules",
    "gpu_constructs.network.placement_rules",
    "gpu_constructs.network.subnets",
    "gpu_constructs.node_group.bootstrap",
    "gpu_constructs.node_group.capacity_rules",
    "gpu_constructs.node_group.hook_rules",
    "gpu_constructs.node_group.mixed",
    "gpu_constructs.node_group.sizes",
    "gpu_constructs.node_group.user_data_rules",
    "gpu_constructs.storage.lustre_rules",
    "gpu_constructs.testing",
    "gpu_constructs.testing.plugin",
    "gpu_constructs.storage.volumes",
]


def _loaded_by(statement: str) -> set[str]:
    code = f"import sys\n{statement}\nprint(*{{name.partition('.')[0] for name in sys.modules}})"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


@pytest.mark.parametrize("module", PURE)
def test_module_does_not_import_cdk(module: str) -> None:
    assert _loaded_by(f"import {module}") & {"aws_cdk", "jsii", "constructs"} == set()


@pytest.mark.parametrize("module", ["gpu_constructs", "gpu_constructs.instances.catalog"])
def test_package_does_not_import_aws_clients(module: str) -> None:
    assert _loaded_by(f"import {module}") & {"boto3", "botocore", "moto"} == set()


def test_a_pure_name_of_the_package_does_not_import_cdk() -> None:
    assert "aws_cdk" not in _loaded_by("from gpu_constructs import Efa, GpuConstructsError, GpuInstance, Lustre")


def test_a_construct_of_the_package_does_import_cdk() -> None:
    """Shows that the tests above would see it."""
    assert "aws_cdk" in _loaded_by("from gpu_constructs import TrainingCluster")


@pytest.mark.parametrize("name", gpu_constructs.__all__)
def test_public_name_resolves_to_what_bears_it(name: str) -> None:
    assert getattr(gpu_constructs, name).__name__ == name
    assert name in dir(gpu_constructs)


def test_public_names_are_those_that_work_now() -> None:
    assert gpu_constructs.__all__ == sorted(
        [
            "Bootstrap",
            "ServingRuntime",
            "Scaling",
            "Rollout",
            "ModelSource",
            "Listener",
            "InferenceTier",
            "Capacity",
            "Checkpoints",
            "Efa",
            "GpuConstructsError",
            "GpuImage",
            "GpuInstance",
            "GpuLaunchTemplate",
            "GpuNodeGroup",
            "Lustre",
            "LustreStorage",
            "TrainingCluster",
            "Volume",
        ]
    )


def test_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'Nonsense'"):
        gpu_constructs.Nonsense  # noqa: B018


def test_the_wheel_has_the_data_and_the_types(tmp_path: Path) -> None:
    root = Path(__file__).parents[1]
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    name = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=root, capture_output=True, text=True, check=True
    ).stdout.split()[-1]

    names = set(zipfile.ZipFile(tmp_path / name).namelist())

    assert {"gpu_constructs/py.typed", "gpu_constructs/instances/catalog.json"} <= names
    assert {n.split("/")[0] for n in names} == {"gpu_constructs", "gpu_constructs-0.1.0.dist-info"}
