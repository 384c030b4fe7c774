"""The process of the local AWS: `python -m gpu_constructs.local.server`. Started by `LocalAws`, seldom by hand."""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
import threading
from pathlib import Path
from typing import Any

HOST = "127.0.0.1"


def main(arguments: list[str] | None = None) -> int:
    """Serve until told to stop; 1 if the port is taken."""
    options = _parser().parse_args(arguments)
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, options.port))
    except OSError as error:
        print(f"port {options.port} cannot be used: {error.strerror}", file=sys.stderr)  # noqa: T201 - into its log
        return 1
    listening.listen(128)
    port: int = listening.getsockname()[1]
    if options.until_stdin_closes:
        threading.Thread(target=_exit_when_stdin_closes, daemon=True).start()

    # moto reads these when it is imported.
    os.environ |= {"MOTO_ACCOUNT_ID": options.account, "MOTO_PORT": str(port), "MOTO_IAM_LOAD_MANAGED_POLICIES": "true"}
    from moto.moto_server.werkzeug_app import MotoRequestHandler
    from werkzeug.serving import make_server

    from gpu_constructs.local.application import Application
    from gpu_constructs.local.control import Control
    from gpu_constructs.local.services import install_all, ticks

    install_all()
    facts = {"pid": os.getpid(), "port": port, "account": options.account, "region": options.region}
    application = Application(Control(facts), ticks())
    server = make_server(
        HOST, port, application, threaded=True, request_handler=MotoRequestHandler, fd=listening.fileno()
    )
    _write(options.state, facts)
    server.serve_forever()
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gpu_constructs.local.server", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="0 takes any free one")
    parser.add_argument("--account", required=True)
    parser.add_argument("--region", required=True)
    parser.add_argument("--state", type=Path, required=True, help="file to write once requests are served")
    parser.add_argument("--until-stdin-closes", action="store_true", help="stop when the starter is gone")
    return parser


def _write(path: Path, facts: dict[str, Any]) -> None:
    """All at once, so that nobody reads half of it."""
    unfinished = path.with_suffix(".new")
    unfinished.write_text(json.dumps(facts))
    unfinished.replace(path)


def _exit_when_stdin_closes() -> None:
    """The starter holds the other end: however it ends, this process ends with it."""
    while os.read(0, 1):  # not sys.stdin, whose lock would make Python crash at any other exit
        pass
    os._exit(0)


if __name__ == "__main__":
    sys.exit(main())
