"""What nodes are told, read back from the template."""

from __future__ import annotations

import json
import re
from typing import Any

from aws_cdk import Stack

from tests.conftest import only


def node_config(stack: Stack) -> dict[str, Any]:
    """The configuration in the user data; what only the deployment knows as text."""
    encoded = only(stack, "AWS::EC2::LaunchTemplate")["Properties"]["LaunchTemplateData"]["UserData"]["Fn::Base64"]
    parts = [part if isinstance(part, str) else str(part).replace('"', "") for part in encoded["Fn::Join"][1]]
    found = re.search(r"<<'CONFIG'\n(.*)\nCONFIG\n", "".join(parts), re.DOTALL)
    assert found
    loaded: dict[str, Any] = json.loads(found[1])
    return loaded
