from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gpu_constructs.on_node.boot import service


def _verify(folder: Path, text: str) -> subprocess.CompletedProcess[str]:
    """Have systemd check a unit, whose command must be there."""
    command = folder / "gpu-node"
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    unit = folder / "gpu-node.service"
    unit.write_text(text.replace(service.COMMAND, str(command)))
    argv = ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(unit)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


@pytest.mark.machine("systemd-analyze")
def test_systemd_has_nothing_to_say_about_the_unit(tmp_path: Path) -> None:
    done = _verify(tmp_path, service.unit())
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


@pytest.mark.machine("systemd-analyze")
@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("Type=oneshot", "Type=onceshot", "Failed to parse service type, ignoring: onceshot"),
        ("WantedBy=", "WantdBy=", "WantdBy"),
    ],
)
def test_systemd_finds_mistakes(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    assert said in _verify(tmp_path, service.unit().replace(right, wrong)).stderr


def test_service_is_enabled_and_not_started() -> None:
    said = [str(action) for action in service.step().actions]
    assert said[0].startswith("write /etc/systemd/system/gpu-node.service")
    assert said[1:] == ["systemctl daemon-reload", "systemctl enable gpu-node.service"]
