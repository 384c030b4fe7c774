"""What EC2's metadata service answers to a request, token rules and all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

from gpu_constructs.local.imds import metadata
from gpu_constructs.local.imds.facts import InstanceFacts
from gpu_constructs.local.imds.metadata import WallClock
from gpu_constructs.local.imds.server import Asked, Reply
from gpu_constructs.local.imds.state import TOKEN, State
from gpu_constructs.local.imds.tokens import Tokens, ttl_of

_TTL_HEADER = "x-aws-ec2-metadata-token-ttl-seconds"
_TOKEN_HEADER = "x-aws-ec2-metadata-token"  # noqa: S105 - a header's name
_VERSION = re.compile(r"latest|\d{4}-\d{2}-\d{2}")
_PAGE = (
    '<?xml version="1.0" encoding="iso-8859-1"?>\n'
    "<html><head><title>{0} - {1}</title></head><body><h1>{0} - {1}</h1></body></html>\n"
)
_PLAIN = {"Content-Type": "text/plain"}


@dataclass(frozen=True)
class Question:
    """A request, taken apart.

    Args:
        method: Its method.
        version: "latest", a date, or whatever else was asked for.
        path: What comes after it, without a slash at either end.
        headers: Its headers, in small letters.
    """

    method: str
    version: str
    path: str
    headers: Mapping[str, str]

    @classmethod
    def of(cls, asked: Asked) -> Question:
        """Take a request apart."""
        version, _, path = asked.target.partition("?")[0].strip("/").partition("/")
        return cls(asked.method, version, path.strip("/"), {n.lower(): v for n, v in asked.headers.items()})


@dataclass(frozen=True)
class Answers:
    """Answers requests about an instance; remembers the tokens that it has given."""

    facts: InstanceFacts
    wall: WallClock
    tokens: Tokens = field(default_factory=Tokens)

    def reply(self, question: Question, state: State, now: float) -> Reply:
        """Return the answer to a request at a moment."""
        if question.path == TOKEN:
            return self._token(question, state, now)
        if question.method not in ("GET", "HEAD"):
            return error(HTTPStatus.METHOD_NOT_ALLOWED)
        if not self.tokens.valid(question.headers.get(_TOKEN_HEADER), now, state.expiries):
            return error(HTTPStatus.UNAUTHORIZED)
        if not _VERSION.fullmatch(question.version):
            return error(HTTPStatus.NOT_FOUND)
        found = metadata.look_up(metadata.leaves(self.facts, state, now, self.wall), question.path)
        return error(HTTPStatus.NOT_FOUND) if found is None else Reply(HTTPStatus.OK, found, _PLAIN)

    def _token(self, question: Question, state: State, now: float) -> Reply:
        if question.method != "PUT":
            return error(HTTPStatus.METHOD_NOT_ALLOWED)
        # A proxy that lets anybody through must not get one.
        if question.version != "latest" or "x-forwarded-for" in question.headers:
            return error(HTTPStatus.FORBIDDEN)
        ttl = ttl_of(question.headers.get(_TTL_HEADER))
        if ttl is None:
            return error(HTTPStatus.BAD_REQUEST)
        return Reply(HTTPStatus.OK, self.tokens.give(ttl, now, state.expiries), {**_PLAIN, _TTL_HEADER: str(ttl)})


def error(status: int) -> Reply:
    """Return an answer that says no more than its status."""
    return Reply(status, _PAGE.format(int(status), HTTPStatus(status).phrase), {"Content-Type": "text/html"})
