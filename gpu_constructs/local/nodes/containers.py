"""Stands in for Docker on a node: it pulls nothing, and the one container it runs is a small HTTP server.

    containers.py FOLDER ADDRESS PORT...

As `docker` it is called by the stand-in for commands (see `stand_in`), whose state it shares; run by its path it is the
container: a model server that listens on the node's own address, is ready after a while, answers requests, or ends, as
`machine.json` says. Nothing but the standard library, for it starts with each node.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread, Timer
from typing import Any
from urllib.parse import urlsplit

Answer = tuple[int, str]


def docker(folder: Path, state: dict[str, Any], arguments: list[str]) -> Answer:  # noqa: PLR0911 - one each
    """Answer a call of `docker`, and return its exit code and what it prints.

    Args:
        folder: The folder of the node.
        state: What commands have changed so far.
        arguments: The words after `docker`.
    """
    words = arguments[2:] if arguments[:1] == ["--config"] else arguments
    images: list[str] = state.setdefault("images", [])
    match words:
        case ["pull", *_, image]:
            images.append(image)
            return 0, image
        case ["image", "inspect", image]:
            return (0, "[{}]") if image in images else (1, f"Error: No such image: {image}")
        case ["run", *options]:
            state["container"] = {"label": _after(options, "--label"), "pid": _start(folder, options)}
            return 0, "0123456789abcdef"
        case ["start", _]:
            return _restart(folder, state)
        case ["rm", *_]:
            _end(state.pop("container", None))
            return 0, ""
        case ["container", "inspect", name]:
            return _inspect(folder, state.get("container"), name)
        case ["logs", *_]:
            return 0, (folder / "container.log").read_text().strip()
        case _:
            return 0, ""


def _after(options: list[str], name: str) -> str:
    return options[options.index(name) + 1]


def _start(folder: Path, options: list[str]) -> int:
    """Start the container at the address at which the node has its metadata service, too."""
    address = urlsplit(os.environ["AWS_EC2_METADATA_SERVICE_ENDPOINT"]).hostname
    ports = [word.partition(":")[0] for before, word in pairwise(options) if before == "--publish"]
    (folder / "container.json").write_text(json.dumps([address, *ports]))
    (folder / "container.exit").unlink(missing_ok=True)
    with (folder / "container.log").open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", __file__, str(folder), str(address), *ports],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    return process.pid


def _restart(folder: Path, state: dict[str, Any]) -> Answer:
    container = state["container"]
    if not _alive(container["pid"]):
        _, *ports = json.loads((folder / "container.json").read_text())
        container["pid"] = _start(folder, [word for port in ports for word in ("--publish", f"{port}:{port}")])
    return 0, "gpu-node-server"


def _inspect(folder: Path, container: dict[str, Any] | None, name: str) -> Answer:
    if container is None:
        return 1, f"Error: No such container: {name}"
    code = folder / "container.exit"
    # Docker starts it again and again, which is what its restart policy asks for.
    status = "running" if _alive(container["pid"]) else "restarting"
    key, _, value = container["label"].partition("=")
    said = {
        "State": {"Status": status, "ExitCode": int(code.read_text()) if code.exists() else 0, "OOMKilled": False},
        "RestartCount": int(status == "restarting"),
        "Config": {"Labels": {key: value}},
    }
    return 0, json.dumps([said])


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def _end(container: dict[str, Any] | None) -> None:
    if container and _alive(container["pid"]):
        os.kill(container["pid"], 9)


class _Handler(BaseHTTPRequestHandler):
    """Answers as a model server: 503 until it is ready."""

    ready_at = 0.0
    body = ""

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer()

    def _answer(self) -> None:
        ready = time.monotonic() >= self.ready_at
        content = (self.body if ready else '{"error": "loading"}').encode()
        self.send_response(200 if ready else 503)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def main(folder: Path, address: str, ports: list[int]) -> None:
    """Be the container, until the node is gone or the machine says that it ends."""
    server = json.loads((folder / "machine.json").read_text())["server"]
    if server["exit_code"] is not None:
        sys.stdout.write(f"{server['says']}\n")
        (folder / "container.exit").write_text(str(server["exit_code"]))
        sys.exit(server["exit_code"])
    after = server["ready_after_seconds"]
    _Handler.ready_at = float("inf") if after is None else time.monotonic() + after
    _Handler.body = server["body"]
    for port in ports:
        Thread(target=ThreadingHTTPServer((address, port), _Handler).serve_forever).start()
    if not ports:  # a worker
        Timer(3600, lambda: None).start()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], [int(port) for port in sys.argv[3:]])
