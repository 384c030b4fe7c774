"""Starts the process of the local AWS and waits until it serves."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from gpu_constructs.local.errors import LocalAwsError

STATE = "server.json"
LOG = "server.log"

_STARTS_WITHIN_SECONDS = 60.0
_POLL_SECONDS = 0.05
_ACCOUNT_DIGITS = 12


def check(port: int, account: str) -> None:
    """Refuse what would fail, before anything is started.

    Raises:
        LocalAwsError: The account id is none, or the port is taken.
    """
    if not (account.isdigit() and len(account) == _ACCOUNT_DIGITS):
        raise LocalAwsError(f"account must be 12 digits, got {account!r}")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            raise LocalAwsError(
                f"port {port} cannot be used ({error}); choose another with --port, or 0 for any free one"
            ) from error


def server(
    port: int, account: str, region: str, directory: Path, *, outlive_this_process: bool
) -> subprocess.Popen[bytes]:
    """Start a server and wait until it has written its state into `directory`.

    Raises:
        LocalAwsError: It did not start.
    """
    command = [sys.executable, "-m", "gpu_constructs.local.server", "--port", str(port), "--account", account]
    command += ["--region", region, "--state", str(directory / STATE)]
    if not outlive_this_process:
        command.append("--until-stdin-closes")
    # From nothing: no key, Region or endpoint of the user's reaches moto, which would make them its own.
    environment = {"PATH": os.defpath, "HOME": str(directory), "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
    with (directory / LOG).open("wb") as output:
        process = subprocess.Popen(
            command,
            cwd=directory,  # Python looks for modules there first, and a project may have a secrets.py
            env=environment,
            stdin=subprocess.DEVNULL if outlive_this_process else subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # Ctrl-C in the terminal is for the command, which stops the server itself
        )
    try:
        _wait_for(process, directory)
    except BaseException:
        process.kill()
        process.communicate()
        raise
    return process


def last_line(path: Path) -> str:
    """The last line of a log, for an error message."""
    lines = [line for line in path.read_text(errors="replace").splitlines() if line.strip()] if path.exists() else []
    return lines[-1].strip() if lines else "its log is empty"


def _wait_for(process: subprocess.Popen[bytes], directory: Path) -> None:
    deadline = time.monotonic() + _STARTS_WITHIN_SECONDS
    while time.monotonic() < deadline:
        if (directory / STATE).exists():
            return
        if process.poll() is not None:
            said = last_line(directory / LOG)
            hint = "; install it with `pip install 'gpu-constructs[local]'`" if "No module named" in said else ""
            raise LocalAwsError(f"the local AWS did not start: {said}{hint}")
        time.sleep(_POLL_SECONDS)
    raise LocalAwsError(
        f"the local AWS did not start within {_STARTS_WITHIN_SECONDS:.0f} s: {last_line(directory / LOG)}"
    )
