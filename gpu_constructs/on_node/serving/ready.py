"""Waiting until the server is ready, as whoever sends requests sees it.

It is asked at the node's own address: at 127.0.0.1, Docker's proxy takes every connection, whether the container
listens or not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.config import Serving
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.host import Host
from gpu_constructs.on_node.serving import container, http, server
from gpu_constructs.on_node.serving.budget import Budget
from gpu_constructs.on_node.steps import Step

NAME: Final = "ready"
_PAUSE_SECONDS = 2
_ROUNDS_WITHOUT_PORT = 4
"""How many times a container without a port must be seen running, with a pause before each but the first."""
_OK = 200


@dataclass(frozen=True, kw_only=True)
class AwaitReady:
    """Wait until the server is ready.

    Args:
        address: Where the node is reached.
        port: The port to ask; None for a worker that has none.
        path: The path to ask; None where the port answers no HTTP.
        pattern: What the answer must hold, too.
        budget: The time that there is.
    """

    address: str
    port: int | None
    path: str | None
    pattern: str
    budget: Budget = field(compare=False, repr=False)

    def perform(self, host: Host) -> None:
        """Ask again and again; a container that has ended answers no more, so that nobody waits for it."""
        rounds = 0
        while True:
            # First: what answers may be another one, where the container has not got its port.
            container.check(host)
            missing = self._missing(rounds)
            if missing is None:
                return
            left = self.budget.left(host)
            if left <= 0:
                log = container.logs(host)
                raise ActionError(
                    f"the server was not ready within {self.budget.seconds:g} s of pulling, copying and loading: "
                    f"{missing}; if it needs longer, raise ready_seconds",
                    log,
                )
            host.wait(min(_PAUSE_SECONDS, left))
            rounds += 1

    def _missing(self, rounds: int) -> str | None:
        """What is missing yet; None if nothing is."""
        if self.port is None:
            return None if rounds + 1 >= _ROUNDS_WITHOUT_PORT else "its container has only begun to run"
        where = f"{self.address}:{self.port}"
        if self.path is None:
            why = http.connects(self.address, self.port)
            return why and f"{where} takes no connection, {why}"
        answer = http.ask(self.address, self.port, self.path)
        if answer.status == _OK and re.search(self.pattern, answer.body):
            return None
        pattern = f", which has not {self.pattern}" if answer.status == _OK else ""
        return f"http://{where}{self.path} answered {answer}{pattern}"

    def __str__(self) -> str:
        if self.port is None:
            return f"wait until the container has been seen running {_ROUNDS_WITHOUT_PORT} times"
        if self.path is None:
            return f"wait until port {self.port} takes a connection"
        pattern = f" with {self.pattern}" if self.pattern else ""
        return f"wait until port {self.port} answers {self.path} with 200{pattern}"


def step(serving: Serving, facts: Facts, budget: Budget) -> Step:
    """Return the step that waits until the server is ready."""
    wait = AwaitReady(
        address=facts.address,
        port=serving.ready_port,
        path=serving.ready_path,
        pattern=serving.ready_pattern,
        budget=budget,
    )
    return Step(name=NAME, actions=(wait,), after=(server.NAME,))
