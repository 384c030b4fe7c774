"""Asking the server by HTTP, as the load balancer does: at the node's own address, and through no proxy."""

from __future__ import annotations

import http.client
import socket
from dataclasses import dataclass

_READ_BYTES = 2**20
_SHOWN = 200


@dataclass(frozen=True)
class Answer:
    """What came back.

    Args:
        status: The code; 0 where no HTTP came back.
        body: The body, or what went wrong.
    """

    status: int
    body: str

    def __str__(self) -> str:
        shown = " ".join(self.body[:_SHOWN].split())
        return f"{self.status}: {shown}" if self.status else shown


def ask(address: str, port: int, path: str, *, body: str | None = None, timeout_seconds: float = 5) -> Answer:
    """Ask once: GET, or POST with a body of JSON. Nothing is raised; no answer is one, too."""
    connection = http.client.HTTPConnection(address, port, timeout=timeout_seconds)
    headers = {} if body is None else {"Content-Type": "application/json"}
    try:
        connection.request("GET" if body is None else "POST", path, body and body.encode(), headers)
        response = connection.getresponse()
        return Answer(response.status, response.read(_READ_BYTES).decode(errors="replace"))
    except TimeoutError:
        return Answer(0, f"no answer within {timeout_seconds:.3g} s")
    except (OSError, ValueError, http.client.HTTPException) as error:
        return Answer(0, f"{type(error).__name__}: {error}")
    finally:
        connection.close()


def connects(address: str, port: int, timeout_seconds: float = 5) -> str | None:
    """Return why a port takes no TCP connection; None where it takes one."""
    try:
        socket.create_connection((address, port), timeout_seconds).close()
    except OSError as error:
        return f"{type(error).__name__}: {error}"
    return None
