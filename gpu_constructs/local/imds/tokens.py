"""The session tokens of a fake metadata service."""

from __future__ import annotations

import secrets

LONGEST_TTL_SECONDS = 21600


class Tokens:
    """The tokens that have been given. Times are seconds since the service started."""

    def __init__(self) -> None:
        self._given: dict[str, tuple[float, int]] = {}

    def give(self, ttl_seconds: int, now: float, expiries: int) -> str:
        """Return a new token, given after tokens have been forgotten a number of times."""
        token = secrets.token_urlsafe(40) + "=="
        self._given = {one: times for one, times in self._given.items() if now < times[0]}
        self._given[token] = (now + ttl_seconds, expiries)
        return token

    def valid(self, token: str | None, now: float, expiries: int) -> bool:
        """Say whether a token may be used: its time is not over, and no tokens were forgotten since it was given."""
        ends, then = self._given.get(token or "", (now, expiries))
        return now < ends and then == expiries


def ttl_of(header: str | None) -> int | None:
    """Read the lifetime that a token is asked for with; None if it is not one that EC2 gives."""
    text = (header or "").strip()
    if not text.isascii() or not text.isdecimal() or not 1 <= int(text) <= LONGEST_TTL_SECONDS:
        return None
    return int(text)
