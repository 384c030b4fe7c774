"""`python -m gpu_constructs.local.imds`: a fake metadata service of its own process. Its first line is its endpoint."""

from __future__ import annotations

import argparse
import json
import signal
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from gpu_constructs.local.imds.facts import InstanceFacts
from gpu_constructs.local.imds.fake import FakeImds
from gpu_constructs.local.imds.log import Request


def main(arguments: list[str] | None = None) -> int:
    """Answer until told to stop by SIGTERM or SIGINT; 1 if it cannot begin."""
    options = _parser().parse_args(arguments)
    ends = {signal.SIGTERM, signal.SIGINT}
    signal.pthread_sigmask(signal.SIG_BLOCK, ends)  # before there are threads, so that all of them inherit it
    with ExitStack() as stack:
        try:
            facts = InstanceFacts.from_json(options.facts.read_text()) if options.facts else InstanceFacts()
            script = json.loads(options.script.read_text()) if options.script else []
            log = _writer(stack, options.log)
            imds = FakeImds(facts, script, address=options.address, port=options.port, on_request=log)
        except (OSError, ValueError) as error:
            print(error, file=sys.stderr)  # noqa: T201
            return 1
        stack.enter_context(imds)
        print(imds.endpoint, flush=True)  # noqa: T201
        signal.sigwait(ends)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m gpu_constructs.local.imds", description=__doc__)
    parser.add_argument("--address", default="127.0.0.1", help="loopback address to listen on")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free one")
    parser.add_argument("--facts", type=Path, help="JSON file that says which instance it speaks of")
    parser.add_argument("--script", type=Path, help="JSON file that says what happens when")
    parser.add_argument("--log", type=Path, help="file to write each request to, one JSON object a line")
    return parser


def _writer(stack: ExitStack, path: Path | None) -> Callable[[Request], None] | None:
    if path is None:
        return None
    file = stack.enter_context(path.open("w", buffering=1))

    def write(request: Request) -> None:
        file.write(request.to_json() + "\n")

    return write


if __name__ == "__main__":
    sys.exit(main())
