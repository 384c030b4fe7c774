"""Starts the nodes of a group as processes, and tells how each ended."""

from __future__ import annotations

import base64
import itertools
import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock, Thread
from types import TracebackType
from typing import Any, Final

from gpu_constructs.instances.catalog import GpuInstance
from gpu_constructs.local import LocalAws
from gpu_constructs.local.imds import FakeImds, InstanceFacts
from gpu_constructs.local.nodes import processes, stand_in
from gpu_constructs.local.nodes.machine import Machine
from gpu_constructs.on_node.command import JOURNAL

_STAND_IN: Final = Path(stand_in.__file__)
_AGENT: Final = "opt/aws/amazon-cloudwatch-agent/bin/amazon-cloudwatch-agent-ctl"
_addresses = itertools.count()


@dataclass
class Node:
    """A node: a process group on a loopback address, below a root folder, with a metadata service of its own.

    Args:
        instance_id: Its instance in the local AWS.
        folder: What is its own: `root`, `console.log`, the commands that stand in and what they were called with.
        imds: Its metadata service, to be told what happens.
        process: The process of its user data, or of its last boot.
        environment: What its processes know of the local AWS, and what a drill tells them.
        gone: Whether it has been ended, as when its instance is terminated.
    """

    instance_id: str
    folder: Path
    imds: FakeImds
    process: subprocess.Popen[bytes] = field(repr=False)
    environment: dict[str, str] = field(repr=False)
    gone: bool = False

    @property
    def root(self) -> Path:
        """The root folder of its file system."""
        return self.folder / "root"

    @property
    def console(self) -> str:
        """What it has said so far."""
        return (self.folder / "console.log").read_text(errors="replace")

    @property
    def journal(self) -> list[dict[str, Any]]:
        """What its boot has noted so far, an entry an event."""
        path = self.root / JOURNAL.lstrip("/")
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

    @property
    def calls(self) -> list[list[str]]:
        """The commands that were stood in for, in the order in which they were called."""
        return [json.loads(line) for line in (self.folder / "calls.jsonl").read_text().splitlines()]

    def wait(self, timeout_seconds: float = 120) -> int:
        """Return the exit code of its user data, once it has ended."""
        return self.process.wait(timeout_seconds)

    def boot(self) -> subprocess.Popen[bytes]:
        """Boot it again, as its systemd unit does when the machine starts again, and return the process."""
        gpu_node = self.root / "opt" / "gpu-node" / "bin" / "gpu-node"
        self.process = _spawn([str(gpu_node), "boot"], self.folder, self.imds.endpoint, self.environment)
        return self.process

    def freeze(self) -> None:
        """Stop all its processes where they are, as when a machine hangs: it says nothing any more."""
        processes.send_all(self.folder, signal.SIGSTOP)

    def kill(self) -> None:
        """End it at once, with all that it has started, as when an instance is gone."""
        processes.kill_all(self.folder)
        self.process.wait()
        self.gone = True


class Nodes:
    """The nodes of a group.

    Args:
        aws: The local AWS in which the group is.
        group: The name of the group.
        folder: Where the nodes have their folders.
        machine: Changes the machine that a node is made to believe in, by its number, counted from 0. By default it is
            what the instance type has, with the Deep Learning AMI.
        script: What its metadata service is told to do, by the number of the node.
        environment: Variables for the processes of nodes, by which a drill changes what they do.
    """

    def __init__(
        self,
        aws: LocalAws,
        group: str,
        folder: Path,
        *,
        machine: Callable[[Machine, int], Machine] = lambda machine, _: machine,
        script: Callable[[int], list[dict[str, Any]]] = lambda _: [],
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._aws, self._group, self._folder, self._machine, self._script = aws, group, folder, machine, script
        self._environment = environment or {}
        self._open = ExitStack()
        self._turn = Lock()
        self.nodes: list[Node] = []

    def __enter__(self) -> Nodes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for node in self.nodes:
            node.kill()
        self._open.close()

    def states(self) -> dict[str, str]:
        """Return the lifecycle state of each instance of the group."""
        return {one["InstanceId"]: one["LifecycleState"] for one in self._describe()["Instances"]}

    def start(self) -> list[Node]:
        """Do what the group has decided since: start a node for each new instance, end those whose instance is gone.

        Returns:
            The nodes that were started.
        """
        with self._turn:
            members = {one["InstanceId"]: one for one in self._describe()["Instances"]}
            there = {node.instance_id for node in self.nodes}
            for node in self.nodes:
                if node.instance_id not in members and not node.gone:
                    node.kill()
            new = [one for name, one in members.items() if name not in there]
            started = [self._start(one, number) for number, one in enumerate(new, start=len(self.nodes))]
            self.nodes += started
            return started

    @contextmanager
    def follow(self, every_seconds: float = 0.2) -> Iterator[None]:
        """Have nodes come and go with the instances of the group, as on AWS, for as long as this lasts."""
        ended = Event()

        def work() -> None:
            while not ended.wait(every_seconds):
                self.start()

        worker = Thread(target=work, name=f"nodes of {self._group}")
        worker.start()
        try:
            yield
        finally:
            ended.set()
            worker.join()

    def _describe(self) -> dict[str, Any]:
        groups = self._aws.client("autoscaling").describe_auto_scaling_groups(AutoScalingGroupNames=[self._group])
        found: dict[str, Any] = groups["AutoScalingGroups"][0]
        return found

    def _start(self, member: dict[str, Any], number: int) -> Node:
        instance_id = member["InstanceId"]
        whole = Machine.of(GpuInstance.of(member["InstanceType"], allow_retired=True))
        folder = self._folder / instance_id
        _furnish(folder, self._machine(whole, number))
        user_data = self._user_data(member["LaunchTemplate"])
        (folder / "user-data.sh").write_text(user_data)
        imds = self._metadata(member, user_data, number)
        endpoints = {name: value for name, value in self._aws.environment().items() if "ENDPOINT_URL" in name}
        environment = {**endpoints, **self._environment}
        process = _spawn(["/bin/bash", str(folder / "user-data.sh")], folder, imds.endpoint, environment)
        return Node(instance_id, folder, imds, process, environment)

    def _user_data(self, template: dict[str, Any]) -> str:
        """The user data as the launch template of the instance has it now: nothing in this process knows another."""
        versions = self._aws.client("ec2").describe_launch_template_versions(
            LaunchTemplateId=template["LaunchTemplateId"], Versions=[template["Version"]]
        )
        encoded = versions["LaunchTemplateVersions"][0]["LaunchTemplateData"]["UserData"]
        return base64.b64decode(encoded).decode()

    def _metadata(self, member: dict[str, Any], user_data: str, number: int) -> FakeImds:
        address = f"127.77.{next(_addresses) % 250}.{1 + number % 250}"
        facts = InstanceFacts(
            instance_id=member["InstanceId"],
            instance_type=member["InstanceType"],
            availability_zone=member["AvailabilityZone"],
            region=member["AvailabilityZone"][:-1],
            private_ip=address,
            user_data=user_data,
        )
        imds = self._open.enter_context(FakeImds(facts, self._script(number), address=address))
        pooled = member["LifecycleState"].startswith("Warmed")
        imds.set_lifecycle_state("Warmed:Stopped" if pooled else "InService")
        return imds


def _furnish(folder: Path, machine: Machine) -> None:
    root, programs = folder / "root", folder / "bin"
    for path in (root / "etc", programs, (root / _AGENT).parent):
        path.mkdir(parents=True)
    (root / "etc" / "os-release").write_text(machine.release)
    (folder / "machine.json").write_text(machine.to_json())
    for path in (*(programs / name for name in (*stand_in.NAMES, *machine.commands)), root / _AGENT):
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I -S "{_STAND_IN}" "{folder}" {path.name} "$@"\n')
        path.chmod(0o755)
    (programs / "python3").symlink_to(sys.executable)


def _spawn(argv: list[str], folder: Path, imds: str, environment: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a process of a node: of our own environment it has nothing, so that it finds AWS as an instance does."""
    with (folder / "console.log").open("ab") as console:
        return subprocess.Popen(
            argv,
            env={
                **environment,
                "PATH": f"{folder / 'bin'}:/usr/bin:/bin:/usr/sbin:/sbin",
                "HOME": str(folder / "root"),
                "GPU_NODE_ROOT": str(folder / "root"),
                "GPU_NODE_PAUSES": "0.1",
                "AWS_EC2_METADATA_SERVICE_ENDPOINT": imds,
            },
            stdin=subprocess.DEVNULL,
            stdout=console,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
