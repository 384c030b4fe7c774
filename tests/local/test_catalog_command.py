from __future__ import annotations

import pytest
from typer.testing import CliRunner

from gpu_constructs.cli import app


@pytest.mark.allow_hosts(["127.0.0.1"])
@pytest.mark.usefixtures("local_home")
def test_catalogue_is_what_the_local_aws_gives() -> None:
    done = CliRunner().invoke(app, ["catalog", "refresh", "--local", "--check"])
    assert done.exit_code == 0, done.output
    assert "65 instance types; nothing to change." in done.output
