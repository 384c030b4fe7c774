"""A first request: what a server makes only when it is first asked (kernels, graphs, caches), no user waits for."""

from __future__ import annotations

from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Final

from gpu_constructs.on_node.actions import ActionError
from gpu_constructs.on_node.config import ConfigError, Serving
from gpu_constructs.on_node.facts import Facts
from gpu_constructs.on_node.host import Host
from gpu_constructs.on_node.serving import container, http, ready
from gpu_constructs.on_node.serving.budget import Budget
from gpu_constructs.on_node.steps import Step

NAME: Final = "warm-up"
_TRIES, _PAUSE_SECONDS = 3, 5


@dataclass(frozen=True, kw_only=True)
class WarmUp:
    """Make a request that must be answered with 2xx: POST with a body, else GET.

    Args:
        address: Where the node is reached.
        port: The port.
        path: The path.
        body: The body, as JSON; nothing for none.
        budget: The time that there is.
    """

    address: str
    port: int
    path: str
    body: str
    budget: Budget = field(compare=False, repr=False)

    def perform(self, host: Host) -> None:
        """Make it; again where the server says that it is not its turn yet, not where it says that it is wrong."""
        said = f"{self._method} http://{self.address}:{self.port}{self.path}"
        for left in reversed(range(_TRIES)):
            seconds = self.budget.need(host, f"{said} was not answered")
            answer = http.ask(self.address, self.port, self.path, body=self.body or None, timeout_seconds=seconds)
            if HTTPStatus.OK <= answer.status < HTTPStatus.MULTIPLE_CHOICES:
                return
            container.check(host)
            if not left or HTTPStatus.BAD_REQUEST <= answer.status < HTTPStatus.INTERNAL_SERVER_ERROR:
                break
            host.wait(_PAUSE_SECONDS)
        raise ActionError(
            f"the warm-up request {said} answered {answer}; it must be one that the model answers with 2xx",
            container.logs(host),
        )

    @property
    def _method(self) -> str:
        return "POST" if self.body else "GET"

    def __str__(self) -> str:
        body = f" with {self.body}" if self.body else ""
        return f"{self._method} port {self.port} {self.path}{body}, to be answered with 2xx"


def step(serving: Serving, facts: Facts, budget: Budget) -> list[Step]:
    """Return the step that makes the request; none where none is to be made.

    Raises:
        ConfigError: If there is no port to make it to.
    """
    if serving.warm_up_path is None:
        return []
    if serving.ready_port is None:
        raise ConfigError("a warm-up request needs the port that says whether the server is ready, and there is none")
    request = WarmUp(
        address=facts.address,
        port=serving.ready_port,
        path=serving.warm_up_path,
        body=serving.warm_up_body,
        budget=budget,
    )
    return [Step(name=NAME, actions=(request,), after=(ready.NAME,))]
