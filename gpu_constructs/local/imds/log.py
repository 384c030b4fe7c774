"""What a fake metadata service remembers of the requests that it got."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class Request:
    """A request.

    Args:
        at: When it came, in seconds since the service started.
        method: "GET", "HEAD", "PUT", ...
        path: What it asked for below /latest/: "meta-data/spot/instance-action".
        status: The status that it was answered with; None if it was not answered.
        fault: The fault of the script that it met, if any: "status", "hang", "rst", "truncate" or "hop_limit".
        connection: The number of the connection that it came over, counted from 1.
    """

    at: float
    method: str
    path: str
    status: int | None
    fault: str | None
    connection: int

    def to_json(self) -> str:
        """Return it as one line."""
        return json.dumps(asdict(self))
