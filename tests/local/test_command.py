"""`gpu-constructs local` as a user types it: what it prints, what it returns, and what it leaves behind."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from gpu_constructs.cli.progress import Progress
from gpu_constructs.local import LocalAws
from tests.local.conftest import ROOT, is_there

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.timeout(300)]

APP = """
import aws_cdk as cdk
app = cdk.App()
stack = cdk.Stack(app, "Small")
bucket = cdk.aws_s3.Bucket(stack, "Bucket", removal_policy=cdk.RemovalPolicy.RETAIN)
cdk.CfnOutput(stack, "Name", value=bucket.bucket_name)
cdk.CfnResource(stack, "Strange", type="AWS::Cloud9::EnvironmentEC2", properties={"InstanceType": "t3.micro"})
app.synth()
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home of the test's own, in which no other test has anything running, and nothing runs on if the test fails."""
    found = tmp_path / "local-home"
    monkeypatch.setenv("GPU_CONSTRUCTS_LOCAL_HOME", str(found))
    yield found
    for aws in LocalAws.running():
        aws.stop()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "node_modules").symlink_to(ROOT / "node_modules")
    (tmp_path / "cdk.json").write_text('{"app": "python app.py"}')
    (tmp_path / "app.py").write_text(APP)
    return tmp_path


def command(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).parent / "gpu-constructs"), "local", *arguments]


def run(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), cwd=folder, capture_output=True, text=True, check=False)


def test_up_deploy_status_destroy_down(home: Path, project: Path) -> None:
    up = run("up", "--port", "0", "--json")
    port = str(json.loads(up.stdout)["port"])
    assert up.returncode == 0

    deployed = run("deploy", "Small", folder=project)
    assert deployed.returncode == 0
    assert "Small: CREATE_COMPLETE, read back by boto3" in deployed.stdout
    assert "Not created: the local AWS does not know these types" in deployed.stdout
    assert re.search(r"Strange +AWS::Cloud9::EnvironmentEC2", deployed.stdout)

    status = run("status")
    assert f"The local AWS on 127.0.0.1:{port}: account 123456789012, us-east-1." in status.stdout
    assert "Small: Strange (not created)" in status.stdout
    (as_json,) = json.loads(run("status", "--json").stdout)
    assert as_json["stacks"]["Small"]["not_created"] == {"Strange": "AWS::Cloud9::EnvironmentEC2"}

    assert run("destroy", "Small", folder=project).returncode == 0
    (as_json,) = json.loads(run("status", "--json").stdout)
    assert "Small" not in as_json["stacks"]

    assert run("down").stdout.strip() == f"The local AWS on port {port} is stopped; everything in it is gone."
    assert list(home.glob("server-*")) == []
    assert "No local AWS is running" in run("status").stdout


def test_the_printed_environment_is_enough_for_any_client(home: Path) -> None:
    with LocalAws.start(outlive_this_process=True) as aws:
        exports = run("status", "--env").stdout
        script = (
            f"{exports}\nexec {sys.executable} -c 'import boto3; print(boto3.client(\"sts\").get_caller_identity())'"
        )
        shell = {"PATH": os.defpath, "HOME": str(home)}
        said = subprocess.run(["/bin/sh", "-c", script], env=shell, capture_output=True, text=True, check=True)

    assert aws.account in said.stdout


def test_deploying_prints_json_for_machines(home: Path, project: Path) -> None:
    del home
    with LocalAws.start(outlive_this_process=True):
        deployed = run("deploy", "Small", "--json", folder=project)

    report = json.loads(deployed.stdout)
    assert (report["stack"], report["status"]) == ("Small", "CREATE_COMPLETE")
    assert [section["title"] for section in report["sections"]] == ["Buckets", "Outputs"]


def _demo(project: Path) -> subprocess.CompletedProcess[str]:
    return run("demo", "Small", folder=project)


def test_the_demo_shows_removes_names_what_it_keeps_and_runs_twice(home: Path, project: Path) -> None:
    for _ in range(2):
        demo = _demo(project)

        assert demo.returncode == 0
        for step in ("1/5", "2/5", "3/5", "4/5", "5/5"):
            assert step in demo.stdout
        assert re.search(
            r"Kept by design: small-bucket\S+ \(AWS::S3::Bucket, Bucket\w+\), emptied of 0 objects", demo.stdout
        )
        assert "The local AWS is stopped; nothing is left running." in demo.stdout
        assert list(home.glob("*")) == []


def test_a_demo_that_fails_says_why_in_one_line_and_keeps_the_log(home: Path, project: Path) -> None:
    (project / "app.py").write_text("raise ValueError('no zone given')")

    demo = _demo(project)

    assert demo.returncode == 1
    assert demo.stderr.strip() == "error: cdk deploy failed: ValueError: no zone given"
    assert [path.name for path in home.glob("*")] == ["last-failure.log"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_an_interrupted_demo_leaves_nothing_running(home: Path, project: Path, how: signal.Signals) -> None:
    app = "import os, time\nprint('interrupt me now', os.getpid(), flush=True)\ntime.sleep(600)\n"
    (project / "app.py").write_text(app)
    demo = subprocess.Popen(
        command("demo", "Small", "--verbose"),
        cwd=project,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    assert demo.stdout is not None
    line = ""
    while "interrupt me now" not in line:
        line = demo.stdout.readline()
        assert demo.poll() is None
    app_pid = int(line.split()[-1])
    (aws,) = LocalAws.running()

    demo.send_signal(how)
    demo.communicate()

    if how is not signal.SIGKILL:
        assert demo.returncode == 130
        assert list(home.glob("server-*")) == []
    while aws.answers() or is_there(app_pid):
        pass
    assert LocalAws.running() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["deploy"], "no local AWS is running; start one with `gpu-constructs local up`"),
        (["deploy", "--port", "5999"], "no local AWS is running on port 5999"),
        (["down"], "no local AWS is running"),
        (["up", "--port", "80000"], "port 80000 cannot be used"),
        (["up", "--account", "12"], "account must be 12 digits, got '12'"),
        (["demo", "Small", "--project", "/"], "no cdk.json in /; run this in the folder of a CDK app"),
    ],
)
def test_what_the_user_can_mend_is_one_line(home: Path, arguments: list[str], message: str) -> None:
    del home

    failed = run(*arguments)

    assert failed.returncode == 1
    (line,) = failed.stderr.strip().splitlines()
    assert line.startswith("error: ")
    assert message in line


EVENT = "Small | 3/9 | 4:02:53 PM | {status} | AWS::S3::Bucket | Bucket{n} (Bucket{n}ABC) {reason}"


def _shown(lines: list[str], **options: Any) -> list[str]:
    output = io.StringIO()
    with Progress(Console(file=output, width=100, **options)) as progress:
        for line in lines:
            progress(line)
    return [line.strip() for line in output.getvalue().splitlines() if line.strip()]


def test_in_a_log_every_tenth_resource_has_a_line() -> None:
    lines = [EVENT.format(status="CREATE_COMPLETE", n=n, reason="") for n in range(25)]

    assert _shown(lines) == [
        "10 done, last CREATE_COMPLETE AWS::S3::Bucket Bucket9",
        "20 done, last CREATE_COMPLETE AWS::S3::Bucket Bucket19",
    ]


def test_each_stack_is_counted_for_itself() -> None:
    created = [EVENT.format(status="CREATE_COMPLETE", n=n, reason="") for n in range(9)]

    assert _shown([*created, "✅  Small", *created]) == ["✅  Small"]


def test_a_failure_is_always_shown_with_its_reason() -> None:
    failed = EVENT.format(status="CREATE_FAILED", n=1, reason="no such subnet")

    assert _shown([failed]) == ["CREATE_FAILED AWS::S3::Bucket Bucket1 (Bucket1ABC) no such subnet"]


def test_what_the_command_line_says_to_people_is_kept_and_its_machinery_is_not() -> None:
    lines = ["", "Small: start: Building Small Template", "✨  Synthesis time: 3.1s", " ✅  Small"]

    assert _shown(lines) == ["✨  Synthesis time: 3.1s", "✅  Small"]
