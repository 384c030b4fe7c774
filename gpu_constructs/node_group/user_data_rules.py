"""What EC2 and cloud-init take as user data. Imports no aws_cdk."""

from __future__ import annotations

import re
from typing import Final

from gpu_constructs.checks import Problem

# https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instancedata-add-user-data.html: in raw form, before base64.
_MOST_BYTES: Final = 16_384
# https://docs.cloud-init.io/en/latest/explanation/format/index.html
_BEGINNINGS: Final = (
    "#!",
    "#cloud-",
    "#include",
    "#part-handler",
    "## template: jinja",
    "Content-Type: multipart",
    "MIME-Version:",
)
# How CDK writes what only the deployment knows. That it takes at least no bytes is all there is to know of it.
_TOKEN = re.compile(r"\$\{Token\[[^\]]*\]\}")


def problems(text: str) -> list[Problem]:
    """Say why EC2 would refuse user data; nothing if it would not, or only the deployment knows."""
    size = len(_TOKEN.sub("", text).encode())
    if size <= _MOST_BYTES:
        return []
    return [
        Problem(
            what="user data",
            given=f"{size} bytes",
            allowed=f"at most {_MOST_BYTES} bytes, counted before base64",
            remedy="put the script into an S3 asset (aws_s3_assets.Asset) and let the user data fetch and run it",
            prevents=f"User data is limited to {_MOST_BYTES} bytes",
        )
    ]


def doubts(text: str) -> dict[str, str]:
    """Say what looks wrong about user data, by the code of the warning."""
    if not text or text.startswith(_BEGINNINGS) or _TOKEN.match(text):
        return {}
    return {
        "userDataKind": "the user data begins with none of the words by which cloud-init knows what it is, so "
        'cloud-init ignores it; begin a script with "#!/bin/bash", a configuration with "#cloud-config"'
    }
