"""Makes a template the same from one release of CDK and one machine to the next."""

from __future__ import annotations

import json
import re
from typing import Any

_ASSET = re.compile(r"\b[0-9a-f]{64}\b")
_RUNTIME = re.compile(r"\bnodejs\d+\.x\b")


def normalise(template: dict[str, Any]) -> dict[str, Any]:
    """Mask asset hashes and the runtime that CDK picks for functions of its own."""
    text = _RUNTIME.sub("<nodejs>", _ASSET.sub("<asset>", json.dumps(template)))
    normalised: dict[str, Any] = json.loads(text)
    return normalised
