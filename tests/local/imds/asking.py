"""Asking a fake metadata service without the client of the nodes, and a clock that is moved by hand."""

from __future__ import annotations

import http.client
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any
from urllib.parse import urlsplit

from gpu_constructs.local.imds import FakeImds, InstanceFacts

NOON = datetime(2026, 3, 1, 12, 0, 0, tzinfo=timezone.utc)


class MovedClock:
    """Seconds that pass only when told to."""

    def __init__(self) -> None:
        self.seconds = 1000.0  # nothing may count on a clock that starts at 0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.seconds

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.seconds += seconds


def fake(script: object = (), clock: MovedClock | None = None, facts: InstanceFacts | None = None) -> FakeImds:
    """A service that starts at noon."""
    entries: Any = script
    return FakeImds(facts or InstanceFacts(), entries, clock=clock or MovedClock(), now=lambda: NOON)


@dataclass(frozen=True)
class Answer:
    status: int
    text: str
    headers: dict[str, str]


def ask(imds: FakeImds, path: str, method: str = "GET", **headers: str) -> Answer:
    """Ask over a connection of its own; underscores in names of headers stand for hyphens."""
    where = urlsplit(imds.endpoint)
    connection = http.client.HTTPConnection(str(where.hostname), where.port, timeout=30)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
        response = connection.getresponse()
        return Answer(response.status, response.read().decode(), dict(response.headers))
    finally:
        connection.close()


def token(imds: FakeImds, ttl: int = 60) -> str:
    answer = ask(imds, "/latest/api/token", "PUT", X_aws_ec2_metadata_token_ttl_seconds=str(ttl))
    assert answer.status == 200
    return answer.text


def read(imds: FakeImds, path: str) -> str | None:
    """What is at a path below /latest/, asked with a new token; None if there is nothing."""
    answer = ask(imds, f"/latest/{path}", X_aws_ec2_metadata_token=token(imds))
    assert answer.status in (200, 404)
    return answer.text if answer.status == 200 else None


def read_meta(imds: FakeImds, path: str) -> str | None:
    return read(imds, f"meta-data/{path}")
