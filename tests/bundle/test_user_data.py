"""The text of the user data; tests/local/test_user_data.py runs it."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from gpu_constructs.bundle import user_data
from gpu_constructs.node_group import user_data_rules

VALUES = {
    "bucket": "assets",
    "key": "a.zip",
    "sha256": "0" * 64,
    "region": "us-east-1",
    "config_json": '{"a": "@KEY@"}',
}


def test_user_data_leaves_most_of_the_room_to_the_configuration() -> None:
    text = user_data.render(**VALUES)
    assert user_data_rules.problems(text) == []
    assert len(text.encode()) < 6_000
    assert user_data_rules.doubts(text) == {}


def test_every_value_is_in_its_place_and_none_is_left_out() -> None:
    text = user_data.render(**VALUES)
    for name in ("FETCH", "SHA256", "BUCKET", "REGION", "CONFIG"):
        assert f"@{name}@" not in text
    assert "s3://assets/a.zip" in text


def test_a_value_that_looks_like_a_place_stays_as_it_is() -> None:
    assert '{"a": "@KEY@"}' in user_data.render(**VALUES)


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="there is no shellcheck here")
def test_shellcheck_finds_nothing() -> None:
    done = subprocess.run(
        ["shellcheck", "--shell=bash", "-"],
        input=user_data.render(**VALUES),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, "")
