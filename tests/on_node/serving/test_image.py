"""The image: pulled once, what a registry says when it refuses, and a login that leaves nothing behind."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.host import Finished
from gpu_constructs.on_node.serving.budget import Budget
from gpu_constructs.on_node.serving.image import LOGIN_FOLDER, Pull
from tests.on_node.aws_fakes import Scripted
from tests.on_node.serving.made import ECR_IMAGE, Machine

NONE_YET = Finished(1, "Error response from daemon: No such image")
PASSWORD = "a-password"


def clients(_: str, __: str) -> Any:
    return Scripted(get_secret_value=[{"SecretString": json.dumps({"username": "u", "password": PASSWORD})}])


def pull(image: str = "registry.example/a:1", *, secret: str | None = None, seconds: float = 600) -> Pull:
    return Pull(image=image, region="us-east-1", secret=secret, budget=Budget(seconds), client=clients)


def test_image_that_is_there_is_not_asked_for(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    pull(secret="ngc").perform(machine.host)
    assert machine.calls == [["docker", "image", "inspect", "registry.example/a:1"]]


def test_public_image_is_pulled_quietly_and_without_a_login(tmp_path: Path) -> None:
    machine = Machine(tmp_path, {"image inspect": [NONE_YET]})
    pull().perform(machine.host)
    assert machine.calls[1:] == [["docker", "pull", "--quiet", "registry.example/a:1"]]


def test_login_is_in_no_command_and_nothing_of_it_is_left(tmp_path: Path) -> None:
    folder = tmp_path / LOGIN_FOLDER.lstrip("/")
    seen = []

    def login(_: Sequence[str]) -> Finished:
        password = folder / "password"
        seen.append((password.read_text(), oct(password.stat().st_mode & 0o777), oct(folder.stat().st_mode & 0o777)))
        return Finished(0, "Login Succeeded")

    machine = Machine(tmp_path, {"image inspect": [NONE_YET], "sh -c": [login]})
    pull(secret="ngc").perform(machine.host)
    assert seen == [(PASSWORD, "0o600", "0o700")]
    assert not folder.exists()
    assert PASSWORD not in json.dumps(machine.calls)
    assert machine.calls[-1] == ["docker", "--config", str(folder), "pull", "--quiet", "registry.example/a:1"]
    assert PASSWORD not in f"{pull(secret='ngc')}{pull(secret='ngc')!r}"


def test_login_of_a_boot_that_was_killed_is_taken_away_first(tmp_path: Path) -> None:
    folder = tmp_path / LOGIN_FOLDER.lstrip("/")
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("old")
    there: list[str] = []

    def login(_: Sequence[str]) -> Finished:
        there.extend(path.name for path in folder.iterdir())
        return Finished(0, "")

    pull(secret="ngc").perform(Machine(tmp_path, {"image inspect": [NONE_YET], "sh -c": [login]}).host)
    assert there == ["password"]


def test_login_that_is_refused_is_the_reason_and_leaves_nothing(tmp_path: Path) -> None:
    refused = Finished(1, "Error response from daemon: Get https://registry.example/v2/: unauthorized")
    machine = Machine(tmp_path, {"image inspect": [NONE_YET], "sh -c": [refused]})
    with pytest.raises(ActionError, match=r"unauthorized; the role, or credentials_secret, must be allowed"):
        pull(secret="ngc").perform(machine.host)
    assert machine.called("pull") == []
    assert not (tmp_path / LOGIN_FOLDER.lstrip("/")).exists()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("write /var/lib/docker/tmp/1: no space left on device", "too small for the image: .*larger root_volume"),
        ("no matching manifest for linux/arm64/v8 in the manifest list entries", "architecture of the instance type"),
        ("Head https://r.example/v2/a: no basic auth credentials", "must be allowed to pull it"),
        ("pull access denied for a, repository does not exist or may require 'docker login'", "looks the same$"),
        ("manifest for r.example/a:1 not found: manifest unknown: manifest unknown", "no such tag or digest"),
    ],
)
def test_refusal_for_good_is_not_tried_again_and_says_what_to_do(tmp_path: Path, said: str, reason: str) -> None:
    output = f"Error response from daemon: {said}"
    machine = Machine(tmp_path, {"image inspect": [NONE_YET], "pull": [Finished(1, output)]})
    with pytest.raises(ActionError, match=rf"^registry.example/a:1 cannot be pulled: .*{reason}") as raised:
        pull().perform(machine.host)
    assert raised.value.tail == output
    assert len(machine.called("pull")) == 1
    assert machine.waited == []


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("toomanyrequests: You have reached your pull rate limit", "copy the image to ECR$"),
        ("dial tcp 1.2.3.4:443: i/o timeout", "needs a way to the registry$"),
        ("received unexpected HTTP status: 500 Internal Server Error", "500 Internal Server Error$"),
    ],
)
def test_refusal_that_may_pass_is_tried_five_times(tmp_path: Path, said: str, reason: str) -> None:
    machine = Machine(tmp_path, {"image inspect": [NONE_YET], "pull": [Finished(1, said)]})
    with pytest.raises(ActionError, match=reason):
        pull().perform(machine.host)
    assert len(machine.called("pull")) == 5
    assert machine.waited == [10] * 4


def test_registry_that_answers_again_is_enough(tmp_path: Path) -> None:
    machine = Machine(tmp_path, {"image inspect": [NONE_YET], "pull": [Finished(1, "i/o timeout"), Finished(0, "")]})
    pull().perform(machine.host)
    assert machine.waited == [10]


def test_pull_that_outlasts_the_time_of_the_server_says_so(tmp_path: Path) -> None:
    machine = Machine(tmp_path, {"image inspect": [NONE_YET], "pull": [Finished(1, "i/o timeout")]})
    with pytest.raises(ActionError, match=r"was not pulled within the 15 s that the server has until it is ready"):
        pull(seconds=15).perform(machine.host)
    assert len(machine.called("pull")) == 2


def test_image_says_which_login_it_is_pulled_with() -> None:
    assert str(pull(ECR_IMAGE)) == f"pull {ECR_IMAGE}, unless it is there, with the login of ECR"
    assert str(pull(secret="ngc")).endswith("with the login of ngc")
    assert str(pull()).endswith("unless it is there")
