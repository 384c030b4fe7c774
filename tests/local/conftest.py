"""Fixtures of the tests of the local AWS: one server a test process, and stacks from literal templates."""

from __future__ import annotations

import itertools
import json
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from gpu_constructs.local import LocalAws

ROOT = Path(__file__).parents[2]

_numbers = itertools.count()


def is_there(pid: int) -> bool:
    """Whether a process has not ended."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")  # one that has ended stays there until its parent has asked
    return not state.exists() or state.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.fixture(scope="session")
def local_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A home of the tests' own, so that they neither see nor stop what the developer has running."""
    home = tmp_path_factory.mktemp("local-home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GPU_CONSTRUCTS_LOCAL_HOME", str(home))
        yield home
        for aws in LocalAws.running():  # of a test that failed
            aws.stop()


@pytest.fixture(scope="session")
def local_aws(local_home: Path) -> Iterator[LocalAws]:
    """A local AWS that the tests of this process share; each makes its own things in it."""
    with LocalAws.start() as aws:
        yield aws


@dataclass(frozen=True)
class StackUnderTest:
    """A stack with a name of its own."""

    aws: LocalAws
    name: str

    def create(self, resources: dict[str, Any], **more: Any) -> dict[str, Any]:
        return self._apply("create_stack", resources, more)

    def update(self, resources: dict[str, Any], **more: Any) -> dict[str, Any]:
        return self._apply("update_stack", resources, more)

    def delete(self) -> str:
        """Delete it; the status it ends in."""
        stack_id = self.describe()["StackId"]
        self._cloudformation.delete_stack(StackName=self.name)
        status: str = self._cloudformation.describe_stacks(StackName=stack_id)["Stacks"][0]["StackStatus"]
        return status

    def describe(self) -> dict[str, Any]:
        found: dict[str, Any] = self._cloudformation.describe_stacks(StackName=self.name)["Stacks"][0]
        return found

    def physical_id(self, logical_id: str) -> str:
        found: str = self._cloudformation.describe_stack_resource(StackName=self.name, LogicalResourceId=logical_id)[
            "StackResourceDetail"
        ]["PhysicalResourceId"]
        return found

    def reasons(self, status: str) -> list[str]:
        """The reasons of all events of a status, oldest first."""
        events = self._cloudformation.describe_stack_events(StackName=self.name)["StackEvents"]
        return [e["ResourceStatusReason"] for e in reversed(events) if e["ResourceStatus"] == status]

    @property
    def unfinished(self) -> dict[str, dict[str, str]]:
        found: dict[str, dict[str, str]] = self.aws.status()["stacks"][self.name]
        return found

    @property
    def _cloudformation(self) -> Any:
        return self.aws.client("cloudformation")

    def _apply(self, operation: str, resources: dict[str, Any], more: dict[str, Any]) -> dict[str, Any]:
        template = {"Resources": resources, **more.pop("template", {})}
        getattr(self._cloudformation, operation)(StackName=self.name, TemplateBody=json.dumps(template), **more)
        return self.describe()  # the local AWS answers when it is done


@pytest.fixture
def make_stack(local_aws: LocalAws) -> Callable[[], StackUnderTest]:
    """Makes names that no other test has."""
    return lambda: StackUnderTest(local_aws, f"stack-{next(_numbers)}")


@pytest.fixture
def a_stack(make_stack: Callable[[], StackUnderTest]) -> StackUnderTest:
    """A stack not created yet."""
    return make_stack()


@pytest.fixture
def on_the_node(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment of a node: whatever makes a boto3 client here reaches the local AWS."""
    for name, value in local_aws.environment().items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project's app, in a folder where a test may change it."""
    for name in ("app.py", "cdk.json"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    return tmp_path
