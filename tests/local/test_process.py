"""The process: started, asked, stopped; and nothing left of it, however its starter ends."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from gpu_constructs.local import LocalAws, LocalAwsError
from tests.local.conftest import ROOT, is_there

pytestmark = [pytest.mark.allow_hosts(["127.0.0.1"]), pytest.mark.usefixtures("local_home")]

STARTS_ONE_AND_WAITS = """
from gpu_constructs.local import LocalAws
aws = LocalAws.start()
print(aws.pid, flush=True)
input()
"""


def _gone(pid: int) -> bool:
    """Wait until a process has ended, at most as long as the test may take."""
    with contextlib.suppress(ChildProcessError):
        os.waitpid(pid, 0)
    while is_there(pid):
        pass
    return True


def test_account_and_region_are_free() -> None:
    with LocalAws.start(account="000000000042", region="eu-central-1") as aws:
        sts = aws.client("sts")
        assert sts.get_caller_identity()["Account"] == "000000000042"
        assert sts.meta.region_name == "eu-central-1"
        assert aws.environment()["AWS_REGION"] == "eu-central-1"


def test_several_at_once_know_nothing_of_each_other(local_aws: LocalAws) -> None:
    with LocalAws.start() as other:
        local_aws.client("s3").create_bucket(Bucket="only-here")

        assert other.client("s3").list_buckets()["Buckets"] == []
        assert {aws.port for aws in LocalAws.running()} == {local_aws.port, other.port}
        assert LocalAws.find(other.port) == other
        with pytest.raises(LocalAwsError, match=r"several are running, on ports \d+, \d+; say which with --port"):
            LocalAws.find()


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="asks Linux who listens where")
def test_it_answers_on_loopback_only(local_aws: LocalAws) -> None:
    addresses = {line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:]}

    port = f"{local_aws.port:04X}"
    assert {a for a in addresses if a.endswith(f":{port}")} >= {f"0100007F:{port}"}  # 127.0.0.1
    assert f"00000000:{port}" not in addresses


def test_another_key_is_refused_by_every_kind_of_service(local_aws: LocalAws) -> None:
    calls = {"ec2": "describe_vpcs", "s3": "list_buckets", "fsx": "describe_file_systems", "iam": "list_roles"}
    for service, operation in calls.items():
        stranger = boto3.session.Session(
            aws_access_key_id="AKIAIOSFODNN7EXAMPLE", aws_secret_access_key="secret", region_name="us-east-1"
        ).client(service, endpoint_url=f"http://127.0.0.1:{local_aws.port}", config=Config(proxies={}))  # type: ignore[call-overload]
        with pytest.raises(ClientError, match=r"InvalidClientTokenId.*accepts its own key only"):
            getattr(stranger, operation)()


def test_an_unsigned_request_is_refused(local_aws: LocalAws) -> None:
    with pytest.raises(urllib.error.HTTPError, match="403"):
        urllib.request.urlopen(f"http://127.0.0.1:{local_aws.port}/some-bucket")


def test_a_key_that_it_has_issued_itself_is_good(local_aws: LocalAws) -> None:
    role = local_aws.client("iam").create_role(RoleName="deploy", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    issued = local_aws.client("sts").assume_role(RoleArn=role, RoleSessionName="deploy")["Credentials"]
    client = boto3.session.Session(
        aws_access_key_id=issued["AccessKeyId"],
        aws_secret_access_key=issued["SecretAccessKey"],
        aws_session_token=issued["SessionToken"],
        region_name="us-east-1",
    ).client("s3", endpoint_url=f"http://127.0.0.1:{local_aws.port}", config=Config(proxies={}))

    assert "Buckets" in client.list_buckets()


def test_clients_do_not_care_what_the_environment_says(local_aws: LocalAws, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "HTTP_PROXY", "http_proxy", "AWS_CONFIG_FILE"):
        monkeypatch.setenv(name, "http://192.0.2.1/nowhere")

    assert "Buckets" in local_aws.client("s3").list_buckets()
    assert local_aws.status()["pid"] == local_aws.pid


def test_time_moves_when_told_and_never_back(local_aws: LocalAws) -> None:
    before = local_aws.status()["now"]

    local_aws.advance_clock(3600)

    assert local_aws.status()["now"] > before
    with pytest.raises(LocalAwsError, match="seconds must not be negative, got -1; time never goes back"):
        local_aws.advance_clock(-1)


def test_a_control_path_that_is_not_there_says_which_are(local_aws: LocalAws) -> None:
    with pytest.raises(LocalAwsError, match=r"there is GET /_local_aws, POST /_local_aws/clock"):
        local_aws._ask("nothing", {})


def test_conditional_writes_let_one_of_many_win(local_aws: LocalAws) -> None:
    local_aws.client("s3").create_bucket(Bucket="lease")
    writer = "\n".join(
        [
            "import sys, json",
            "from gpu_constructs.local.client import make_client",
            "s3 = make_client('s3', port=int(sys.argv[1]), region='us-east-1')",
            "wins = 0",
            "for n in range(20):",
            "    try:",
            "        s3.put_object(Bucket='lease', Key=str(n), Body=b'x', IfNoneMatch='*'); wins += 1",
            "    except Exception as error:",
            "        assert 'PreconditionFailed' in str(error), error",
            "print(wins)",
        ]
    )
    command = [sys.executable, "-c", writer, str(local_aws.port)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]

    assert sum(int(w.communicate()[0]) for w in writers) == 20


def test_a_project_s_own_modules_do_not_get_in_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secrets.py").write_text("raise ImportError")
    monkeypatch.chdir(tmp_path)

    with LocalAws.start() as aws:
        assert aws.answers()


def test_a_port_that_is_taken_is_said_with_what_to_do() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(LocalAwsError, match=rf"port {port} cannot be used .*; choose another with --port"):
            LocalAws.start(port=port)


@pytest.mark.parametrize("account", ["12345", "12345678901x"])
def test_an_account_id_that_is_none_is_refused(account: str) -> None:
    with pytest.raises(LocalAwsError, match=f"account must be 12 digits, got '{account}'"):
        LocalAws.start(account=account)


def test_without_moto_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without = tmp_path / "python"
    # No site-packages; only this package itself is found.
    without.write_text(f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -S "$@"\n')
    without.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(without))

    with pytest.raises(LocalAwsError, match=r"No module named 'moto'; install it with `pip install"):
        LocalAws.start()


def test_stopping_leaves_nothing(local_home: Path) -> None:
    with LocalAws.start() as aws:
        assert aws.answers()

    assert _gone(aws.pid)
    assert not aws.directory.exists()
    assert aws not in LocalAws.running()
    with pytest.raises(LocalAwsError, match=f"no local AWS is running on port {aws.port}"):
        LocalAws.find(aws.port)


def test_one_that_died_is_forgotten() -> None:
    aws = LocalAws.start()
    os.kill(aws.pid, signal.SIGKILL)
    aws.stop()

    assert not aws.directory.exists()
    with pytest.raises(LocalAwsError, match=f"the local AWS on port {aws.port} does not answer"):
        aws.status()


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_it_ends_with_its_starter_however_that_ends(how: signal.Signals) -> None:
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTS_ONE_AND_WAITS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert starter.stdout is not None
    pid = int(starter.stdout.readline())

    starter.send_signal(how)
    starter.communicate()

    assert _gone(pid)


def test_one_left_running_outlives_its_starter() -> None:
    started = "from gpu_constructs.local import LocalAws; LocalAws.start(outlive_this_process=True)"
    before = LocalAws.running()

    subprocess.run([sys.executable, "-W", "ignore", "-c", started], check=True)

    (aws,) = [aws for aws in LocalAws.running() if aws not in before]
    assert aws.answers()
    aws.stop()
    assert _gone(aws.pid)
