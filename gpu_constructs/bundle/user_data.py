"""The user data of a node: it fetches the bundle and boots."""

from __future__ import annotations

import re
from importlib.resources import files

_PLACE = re.compile(r"@([A-Z0-9]+)@")


def render(*, bucket: str, key: str, sha256: str, region: str, config_json: str) -> str:
    """Return the user data.

    Args:
        bucket: The bucket of the bundle.
        key: Its key.
        sha256: The hash of its bytes.
        region: The Region of the bucket.
        config_json: The configuration of the node. CloudFormation may fill in values, none of which has a quote.
    """
    parts = {
        "FETCH": _text("fetch.py").rstrip(),
        "CONFIG": config_json,
        "SHA256": sha256,
        "BUCKET": bucket,
        "KEY": key,
        "REGION": region,
    }
    return _PLACE.sub(lambda found: parts[found[1]], _text("user_data.sh"))


def _text(name: str) -> str:
    return files("gpu_constructs.bundle").joinpath(name).read_text(encoding="utf-8")
