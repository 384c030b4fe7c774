"""The local AWS as its users hold it: a process to start, to ask and to stop."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from gpu_constructs.local import spawn
from gpu_constructs.local.environment import aws_environment
from gpu_constructs.local.errors import LocalAwsError

DEFAULT_PORT = 5051
DEFAULT_ACCOUNT = "123456789012"
DEFAULT_REGION = "us-east-1"

_ASKS_WITHIN_SECONDS = 60.0
_STOPS_WITHIN_SECONDS = 10.0
_POLL_SECONDS = 0.05


@dataclass(frozen=True)
class LocalAws:
    """A local AWS that is running, on loopback.

    Use it as a context manager, which stops it at the end:

        with LocalAws.start() as aws:
            aws.client("s3").create_bucket(Bucket="models")
    """

    port: int
    account: str
    region: str
    pid: int
    directory: Path
    """Where its log and its state are; removed when it is stopped."""
    _process: subprocess.Popen[bytes] | None = field(default=None, repr=False, compare=False)

    @classmethod
    def start(
        cls,
        *,
        port: int = 0,
        account: str = DEFAULT_ACCOUNT,
        region: str = DEFAULT_REGION,
        outlive_this_process: bool = False,
    ) -> LocalAws:
        """Start one and wait until it answers.

        Args:
            port: Where it listens; 0 takes any free port.
            account: Account id of everything in it.
            region: Default Region; every other works as well.
            outlive_this_process: Keep it running when this process ends, however it ends. By default it ends too.

        Raises:
            LocalAwsError: The port is taken, moto is not installed, or it did not start.
        """
        spawn.check(port, account)
        home = _home()
        home.mkdir(parents=True, exist_ok=True)
        directory = Path(tempfile.mkdtemp(prefix="server-", dir=home))
        try:
            process = spawn.server(port, account, region, directory, outlive_this_process=outlive_this_process)
        except BaseException:
            shutil.rmtree(directory)
            raise
        facts = json.loads((directory / spawn.STATE).read_text())
        return cls(**facts, directory=directory, _process=process)

    @classmethod
    def running(cls) -> list[LocalAws]:
        """All that this user has running; what is left of others is cleared away."""
        found = []
        for directory in sorted(_home().glob("server-*")):
            try:
                facts = json.loads((directory / spawn.STATE).read_text())
            except FileNotFoundError:
                continue  # just being started
            aws = cls(**facts, directory=directory)
            if aws.answers():
                found.append(aws)
            elif not _exists(aws.pid):
                shutil.rmtree(directory, ignore_errors=True)
        return found

    @classmethod
    def find(cls, port: int | None = None) -> LocalAws:
        """The one on `port`, or the only one there is.

        Raises:
            LocalAwsError: There is none, or there are several and no port was given.
        """
        found = [aws for aws in cls.running() if port in {None, aws.port}]
        if not found:
            where = f" on port {port}" if port else ""
            raise LocalAwsError(f"no local AWS is running{where}; start one with `gpu-constructs local up`")
        if len(found) > 1:
            ports = ", ".join(str(aws.port) for aws in found)
            raise LocalAwsError(f"several are running, on ports {ports}; say which with --port")
        return found[0]

    def __enter__(self) -> LocalAws:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Stop it; after an error its log is kept as `last-failure.log`, where its state was."""
        if error is not None:
            shutil.copy(self.directory / spawn.LOG, failure_log())
        self.stop()

    def client(self, service: str, region: str | None = None) -> Any:
        """A boto3 client for it, whatever this process's environment and configuration files say.

        Args:
            service: As boto3 names it.
            region: By default the local AWS's default Region.
        """
        from gpu_constructs.local.client import make_client  # boto3 takes its time to import

        return make_client(service, port=self.port, region=region or self.region)

    def environment(self) -> dict[str, str]:
        """The variables with which any AWS client talks to it."""
        return aws_environment(port=self.port, region=self.region, directory=self.directory)

    def status(self) -> dict[str, Any]:
        """What it says of itself: process, port, account, its time, and of each stack what was not done.

        Raises:
            LocalAwsError: It does not answer.
        """
        return self._ask("")

    def advance_clock(self, seconds: float) -> None:
        """Move its time forward, so that what times out on AWS times out now."""
        self._ask("clock", {"seconds": seconds})

    def report_target_health(self, target_group_arn: str, target_id: str, *, healthy: bool) -> None:
        """Say what a load balancer's health checks would find of a target."""
        self._ask("target-health", {"target_group_arn": target_group_arn, "target_id": target_id, "healthy": healthy})

    def report_requests_in_flight(self, target_group_arn: str, target_id: str, requests: int) -> None:
        """Say how many requests a target is at work on: a group waits for them when the target's instance leaves."""
        self._ask(
            "target-requests", {"target_group_arn": target_group_arn, "target_id": target_id, "in_flight": requests}
        )

    def expect_signals(self, *, nodes_boot: bool) -> None:
        """Say whether somebody boots nodes: only then stacks wait for the signals, hooks and pauses of an update."""
        self._ask("signals", {"nodes_boot": nodes_boot})

    def answers(self) -> bool:
        """Whether it is there, and not another process that has its port by now."""
        try:
            return bool(self.status()["pid"] == self.pid)
        except LocalAwsError:
            return False

    def stop(self) -> None:
        """Stop it and remove what it kept. Everything in it is gone."""
        if _exists(self.pid):
            os.kill(self.pid, signal.SIGTERM)
        if self._process is not None:
            self._process.wait(_STOPS_WITHIN_SECONDS)
            if self._process.stdin is not None:
                self._process.stdin.close()
        deadline = time.monotonic() + _STOPS_WITHIN_SECONDS
        while _exists(self.pid) and time.monotonic() < deadline:
            time.sleep(_POLL_SECONDS)
        shutil.rmtree(self.directory, ignore_errors=True)

    def last_words(self) -> str:
        """The last line of its log, for an error message."""
        return spawn.last_line(self.directory / spawn.LOG)

    def _ask(self, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        url = f"http://127.0.0.1:{self.port}/_local_aws/{path}".rstrip("/")
        data = None if body is None else json.dumps(body).encode()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # loopback, whatever proxy is set
        try:
            with opener.open(urllib.request.Request(url, data), timeout=_ASKS_WITHIN_SECONDS) as answer:  # noqa: S310
                answered: dict[str, Any] = json.load(answer)
        except urllib.error.HTTPError as error:
            raise LocalAwsError(json.load(error)["error"]) from error
        except (OSError, ValueError) as error:
            raise LocalAwsError(
                f"the local AWS on port {self.port} does not answer ({error}); start it anew with "
                "`gpu-constructs local up`"
            ) from error
        return answered


def failure_log() -> Path:
    """Where the log of the last local AWS is kept whose use ended in an error."""
    return _home() / "last-failure.log"


def _home() -> Path:
    """Where this user's local AWSs keep their state."""
    named = os.environ.get("GPU_CONSTRUCTS_LOCAL_HOME")
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(named) if named else Path(state) / "gpu-constructs" / "local"


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
