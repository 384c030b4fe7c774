from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws
from typer.testing import CliRunner

from gpu_constructs.cli import app
from gpu_constructs.cli import catalog as command
from gpu_constructs.instances import refresh

SOURCE = f"EC2 DescribeInstanceTypes (us-east-1), as recorded in moto {version('moto')}"


@pytest.fixture(scope="module")
def described() -> Iterator[list[dict[str, Any]]]:
    """What EC2 says, as moto recorded it."""
    with mock_aws():
        client = boto3.client("ec2", region_name="us-east-1", aws_access_key_id="none", aws_secret_access_key="none")
        yield refresh.describe(client)


def _checked_in() -> str:
    return files("gpu_constructs.instances").joinpath("catalog.json").read_text(encoding="utf-8")


def _one(described: list[dict[str, Any]], name: str) -> dict[str, Any]:
    (found,) = (one for one in described if one["InstanceType"] == name)
    return copy.deepcopy(found)


def test_the_catalogue_is_exactly_what_a_refresh_gives(described: list[dict[str, Any]]) -> None:
    """If moto has a newer recording: `gpu-constructs catalog refresh --local`, and read the diff."""
    assert refresh.render(refresh.merge(described, refresh.extra(), SOURCE)) == _checked_in()


def test_order_of_the_answer_does_not_matter(described: list[dict[str, Any]]) -> None:
    assert refresh.render(refresh.merge(described[::-1], refresh.extra(), SOURCE)) == _checked_in()


def test_every_family_with_nvidia_gpus_is_there(described: list[dict[str, Any]]) -> None:
    families = {one["InstanceType"].partition(".")[0] for one in described}
    training = {"p3dn", "p4d", "p4de", "p5", "p5e", "p5en", "p6-b200", "p6-b300"}
    inference = {"g4dn", "g5", "g5g", "g6", "g6e", "g6f", "gr6", "gr6f", "g7", "g7e"}
    assert families == training | inference


def test_gpus_of_other_makers_are_left_out() -> None:
    class Client:
        def get_paginator(self, _: str) -> Client:
            return self

        def paginate(self, **_: Any) -> list[dict[str, Any]]:
            amd = {"InstanceType": "g4ad.xlarge", "GpuInfo": {"Gpus": [{"Manufacturer": "AMD"}]}}
            none = {"InstanceType": "p9.large"}
            return [{"InstanceTypes": [amd, none]}]

    client: Any = Client()
    assert refresh.describe(client) == []


def test_a_new_family_is_data_alone(described: list[dict[str, Any]]) -> None:
    new = _one(described, "p6-b300.48xlarge") | {"InstanceType": "p7-r100.48xlarge"}
    catalogue = refresh.merge([*described, new], refresh.extra(), SOURCE)
    before = json.loads(_checked_in())
    facts = catalogue["instances"]["p7-r100.48xlarge"]
    assert (facts["network_cards"], facts["max_efa_interfaces"], facts["card0_efa"]) == (17, 16, False)
    assert [change for change in refresh.changes(before, catalogue) if change.startswith("p7")] == [
        "p7-r100.48xlarge: new",
        "p7-r100.48xlarge: no price in extra.json",
        "p7-r100.48xlarge: no Nitro generation in extra.json",
    ]


def test_a_type_that_is_gone_is_called_out_until_it_is_retired(described: list[dict[str, Any]]) -> None:
    before = json.loads(_checked_in())
    rest = [one for one in described if one["InstanceType"] != "p3dn.24xlarge"]
    gone = "p3dn.24xlarge: no longer described; if AWS retired it, move its facts to retired in extra.json"
    assert gone in refresh.changes(before, refresh.merge(rest, refresh.extra(), SOURCE))
    more = refresh.extra()
    more["retired"]["p3dn.24xlarge"] = {"reason": "gone"}
    assert gone not in refresh.changes(before, refresh.merge(rest, more, SOURCE))


def test_a_retired_type_stays_retired_even_if_it_is_described(described: list[dict[str, Any]]) -> None:
    again = _one(described, "p3dn.24xlarge") | {"InstanceType": "p3.2xlarge"}
    assert "p3.2xlarge" not in refresh.merge([again], refresh.extra(), SOURCE)["instances"]


def test_a_family_that_is_described_is_no_longer_undescribed(described: list[dict[str, Any]]) -> None:
    new = _one(described, "p6-b300.48xlarge") | {"InstanceType": "p6e-gb200.36xlarge"}
    assert list(refresh.merge([new], refresh.extra(), SOURCE)["undescribed"]) == ["p6e-gb300"]


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch, described: list[dict[str, Any]]) -> None:
    """Stands in for the local AWS; tests/local/test_catalog_command.py starts a real one."""
    monkeypatch.setattr(command, "_describe_locally", lambda _: (described, SOURCE))


@pytest.mark.usefixtures("offline")
def test_command_writes_what_changed_and_says_what(tmp_path: Path) -> None:
    output = tmp_path / "catalog.json"
    arguments = ["catalog", "refresh", "--local", "--output", str(output)]
    first = CliRunner().invoke(app, arguments)
    assert "p4d.24xlarge: new" in first.output
    assert "65 instance types written" in first.output
    assert output.read_text(encoding="utf-8") == _checked_in()
    assert "nothing to change" in CliRunner().invoke(app, arguments).output


@pytest.mark.usefixtures("offline")
def test_command_checks_without_writing(tmp_path: Path) -> None:
    output = tmp_path / "catalog.json"
    output.write_text(_checked_in().replace('"gpus": 8', '"gpus": 7', 1), encoding="utf-8")
    before = output.read_text(encoding="utf-8")
    done = CliRunner().invoke(app, ["catalog", "refresh", "--local", "--check", "--output", str(output)])
    assert done.exit_code == 1
    assert "is not what EC2 and extra.json give" in done.output
    assert output.read_text(encoding="utf-8") == before


def test_command_without_credentials_says_so_in_a_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    done = CliRunner().invoke(app, ["catalog", "refresh", "--output", str(tmp_path / "catalog.json")])
    assert done.exit_code == 1
    assert "EC2 did not answer: Unable to locate credentials" in done.output
    assert not (tmp_path / "catalog.json").exists()


def test_command_asks_ec2_with_the_credentials_there_are(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    output = tmp_path / "catalog.json"
    with mock_aws():
        monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
        done = CliRunner().invoke(app, ["catalog", "refresh", "--output", str(output)])
    assert done.exit_code == 0, done.output
    written = json.loads(output.read_text(encoding="utf-8"))
    assert written["sources"].pop("facts").startswith("EC2 DescribeInstanceTypes (us-east-1), read 20")
    checked_in = json.loads(_checked_in())
    del checked_in["sources"]["facts"]
    assert written == checked_in
